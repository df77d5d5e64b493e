"""A part that moved or was replaced, a node with another name and another BMC: each is one line in every comparison."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from changed_parts import gpu_ids, with_ids
from command import rackcheck
from mockup_server import WatchedRack

from rackcheck.sim import faults, scenario
from rackcheck.sim.behaviour import Station

FOUR = "rackcheck: 1\nscenario: four\nnodes: { 'n[1-4]': { machine: dgx-h100, rack: a01 } }\n"
OLD, NEW = "1650001000003", "1650009999999"
"""The serial number of n1's third GPU, and that of a GPU which no node had before."""

Stations = Sequence[Station]


def swapped(nodes: Stations) -> Stations:
    one, two = gpu_ids(nodes[0], 2), gpu_ids(nodes[1], 2)
    return [
        with_ids(nodes[0], dict(zip(one, two, strict=True))),
        with_ids(nodes[1], dict(zip(two, one, strict=True))),
        *nodes[2:],
    ]


def replaced(nodes: Stations) -> Stations:
    serial, uuid = gpu_ids(nodes[0], 2)
    assert serial == OLD
    return [with_ids(nodes[0], {serial: NEW, uuid: "deadbeef-0000-4000-8000-000000000001"}), *nodes[1:]]


def renamed(nodes: Stations) -> Stations:
    return [nodes[0], replace(nodes[1], name="n9"), *nodes[2:]]


def other_bmc(nodes: Stations) -> Stations:
    return [nodes[0], faults.lay(nodes[1], "changed-certificate", {}), *nodes[2:]]


CASES: dict[str, Callable[[Stations], Stations]] = {
    "swapped": swapped, "replaced": replaced, "renamed": renamed, "other bmc": other_bmc,
}  # fmt: skip


@dataclass(frozen=True)
class Outputs:
    """The outputs of the commands after a change."""

    status: int
    audit: str
    drift: str
    added: str
    shown: str
    rework: list[dict[str, object]]


@cache
def outputs(case: str) -> Outputs:
    """Audit four nodes, change something, audit again, and return the outputs of each command."""
    place = Path(mkdtemp(prefix="rackcheck-changed-"))
    (place / "four.yaml").write_text(FOUR)
    base = scenario.load(place / "four.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(place / "home"))
        patch.chdir(place)
        for name, nodes in (("before", base.stations), ("after", CASES[case](base.stations))):
            (place / name).mkdir()
            with WatchedRack(replace(base, stations=tuple(nodes)), place / name) as up:
                if name == "before":
                    opened = rackcheck(
                        "accept", "new", "pod", "-p", "h100-dgx", "-i", up.inventory, "--no-burn-in", "no load here"
                    )
                    assert opened.status == 0, opened.err
                done = rackcheck("audit", "-i", up.inventory, "-p", "h100-dgx", "-q", "-o", f"run-{name}")
                added = rackcheck("accept", "add", "pod", f"run-{name}")
        drift = rackcheck("drift", "run-after", "--against", "run-before")
        report = rackcheck("report", "pod", "--format", "json", "-q").out
        return Outputs(
            done.status, done.out, _changes(drift.out), added.err, rackcheck("accept", "show", "pod").out,
            json.loads(report)["report"]["rework"],
        )  # fmt: skip


def _changes(drift: str) -> str:
    """The lines of `drift` below its mark that the nodes are simulated."""
    mark, end, changes = drift.partition("document contains.\n")
    assert mark.startswith("SIMULATION  No machine was read"), drift
    assert end
    return changes


def between(text: str) -> list[str]:
    """The lines of `accept show` about changes between runs."""
    rows = text.partition("changed between runs\n")[2].partition("\n\n")[0]
    return [" ".join(row.split()) for row in rows.splitlines()]


def test_a_part_that_moved_to_another_node_is_one_line_of_each_of_the_two() -> None:
    got = outputs("swapped")
    assert [line for line in got.drift.splitlines() if "moved" in line] == [
        f"gpu {serial} moved: {was} gpu/module-6 -> {now} gpu/module-6, with bmc.chassis/HGX_GPU_SXM_3, bmc.gpu/GPU_SXM_3"
        for serial, was, now in ((OLD, "n1", "n2"), ("1650002000003", "n2", "n1"))
    ]
    assert len(got.drift.splitlines()) == 2
    assert between(got.shown) == [
        f"gpu/module-6.serial {OLD} -> 1650002000003 n1", f"gpu/module-6.serial 1650002000003 -> {OLD} n2",
    ]  # fmt: skip


def test_a_part_that_was_replaced_is_one_line_with_its_names_on_both_planes() -> None:
    got = outputs("replaced")
    (line,) = got.drift.splitlines()
    assert line == (
        f"gpu/module-6.serial swapped {OLD} -> {NEW}, with bmc.chassis/HGX_GPU_SXM_3, bmc.gpu/GPU_SXM_3 on 1 of 4: n1"
    )
    assert between(got.shown) == [f"gpu/module-6.serial {OLD} -> {NEW} n1"]
    assert [(row["fact"], row["nodes"]) for row in got.rework if row["fact"]] == [("gpu/module-6.serial", ["n1"])]


def test_a_node_with_another_name_is_recognised_by_its_machine() -> None:
    got = outputs("renamed")
    assert [line.partition(" in ")[0] for line in got.drift.splitlines()][:2] == ["new", "missing"]
    (line,) = got.drift.splitlines()[2:]
    found = re.fullmatch(r"n9 is the machine that was n2 \(1663124000002\), with ([0-9]+) parts in their places", line)
    assert found is not None, line
    assert int(found[1]) > 90
    assert "not in pod's inventory: n9 (n9 is the machine that was n2)" in got.added
    assert between(got.shown) == []


def test_a_bmc_with_another_certificate_is_unknown_and_its_consequences_are_one_line() -> None:
    got = outputs("other bmc")
    assert got.status == 3
    assert "certificate changed" in got.audit
    (line,) = got.drift.splitlines()
    assert line.startswith("plane/bmc unknown now: certificate changed: expected ")
    assert line.endswith("facts that follow from it on 1 of 4: n2")
    assert all(row.endswith(("pass -> unknown n2", "pass -> unknown @fleet")) for row in between(got.shown))
    assert len(between(got.shown)) <= 3
