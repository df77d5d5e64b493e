"""Tools for accelerators of AMD and Intel: the commands that run, and what their outputs prove."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from joined import TOOLS, joined
from tool_answers import (
    GOOD,
    HL_QUAL,
    ROCBLAS,
    RVS,
    RVS_ACTIONS,
    RVS_POWER,
    TRANSFERBENCH,
    amd_counters,
    record,
)

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.parse.burnin.plan import TOOLS as PLANNED
from rackcheck.parse.burnin.tools import every

tools = joined(*TOOLS)
Records = list[dict[str, Any]]
MI300X, GAUDI2, GAUDI3 = ("0x1002", "0x74a1"), ("0x1da3", "0x1020"), ("0x1da3", "0x1060")


def put(file: Path, script: str = "") -> Path:
    """Put an executable at this path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def node(root: Path, *devices: tuple[str, str]) -> str:
    """Write a node with these accelerators on its PCI bus."""
    for number, (vendor, device) in enumerate(devices):
        place = root / f"sys/bus/pci/devices/0000:{number:02x}:00.0"
        place.mkdir(parents=True)
        for name, text in (("vendor", vendor), ("device", device), ("class", "0x120000")):
            (place / name).write_text(text + "\n")
    return str(root)


def run(names: list[str], folder: Path, root: str) -> Records:
    """Run tools as a payload does."""
    rows: Records = []
    begun = time.monotonic()

    def emit(kind: str, **fields: Any) -> None:
        rows.append(json.loads(json.dumps({"k": kind, **fields})))

    tools.run_tools(names, emit, lambda: time.monotonic() - begun, threading.Event(), 3600.0, root, [str(folder)])
    return rows


def facts(*records: Mapping[str, Any]) -> dict[str, Reading]:
    return dict(every.facts(records))


def untested(reading: Reading) -> bool:
    return isinstance(reading, Unknown) and reading.reason is Reason.NOT_TESTED


def conf(tmp_path: Path, folder: str, name: str, text: str = "actions:\n- name: a-1\n  module: gst\n") -> Path:
    """Write a configuration of rvs where its package has it."""
    file = tmp_path / "rocm/share/rocm-validation-suite/conf" / folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


# ---- commands --------------------------------------------------------------------------------------------------------


def test_each_tool_of_a_plan_is_known_on_the_node() -> None:
    assert set(PLANNED) - {"cublas"} == set(tools.TOOLS)


def test_rvs_runs_the_configurations_of_the_gpus_model_and_reports_their_actions(tmp_path: Path) -> None:
    exe = put(tmp_path / "rocm/bin/rvs", 'case $1 in --version) echo 1.2.0;; *) echo "$@";; esac')
    rate = conf(tmp_path, "MI300X", "gst_single.conf", "actions:\n- name: a-1\n  name: no\n-  name: b_2  \n")
    power = conf(tmp_path, "MI300X", "iet_stress.conf", "- name: power\n")
    conf(tmp_path, "MI325X", "gst_single.conf")
    found = run(["rvs"], exe.parent, node(tmp_path, MI300X, MI300X))
    assert [each["argv"] for each in found] == [[str(exe), "-c", str(rate)], [str(exe), "-c", str(power)]]
    assert [(each["of"], each["asked"]) for each in found] == [
        ("conf/gst_single", ["a-1", "b_2"]),
        ("conf/iet_stress", ["power"]),
    ]
    assert found[0]["version"] == "1.2.0"


def test_rvs_runs_in_a_guest_that_sees_virtual_functions(tmp_path: Path) -> None:
    exe = put(tmp_path / "rocm/bin/rvs", "echo")
    conf(tmp_path, "MI300X", "gst_single.conf")
    (found,) = run(["rvs"], exe.parent, node(tmp_path, ("0x1002", "0x74b5")))
    assert found["status"] == 0


