"""Whole screens that were reviewed; RACKCHECK_SCREENS=write writes them again, for review in a diff."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
from desks import (
    ASCII,
    UNICODE,
    Answer,
    MadeDesk,
    again,
    desk,
    numbered,
    screen,
    screens,
    settled,
    shown,
    until,
    until_true,
    with_requests,
)
from places import TESTS

from rackcheck.inventory import Rack
from rackcheck.model.fact import Reason, Unknown
from rackcheck.run.event import Answered
from rackcheck.views.open_run import CommandResult
from rackcheck.views.signs import Signs

FOLDER = TESTS / "screens"
MOST = 20
"""Stored screens: each is reviewed by a person when it changes."""

SILENT = Unknown(Reason.UNREACHABLE, "no route to host")
DIRTY = {"tainted": "128\n", "swappiness": "60\n"}
DIFF = {
    "node": "dgx03", "against": "peers", "peers": {"asked": 17, "needed": 10}, "unknown-in-both": 2, "differing": [
        {"fact": "kernel.tainted", "facts": ["kernel.tainted"], "kind": "changed", "class": "config",
         "before": {"value": 0}, "after": {"value": 128}, "rules": ["kernel.clean"],
         "verdicts": {"kernel.clean": "fail"}},
        {"fact": "sysctl.vm.swappiness", "facts": ["sysctl.vm.swappiness"], "kind": "changed", "class": "config",
         "before": {"value": 10}, "after": {"value": 60}, "rules": [], "verdicts": {}},
    ],
}  # fmt: skip


def racks(*names: str) -> Mapping[str, Rack]:
    return {name: Rack(name) for name in names}


def empty() -> MadeDesk:
    return desk({})


def all_pass() -> MadeDesk:
    return desk({"n1": {}, "n2": {}})


def one_fail() -> MadeDesk:
    return desk({"n1": {}, "n2": DIRTY})


def silent_node() -> MadeDesk:
    return desk({"n1": {}, "n2": SILENT})


def eighteen() -> MadeDesk:
    values: dict[str, Answer] = {f"dgx{n:02}": DIRTY if n in {3, 7, 8, 9} else {} for n in range(1, 19)}
    values["dgx12"] = SILENT
    made = desk(values, nodes=numbered(18, 2), racks=racks("r01", "r02"))
    return replace(made, answers={"diff": CommandResult(1, json.dumps(DIFF))})


def thousand() -> MadeDesk:
    nodes = numbered(1024, 32)
    values: dict[str, Answer] = {node.name: DIRTY if n % 16 == 0 else {} for n, node in enumerate(nodes, 1)}
    values |= {node.name: SILENT for node in nodes if node.rack == "r07"}
    return desk(values, nodes=nodes, racks=racks(*(f"r{n:02}" for n in range(1, 33))))


@dataclass(frozen=True)
class Shot:
    """A screen: of which run, in which view, after which keys; `words` are on it when all is shown."""

    of: object
    view: str = "groups"
    about: tuple[str, ...] = ()
    where: str = ""
    keys: tuple[str, ...] = ()
    words: str = ""
    signs: Signs = UNICODE
    size: tuple[int, int] = (80, 24)


SHOTS = {
    "empty": Shot(empty),
    "all-pass": Shot(all_pass),
    "one-fail": Shot(one_fail),
    "silent-node": Shot(silent_node),
    "groups-18": Shot(eighteen),
    "groups-18-ascii": Shot(eighteen, signs=ASCII),
    "groups-18-wide": Shot(eighteen, size=(160, 40)),
    "group-18": Shot(eighteen, "group", ("1",)),
    "node": Shot(eighteen, "node", ("dgx03",), keys=("z",)),
    "rack-18": Shot(eighteen, "rack"),
    "rack-18-ascii": Shot(eighteen, "rack", signs=ASCII),
    "odd-18": Shot(eighteen, "odd"),
    "nodes-18-filtered": Shot(eighteen, "nodes", where="kernel.tainted<1", keys=("z",)),
    "diff": Shot(eighteen, "diff", ("dgx03", "peers"), words="kernel.tainted"),
    "report": Shot(eighteen, "report"),
    "keys": Shot(eighteen, keys=("question_mark",), words="the same on the command line"),
    "groups-1024": Shot(thousand),
    "rack-1024": Shot(thousand, "rack"),
    "nodes-1024-end": Shot(thousand, "nodes", keys=("G",)),
}


def compared(name: str, output: str) -> None:
    """Compare a screen with the stored one, or store it."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get("RACKCHECK_SCREENS") == "write":
        FOLDER.mkdir(exist_ok=True)
        file.write_text(output + "\n")
    assert output + "\n" == file.read_text(), f"{file} shows another screen; RACKCHECK_SCREENS=write keeps this one"


@pytest.mark.parametrize("name", SHOTS)
async def test_a_screen_is_as_it_was_looked_at(name: str) -> None:
    shot = SHOTS[name]
    async with shown(shot.of(), shot.signs, view=shot.view, about=shot.about, where=shot.where, size=shot.size) as on:  # type: ignore[operator]
        await on.press(*shot.keys)
        await settled(on)
        if shot.words:
            await until(on, shot.words)
        compared(name, screen(on.app))


async def test_a_reading_under_way_is_as_it_was_looked_at() -> None:
    made = eighteen()
    held = replace(
        again(made, {"dgx03": {}}), first=tuple(with_requests(made.first)),
        hold=lambda event: isinstance(event, Answered) and event.node == "dgx05",
    )  # fmt: skip
    async with shown(held, settle=False) as on:
        await until(on, "> running", "18 nodes")
        while screens(on).context.board.version < 10:
            await on.pause(0.02)
        await on.press("4")
        output = await until(on, "nodes: ")
        if os.environ.get("RACKCHECK_SCREENS") != "write":
            await until_true(on, lambda: f"{screen(on.app)}\n" == (FOLDER / "running.txt").read_text())
            output = screen(on.app)
        held.stop()
    compared("running", output)


def test_no_more_screens_are_kept_than_people_read_and_each_has_its_test() -> None:
    kept = {file.stem for file in FOLDER.glob("*")}
    assert kept == {*SHOTS, "running"}
    assert len(kept) <= MOST
    for file in FOLDER.glob("*.txt"):
        lines = file.read_text().splitlines()
        assert all(line == line.rstrip() for line in lines), file.name
        if file.stem.endswith("-ascii"):
            assert file.read_text().isascii()
