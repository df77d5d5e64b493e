"""AMD GPUs from public recordings, value for value; and the odd cases of their driver's files and tool."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from recordings import answering, facts, holding, os_probes, shared_text, tree

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown, Unreadable
from rackcheck.model.question import Read
from rackcheck.parse.host.gpu import amdsmi, kfd

PROBES = os_probes()
NODES = "/sys/class/kfd/kfd/topology/nodes"
MI100 = "amd/rocm-smi-mi100_rocm602.json"


def device(address: str) -> str:
    return f"/sys/bus/pci/drivers/amdgpu/{address}"


def gpus(*addresses: str, running: bool = True) -> dict[str, str]:
    """The files that identify GPUs."""
    files: dict[str, str] = {}
    for address in addresses:
        at = f"/sys/bus/pci/devices/{address}"
        files |= {f"{at}/vendor": "0x1002\n", f"{at}/class": "0x120000\n"}
        files |= {f"{device(address)}/vendor": "0x1002\n"} if running else {}
    return files


def readings_of(
    probe: str, files: Mapping[str, str], refused: Mapping[str, Unknown] | None = None
) -> dict[str, Reading]:
    return facts(PROBES[probe], holding(PROBES[probe], files, refused))


def topology(files: Mapping[str, str]) -> dict[str, Reading]:
    """The facts of both probes of the compute driver's topology."""
    return {**readings_of("amd_compute", files), **readings_of("amd_links", files)}


def of(address: str, leaf: str) -> str:
    return f'gpu.amd/"{address}".{leaf}'


# Topology, as recorded


def test_eight_recorded_mi210_are_in_two_hives_of_four() -> None:
    found = topology(tree("amd/kfd-topo-mi210-xgmi-pcie", "/sys/class/kfd/kfd/topology"))
    hives: dict[Reading, set[str]] = {}
    for path, reading in found.items():
        if path.endswith(".xgmi.hive"):
            hives.setdefault(reading, set()).add(path.split('"')[1])
    assert hives == {
        f"{12609507387757274807:016x}": {"0000:63:00.0", "0000:43:00.0", "0000:03:00.0", "0000:26:00.0"},
        f"{18091350218769748594:016x}": {"0000:e3:00.0", "0000:c3:00.0", "0000:83:00.0", "0000:a3:00.0"},
    }
    assert {reading for path, reading in found.items() if path.endswith(".xgmi.peers")} == {3}


def test_a_recorded_mi210_reaches_three_gpus_by_xgmi_and_four_by_pcie() -> None:
    found = topology(tree("amd/kfd-topo-mi210-xgmi-pcie", "/sys/class/kfd/kfd/topology"))
    peers = found[of("0000:e3:00.0", "peer")]
    assert peers == tuple(f"0000:{bus}:00.0" for bus in ("03", "26", "43", "63", "83", "a3", "c3"))
    near, far = (of("0000:e3:00.0", f'peer/"0000:{bus}:00.0"') for bus in ("c3", "63"))
    assert [found[f"{near}.{leaf}"] for leaf in ("type", "weight", "bandwidth", "bandwidth_min")] == [
        "xgmi", 15, 50.0, 50.0,
    ]  # fmt: skip
    assert [found[f"{far}.{leaf}"] for leaf in ("type", "weight")] == ["pcie", 72]
    assert isinstance(found[f"{far}.bandwidth"], Absent)
    assert [found[of("0000:e3:00.0", leaf)] for leaf in ("architecture", "compute_units", "compute_nodes")] == [
        "gfx90a", 104, 1,
    ]  # fmt: skip


def test_the_node_of_an_older_driver_reports_neither_domain_nor_instruction_set() -> None:
    found = topology(tree("amd/kfd-topology-parsing/topology", "/sys/class/kfd/kfd/topology"))
    at = "0000:19:00.0"
    # The source copied the one GPU to a second node: two nodes of one GPU, and no link between two GPUs.
    assert found[of(at, "compute_nodes")] == 2
    assert found[of(at, "compute_units")] == 128
    assert found[of(at, "peer")] == ()
    assert found[of(at, "xgmi.peers")] == 0
    assert isinstance(found[of(at, "architecture")], Absent)
    assert isinstance(found[of(at, "xgmi.hive")], Absent)


def test_a_gpu_that_the_compute_driver_does_not_know_has_no_nodes_in_it() -> None:
    found = topology(gpus("0000:05:00.0"))
    assert found[of("0000:05:00.0", "compute_nodes")] == 0
    assert isinstance(found[of("0000:05:00.0", "xgmi.peers")], Unknown)
    assert isinstance(found[of("0000:05:00.0", "peer")], Unknown)


