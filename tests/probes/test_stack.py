"""The driver's and the fabric's software: lines from public reports, and the odd cases."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from recordings import answering, facts, holding, os_probes

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.question import Shell
from rackcheck.parse.host.gpu import toolkit_versions
from rackcheck_probes.os import libraries

PROBES = os_probes()
VERSION, LIB = "/proc/driver/nvidia/version", "/usr/lib/x86_64-linux-gnu"


def file_readings(probe: str, files: dict[str, str], refused: dict[str, Unknown] | None = None) -> dict[str, Reading]:
    return facts(PROBES[probe], holding(PROBES[probe], files, refused))


def output_readings(probe: str, answer: str, status: int = 0, err: str = "") -> dict[str, Reading]:
    return facts(PROBES[probe], answering(PROBES[probe], answer, status, err))


def one(found: dict[str, Reading]) -> Reading:
    (reading,) = found.values()
    return reading


# Which kernel module


@pytest.mark.parametrize(
    ("line", "flavour"),
    [
        ("NVIDIA UNIX Open Kernel Module for x86_64  565.77  Release Build  (nixbld@)  Sun Feb  9 11:08:26 UTC 2025", "open"),
        ("NVIDIA UNIX Open Kernel Module for aarch64  590.48.01  Release Build  (dvs-builder@U22)  Mon Dec  1", "open"),
        ("NVIDIA UNIX Open Kernel Module for x86_64 595.71.05", "open"),
        ("NVIDIA UNIX x86_64 Kernel Module  510.54  Wed Apr  1 20:04:33 UTC 2020", "proprietary"),
        ("NVIDIA UNIX aarch64 Kernel Module  535.129.03  Thu Oct 19 18:42:09 UTC 2023", "proprietary"),
    ],
)  # fmt: skip
def test_the_first_line_distinguishes_the_open_module_from_the_proprietary_one(line: str, flavour: str) -> None:
    found = file_readings(
        "nvidia_module", {VERSION: f"NVRM version: {line}\nGCC version:  gcc version 9.3.0 (Arch Linux 9.3.0-1)\n"}
    )
    assert found == {
        "driver.module.flavour": flavour,
        "driver.module.compiler": "gcc version 9.3.0 (Arch Linux 9.3.0-1)",
    }


def test_a_module_without_a_compiler_line_has_none() -> None:
    found = file_readings(
        "nvidia_module", {VERSION: "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.84  Release Build\n"}
    )
    assert found["driver.module.flavour"] == "open"
    assert isinstance(found["driver.module.compiler"], Absent)


@pytest.mark.parametrize("content", ["", "\n", "NVRM version: NVIDIA UNIX\n", "NVRM version: nouveau 1.0\n", "x\n" * 9])
def test_another_first_line_is_neither_module(content: str) -> None:
    found = file_readings("nvidia_module", {VERSION: content})
    assert {type(reading) for reading in found.values()} == {Unknown}


def test_a_file_that_may_not_be_read_is_not_a_module_that_is_not_loaded() -> None:
    denied = Unknown(Reason.DENIED, "Permission denied")
    found = file_readings("nvidia_module", {}, {VERSION: denied})
    assert {reading.reason for reading in found.values() if isinstance(reading, Unknown)} == {Reason.DENIED}


def test_a_gpu_whose_driver_does_not_report_exclusion_is_not_taken_as_used() -> None:
    information = "Model: \t\t Tesla V100-SXM2-16GB\nBus Location: \t 0000:06:00.0\n"
    found = file_readings(
        "nvidia_excluded", {VERSION: "x\n", "/proc/driver/nvidia/gpus/0000:06:00.0/information": information}
    )
    assert isinstance(one(found), Unknown)


def test_a_recorded_h100_is_not_excluded() -> None:
    information = """\