def test_more_actions_than_a_configuration_can_have_are_too_large() -> None:
    found = facts({**GOOD["rvs"], "asked": [f"a{n}" for n in range(5000)]})["burnin.rvs.action"]
    assert isinstance(found, Unknown)
    assert found.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("devices", [[], [("0x1002", "0x66a1")], [MI300X, ("0x1002", "0x74a5")], [GAUDI2]])
def test_rvs_runs_no_configuration_of_another_model(devices: list[tuple[str, str]], tmp_path: Path) -> None:
    exe = put(tmp_path / "rocm/bin/rvs", "exit 7")
    conf(tmp_path, "MI300X", "gst_single.conf")
    conf(tmp_path, "", "gst_single.conf")
    (found,) = run(["rvs"], exe.parent, node(tmp_path, *devices))
    assert found["why"] == "unsupported: this node has nothing for it to test"


def test_a_configuration_that_every_user_may_change_is_not_run(tmp_path: Path) -> None:
    exe = put(tmp_path / "rocm/bin/rvs", "exit 7")
    conf(tmp_path, "MI300X", "gst_single.conf").chmod(0o666)
    (found,) = run(["rvs"], exe.parent, node(tmp_path, MI300X))
    assert found["status"] is None


def test_rocblas_bench_runs_on_each_gpu_and_transferbench_once(tmp_path: Path) -> None:
    for name in ("rocblas-bench", "TransferBench"):
        put(tmp_path / "bin" / name, 'echo "$@"')
    found = run(["rocblas-bench", "transferbench"], tmp_path / "bin", node(tmp_path, MI300X, MI300X))
    assert [each["of"] for each in found] == ["gpu/0", "gpu/1", "node"]
    assert found[1]["out"] == f"{tools.GEMM} --device 1\n"
    assert found[2]["out"] == "p2p\n"


def test_amd_smi_is_asked_before_all_tools_and_after_them(tmp_path: Path) -> None:
    put(tmp_path / "bin/amd-smi", f"[ $1 = version ] || {{ echo x >> {tmp_path}/asked; wc -l < {tmp_path}/asked; }}")
    put(tmp_path / "bin/rocblas-bench", f"[ $1 = --version ] || cat {tmp_path}/asked")
    found = run(["amd-smi", "rocblas-bench"], tmp_path / "bin", node(tmp_path, MI300X))
    assert [each["name"] for each in found] == ["rocblas-bench", "amd-smi"]
    assert found[0]["out"] == "x\n"
    assert (found[1]["before"].strip(), found[1]["out"].strip()) == ("1", "2")
    assert found[1]["argv"][1:] == ["metric", "--ecc", "--pcie", "--json"]


def test_counters_that_could_not_be_read_before_the_tools_are_no_counters(tmp_path: Path) -> None:
    put(tmp_path / "bin/amd-smi", f"[ -e {tmp_path}/once ] && echo '{{}}' || {{ touch {tmp_path}/once; exit 3; }}")
    (found,) = run(["amd-smi"], tmp_path / "bin", node(tmp_path, MI300X))
    assert found["status"] == 3
    assert "before" not in found


@pytest.mark.parametrize(("device", "model"), [(GAUDI2, "gaudi2"), (GAUDI3, "gaudi3")])
def test_hl_qual_of_the_model_runs_in_its_own_folder(device: tuple[str, str], model: str, tmp_path: Path) -> None:
    for name in ("gaudi2", "gaudi3"):
        put(tmp_path / "qual" / name / "bin/hl_qual", 'pwd; echo "$@"; echo $HABANA_LOGS')
    (found,) = run(["hl_qual"], tmp_path / "qual/gaudi3/bin", node(tmp_path, device, device))
    folder, words, logs = found["out"].splitlines()
    assert (folder, logs) == (str(tmp_path / "qual" / model / "bin"), "/var/log/habana_logs")
    assert words == f"-{model} -c all -rmod parallel -dis_mon -f2 -l extreme -t 120"