@pytest.mark.parametrize(
    "content",
    ["simd_count 4\n", "simd_count 4\nlocation_id 5\nsimd_per_cu 0\n", "simd_count four\n", "simd_count 4 4\n", "a" * 200],
)  # fmt: skip
def test_a_node_of_another_shape_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        kfd.node(content)


def test_a_link_of_a_kind_that_we_do_not_know_is_called_by_its_number() -> None:
    assert kfd.link("type 7\nnode_from 1\nnode_to 2\nweight 3\n") == kfd.KfdLink(1, 2, "type 7", 3, 0, 0)


def test_a_link_that_may_not_be_read_makes_every_link_unknown_and_no_count_smaller() -> None:
    files = tree("amd/kfd-topo-mi210-xgmi-pcie", "/sys/class/kfd/kfd/topology")
    hidden = f"{NODES}/2/io_links/1/properties"
    del files[hidden]
    found = readings_of("amd_links", files, {hidden: Unknown(Reason.DENIED, "Operation not permitted")})
    assert {reading.reason for reading in found.values() if isinstance(reading, Unknown)} == {Reason.DENIED}
    assert not [path for path in found if path.endswith(".peers") and isinstance(found[path], int)]


# What recorded tools print, in the files that they read it from


def mi100() -> dict[str, str]:
    """The values of `rocm-smi -a --json`, in the driver's files."""
    files: dict[str, str] = {}
    for card in json.loads(shared_text(MI100)).values():
        if "PCI Bus" not in card:
            continue
        at = card["PCI Bus"].lower()
        shown = {
            "unique_id": f"{int(card['Unique ID'], 16):016x}",
            "vbios_version": card["VBIOS version"],
            "mem_info_vram_total": card["VRAM Total Memory (B)"],
            "mem_info_vram_used": card["VRAM Total Used Memory (B)"],
            "mem_info_vis_vram_total": card["VIS_VRAM Total Memory (B)"],
            "mem_info_vram_vendor": card["GPU memory vendor"],
            "gpu_busy_percent": card["GPU use (%)"],
            "pcie_replay_count": card["PCIe Replay Count"],
            "hwmon/hwmon4/temp1_label": "edge",
            "hwmon/hwmon4/temp1_input": f"{float(card['Temperature (Sensor edge) (C)']) * 1000:.0f}",
            "hwmon/hwmon4/temp2_label": "junction",
            "hwmon/hwmon4/temp2_input": f"{float(card['Temperature (Sensor junction) (C)']) * 1000:.0f}",
            "hwmon/hwmon4/temp3_label": "mem",
            "hwmon/hwmon4/temp3_input": f"{float(card['Temperature (Sensor memory) (C)']) * 1000:.0f}",
            "hwmon/hwmon4/power1_cap": f"{float(card['Max Graphics Package Power (W)']) * 1e6:.0f}",
            "hwmon/hwmon4/power1_average": f"{float(card['Average Graphics Package Power (W)']) * 1e6:.0f}",
        }
        files |= gpus(at) | {f"{device(at)}/{name}": f"{value}\n" for name, value in shown.items()}
    return files


def test_recorded_mi100_give_the_same_by_their_files_as_by_rocm_smi() -> None:
    at, files = "0000:83:00.0", mi100()
    found = {
        **readings_of("amd_gpu", files),
        **readings_of("amd_memory", files),
        **readings_of("amd_power", files),
        **readings_of("amd_thermal", files),
    }
    assert found["gpu.amd"] == tuple(sorted({path.split("/")[6] for path in files if "/amdgpu/" in path}))
    expected = {
        "driver": "amdgpu",
        "uuid": "79ccd55167a2124a",
        "vbios": "113-D3431401-101",
        "memory.total": 34342961152 / 2**30,
        "memory.used": 6750208 / 2**30,
        "memory.vendor": "samsung",
        "utilization.gpu": 0.0,
        "link.replays": 0,
        "temperature": 55.0,
        "temperature_edge": 53.0,
        "temperature_memory": 53.0,
        "power.limit": 290.0,
        "power.average": 36.0,
    }
    assert {leaf: found[of(at, leaf)] for leaf in expected} == expected
    for leaf in ("serial", "name", "power.draw", "temperature_slowdown"):
        assert isinstance(found[of(at, leaf)], Absent), leaf


def test_the_recorded_table_of_firmware_is_read_block_by_block() -> None:
    table = re.findall(
        r"^(\w+) feature version: \d+, firmware version: (0x[0-9a-f]{8})$",
        shared_text("amd/amdgpu_firmware_info.txt"),
        re.MULTILINE,
    )
    at = "0000:05:00.0"
    files = {f"{device(at)}/fw_version/{name.lower()}_fw_version": f"{version}\n" for name, version in table}
    found = readings_of("amd_firmware", gpus(at) | files)
    assert len(table) == 14
    assert found == {
        of(at, "firmware"): tuple(sorted((name.lower() for name, _ in table), key=lambda n: (re.sub(r"\d", "", n), n))),
        **{of(at, f"firmware/{name.lower()}.version"): version for name, version in table},
    }


