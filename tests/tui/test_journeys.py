"""Six journeys at 80x24, key by key: each is a question that a technician at a rack has, and ends with its answer."""

import html
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from desks import RUN, Answer, numbered, rows, screen, screens, settled, shown, stored, typed, until
from mockup_server import WatchedRack
from rack_runs import copied

from rackcheck.inventory import Rack
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run import store
from rackcheck.session import cli_choices, subject
from rackcheck.session.audit_setup import Request, prepare
from rackcheck.session.run_session import RunSession
from rackcheck.signoff import waivers
from rackcheck.sim import scenario
from rackcheck.sim.shell import SimShell

DIRTY = {"tainted": "128\n", "swappiness": "60\n"}
LINKS = """\
rackcheck: 1
profile: links
version: 1
rules:
  nic.rate:
    title: Eight ports and more run at 400 Gb/s
    severity: blocker
    count: nic/*.port
    where: { fact: rate, at-least: 400 Gb/s }
    at-least: 8
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(run: str | Path) -> RunSession:
    return RunSession(found=subject.find(str(run)))


def eighteen() -> RunSession:
    """Eighteen nodes in two racks: four of them with faults, one that does not answer."""
    values: dict[str, Answer] = {f"dgx{n:02}": DIRTY if n in {3, 7, 8, 9} else {} for n in range(1, 19)}
    values["dgx12"] = Unknown(Reason.UNREACHABLE, "no route to host")
    stored(RUN, values, nodes=numbered(18, 2), racks={name: Rack(name) for name in ("r01", "r02")})
    return found(RUN)


async def test_what_is_wrong_on_many_nodes() -> None:
    async with shown(eighteen()) as pilot:
        app = screens(pilot)
        first = screen(app)
        assert "✘ FAIL  small 2026.11" in first
        assert "18 nodes, 74 verdicts: the test" in first
        assert len(rows(app)) == 4, "failures that are equal are one row"
        assert rows(app)[0].startswith("1  ✘ FAIL    kernel.clean  ")
        assert "4/18 dgx[03,07-09]" in first
        assert "kernel.tainted is 128, must be 0" in first
        assert "Reboot, and report the trace." in first
        await pilot.press("enter")
        inside = await until(pilot, "group 1: kernel.clean, 4 of 4 nodes")
        for name, place in (("dgx03", "r01 U7"), ("dgx09", "r01 U1")):
            assert any(name in line and place in line for line in inside.splitlines())
        await pilot.press("j", "enter")
        node = await until(pilot, "node dgx07 (compute, rack r01 U3): FAIL")
        assert "groups > group 1 > node dgx07" in node
        assert rows(app)[0].startswith("✘ FAIL      blocker  kernel.clean")
        await pilot.press("escape", "escape")
        assert screens(pilot).trail.here.view == "groups"
        assert "kernel.clean  (blocker)" in await until(pilot, "groups: 4 of 4")


async def test_which_one_is_odd() -> None:
    values: dict[str, Answer] = {f"n{n}": {} for n in range(1, 9)}
    stored(RUN, {**values, "n5": {"swappiness": "60\n"}}, nodes=numbered(8, 2, "n"))
    async with shown(found(RUN)) as pilot:
        await pilot.press("3")
        odd = await until(pilot, "odd: 1 node with unusual values")
        assert "sysctl.vm.swappiness is 60, 7 of 8 have 10" in odd
        await pilot.press("enter")
        values_of = await until(pilot, "diff n5", "sysctl.vm.swappiness")
        assert "odd > diff n5" in values_of
        (row,) = (row for row in rows(screens(pilot), 120) if "sysctl.vm.swappiness" in row)
        assert row.split()[1:3] == ["10", "60"]
        assert "memory.swappiness warn" in row
        await pilot.press("enter")
        assert "/proc/sys/vm/swappiness" in await until(pilot, "os plane")


async def test_why_does_this_fail_and_what_do_i_type(tmp_path: Path) -> None:
    async with shown(found(copied("first", tmp_path / "kept")), where="rule:nic.rate") as pilot:
        assert rows(screens(pilot))[0].startswith("1  ✘ FAIL    nic.rate")
        await pilot.press("e")
        why = await until(pilot, "FAIL  nic.rate on n1", "os plane")
        assert "nic/mlx5_4" in why
        await pilot.press("escape", "f")
        await until(pilot, "fix of nic.rate on n1; nothing is applied", "and contacted no machine", "mlxlink -d")
        await pilot.press("escape", "enter")
        await until(pilot, "node n1")
        await pilot.press("y")
        await until(pilot, "copy", "command")
        await pilot.press(*"rule", "enter")
        assert "nic.rate" in await until(pilot, "copied: rule")


@contextmanager
def live(folder: Path) -> Iterator[tuple[WatchedRack, RunSession]]:
    """Two simulated nodes, of which n1 has a port without a signal; their audit has not started."""
    text = "rackcheck: 1\nscenario: two\nnodes: { 'n[1-2]': { machine: dgx-h100 } }\n"
    (folder / "rack.yaml").write_text(f"{text}faults: [{{ nodes: n1, fault: nic-down, nic: mlx5_4 }}]\n")
    (folder / "links.yaml").write_text(LINKS)
    with WatchedRack(scenario.load(folder / "rack.yaml"), folder) as rack:
        request = Request("./links.yaml", frozenset({Plane.OS}))
        ready = prepare(lambda: cli_choices.chosen((), Path(rack.inventory), None), request)
        yield rack, RunSession(ready=ready)


def mend(rack: WatchedRack, folder: Path, name: str) -> None:
    """Repair a simulated node: from now on it answers as a healthy one."""
    (folder / "good.yaml").write_text(f"rackcheck: 1\nscenario: two\nnodes: {{ {name}: {{ machine: dgx-h100 }} }}\n")
    (good,) = scenario.load(folder / "good.yaml").stations
    up = next(each for each in rack.stations if each.station.name == name)
    assert up.node is not None
    up.node.shell = SimShell(good.machine.host, name)


async def test_is_it_fixed_now(tmp_path: Path) -> None:
    with live(tmp_path) as (rack, desk):
        async with shown(desk) as pilot:
            await until(pilot, "✘ FAIL  links", "1/2 n1", "nic.rate")
            await settled(pilot)
            mend(rack, tmp_path, "n1")
            before = {up.station.name: up.node.connections for up in rack.stations if up.node is not None}
            await pilot.press("r")
            asked = await until(pilot, "collect from these nodes again?")
            assert "1 node: n1" in asked
            assert "it reads, and changes nothing on them" in asked
            await pilot.press("y")
            await until(pilot, "✔ PASS  links", "1 collected again by")
            await settled(pilot)
            after = {up.station.name: up.node.connections for up in rack.stations if up.node is not None}
            assert after["n1"] > before["n1"]
            assert after["n2"] == before["n2"], "only the node under the cursor is read"
            await pilot.press("5")
            assert "n1: nic.rate fail -> pass" in await until(pilot, "live: collected again 1 node")
    assert len(store.ids()) == 2, "a second reading is a separate run"


async def test_waive_it_until_friday(tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    friday = str(today + timedelta(days=(4 - today.weekday()) % 7 or 7))
    async with shown(eighteen()) as pilot:
        app = screens(pilot)
        await pilot.press("w")
        assert "waive kernel.clean on dgx[03,07-09]" in await until(pilot, "waive a finding", "until")
        for text in (friday, "Jo", "OPS-1", "cables ordered"):
            await typed(pilot, text, "enter")
        await pilot.press("enter")  # the file's name is filled in already
        asked = await until(pilot, "write 1 waiver to waivers.yaml?", "+  - rule: kernel.clean")
        assert f"until: {friday}" in asked.replace("'", "").replace('"', "")
        assert not (tmp_path / "waivers.yaml").exists(), "nothing is written before the answer"
        await pilot.press("y")
        await until(pilot, "written to waivers.yaml", "~ 4 waived")
        await settled(pilot)
        assert [(w.rule, w.nodes, w.until) for w in waivers.load(tmp_path / "waivers.yaml").waivers] == [
            ("kernel.clean", ("dgx03", "dgx07", "dgx08", "dgx09"), friday)
        ]
        assert any("~ WAIVED" in row and "kernel.clean" in row for row in rows(app))
        assert not any("FAIL" in row for row in rows(app))
        assert "✘ 0 fail" in screen(app)
        await pilot.press("7")
        listed = await until(pilot, "waivers: 1", "~ used")
        assert friday in listed
        assert "OPS-1" in listed


async def test_a_waiver_that_is_not_wanted_after_all_writes_nothing(tmp_path: Path) -> None:
    async with shown(eighteen()) as pilot:
        await pilot.press("w")
        await until(pilot, "waive a finding")
        for text in (str(datetime.now(UTC).date() + timedelta(days=3)), "Jo", "OPS-1", "cables", ""):
            await typed(pilot, text, "enter")
        await until(pilot, "write 1 waiver to waivers.yaml?")
        await pilot.press("n")
        await settled(pilot)
        assert not (tmp_path / "waivers.yaml").exists()
        assert "~ 0 waived" in screen(pilot.app)


async def test_give_me_the_report(tmp_path: Path) -> None:
    async with shown(eighteen()) as pilot:
        await pilot.press("9")
        await until(pilot, "report of", "html")
        await pilot.press("enter")
        await until(pilot, f"written: {RUN}.html")
        await pilot.press("x")
        await until(pilot, "write to a file", "rows.json")
        await pilot.press(*"rows", "full_stop", *"json", "enter")
        await until(pilot, f"written: {RUN}-report.json")
    text = html.unescape((tmp_path / f"{RUN}.html").read_text())
    assert text.lower().startswith("<!doctype html>")
    assert "kernel.tainted is 128, must be 0" in text
    listed = json.loads((tmp_path / f"{RUN}-report.json").read_text())
    assert [each["row"] for each in listed][:2] == ["html", "pdf"]