@pytest.mark.parametrize("name", ["rvs", "transferbench", "rocblas-bench", "amd-smi", "hl_qual"])
def test_a_tool_runs_nothing_on_a_node_without_its_accelerators(name: str, tmp_path: Path) -> None:
    exe = put(tmp_path / "bin" / tools.TOOLS[name].command, f"[ $# -gt 1 ] && touch {tmp_path}/ran")
    (found,) = run([name], exe.parent, node(tmp_path, ("0x10de", "0x2330")))
    assert found["why"] == "unsupported: this node has nothing for it to test"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["rvs", "transferbench", "rocblas-bench", "amd-smi", "hl_qual"])
def test_a_missing_tool_is_not_tested(name: str, tmp_path: Path) -> None:
    (found,) = run([name], tmp_path / "none", node(tmp_path, MI300X))
    assert found["why"] == "tool missing"


@pytest.mark.parametrize(("file", "text"), [("queues/0/size", "4096"), ("vram_28851", "1048576")])
@pytest.mark.parametrize("name", ["rvs", "transferbench", "rocblas-bench"])
def test_gpus_that_another_process_computes_on_are_not_loaded(name: str, file: str, text: str, tmp_path: Path) -> None:
    exe = put(tmp_path / "rocm/bin" / tools.TOOLS[name].command, f"[ $# -gt 1 ] && touch {tmp_path}/ran")
    conf(tmp_path, "MI300X", "gst_single.conf")
    used = tmp_path / "sys/class/kfd/kfd/proc/4711" / file
    used.parent.mkdir(parents=True)
    used.write_text(text)
    (tmp_path / "proc/4711").mkdir(parents=True)
    (tmp_path / "proc/4711/comm").write_text("python3\n")
    (found,) = run([name], exe.parent, node(tmp_path, MI300X))
    assert found["why"] == "foreign process: pid 4711 (python3)"
    assert not (tmp_path / "ran").exists()
    assert untested(next(iter(value for path, value in facts(found).items() if not path.startswith("burnin.tool"))))


def test_a_process_that_ended_or_only_looks_at_the_gpus_does_not_keep_them(tmp_path: Path) -> None:
    put(tmp_path / "bin/TransferBench", "echo ran")
    ended, looks = (tmp_path / f"sys/class/kfd/kfd/proc/{pid}" for pid in (4711, 4712))
    (ended / "queues/0").mkdir(parents=True)
    looks.mkdir(parents=True)
    (looks / "vram_28851").write_text("0\n")
    (tmp_path / "proc/4712").mkdir(parents=True)
    (tmp_path / "proc/4712/comm").write_text("exporter\n")
    (found,) = run(["transferbench"], tmp_path / "bin", node(tmp_path, MI300X))
    assert found["out"] == "ran\n"


# ---- rvs -------------------------------------------------------------------------------------------------------------

AT = f"burnin.rvs.action/{RVS_ACTIONS[0]}"


def test_rvs_reports_a_verdict_a_rate_and_a_power_for_each_gpu() -> None:
    found = facts(GOOD["rvs"], GOOD["rvs of power"])
    assert found["burnin.rvs.action"] == (*RVS_ACTIONS, "iet-620W-1K-rand-dgemm")
    assert found[f"{AT}.result"] == "pass"
    assert found[f"{AT}.gpu"] == ("28851", "23018")
    assert found[f"{AT}.gpu/28851.rate"] == 1.687129e15
    assert isinstance(found[f"{AT}.gpu/28851.power"], Absent)
    power = "burnin.rvs.action/iet-620W-1K-rand-dgemm"
    assert (found[f"{power}.result"], found[f"{power}.gpu/28851.power"]) == ("pass", 704.0)


def test_an_action_without_a_target_has_a_rate_and_no_verdict() -> None:
    found = facts(GOOD["rvs"])
    at = f"burnin.rvs.action/{RVS_ACTIONS[1]}"
    assert isinstance(found[f"{at}.result"], Absent)
    assert found[f"{at}.gpu/23018.rate"] == 9.0005e13


