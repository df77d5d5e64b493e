"""Each finding of a run is in the list of the person who fixes it, in no other, and none is lost."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

import pytest
from damaged import Answers, clean, loaded
from single_faults import BAD, FAULTS, NODES, events, simulated
from work import Found, bad, listed, work

from rackcheck.evaluate.verdict import Evidence, Outcome, Status, Verdict
from rackcheck.remedy.text import RemedyText
from rackcheck.run.event import Event, FactsRead, Judged, RunDone, RunStarted
from rackcheck.views import work_text
from rackcheck.views.summary import Summary
from rackcheck.views.work_lists import WorkLists

KINDS = {
    "a GPU is missing": "part",
    "a GPU trained half of its lanes": "part",
    "a port is down": "cable",
    "turbo is off": "setting",
    "a NIC is missing": "part",
    "a drive is missing": "part",
    "a GPU has fallen off the bus": "part",
    "a memory module is disabled": "part",
    "a power supply is critical": "part",
    "a fan is offline": "part",
    "a GPU is critical": "part",
    "a row of a GPU's memory could not be remapped": "part",
    "a GPU's memory clock is lowered": "by-hand",
    "an NVLink is down": "part",
    "a NIC has a fatal PCIe error": "part",
    "a NIC has smaller packets than its siblings": "by-hand",
    "a drive has half of its lanes": "part",
    "a drive does not answer": "part",
    "a row of a GPU's memory waits for a reset": "power-cycle",
    "the firmware of a GPU is an older one": "firmware",
}
"""The list in which each fault must be."""

MORE: Mapping[str, Callable[[], Answers]] = {
    "a row of a GPU's memory waits for a reset": lambda: clean().bodies(
        "/redfish/v1/Systems/HGX_Baseboard_0/Memory/GPU_SXM_3_DRAM_0",
        lambda body: body["Oem"]["Nvidia"].update(RowRemappingPending=True),
    ),
    "the firmware of a GPU is an older one": lambda: simulated(
        "old-firmware", component="HGX_FW_GPU_SXM_3", version="96.00.30.00.01"
    ),
}


Made = tuple[Summary, RemedyText, WorkLists]


@cache
def made(name: str) -> Made:
    make = MORE[name] if name in MORE else FAULTS[name][0]
    return work(events(make()), loaded("h100-dgx"))


@cache
def without() -> Found:
    return bad(work(events(clean()), loaded("h100-dgx"))[0])


@pytest.mark.parametrize("name", KINDS)
def test_a_fault_is_in_its_list_and_in_no_other(name: str) -> None:
    summary, settings, lists = made(name)
    new = {pair for pair in bad(summary) - without() if pair[0] == BAD}
    assert new
    where = {kind: found & new for kind, found in listed(settings, lists).items()}
    assert {kind for kind, found in where.items() if found} == {KINDS[name]}
    assert where[KINDS[name]] == new


@pytest.mark.parametrize("name", [*FAULTS, *MORE])
def test_no_finding_is_lost_and_none_is_invented(name: str) -> None:
    summary, settings, lists = made(name)
    found = listed(settings, lists)
    assert set().union(*found.values()) == bad(summary)
    assert sum(map(len, found.values())) == len(bad(summary))


def test_every_single_fault_has_a_list() -> None:
    assert set(FAULTS) | set(MORE) == set(KINDS)


def test_a_case_names_the_part_with_all_that_a_vendor_asks_for() -> None:
    (case,) = made("a GPU has fallen off the bus")[2].cases
    assert case.part is not None
    part = case.part.part
    assert (case.node, part.slot, part.pci, part.serial) == (BAD, "SXM3", "0000:52:00.0", "1650001000003")
    assert part.part_number
    assert case.xids == ("Xid 79 GPU has fallen off the bus",)
    text = "\n".join(work_text.lines(made("a GPU has fallen off the bus")[2]))
    assert f"# {BAD}: GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650001000003); part number" in text


def test_a_cable_has_its_port_and_the_state_of_the_link() -> None:
    (row,) = made("a port is down")[2].cables
    assert (row.node, row.link.device, row.link.port, row.link.pci) == (BAD, "NIC mlx5_4", "1", "0000:4f:00.0")
    assert dict(row.link.values)["state"] == "DOWN"
    assert "mlxlink -d mlx5_4 -m" in row.findings[0].fix
    assert "DEVICE" not in row.findings[0].fix


def test_firmware_has_what_is_installed_and_what_is_expected() -> None:
    lists = made("the firmware of a GPU is an older one")[2]
    (update,) = lists.firmware
    assert update.component == "firmware.component/HGX_FW_GPU_SXM_3"
    assert (update.now, update.wanted) == ("96.00.30.00.01", "96.00.89.00.01, as most")
    assert update.nodes == (BAD,)
    assert any(cycle.off and cycle.nodes == (BAD,) for cycle in lists.power)


def test_a_node_is_in_the_list_of_power_cycles_once_with_all_reasons() -> None:
    (with_bios,) = [cycle for cycle in made("turbo is off")[2].power if BAD in cycle.nodes]
    assert dict(with_bios.reasons)["BIOS settings"] == ("bios.turbo",)
    assert "settings that take effect after a reboot" in dict(with_bios.reasons)
    named = [node for cycle in made("turbo is off")[2].power for node in cycle.nodes]
    assert sorted(named) == sorted(NODES)


# ---- hand-made verdicts ----------------------------------------------------------------------------------------------

EVIL = "x'; $(reboot) `id` # \n~~~\n# Fixed\n[a](b) <script>=1|\x1b[31m\u202e"
"""A value that is hostile to shells, terminals and Markdown."""


def run(
    rule: str, item: str, value: str = "7", *more: tuple[str, str], answers: Answers | None = None, why: str = ""
) -> Iterator[Event]:
    """A run in which one rule fails on all nodes with this evidence."""
    evidence = tuple(Evidence(Status.FAIL, at, seen, "must be 8", seen) for at, seen in ((item, value), *more))
    bad = Verdict(rule, Status.FAIL, why or f"{item} is {value}", evidence)
    yield RunStarted(
        "run", "2026-11-21T08:00:00Z", "0", "h100-dgx", "1", "", NODES, ("os",), "all", loaded("h100-dgx").law
    )
    for name in NODES:
        yield FactsRead(name, (answers or clean()).tree())
        yield Judged(name, "compute", Outcome.FAIL, (bad,))
    yield RunDone("2026-11-21T09:00:00Z", Outcome.FAIL)


@pytest.mark.parametrize(
    ("rule", "item"),
    [("gpu.width", 'gpu/module-6.link.width'), ("nic.rate", "nic/mlx5_4.port/1.active_rate"), ("time.near", "time.offset"),
     ("firmware.gpus_alike", "firmware.component/HGX_FW_GPU_SXM_3.version"), ("gpu.no_row_waits", "gpu/module-6.remap.pending"),
     ("cpu.no_machine_check", "cpu.mce.exceptions"), ("nic.rate", f'nic/"{EVIL!r}".port/1.active_rate')],
)  # fmt: skip
def test_a_hostile_value_stays_in_comments_and_in_code_blocks(rule: str, item: str) -> None:
    summary, settings, lists = work(run(rule, item, EVIL), loaded("h100-dgx"))
    assert set().union(*listed(settings, lists).values()) == bad(summary)
    text = list(work_text.lines(lists))
    assert all(line.startswith("# ") or not line for line in text)
    assert not any(sign in line for line in text for sign in "\n\x1b\u202e")
    assert all(line.startswith(("#", " ", "dgx")) for line in work_text.power_text(lists.power).split("\n") if line)
    for name, content in work_text.case_files(lists.cases, "run", "p"):
        assert name.startswith("dgx0")
        outside, inside = [], False
        for line in content.split("\n"):
            if line.startswith("~~~"):
                inside = not inside
            elif not inside:
                outside.append(line)
        assert not inside
        assert set(outside) <= {"# Case for a part", "## Evidence", ""}
        assert "\x1b" not in content


def test_a_hostile_name_is_filled_into_no_command_and_no_file_name() -> None:
    lists = work(run("gpu.width", f'gpu/"{EVIL!r}".link.width'), loaded("h100-dgx"))[2]
    names = [name for name, _ in work_text.case_files(lists.cases, "run", "p")]
    assert len(set(names)) == len(NODES)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") for name in names)
    assert not any("reboot" in finding.fix for case in lists.cases for finding in case.findings)


@pytest.mark.parametrize("rule", ["gpu.width", "nic.rate", "firmware.gpus_alike", "gpu.no_row_waits", "time.near"])
def test_a_rule_without_a_fix_is_listed_all_the_same(rule: str) -> None:
    whole = loaded("h100-dgx")
    bare = replace(whole, rules=tuple(replace(each, fix="", title="") for each in whole.rules))
    summary, settings, lists = work(run(rule, "gpu/module-6.link.width"), bare)
    assert set().union(*listed(settings, lists).values()) == bad(summary) == {(node, rule) for node in NODES}
    assert rule in "\n".join(work_text.lines(lists))
    assert "fix: " not in "\n".join(work_text.lines(lists))


def test_a_part_that_no_run_identifies_is_one_case_for_each_node_and_one_line() -> None:
    lists = work(run("cpu.no_machine_check", "cpu.mce.exceptions"), loaded("h100-dgx"))[2]
    assert [(case.node, case.part) for case in lists.cases] == [(node, None) for node in NODES]
    (line,) = [line for line in work_text.lines(lists) if line.startswith("# dgx")]
    assert line == "# dgx[01-04]: a part that the run does not identify; 4 cases"


def test_the_same_part_of_many_nodes_is_one_line_with_the_serial_numbers() -> None:
    lists = work(run("gpu.width", "gpu/module-6.link.width"), loaded("h100-dgx"))[2]
    text = "\n".join(work_text.lines(lists))
    assert "# dgx[01-04]: GPU module-6 (slot SXM3, PCI 0000:52:00.0); 4 cases" in text
    assert "serial numbers: dgx01 1650001000003" in text
    assert text.count("gpu.width") == 1


PORT = "nic.interface/enp170s0f0np0.unlike"
SPEED, MTU = (f"{PORT}/speed.value", "25; most: 200"), (f"{PORT}/mtu.value", "1500; most: 9000")


def test_a_port_with_another_speed_is_a_cable_with_its_unit_and_its_place() -> None:
    _, settings, lists = work(run("nic.ports_alike", *SPEED), loaded("h100-dgx"))
    assert {kind for kind, found in listed(settings, lists).items() if found} == {"cable"}
    link, (finding,) = lists.cables[0].link, lists.cables[0].findings
    assert (link.device, link.interface, link.pci) == ("NIC mlx5_7", "enp170s0f0np0", "0000:aa:00.0")
    assert link.serial.startswith("MT2319X2")
    assert finding.evidence == "nic.interface/enp170s0f0np0.speed is 25 Gb/s, must be 200 Gb/s, as most"


def test_a_port_with_another_mtu_is_no_cable() -> None:
    _, settings, lists = work(run("nic.ports_alike", *MTU), loaded("h100-dgx"))
    assert {kind for kind, found in listed(settings, lists).items() if found} == {"by-hand"}


def test_the_speed_of_a_port_is_a_cable_and_its_mtu_is_left_to_a_person() -> None:
    _, settings, lists = work(run("nic.ports_alike", *MTU, SPEED), loaded("h100-dgx"))
    assert {kind for kind, found in listed(settings, lists).items() if found} == {"cable", "by-hand"}
    assert all("speed" in each.findings[0].evidence and "mtu" not in each.findings[0].evidence for each in lists.cables)


def test_another_width_of_an_infiniband_port_is_a_cable_with_its_port() -> None:
    item = "nic/mlx5_4.port/1.unlike/width.value"
    lists = work(run("nic.infiniband_ports_alike", item, "1X; most: 4X"), loaded("h100-dgx"))[2]
    assert {(row.link.device, row.link.port) for row in lists.cables} == {("NIC mlx5_4", "1")}
    assert lists.cables[0].findings[0].evidence == "nic/mlx5_4.port/1.width is 1X, must be 4X, as most"


def test_a_port_that_is_down_names_its_nic_by_serial_number_in_every_form() -> None:
    lists = made("a port is down")[2]
    (row,) = lists.cables
    serial = row.link.serial
    assert serial.startswith("MT2319X1")
    assert f"serial {serial}" in "\n".join(work_text.lines(lists))
    assert work_text.document(lists)["cables"][0]["serial"] == serial
    (cells,) = work_text.cable_rows(lists.cables)
    assert dict(zip(work_text.CABLES, cells, strict=True))["serial"] == serial


def test_the_same_port_of_many_nodes_is_one_line_with_the_serial_numbers() -> None:
    lists = work(run("nic.rate", "nic/mlx5_4.port/1.active_rate", "0 Gb/s"), loaded("h100-dgx"))[2]
    alike = [replace(row, link=replace(row.link, values=())) for row in lists.cables]  # without serials of modules
    text = "\n".join(work_text.lines(replace(lists, cables=tuple(alike))))
    assert "# dgx[01-04]: NIC mlx5_4 port 1 (PCI 0000:4f:00.0, interface ibp79s0)\n" in text
    assert f"serial numbers: {', '.join(f'{row.node} {row.link.serial}' for row in alike)}" in text