Model: \t\t NVIDIA H100 80GB HBM3
IRQ:   \t\t 10
GPU UUID: \t GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b
Video BIOS: \t 96.00.99.00.01
Bus Type: \t PCIe
DMA Size: \t 52 bits
DMA Mask: \t 0xfffffffffffff
Bus Location: \t 0000:62:00.0
Device Minor: \t 5
GPU Firmware: \t 535.129.03
GPU Excluded:\t No
"""
    found = file_readings(
        "nvidia_excluded", {VERSION: "x\n", "/proc/driver/nvidia/gpus/0000:62:00.0/information": information}
    )
    assert found == {"driver.excluded": ()}


# Versions that tools print


@pytest.mark.parametrize(
    ("probe", "answer", "version"),
    [
        ("fabric_installed", "\n\n\n\tFabric Manager version is : 535.161.08\n\n", "535.161.08"),
        ("fabric_installed", "Fabric Manager version is : 580.159.03\n", "580.159.03"),
        ("imex_installed", "IMEX version is: 580.105.08\n", "580.105.08"),
        ("dcgm", "\ndcgmi  version: 4.7.0\n\n", "4.7.0"),
    ],
)
def test_a_tool_reports_the_version_that_is_installed(probe: str, answer: str, version: str) -> None:
    assert one(output_readings(probe, answer)) == version


@pytest.mark.parametrize("probe", ["fabric_installed", "imex_installed", "dcgm"])
def test_what_is_not_installed_is_absent_and_what_fails_is_not(probe: str) -> None:
    assert isinstance(one(output_readings(probe, "none\n")), Absent)
    assert isinstance(one(output_readings(probe, "")), Unknown)
    assert isinstance(one(output_readings(probe, "", 1, "cannot open shared object file")), Unknown)


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("MLNX_OFED_LINUX-23.10-1.1.9.0:", "MLNX_OFED_LINUX", "23.10.1.1.9.0"),
        ("MLNX_OFED_LINUX-5.8-1.0.1.1:", "MLNX_OFED_LINUX", "5.8.1.0.1.1"),
        ("OFED-internal-25.10-1.7.1.413:", "OFED-internal", "25.10.1.7.1.413"),
        ("OFED-internal-26.04-0.8.6:", "OFED-internal", "26.04.0.8.6"),
    ],
)
def test_ofed_has_a_name_and_a_version_that_can_be_ordered(line: str, name: str, version: str) -> None:
    assert output_readings("ofed", f"{line}\n") == {"os.ofed.name": name, "os.ofed.version": version}


@pytest.mark.parametrize("answer", ["", "MLNX_OFED_LINUX\n", "MLNX_OFED_LINUX-23.10-1.1.9.0:", "a: b: c\n"])
def test_another_line_is_no_version_of_ofed(answer: str) -> None:
    assert {type(reading) for reading in output_readings("ofed", answer).values()} == {Unknown}


# Toolkits


@pytest.mark.parametrize("version", ["11.6.1", "12.1.20230222", "13.0.3"])
def test_the_whole_toolkits_version_is_read_and_not_that_of_a_part(version: str) -> None:
    parts = {"cuda_nvcc": {"name": "CUDA NVCC", "version": "9.9.9"}, "cuda": {"name": "CUDA SDK", "version": version}}
    assert toolkit_versions.cuda(json.dumps(parts, indent=3)) == version


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cuda": "12"}', '{"cuda": {"version": 12}}', "[" * 99_999])
def test_another_json_is_no_toolkit(content: str) -> None:
    with pytest.raises(Unreadable):
        toolkit_versions.cuda(content)


@pytest.mark.parametrize(
    ("content", "version"), [("6.2.4-139\n", "6.2.4"), ("7.0.2\n", "7.0.2"), ("5.7.1-98\n", "5.7.1")]
)
def test_rocm_is_reported_without_its_build_number(content: str, version: str) -> None:
    assert toolkit_versions.rocm(content) == version


# Libraries


def rows(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_a_chain_of_links_leads_to_the_version_at_its_end() -> None:
    file = f"-rwxr-xr-x. 1 0 0  247582104 Jun  5  2024 {LIB}/libnccl.so.2.21.5"
    link = f"lrwxrwxrwx. 1 0 0         12 Jun  5  2024 {LIB}/libnccl.so -> libnccl.so.2"
    next_link = f"lrwxrwxrwx. 1 0 0         17 Jun  5  2024 {LIB}/libnccl.so.2 -> libnccl.so.2.21.5"
    followed = [file.replace("libnccl.so.2.21.5", name) for name in ("libnccl.so", "libnccl.so.2", "libnccl.so.2.21.5")]
    found = output_readings("libraries", rows(link, next_link, file, libraries.FOLLOWED, *followed, libraries.END))
    for name in ("libnccl.so", "libnccl.so.2", "libnccl.so.2.21.5"):
        assert found[f'os.library/"{LIB}/{name}".version'] == "2.21.5"
        assert found[f'os.library/"{LIB}/{name}".usable'] is True


def test_links_in_a_ring_end() -> None:
    ring = [
        f"lrwxrwxrwx 1 0 0 9 Jun  5  2024 {LIB}/libnccl.so{a} -> libnccl.so{b}" for a, b in (("", ".2"), (".2", ""))
    ]
    found = output_readings("libraries", rows(*ring, libraries.FOLLOWED, libraries.END))
    assert found[f'os.library/"{LIB}/libnccl.so.2".usable'] is False


def test_an_empty_file_in_place_of_a_library_is_not_usable() -> None:
    empty = f"-rw-r--r-- 1 0 0 0 Jun  5 10:01 {LIB}/libcuda.so.570.86.15"
    found = output_readings("libraries", rows(empty, libraries.FOLLOWED, empty, libraries.END))
    assert found[f'os.library/"{LIB}/libcuda.so.570.86.15".usable'] is False
    assert found[f'os.library/"{LIB}/libcuda.so.570.86.15".version'] == "570.86.15"


def test_a_folder_that_may_not_be_listed_leaves_the_list_open() -> None:
    file = f"-rw-r--r-- 1 0 0 1048576 Jun  5 10:01 {LIB}/libcuda.so.1"
    found = output_readings("libraries", rows("hidden /usr/local/lib", file, libraries.FOLLOWED, file, libraries.END))
    assert found["os.library"] == Unknown(Reason.DENIED, "/usr/local/lib cannot be listed")
    assert found[f'os.library/"{LIB}/libcuda.so.1".size'] == 1.0


def test_a_link_into_an_unreadable_folder_is_not_a_broken_one() -> None:
    link = f"lrwxrwxrwx 1 0 0 20 Jun  5 10:01 {LIB}/libcuda.so.1 -> /opt/closed/libcuda.so.570.86.15"
    found = output_readings("libraries", rows(link, f"hidden {LIB}/libcuda.so.1", libraries.FOLLOWED, libraries.END))
    for leaf in ("size", "usable"):
        reading = found[f'os.library/"{LIB}/libcuda.so.1".{leaf}']
        assert isinstance(reading, Unknown)
        assert reading.reason is Reason.DENIED
    assert found["os.library"] == (f"{LIB}/libcuda.so.1",)


def shells() -> list[list[str]]:
    found = [[path] for name in ("dash", "bash") if (path := shutil.which(name))]
    return found + ([[path, "sh"]] if (path := shutil.which("busybox")) else [])


@pytest.mark.parametrize("shell", shells(), ids=lambda words: Path(words[0]).name)
def test_every_shell_lists_files_links_and_ends_that_are_missing(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_bytes(b"x" * 2048)
    (tmp_path / "libcuda.so").symlink_to("libcuda.so.1")
    (tmp_path / "libnccl.so.2").symlink_to("libnccl.so.2.99.1")
    (tmp_path / "libnvidia-ml.so.1").touch()
    ask = PROBES["libraries"].ask
    assert isinstance(ask, Shell)
    command = ask.command.replace(" ".join(libraries.PLACES), f"{tmp_path} {tmp_path}/none")
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([*shell, "-c", command], capture_output=True, text=True, env=environment, check=True)
    found = output_readings("libraries", done.stdout)
    usable = {path.split('"')[1].split("/")[-1]: reading for path, reading in found.items() if path.endswith(".usable")}
    assert usable == {"libcuda.so": True, "libcuda.so.1": True, "libnccl.so.2": False, "libnvidia-ml.so.1": False}
    assert found[f'os.library/"{tmp_path}/libnccl.so.2".version'] == "2.99.1"


@pytest.mark.parametrize("shell", shells(), ids=lambda words: Path(words[0]).name)
@pytest.mark.parametrize(
    "probe", ["libraries", "listening", "nvidia_daemons", "imex_channels", "imex_daemon", "ofed", "dcgm"]
)
def test_every_shell_runs_the_question_to_its_end(shell: list[str], probe: str) -> None:
    ask = PROBES[probe].ask
    assert isinstance(ask, Shell)
    environment = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run([*shell, "-c", ask.command], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [reading for reading in output_readings(probe, done.stdout).values() if isinstance(reading, Unknown)] == []


# Ports, daemons, IMEX


def test_connections_and_other_states_are_no_listeners() -> None:
    ask = PROBES["listening"].ask
    assert isinstance(ask, Shell)
    match = re.search(r"grep -E '([^']+)'", ask.command)
    assert match is not None
    established = (
        "   1: 0100007F:1A0A 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 9 1 0 20 4 0 10 -1"
    )
    listener = (
        "   0: 0100007F:1A0A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 9 1 0 100 0 0 10 0"
    )
    assert re.search(match[1], listener)
    assert not re.search(match[1], established)
    assert output_readings("listening", f"{listener}\n-- end --\n")["driver.fabric.listening"] is True
    assert isinstance(output_readings("listening", f"{established}\n-- end --\n")["driver.fabric.listening"], Unknown)
    assert output_readings("listening", "-- end --\n")["driver.fabric.listening"] is False


def test_a_fabric_manager_that_runs_in_a_container_is_seen() -> None:
    found = output_readings("nvidia_daemons", "nv-fabricmanage\nnv-fabricmanage\n-- end --\n")
    assert found == {"driver.daemons": ("nv-fabricmanager",), "driver.persistence_socket": False}


@pytest.mark.parametrize(
    "answer", ["[]\n", "null\n", '{"nodes": []}\n', '{"nodes": "x", "status": "UP"}\n', "UP\n", ""]
)
def test_another_shape_is_no_domain(answer: str) -> None:
    assert {type(reading) for reading in output_readings("imex_domain", answer).values()} == {Unknown}


def test_a_node_that_one_other_does_not_reach_is_not_connected() -> None:
    def node(*states: str) -> dict[str, object]:
        links = {str(n): {"host": f"10.0.0.{n}", "status": word, "changed": False} for n, word in enumerate(states)}
        return {"status": "READY", "host": "10.0.0.1", "hostName": "N/A", "connections": links}

    up, broken = node("CONNECTED", "CONNECTED", "CONNECTED"), node("CONNECTED", "RECOVERING", "CONNECTED")
    found = output_readings(
        "imex_domain", json.dumps({"nodes": {"0": up, "1": broken, "2": up}, "status": "DEGRADED"}) + "\n"
    )
    assert [found[f"driver.imex.domain.{leaf}"] for leaf in ("state", "nodes", "ready", "connected")] == [
        "DEGRADED", 3, 3, 2,
    ]  # fmt: skip


def test_an_undocumented_word_is_no_state_of_the_daemon() -> None:
    assert isinstance(one(output_readings("imex_daemon", "OK\n")), Unknown)


def test_no_tool_and_no_daemon_is_no_imex_and_a_daemon_without_its_tool_is_not_known() -> None:
    assert isinstance(one(output_readings("imex_daemon", "none\n")), Absent)
    missing = output_readings("imex_daemon", "", 127, "nvidia-imex-ctl: not found, though the daemon runs\n")
    assert one(missing) == Unknown(Reason.TOOL_MISSING, "nvidia-imex-ctl: not found, though the daemon runs")


# Parameters of modules


def test_options_of_modules_that_are_none_of_ours_are_no_facts() -> None:
    content = 'options nvidia NVreg_RegistryDwords="A=1;B=0x2" NVreg_EnableMSI=1\noptions wifi password=x\n'
    found = file_readings("module_parameters", {"/etc/modprobe.d/nvidia.conf": content})
    assert found == {
        "kernel.modules.parameter": (),
        "kernel.modules.option": ("nvidia.NVreg_EnableMSI", "nvidia.NVreg_RegistryDwords"),
        'kernel.modules.option/"nvidia.NVreg_EnableMSI".value': "1",
        'kernel.modules.option/"nvidia.NVreg_RegistryDwords".value': "A=1;B=0x2",
    }


def test_the_last_of_duplicate_options_counts() -> None:
    content = "options mlx5_core prof_sel=2\noptions mlx5-core prof_sel=3\n"
    found = file_readings("module_parameters", {"/etc/modprobe.d/mlx5.conf": content})
    assert found['kernel.modules.option/"mlx5_core.prof_sel".value'] == "3"