def of_text(text: str) -> list[dict[str, Any]]:
    """The text output of `amd-smi static` in the form of `--json`: lower keys, separate units, lists of policies."""
    found: list[dict[str, Any]] = []
    for block in re.split(r"\n(?=GPU: )", text)[1:]:
        gpu: dict[str, Any] = {}
        parents: list[tuple[int, dict[str, Any]]] = [(-1, gpu)]
        for row in block.splitlines():
            match = re.fullmatch(r"( *)([A-Z][A-Z0-9_ ]*): ?(.*)", row)
            if match is None:
                continue
            depth, key, value = len(match[1]), match[2].lower(), match[3]
            while parents[-1][0] >= depth:
                parents.pop()
            into = parents[-1][1]
            if not value:
                into[key] = {}
                parents.append((depth, into[key]))
            elif key in {"policy_id", "policy_description"}:
                rows = into.setdefault("rows", [])
                rows.append({}) if key == "policy_id" else None
                rows[-1][key] = int(value) if key == "policy_id" else value
            else:
                number = re.fullmatch(r"(-?\d+)(?: (.+))?", value)
                into[key] = (
                    value
                    if number is None
                    else {"value": int(number[1]), "unit": number[2]}
                    if number[2]
                    else int(value)
                )
        gpu["xgmi_plpd"]["plpds"] = gpu["xgmi_plpd"]["plpds"]["rows"]
        found.append(gpu)
    return found


@pytest.mark.parametrize("whole", [False, True])
def test_four_recorded_mi300a_are_read_in_either_form_of_the_tool(whole: bool) -> None:
    listed: Any = of_text(shared_text("amd/amd-smi-static-mi300a.txt"))
    answer = json.dumps({"gpu_data": listed} if whole else listed, indent=4) + "\n"
    found = facts(PROBES["amd_smi"], answering(PROBES["amd_smi"], answer))
    serials = {0: "0x7E8F7E20764E2714", 1: "0xB6AE7C8CEFE1F084"}
    for index, serial in serials.items():
        at = f"{index:04x}:01:00.0"
        expected = {
            "index": index,
            "market_name": "MI300A",
            "asic_serial": serial,
            "module": index,
            "ecc.poison": "ENABLED",
            "ecc.blocks_enabled": ("gfx", "mmhub", "sdma"),
            "xgmi.policy": "plpd_default",
        }
        assert {leaf: found[of(at, leaf)] for leaf in expected} == expected
        assert isinstance(found[of(at, "process_isolation")], Absent)
        assert isinstance(found[of(at, "bad_pages.threshold")], Absent)
    assert len([path for path in found if path.endswith(".market_name")]) == 4


def test_parts_of_a_divided_gpu_are_no_gpus_of_their_own() -> None:
    listed = [{"gpu": n, "bus": {"bdf": f"0000:05:00.{n}"}, "asic": {"oam_id": 1}} for n in range(8)]
    found = facts(PROBES["amd_smi"], answering(PROBES["amd_smi"], json.dumps(listed) + "\n"))
    assert {path.split('"')[1] for path in found} == {"0000:05:00.0"}


@pytest.mark.parametrize(
    "answer",
    ["", "{}\n", "[1]\n", "[" * 100_000 + "\n", '[{"gpu": 0}]\n', '[{"gpu": 0, "bus": {"bdf": "N/A"}}]\n', "WARNING: x\n"],
)  # fmt: skip
def test_what_is_not_a_list_of_gpus_is_unparsable(answer: str) -> None:
    found = facts(PROBES["amd_smi"], answering(PROBES["amd_smi"], answer))
    assert {reading.reason for reading in found.values() if isinstance(reading, Unknown)} == {Reason.UNPARSABLE}


def test_a_value_of_another_type_costs_its_own_fact_only() -> None:
    gpu = {
        "gpu": 0,
        "bus": {"bdf": "0000:05:00.0"},
        "asic": {"oam_id": "two", "market_name": [1], "asic_serial": "0x1"},
    }
    found = facts(PROBES["amd_smi"], answering(PROBES["amd_smi"], json.dumps([gpu]) + "\n"))
    assert found[of("0000:05:00.0", "asic_serial")] == "0x1"
    assert isinstance(found[of("0000:05:00.0", "module")], Unknown)
    assert isinstance(found[of("0000:05:00.0", "market_name")], Unknown)


def test_more_gpus_than_any_node_has_are_refused() -> None:
    with pytest.raises(Unreadable, match="257 GPUs"):
        amdsmi.gpus(json.dumps([{"gpu": n} for n in range(257)]))


