"""Accelerators without kernels: found on the PCI bus without a driver, and not tested until a tool tested them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from burn_racks import capture, job, tree
from joined import joined
from tool_answers import GOOD, record

from rackcheck.evaluate.verdict import judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Reading, Unknown

node = joined("node_files", "node_accelerators")
MI300X = {"vendor": "0x1002", "device": "0x74a1", "class": "0x120000"}


def bus(root: Path, **devices: Mapping[str, str]) -> str:
    """Write a PCI bus of devices, by address with underscores: a0000_05_00_0."""
    folder = root / "sys/bus/pci/devices"
    folder.mkdir(parents=True)
    for name, files in devices.items():
        domain, number, slot, function = name[1:].split("_")
        place = folder / f"{domain}:{number}:{slot}.{function}"
        place.mkdir()
        for file, text in files.items():
            (place / file).write_text(text + "\n")
    return str(root)


def test_accelerators_of_other_makers_are_listed_by_address(tmp_path: Path) -> None:
    gaudi = {"vendor": "0x1da3", "device": "0x1020", "class": "0x120000"}
    ponte_vecchio = {"vendor": "0x8086", "device": "0x0bd5", "class": "0x038000"}
    mi210 = {"vendor": "0x1002", "device": "0x740f", "class": "0x038000"}
    root = bus(tmp_path, a0000_05_00_0=MI300X, a0000_26_00_0=gaudi, a0000_46_00_0=ponte_vecchio, a0001_01_00_0=mi210)
    assert node.node_accelerators(root) == {
        "0000:05:00.0": {"maker": "AMD", "device": "0x74a1"},
        "0000:26:00.0": {"maker": "Intel Gaudi", "device": "0x1020"},
        "0000:46:00.0": {"maker": "Intel", "device": "0x0bd5"},
        "0001:01:00.0": {"maker": "AMD", "device": "0x740f"},
    }


@pytest.mark.parametrize(
    ("address", "device"),
    [
        ("a0000_05_00_0", {"vendor": "0x10de", "device": "0x2330", "class": "0x030200"}),  # NVML and CUDA test it
        ("a0000_03_00_0", {"vendor": "0x1a03", "device": "0x2000", "class": "0x030000"}),  # the BMC's VGA
        ("a0000_00_02_0", {"vendor": "0x8086", "device": "0x4c8a", "class": "0x038000"}),  # a processor's graphics
        ("a0000_00_0b_0", {"vendor": "0x8086", "device": "0x7d1d", "class": "0x120000"}),  # a laptop's NPU
        ("a0000_c5_00_0", {"vendor": "0x1002", "device": "0x164e", "class": "0x030000", "boot_vga": "1"}),
        ("a0000_05_00_1", {"vendor": "0x1002", "device": "0xab38", "class": "0x040300"}),  # sound
        ("a0000_05_02_0", {**MI300X, "device": "0x74b5", "physfn": ""}),  # a virtual function
    ],
)
def test_what_is_no_accelerator_or_has_kernels_is_not_listed(
    address: str, device: Mapping[str, str], tmp_path: Path
) -> None:
    assert node.node_accelerators(bus(tmp_path, **{address: device})) == {}


def test_a_bus_that_cannot_be_read_is_not_an_empty_bus(tmp_path: Path) -> None:
    assert node.node_accelerators(str(tmp_path)) is None
    (tmp_path / "sys/bus").mkdir(parents=True)
    assert node.node_accelerators(str(tmp_path)) == {}  # a machine without PCI
    root = bus(tmp_path, a0000_05_00_0={"vendor": "0x1002", "device": "0x74a1"})
    assert node.node_accelerators(root) is None


CLEAN = capture(1, 7)
EIGHT = {f"0000:{bus:02x}:00.0": {"maker": "AMD", "device": "0x74a1"} for bus in range(8)}
Records = Sequence[Mapping[str, Any]]


def records(accelerators: object, *more: Mapping[str, Any]) -> Records:
    """The records of a clean burn-in of a node with these accelerators on its bus, and further records."""
    found = [{**r, "accelerators": accelerators} if "accelerators" in r else r for r in CLEAN.records]
    return [*found[:-1], *more, found[-1]]


def readings(found: Records) -> Mapping[str, Reading]:
    leaves = tree(1, 1, BurnCapture(tuple(found))).leaves
    return {path: leaf.reading for path, leaf in leaves.items() if path.startswith("burnin.accelerator")}


def verdict(found: Records) -> Status:
    profile = job(1).profile
    assert profile is not None
    rules = [rule for rule in profile.own if rule.id == "burnin.gpus_tested"]
    verdicts = judge(rules, tree(1, 1, BurnCapture(tuple(found))))
    return next(each.status for each in verdicts if each.rule == "burnin.gpus_tested")


def test_eight_gpus_without_kernels_are_not_tested_and_neither_passed_nor_not_applicable() -> None:
    found = records(EIGHT)
    assert verdict(found) is Status.UNKNOWN
    tested = readings(found)['burnin.accelerator/"0000:03:00.0".tested']
    assert isinstance(tested, Unknown)
    assert tested.detail == "rackcheck has no kernels for accelerators of AMD, and no tool tested this one"


def test_a_node_without_such_accelerators_is_not_concerned() -> None:
    assert verdict(records({})) is Status.NA


@pytest.mark.parametrize("unread", [None, 7, [], {"0000:05:00.0": "AMD"}, {"x": {"maker": "AMD", "device": ""}}])
def test_a_bus_that_was_not_reported_is_unknown(unread: object) -> None:
    found = records(unread)
    assert isinstance(readings(found)["burnin.accelerator"], Unknown)
    assert verdict(found) is Status.UNKNOWN


def test_a_burn_in_that_does_not_report_its_bus_is_unknown() -> None:
    found = [{key: value for key, value in each.items() if key != "accelerators"} for each in CLEAN.records]
    assert verdict(found) is Status.UNKNOWN


RVS = {"k": "tool", "t": 20.0, **GOOD["rvs"]}
TWO = dict(list(EIGHT.items())[:2])


def test_gpus_on_which_rvs_gave_a_verdict_are_tested() -> None:
    assert verdict(records(TWO, RVS)) is Status.PASS
    failed = RVS["out"].replace("met: TRUE", "met: FALSE").replace("GFLOPS 16", "GFLOPS 6")
    found = records(TWO, {**RVS, "out": failed})
    assert readings(found)['burnin.accelerator/"0000:01:00.0".tested'] is True  # tested, with a bad result


@pytest.mark.parametrize(
    "more",
    [
        {**RVS, "status": None, "why": "tool missing", "out": ""},
        {**RVS, "status": 1},
        {**RVS, "out": RVS["out"] + "[ERROR ] [1102134.1] hip error\n"},
        {**RVS, "asked": [*RVS["asked"], "gst-2nd"]},
        {"k": "tool", "t": 20.0, **GOOD["hl_qual"]},
        {"k": "tool", "t": 20.0, **GOOD["rocblas-bench"]},
    ],
)
def test_a_tool_without_a_verdict_on_the_gpus_leaves_them_untested(more: Mapping[str, Any]) -> None:
    assert verdict(records(TWO, more)) is Status.UNKNOWN


def test_a_gpu_that_rvs_does_not_name_leaves_all_untested() -> None:
    found = records(dict(list(EIGHT.items())[:3]), RVS)
    assert verdict(found) is Status.UNKNOWN
    tested = readings(found)['burnin.accelerator/"0000:00:00.0".tested']
    assert isinstance(tested, Unknown)
    assert tested.detail == "rvs gave a verdict on 2 GPUs, the PCI bus has 3"


@pytest.mark.parametrize(("word", "status"), [("PASSED", Status.PASS), ("FAILED", Status.PASS), ("", Status.UNKNOWN)])
def test_gaudi_with_a_verdict_of_hl_qual_are_tested(word: str, status: Status) -> None:
    gaudi = {"0000:05:00.0": {"maker": "Intel Gaudi", "device": "0x1020"}}
    more = record("hl_qual", f"==== hl qual report ====\n{word}\n")
    assert verdict(records(gaudi, more)) is status