def test_a_gpu_that_misses_its_target_fails_and_the_other_does_not() -> None:
    slow = RVS.replace(
        "GFLOPS 1655300 Target GFLOPS: 1215000 met: TRUE", "GFLOPS 655300 Target GFLOPS: 1215000 met: FALSE"
    )
    found = facts({**GOOD["rvs"], "out": slow, "status": 1})
    assert [found[f"{AT}.gpu/{gpu}.result"] for gpu in (28851, 23018)] == ["pass", "fail"]
    assert found[f"{AT}.result"] == "fail"
    weak = facts({**GOOD["rvs of power"], "out": RVS_POWER.replace("23018] pass: TRUE", "23018] pass: FALSE")})
    assert weak["burnin.rvs.action/iet-620W-1K-rand-dgemm.result"] == "fail"


@pytest.mark.parametrize(
    "out",
    [
        "\n".join(line for line in RVS.splitlines() if "23018] GFLOPS 1655300" not in line),  # a GPU without a verdict
        "\n".join(line for line in RVS.splitlines() if RVS_ACTIONS[1] not in line),  # an action that did not run
        RVS + "[ERROR ] [1102134.2] [gst-free-fp64] gst 23018 memory/blas error!\n",
        RVS + f"[RESULT] [1102134.2] [{RVS_ACTIONS[0]}] [GPU:: 23018] self check error 0.0312500000\n",
        RVS.replace("1655300 Target GFLOPS: 1215000 met: TRUE", "655300 Target GFLOPS: 1215000 met: TRUE"),
        RVS.replace("1655300 Target GFLOPS: 1215000 met: TRUE", "1655300 Target GFLOPS: 1215000 met: FALSE"),
    ],
)
def test_incomplete_or_contradictory_output_of_rvs_is_no_pass(out: str) -> None:
    found = facts({**GOOD["rvs"], "out": out})
    assert found[f"{AT}.result"] != "pass"
    assert isinstance(found[f"{AT}.result"], Unknown)


def test_without_the_list_of_actions_nothing_of_rvs_counts() -> None:
    bare = {name: value for name, value in GOOD["rvs"].items() if name != "asked"}
    assert untested(facts(bare)["burnin.rvs.action"])


# ---- TransferBench ---------------------------------------------------------------------------------------------------


def test_transferbench_reports_the_rate_of_each_pair_and_the_means_between_gpus() -> None:
    found = facts(GOOD["transferbench"])
    at = "burnin.transferbench"
    assert found[f"{at}.verified"] == "pass"
    assert found[f"{at}.pair/cpu1:gpu0.rate"] == 44.74e9
    assert found[f"{at}.pair/gpu0:gpu1.rate"] == 57.39e9
    assert f"{at}.pair/gpu0:gpu0.rate" not in found  # a copy within one memory
    assert [found[f"{at}.{leaf}"] for leaf in ("to_gpu", "from_gpu", "peer")] == [44.74e9, 55.47e9, 57.39e9]
    assert (found[f"{at}.peer_mean"], found[f"{at}.both_mean"]) == (57.4e9, 54.6525e9)


def test_a_copy_that_arrived_wrong_fails_whatever_the_exit_status() -> None:
    wrong = "[ERROR] Transfer 0: Unexpected mismatch at index 0 of destination 0 on rank 0: Expected 31.0 Actual: 0.0\n"
    for status in (0, 1):
        found = facts({**GOOD["transferbench"], "out": TRANSFERBENCH[:900] + wrong, "status": status})
        assert found["burnin.transferbench.verified"] == "fail"
        assert untested(found["burnin.transferbench.peer_mean"])