# Odd cases of the driver's files


def test_a_gpu_that_no_driver_runs_is_counted_and_nothing_else_of_it_is_known() -> None:
    files = gpus("0000:05:00.0", "0000:26:00.0", running=False) | gpus("0000:05:00.0")
    for probe in ("amd_gpu", "amd_memory", "amd_modes", "amd_power", "amd_thermal", "amd_ras", "amd_bad_pages"):
        found = readings_of(probe, files)
        lost = {path: reading for path, reading in found.items() if "26:00.0" in path and not path.endswith(".driver")}
        assert lost, probe
        assert all(isinstance(r, Unknown) and r.reason is Reason.NOT_READY for r in lost.values()), probe
    assert readings_of("amd_gpu", files)["gpu.amd"] == ("0000:05:00.0", "0000:26:00.0")


@pytest.mark.parametrize(("vendor", "kind"), [("0x10de", "0x030200"), ("0x1002", "0x040300"), ("0x1002", "0x060400")])
def test_what_is_no_gpu_of_amd_is_not_counted(vendor: str, kind: str) -> None:
    at = "/sys/bus/pci/devices/0000:05:00.1"
    assert readings_of("amd_gpu", {f"{at}/vendor": f"{vendor}\n", f"{at}/class": f"{kind}\n"})["gpu.amd"] == ()


def test_a_bus_that_may_not_be_read_is_not_an_empty_one() -> None:
    probe = PROBES["amd_gpu"]
    assert isinstance(probe.ask, Read)
    denied = Unknown(Reason.DENIED, "Permission denied")
    found = facts(probe, NodeCapture(globs=dict.fromkeys(probe.ask.globs, denied)))
    assert found["gpu.amd"] == denied


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Query currently inaccessible\n", Reason.NOT_READY),
        ("ue: 0\n", Reason.UNPARSABLE),
        ("ue: 0\nce: -\n", Reason.UNPARSABLE),
        ("ue: 0\nce: 1", Reason.UNPARSABLE),
        ("hw: 0\n", Reason.UNPARSABLE),
        ("", Reason.UNPARSABLE),
    ],
)
def test_an_unreadable_block_makes_the_sum_unknown(content: str, reason: Reason) -> None:
    at = "0000:05:00.0"
    counts = {f"{device(at)}/ras/umc_err_count": content, f"{device(at)}/ras/gfx_err_count": "ue: 0\nce: 0\n"}
    found = readings_of("amd_ras", gpus(at) | counts)
    for path in (of(at, "ecc.uncorrected"), of(at, "ecc.block/umc.uncorrected")):
        reading = found[path]
        assert isinstance(reading, Unknown), path
        assert reading.reason is reason
    assert found[of(at, "ecc.block/gfx.uncorrected")] == 0


def test_the_file_that_is_cleared_by_who_reads_it_is_not_read() -> None:
    globs = {
        glob
        for name, probe in PROBES.items()
        if name.startswith("amd_") and isinstance(probe.ask, Read)
        for glob in probe.ask.globs
    }
    assert not [glob for glob in globs if glob.endswith("xgmi_error")]
    assert len(globs) > 40


def test_a_gpu_with_two_sets_of_sensors_reports_neither() -> None:
    at = "0000:05:00.0"
    files = {f"{device(at)}/hwmon/hwmon{n}/power1_cap": "750000000\n" for n in (4, 5)}
    reading = readings_of("amd_power", gpus(at) | files)[of(at, "power.limit")]
    assert reading == Unknown(Reason.NOT_COLLECTED, "the GPU has 2 sensor folders, expected 1")


def test_labels_decide_which_sensor_is_which() -> None:
    at = "0000:05:00.0"
    shown = {"temp1_label": "mem", "temp1_input": "38000", "temp2_label": "junction", "temp2_input": "45000"}
    found = readings_of(
        "amd_thermal", gpus(at) | {f"{device(at)}/hwmon/hwmon0/{n}": f"{v}\n" for n, v in shown.items()}
    )
    assert (found[of(at, "temperature_memory")], found[of(at, "temperature")]) == (38.0, 45.0)
    assert isinstance(found[of(at, "temperature_edge")], Absent)


def test_what_moves_by_itself_is_no_configuration() -> None:
    volatile = {"used", "draw", "average", "gpu", "memory", "temperature", "temperature_memory", "temperature_edge"}
    for name in ("amd_memory", "amd_power", "amd_thermal", "amd_ras"):
        for pattern, kind in PROBES[name].gives.items():
            leaf = pattern.rpartition(".")[2]
            if leaf in volatile or (".ecc." in pattern and kind.type.value == "integer"):
                assert kind.cls in {Class.MEASUREMENT, Class.COUNTER}, pattern