@pytest.mark.parametrize(
    "change",
    [
        lambda out: out.replace("GPU 01  ->     55.59", "GPU 02  ->     55.59"),
        lambda out: out.replace("  GPU 00  ->     55.47     55.54      2132.28     57.39\n", ""),
        lambda out: out.replace("2132.28     57.39", "2132.28     37.39"),  # not the mean that is printed
        lambda out: out.replace("55.66        57.41", "55.66"),
        lambda out: out + out,
        lambda out: out.replace("Bidirectional copy", "Bidirectional"),
        lambda out: out.replace("57.39", "5e9"),
    ],
)
def test_a_table_of_transferbench_that_is_not_whole_is_no_pass(change: Callable[[str], str]) -> None:
    found = facts({**GOOD["transferbench"], "out": change(TRANSFERBENCH)})
    assert isinstance(found["burnin.transferbench.verified"], Unknown)
    assert isinstance(found["burnin.transferbench.peer_mean"], Unknown)


# ---- rocblas-bench, amd-smi, hl_qual ---------------------------------------------------------------------------------


def test_rocblas_bench_reports_the_rate_of_the_expected_product_only() -> None:
    at = "burnin.rocblas.gpu/0.rate"
    assert facts(GOOD["rocblas-bench"])[at] == 9.63124e13
    for out in (
        ROCBLAS.replace("N,T,4000", "N,T,400"),
        ROCBLAS.replace("rocblas-Gflops,us", "rocblas-Gflops"),
        ROCBLAS * 2,
    ):
        assert isinstance(facts({**GOOD["rocblas-bench"], "out": out})[at], Unknown)


def counted(before: str, after: str) -> dict[str, Reading]:
    return facts(record("amd-smi", after, before=before))


@pytest.mark.parametrize("listed", [True, False])
def test_counters_are_what_they_rose_by(listed: bool) -> None:
    before = amd_counters({}, {"total_uncorrectable_count": 7}, listed=listed)
    after = amd_counters(
        {"total_correctable_count": 6, "replay_count": 2}, {"total_uncorrectable_count": 8}, listed=listed
    )
    found = counted(before, after)
    at = "burnin.amd_counters.gpu"
    assert found[at] == ("0", "1")
    assert [found[f"{at}/0.{leaf}"] for leaf in ("corrected", "uncorrected", "deferred", "replays")] == [2, 0, 0, 2]
    assert found[f"{at}/1.uncorrected"] == 1


def test_a_counter_that_the_driver_lacks_is_unknown_or_absent_and_never_zero() -> None:
    some = amd_counters({"total_uncorrectable_count": "N/A", "total_deferred_count": "N/A", "replay_count": "N/A"})
    found = counted(some, some)
    assert untested(found["burnin.amd_counters.gpu/0.uncorrected"])
    assert isinstance(found["burnin.amd_counters.gpu/0.deferred"], Absent)
    assert isinstance(found["burnin.amd_counters.gpu/0.replays"], Absent)


def test_a_counter_that_fell_and_a_gpu_that_is_gone_are_unknown() -> None:
    fell = counted(amd_counters({"total_uncorrectable_count": 3}), amd_counters({}))
    assert untested(fell["burnin.amd_counters.gpu/0.uncorrected"])
    assert isinstance(counted(amd_counters({}, {}), amd_counters({}))["burnin.amd_counters.gpu"], Unknown)


@pytest.mark.parametrize(
    ("out", "status", "expected"),
    [
        (HL_QUAL, 0, "pass"),
        (HL_QUAL.replace("PASSED", "FAILED"), 0, "fail"),
        (HL_QUAL.replace("PASSED", "FAILED"), 1, "fail"),
        (HL_QUAL, 1, None),
        (HL_QUAL + HL_QUAL, 0, None),
        ("device 3: FAILED\n" + HL_QUAL, 0, None),
        (HL_QUAL.replace("PASSED", "PASSED?"), 0, None),
        ("PASSED\n", 0, None),
        ("", 0, None),
    ],
)
def test_hl_qual_passes_only_by_the_line_after_its_report(out: str, status: int, expected: str | None) -> None:
    found = facts(record("hl_qual", out, status=status))["burnin.hl_qual.result"]
    assert found == expected if expected else isinstance(found, Unknown)
