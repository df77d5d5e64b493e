"""What the screens do when keys are pressed: places, filters, commands, questions; no node is read unrequested."""

import json
import os
import re
import shlex
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from desks import (
    ASCII,
    HOSTILE,
    PATIENCE,
    RUN,
    UNICODE,
    Answer,
    MadeDesk,
    again,
    board,
    context,
    desk,
    numbered,
    rows,
    screen,
    screens,
    settled,
    shown,
    stored,
    typed,
    until,
    until_true,
    with_requests,
)
from paused_clock import paused_clock
from textual.binding import Binding
from textual.events import Key

from rackcheck.base.user_error import UserError
from rackcheck.cli import COMMANDS
from rackcheck.evaluate.verdict import Verdict
from rackcheck.inventory import Rack
from rackcheck.model.fact import Reason, Unknown
from rackcheck.run.event import Answered, Event, Judged, RunDone
from rackcheck.session import subject
from rackcheck.session.run_session import RunSession
from rackcheck.views.open_run import CommandResult
from rackcheck_tui.app import Screens
from rackcheck_tui.controllers import event_feed, reading
from rackcheck_tui.controllers.commands import ELSEWHERE, VIEWS, twin, verbs
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.reader import ReaderScreen
from rackcheck_tui.widgets.dialogs import Choose, ConfirmDialog, FormDialog
from rackcheck_tui.widgets.rackview import Racks
from rackcheck_tui.widgets.table import TableWidget

SILENT = Unknown(Reason.UNREACHABLE, "no route to host")
BAD = {"tainted": "128\n", "swappiness": "60\n", "hostname": "wrong\n"}
ABOUT = {"node": ("n1",), "group": ("1",), "facts": ("n1",), "diff": ("n1", "peers"), "history": ("n1",)}
DIFF = {
    "node": "n1", "against": "peers", "differing": [
        {"fact": "kernel.tainted", "facts": ["kernel.tainted"], "kind": "changed", "class": "config",
         "before": {"value": 0}, "after": {"value": 128}, "rules": ["kernel.clean"],
         "verdicts": {"kernel.clean": "fail"}},
    ],
}  # fmt: skip


def wrong(**more: Any) -> MadeDesk:
    """Five nodes in two racks: one of them with every fault, one that does not answer."""
    values: dict[str, Answer] = {"n1": BAD, "n2": {}, "n3": {}, "n4": {"swappiness": "60\n"}, "n5": SILENT}
    given: dict[str, Any] = {"answers": {"diff": CommandResult(1, json.dumps(DIFF))}, **more}
    return desk(values, nodes=numbered(5, 2, "n"), racks={"r01": Rack("r01"), "r02": Rack("r02")}, **given)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def here(pilot: object) -> ViewState:
    return screens(pilot).trail.here  # type: ignore[arg-type]


def bindings() -> Iterator[Binding]:
    for owner in (Screens, TableWidget, Racks):
        yield from (b for b in owner.BINDINGS if isinstance(b, Binding))


# ---- what stands on the screen


async def test_a_run_with_one_fail_shows_it_first_with_its_fix() -> None:
    async with shown(desk({"n1": {}, "n2": {"tainted": "128\n", "swappiness": "60\n"}})) as pilot:
        assert rows(screens(pilot))[0].startswith("1  ✘ FAIL    kernel.clean")
        assert "kernel.tainted is 128, must be 0" in screen(pilot.app)
        assert "Reboot, and report the trace." in screen(pilot.app)


async def test_a_run_where_all_pass_shows_pass_and_no_fail() -> None:
    async with shown(desk({"n1": {}, "n2": {}})) as pilot:
        assert "✔ PASS  small" in screen(pilot.app)
        assert "✘ 0 fail" in screen(pilot.app)
        assert "nothing is wrong" in screen(pilot.app)


async def test_a_silent_node_is_seen_as_unknown_with_its_reason() -> None:
    async with shown(desk({"n1": {}, "n2": SILENT})) as pilot:
        assert "? INCOMPLETE  small" in screen(pilot.app)
        (row,) = rows(screens(pilot), 120)
        assert "? UNKNOWN 3 rules of the os plane: " in row
        assert "no route to host" in row


@pytest.mark.parametrize("count", [1, 18, 576])
async def test_80x24_shows_verdict_counts_rows_details_and_keys(count: int) -> None:
    made = desk({node.name: {"tainted": "128\n"} for node in numbered(count)}, nodes=numbered(count))
    async with shown(made) as pilot:
        lines = screen(pilot.app).splitlines()
        assert lines[0].startswith(" ✘ FAIL  small")
        assert f"✘ {count} fail" in lines[2]
        assert any("1  ✘ FAIL    kernel.clean" in line for line in lines)
        assert any("result    kernel.tainted is 128" in line for line in lines)
        assert lines[-1].startswith(" enter open  / filter")
        assert len(lines) == 24


async def test_a_small_window_keeps_the_verdict_and_a_wide_one_puts_details_beside() -> None:
    async with shown(desk({"n1": {"tainted": "1\n"}}), size=(40, 12)) as pilot:
        assert "✘ FAIL" in screen(pilot.app)
        await pilot.resize_terminal(200, 50)
        await until(pilot, "| ✘ FAIL  kernel.clean  (blocker)")  # details stand beside the rows


@pytest.mark.parametrize("size", [(20, 6), (40, 12), (80, 24), (300, 90)])
async def test_every_view_can_be_written_in_a_window_of_any_size(size: tuple[int, int]) -> None:
    async with shown(wrong(), size=size) as pilot:
        for name in VIEWS:
            screens(pilot).navigator.go(ViewState(name, ABOUT.get(name, ())))
            await settled(pilot)
        assert screens(pilot).is_running


async def test_1024_nodes_take_no_more_widgets_than_one() -> None:
    async with shown(desk({"n1": {"tainted": "1\n"}})) as pilot:
        few = len(pilot.app.screen.walk_children())
    values = {
        node.name: {"hostname": f"wrong{node.u}\n", "tainted": f"{n}\n"} for n, node in enumerate(numbered(1024), 1)
    }
    async with shown(desk(values, nodes=numbered(1024)), view="nodes") as pilot:
        await pilot.press("G")
        assert len(screens(pilot).readout.shown.entries) == 1024
        assert "dgx1024" in screen(pilot.app)
        assert len(pilot.app.screen.walk_children()) <= few + 4  # scrollbars


async def test_1024_nodes_that_fail_alike_are_one_group_whose_nodes_unfold() -> None:
    values = {node.name: {"tainted": "1\n"} if n % 2 == 0 else {} for n, node in enumerate(numbered(1024))}
    async with shown(desk(values, nodes=numbered(1024))) as pilot:
        assert len(rows(screens(pilot))) == 1
        assert "512/1,024 dgx[0001,0003" in " ".join(screen(pilot.app).split())
        await pilot.press("enter")
        await until(pilot, "group 1: kernel.clean, 512 of 512 nodes")
        await pilot.press("G")
        await until(pilot, "dgx1023")


async def test_an_empty_run_states_that_nothing_was_judged_and_survives_every_key() -> None:
    async with shown(desk({})) as pilot:
        assert "nothing was judged" in screen(pilot.app)
        assert "INCOMPLETE" in screen(pilot.app)
        await pilot.press("j", "k", "G", "space", "enter", "asterisk", "d", "e", "f", "w", "F", "H", "r", "z", "4")
        assert "nodes: 0 of 0" in screen(pilot.app)


async def test_a_run_that_cannot_be_opened_ends_the_screens_with_its_error() -> None:
    def broken() -> MadeDesk:
        raise UserError("run.json is damaged")

    app = Screens(broken, UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(200):
            await pilot.pause(0.01)
            if app.opening.trouble is not None:
                break
    assert str(app.opening.trouble) == "run.json is damaged"


async def test_before_the_run_is_open_no_key_does_anything_but_quit() -> None:
    let = threading.Event()

    def slow() -> MadeDesk:
        let.wait(PATIENCE)
        return wrong()

    keys = [k for b in Screens.BINDINGS if isinstance(b, Binding) for k in b.key.split(",") if k not in {"q", "ctrl+c"}]
    app = Screens(slow, UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys, "enter", "j")
        assert app._exception is None
        assert "opening the run" in screen(app)
        await pilot.press("q")
        let.set()
        await pilot.pause()
    assert app.return_code == 0


async def test_every_key_does_one_action_of_the_table_and_every_action_has_its_key() -> None:
    async with shown(wrong()) as pilot:
        done = {b.action for b in Screens.BINDINGS if isinstance(b, Binding) and b.action.startswith("do(")}
        assert done == {f"do('{name}')" for name in screens(pilot).actions}


async def test_a_reading_that_fails_midway_states_it_and_shows_what_arrived() -> None:
    made = wrong()

    class Breaking(MadeDesk):
        def events(self) -> Iterator[Event]:
            yield from self.first[:-3]
            raise UserError("events.jsonl:7 is damaged")

    broken = Breaking(made.profile, made.nodes, made.first)
    async with shown(broken) as pilot:
        output = await until(pilot, "events.jsonl:7 is damaged")
        assert "? INCOMPLETE (interrupted)" in output
        assert "PASS" not in output.splitlines()[0]


async def test_reading_goes_on_after_pauses_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer of Textual never calls its function if this process pauses just when the timer begins to wait."""
    turns = [0]

    def after_many_turns(event: Event) -> bool:
        turns[0] += 1
        return isinstance(event, RunDone) and turns[0] < 100

    made = desk({"n1": {}, "n2": {}}, hold=after_many_turns)
    paused_clock(monkeypatch, 10 * reading.TURN)
    async with shown(made, settle=False) as pilot:
        await until_true(pilot, lambda: screens(pilot).reading.seen > 0 and not screens(pilot).reading.running)


# ---- moving


async def test_j_and_k_and_the_arrows_move_and_the_details_follow() -> None:
    async with shown(desk({"n1": BAD})) as pilot:
        table = screens(pilot).panes.table
        await pilot.press("j")
        assert "host.named  (minor)" in screen(pilot.app)
        await pilot.press("down")
        assert "memory.swappiness  (advisory)" in screen(pilot.app)
        await pilot.press("k", "up", "up")
        assert table.cursor == 0
        await pilot.press("G")
        assert table.cursor == 2
        await pilot.press("g")
        assert table.cursor == 0


async def test_enter_goes_from_group_to_node_to_evidence_and_escape_all_the_way_back() -> None:
    async with shown(wrong()) as pilot:
        await pilot.press("enter")  # a group of one node leads to its verdict at once
        await until(pilot, "node n1 (compute")
        assert screens(pilot).panes.table.current == "kernel.clean"
        await pilot.press("enter")
        output = await until(pilot, "kernel.clean on n1", "os plane, 2026-01-01T00:00:00Z")
        for words in ("kernel.tainted  128", "must be 0", "/proc/sys/kernel/tainted"):
            assert words in output
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, ReaderScreen)
        assert here(pilot) == ViewState("node", ("n1",), row="kernel.clean")
        await pilot.press("escape")
        assert here(pilot).view == "groups"
        await pilot.press("escape")
        assert here(pilot).view == "groups", "there is no place before the first one"


async def test_brackets_go_back_and_on_to_where_the_reader_was() -> None:
    async with shown(wrong(), view="nodes") as pilot:
        await pilot.press("j", "enter")
        where = await until(pilot, "node n")
        assert "nodes > node" in where
        name = here(pilot).about[0]
        await pilot.press("left_square_bracket")
        assert here(pilot).view == "nodes"
        assert screens(pilot).panes.table.current == name, "the cursor stands where it stood"
        await pilot.press("right_square_bracket")
        assert here(pilot).about == (name,)
        await pilot.press("right_square_bracket")
        assert here(pilot).about == (name,)


async def test_number_keys_show_each_view_and_the_crumbs_show_the_way() -> None:
    async with shown(wrong()) as pilot:
        for name, view in VIEWS.items():
            if view.key:
                await pilot.press(view.key)
                await settled(pilot)
                assert here(pilot).view == name
        assert "> profile > report" in screen(pilot.app)


async def test_racks_have_one_cursor_that_enter_opens() -> None:
    async with shown(wrong(), view="rack") as pilot:
        assert "r01" in screen(pilot.app)
        first = screens(pilot).panes.racks.cursor
        await pilot.press("j")
        assert screens(pilot).panes.racks.cursor != first
        name = screens(pilot).panes.racks.cursor
        assert f" {name}" in screen(pilot.app)
        await pilot.press("enter")
        await until(pilot, f"node {name} ")


# ---- the filter


async def test_slash_filters_while_it_is_typed_and_letters_are_no_commands_then() -> None:
    async with shown(wrong()) as pilot:
        every = len(rows(screens(pilot)))
        await pilot.press("slash")
        await typed(pilot, "~swappiness q")
        await pilot.press("backspace", "backspace", "enter")
        await settled(pilot)
        assert 0 < len(rows(screens(pilot))) < every
        assert "/~swappiness" in screen(pilot.app)
        assert "✘ FAIL  small" in screen(pilot.app), "the run's verdict stays, whatever is filtered"
        await pilot.press("escape")
        assert len(rows(screens(pilot))) == every


@pytest.mark.parametrize(
    ("text", "words"),
    [("state:fial", "fail"), ("nosuch:word", "nosuch"), ("kernel.taintd>1", "kernel.taintd"), ("rack:", "rack")],
)
async def test_an_invalid_filter_states_what_is_wrong_and_clears_nothing(text: str, words: str) -> None:
    async with shown(wrong()) as pilot:
        before = rows(screens(pilot))
        screens(pilot).panes.line.value = ""
        await pilot.press("slash")
        screens(pilot).panes.line.value = text
        await settled(pilot)
        assert "not a complete filter" in screen(pilot.app)
        assert words in screen(pilot.app)
        assert rows(screens(pilot)) == before
        await pilot.press("enter")
        await settled(pilot)
        assert "no filter: " in screen(pilot.app)
        assert rows(screens(pilot)) == before


async def test_a_filter_whose_fact_is_unknown_on_a_node_states_how_many_are_left_out() -> None:
    async with shown(wrong(), where="kernel.tainted<1", view="nodes") as pilot:
        output = screen(pilot.app)
        assert "1 node left out: the facts in `kernel.tainted<1` are unknown there" in output
        assert not any("n5" in row for row in rows(screens(pilot)))


async def test_a_filter_with_an_unknown_node_or_rule_selects_nothing_and_names_the_nearest() -> None:
    async with shown(wrong()) as pilot:
        await pilot.press("slash")
        await typed(pilot, "rule:kernel.clena", "enter")
        assert "no rule kernel.clena; did you mean kernel.clean?" in screen(pilot.app)
        assert screens(pilot).context.where.text == "rule:kernel.clena"
        assert rows(screens(pilot)) == []


async def test_escape_leaves_the_line_then_the_filter_then_the_place() -> None:
    async with shown(wrong()) as pilot:
        await pilot.press("4", "slash")
        await typed(pilot, "state:fail", "enter")
        await pilot.press("colon")
        line = screens(pilot).panes.line
        assert line.has_focus
        await pilot.press("escape")
        assert not line.has_focus
        assert not screens(pilot).panes.base.query_one("#foot").display
        assert screens(pilot).context.where.text == "state:fail"
        await pilot.press("escape")
        assert screens(pilot).context.where.text == ""
        assert here(pilot).view == "nodes"
        await pilot.press("escape")
        assert here(pilot).view == "groups"


async def test_markup_in_the_filter_line_is_literal() -> None:
    async with shown(desk({"n1": {}})) as pilot:
        await pilot.press("slash")
        screens(pilot).panes.line.value = '~"[bold]x[/]"'
        await pilot.press("enter")
        assert '/~"[bold]x[/]"' in await until(pilot, "groups: 0 of")


async def test_a_filter_goes_along_from_view_to_view() -> None:
    async with shown(wrong(), where="node:n1") as pilot:
        await pilot.press("4")
        assert [row.split()[2] for row in rows(screens(pilot))] == ["n1"]
        assert "/node:n1" in screen(pilot.app)


async def test_a_measured_fact_that_no_view_counts_is_read_for_the_filter() -> None:
    text = (
        "rackcheck: 1\nprofile: small\nversion: 1\nrules:\n"
        "  up: { title: It is up, severity: minor, fact: sysctl.vm.swappiness, at-most: 10 }\n"
    )
    made = desk({"n1": {"swappiness": "60\n"}, "n2": {}}, text=text)
    async with shown(made, view="nodes") as pilot:
        await pilot.press("z", "slash")
        await typed(pilot, "sysctl.vm.swappiness>20", "enter")
        await settled(pilot)
        assert [row.split()[2] for row in rows(screens(pilot))] == ["n1"]


# ---- viewing more


async def test_z_shows_what_passes_and_hides_it_again() -> None:
    async with shown(wrong(), view="nodes") as pilot:
        few = len(rows(screens(pilot)))
        await pilot.press("z")
        assert len(rows(screens(pilot))) == 5 > few
        await pilot.press("z")
        assert len(rows(screens(pilot))) == few


async def test_i_shows_every_note_in_full() -> None:
    async with shown(desk({"n1": {}})) as pilot:
        await pilot.press("i")
        assert "1 rule without a site value: site (--set NAME=VALUE)" in await until(pilot, "note")


async def test_help_lists_every_key_that_works_and_the_command_that_prints_the_same() -> None:
    async with shown(wrong(), where="state:fail") as pilot:
        await pilot.press("question_mark")
        reader = pilot.app.screen
        assert isinstance(reader, ReaderScreen)
        lines = [str(line) for line in reader.lines(200)]
        assert f"   rackcheck groups {RUN} --where state:fail" in [line.replace("'", "") for line in lines]
        for each in bindings():
            shown_as = each.key_display or each.key.replace(",", " ")
            text = each.tooltip or each.description
            assert any(line.strip().startswith(shown_as) and text in line for line in lines), each
        for name in VIEWS:
            assert any(f":{name}" in line for line in lines), name


async def test_the_palette_lists_every_view_and_every_command_but_those_for_a_terminal_of_their_own() -> None:
    async with shown(wrong()) as pilot:
        await pilot.press("ctrl+p")
        chooser = pilot.app.screen
        assert isinstance(chooser, Choose)
        assert {option.name for option in chooser.options} == {*VIEWS, *COMMANDS} - ELSEWHERE
        await pilot.press(*"unlike", "enter")
        await settled(pilot)
        assert here(pilot).view == "odd"


async def test_c_turns_the_racks_through_its_modes_each_with_its_legend() -> None:
    async with shown(wrong(), view="rack") as pilot:
        seen = [screens(pilot).context.mode]
        for _ in range(4):
            await pilot.press("c")
            await settled(pilot)
            seen.append(screens(pilot).context.mode)
            assert f"racks: {seen[-1]}" in screen(pilot.app)
        assert seen == ["state", "temperature", "power", "drift", "state"]


async def test_t_turns_colours_from_the_terminals_to_safe_ones_to_none() -> None:
    async with shown(wrong()) as pilot:
        found = []
        for _ in range(3):
            svg = pilot.app.export_screenshot()
            found.append(set(re.findall(r"#[0-9a-f]{6}", svg)))
            await pilot.press("t")
            await settled(pilot)
        assert "colours: " in screen(pilot.app)
        terminal, safe, none = found
        red_and_green = {"#cc555a", "#98a84b"}  # as Rich exports the colours 1 and 2 of a terminal
        assert red_and_green <= terminal
        assert red_and_green.isdisjoint(safe), "some line kept its colours"
        assert none <= terminal & safe


async def test_p_holds_the_screen_still_while_a_reading_goes_on() -> None:
    made = wrong(replays=False)
    let = [False]
    held = replace(made, first=tuple(with_requests(made.first)), hold=lambda e: isinstance(e, RunDone) and not let[0])
    async with shown(held, settle=False) as pilot:
        await until(pilot, "> running", "5 nodes")
        await pilot.press("p")
        await until(pilot, "paused")
        let[0] = True
        await pilot.pause(0.4)
        assert "> running" in screen(pilot.app)
        screens(pilot).readout.message("a message")
        await until(pilot, "a message")
        assert "> running" in screen(pilot.app)
        await pilot.press("p")
        await until(pilot, "✘ FAIL  small")


async def test_rows_follow_a_reading_although_an_update_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "REST", 1e6)
    made = wrong(replays=False)
    let = [1]

    def waits(event: Event) -> bool:
        return isinstance(event, RunDone) or (isinstance(event, Judged) and event.node > f"n{let[0]}")

    held = replace(made, first=tuple(with_requests(made.first)), hold=waits)
    async with shown(held, settle=False) as pilot:
        await until(pilot, "> running", "5 nodes, 1 judged")
        let[0] = 5
        await until(pilot, "> running", "5 nodes, 20 verdicts")


async def test_a_batch_of_events_follows_the_other_without_the_pause_between_two_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "REST", 0)
    monkeypatch.setattr(reading, "DRAIN", 1e-6)
    monkeypatch.setattr(event_feed, "TREES", 1000)
    let, all_queued = [False], threading.Event()

    def waits(event: Event) -> bool:
        if isinstance(event, RunDone):
            all_queued.set()
        return isinstance(event, RunDone) or not let[0]

    made = desk({f"n{n}": {} for n in range(8)}, replays=False)
    async with shown(replace(made, hold=waits), settle=False) as pilot:
        await until_true(pilot, lambda: screens(pilot).reading.running)  # its first look is planned
        let[0] = True
        assert all_queued.wait(30), "the events are queued while the screens wait here"
        monkeypatch.setattr(reading, "TURN", 3600)
        await until(pilot, "> running", "8 nodes, 32 verdicts")


# ---- from a row to its details


async def test_d_holds_a_node_against_its_peers_or_what_was_chosen_and_two_marked_ones_against_each_other() -> None:
    async with shown(wrong(), view="nodes") as pilot:
        await pilot.press("d")
        await until(pilot, "diff n1", "kernel.tainted")
        assert here(pilot).about == ("n1", "peers")
        await pilot.press("D")
        chooser = pilot.app.screen
        assert isinstance(chooser, Choose)
        assert {"peers", "before", "n2", "n5"} <= {option.name for option in chooser.options}
        await typed(pilot, "n2", "enter")
        await settled(pilot)
        assert here(pilot).about == ("n1", "n2")
        screens(pilot).navigator.go(ViewState("nodes"))
        await pilot.press("g", "space", "space", "d")
        await settled(pilot)
        assert len(set(here(pilot).about)) == 2
        assert set(here(pilot).about) <= {"n1", "n4", "n5"}


async def test_capital_f_shows_all_facts_of_a_node_and_capital_h_its_past() -> None:
    async with shown(wrong(), view="nodes") as pilot:
        await pilot.press("F")
        await until(pilot, "facts of n1", "bios.")
        await pilot.press("slash")
        await typed(pilot, "fact:kernel.tainted", "enter")
        await settled(pilot)
        assert [row.split()[0] for row in rows(screens(pilot))] == ["kernel.tainted"]
        await pilot.press("e")
        await until(pilot, "/proc/sys/kernel/tainted", ">     1  128")
        await pilot.press("escape", "escape", "escape", "H")
        await until(pilot, "history of node n1")


async def test_what_is_copied_goes_to_the_clipboard_and_onto_the_screen() -> None:
    async with shown(wrong()) as pilot:
        for word, text in (
            ("nodes", "n1"),
            ("rule", "kernel.clean"),
            ("value", "128"),
            ("command", "rackcheck groups"),
        ):
            await pilot.press("y")
            await settled(pilot)
            chooser = pilot.app.screen
            assert isinstance(chooser, Choose)
            assert word in {option.name for option in chooser.options}
            await typed(pilot, word, "enter")
            await until(pilot, f"copied: {word}", text)
            assert text in pilot.app.clipboard
            await pilot.press("escape")


async def test_rows_that_are_marked_are_the_ones_that_are_written(home: Path) -> None:
    async with shown(wrong(), view="nodes") as pilot:
        await pilot.press("space", "x")
        await typed(pilot, "rows.csv", "enter")
        await until(pilot, f"written: {RUN}-nodes.csv (1 row)")
    head, row = (home / f"{RUN}-nodes.csv").read_text().splitlines()
    assert head.startswith("row,nodes,rule,fact,outcome,role,reason,pass")
    assert row.startswith("n1,n1,,,FAIL,compute,")


async def test_what_is_there_is_never_written_over_nor_what_a_link_leads_to(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (home / f"{RUN}-groups.csv").symlink_to(victim)
    (home / f"{RUN}-groups-2.csv").mkdir()
    async with shown(wrong()) as pilot:
        await pilot.press("x")
        await typed(pilot, "rows.csv", "enter")
        await until(pilot, f"written: {RUN}-groups-3.csv")
    assert victim.read_text() == "mine"


async def test_a_file_that_cannot_be_written_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with shown(wrong()) as pilot:
        await pilot.press("x")
        await typed(pilot, "rows.csv", "enter")
        await until(pilot, f"{RUN}-groups.csv: No such file or directory")


async def test_a_waiver_written_while_nodes_are_read_removes_nothing_of_the_reading(home: Path) -> None:
    made = wrong(replays=False)
    held = replace(made, first=tuple(with_requests(made.first)), hold=lambda event: isinstance(event, RunDone))
    async with shown(held, settle=False) as pilot:
        await until(pilot, "> running", "5 nodes")
        feed = pilot.app.feed._came
        pilot.app.reading.reload()
        assert pilot.app.feed._came is feed, "the reading goes on"


async def test_a_refused_waiver_states_why_and_opens_no_dialog() -> None:
    made = wrong(answers={"waive": CommandResult(2, "rackcheck: --until 2020-01-01 is over\n")})
    async with shown(made) as pilot:
        await pilot.press("w")
        await until(pilot, "waive kernel.clean on n1")
        for text in ("2020-01-01", "Jo", "T-1", "why", ""):
            await typed(pilot, text, "enter")
        await until(pilot, "--until 2020-01-01 is over")
        assert not isinstance(pilot.app.screen, ConfirmDialog)
        assert [words[-1] for words in made.commands] == ["--dry-run"]


async def test_w_and_e_and_f_work_on_a_finding_and_state_it_elsewhere() -> None:
    async with shown(wrong(), view="report") as pilot:
        for key, words in (("w", "no finding in this row"), ("e", "no verdict here"), ("f", "nothing here fails or warns"),
                           ("d", "no node here"), ("F", "no node here"), ("H", "no rule and no node here")):  # fmt: skip
            await pilot.press(key)
            await until(pilot, words)
            assert here(pilot).view == "report"


# ---- no node is read, nothing is changed


async def test_no_key_but_r_and_a_yes_contacts_a_node() -> None:
    made = again(wrong(), {"n1": {}})
    async with shown(made) as pilot:
        keys = [k for b in bindings() for k in b.key.split(",") if k not in {"q", "ctrl+c", "r"}]
        for key in keys:
            await press(pilot, key)
        assert made.read_again == []
        while here(pilot).view != "nodes":
            await pilot.press("4")
        await pilot.press("g", "r")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        for no in ("n", "escape", "q", "enter", "space"):
            await pilot.press(no)
            if not isinstance(pilot.app.screen, ConfirmDialog):
                await pilot.press("r")
        assert made.read_again == []
        await pilot.press("y")
        await settled(pilot)
        assert len(made.read_again) == 1


async def test_marked_nodes_are_read_again_and_changes_are_reported() -> None:
    made = again(wrong(), {"n1": {}})
    async with shown(made, view="nodes", where="state:fail") as pilot:
        await pilot.press("space", "r")
        assert "1 node: n1" in await until(pilot, "collect from these nodes again?")
        await pilot.press("y")
        await until(pilot, "1 collected again by")
        await pilot.press("5")
        assert "n1: kernel.clean fail -> pass" in await until(pilot, "live: collected again 1 node")
        assert made.read_again == [("n1",)]


async def test_a_stored_run_states_why_its_nodes_cannot_be_read() -> None:
    async with shown(wrong()) as pilot:
        await pilot.press("r")
        assert "a stored run is shown" in screen(pilot.app)


async def test_a_command_that_contacts_nodes_needs_a_confirmation() -> None:
    made = wrong()
    async with shown(made) as pilot:
        for line in ("doctor n1", "audit n1 -p small", "facts n1 --raw", "capture n1"):
            await pilot.press("colon")
            screens(pilot).panes.line.value = line
            await pilot.press("enter")
            assert isinstance(pilot.app.screen, ConfirmDialog), line
            assert f"rackcheck {line}" in screen(pilot.app)
            await pilot.press("n")
        assert made.commands == []
        await pilot.press("colon")
        screens(pilot).panes.line.value = "runs list --where this"
        await pilot.press("enter")
        await until(pilot, "ran runs list --where")
        assert made.commands == [("runs", "list", "--where", RUN)], "`this` is the run that is shown"


async def test_an_unknown_command_is_reported_with_the_nearest() -> None:
    async with shown(wrong()) as pilot:
        for line, words in (
            ("groop", "did you mean group"), ("tui", "no view and no command tui"), ("a 'b", "a 'b: "),
        ):  # fmt: skip
            await pilot.press("colon")
            screens(pilot).panes.line.value = line
            await pilot.press("enter")
            await until(pilot, words)


async def test_a_view_can_be_typed_with_a_filter_or_with_what_it_is_about() -> None:
    async with shown(wrong()) as pilot:
        for line, place in (
            ("nodes state:fail", ViewState("nodes", (), "state:fail")), ("node n4", ViewState("node", ("n4",))),
            ("diff n1 peers", ViewState("diff", ("n1", "peers"))),
        ):  # fmt: skip
            await pilot.press("colon")
            screens(pilot).panes.line.value = line
            await pilot.press("enter")
            await settled(pilot)
            assert replace(here(pilot), row="") == place


async def test_an_error_in_the_background_is_reported_and_nothing_else_happens() -> None:
    async with shown(wrong(answers={"diff": CommandResult(2, "rackcheck: no run x; did you mean y?\n")})) as pilot:
        await pilot.press("4", "g", "d")
        await until(pilot, "no run x; did you mean y?")


async def test_what_opens_over_a_view_is_a_command_that_there_is() -> None:
    stored(RUN, {"n1": BAD, "n2": {}}, nodes=numbered(2, 1, "n"))
    async with shown(RunSession(found=subject.find(RUN)), size=(100, 40)) as pilot:
        for keys, words in ((("8", "enter"), "to pass"), (("1", "g", "f"), "contacted no machine")):
            await pilot.press(*keys)
            await settled(pilot)
            assert words in screen(pilot.app), keys
            assert "Usage: " not in screen(pilot.app), keys
            await pilot.press("escape")


class Slow(MadeDesk):
    """A desk whose commands wait until the test releases them."""

    let = threading.Event()

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        self.let.wait(20)
        self.commands.append(tuple(only))
        return super().fixes(only, verdicts)


@pytest.mark.parametrize("keys", [["escape"], ["4"], ["slash", "escape", "enter"]])
async def test_what_was_awaited_opens_nothing_once_the_reader_went_elsewhere(keys: list[str]) -> None:
    made = wrong()
    slow = Slow(made.profile, made.nodes, made.first)
    slow.let = threading.Event()
    async with shown(slow) as pilot:
        await pilot.press("f")
        await until(pilot, "fix of")
        await pilot.press(*keys)
        place, over = here(pilot), len(pilot.app.screen_stack)
        slow.let.set()
        await settled(pilot)
        assert slow.commands, "the command was called, and has answered"
        assert len(pilot.app.screen_stack) == over
        assert replace(here(pilot), row="") == replace(place, row="")


# ---- quitting


async def test_quitting_while_nodes_are_read_needs_a_confirmation_and_stops_the_reading() -> None:
    made = wrong(replays=False)
    held = replace(made, first=tuple(with_requests(made.first)), hold=lambda event: isinstance(event, Answered))
    async with shown(held, settle=False) as pilot:
        await until(pilot, "> running", "5 nodes")
        await pilot.press("q")
        assert "received answers are kept" in await until(pilot, "quit?")
        await pilot.press("n")
        assert pilot.app.is_running
        assert not held.stopped
        await pilot.press("ctrl+c")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await pilot.press("y")
        await pilot.pause()
        assert held.stopped


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_a_stored_run_is_left_at_once(key: str) -> None:
    app = Screens(wrong, UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press(key)
        await pilot.pause()
    assert app.return_code == 0
    assert app.opening.trouble is None


async def test_colon_quit_quits() -> None:
    app = Screens(wrong, UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("colon", *"quit", "enter")
        await pilot.pause()
    assert app.return_code == 0


# ---- every key in every view


async def press(pilot: object, *keys: str) -> None:
    """Press keys without waiting for each, and go back from any view that opened."""
    app = screens(pilot)  # type: ignore[arg-type]
    for key in keys:
        app.screen.post_message(Key(key, key if len(key) == 1 else None))
        await settled(pilot)  # type: ignore[arg-type]
        while isinstance(app.screen, ReaderScreen | ConfirmDialog | Choose | FormDialog):
            app.screen.dismiss(None)
            await settled(pilot)  # type: ignore[arg-type]
        line = app.panes.line
        if line.has_focus:
            app.panes.show_foot(shown=False)
            app.panes.focus_rows()


@pytest.mark.parametrize("name", VIEWS)
async def test_every_key_works_in_every_view(name: str) -> None:
    made = again(wrong(), {"n1": {}})
    keys = [k for b in bindings() for k in b.key.split(",") if k not in {"q", "ctrl+c"}]
    async with shown(made, view=name, about=ABOUT.get(name, ())) as pilot:
        for key in dict.fromkeys(keys):
            if here(pilot).view != name:
                screens(pilot).navigator.go(ViewState(name, ABOUT.get(name, ())))
                await settled(pilot)
            await press(pilot, key)
            assert pilot.app.is_running, key
            assert pilot.app._exception is None, key
        assert made.read_again == []


@pytest.mark.parametrize("name", VIEWS)
async def test_a_plain_terminal_gets_ascii_alone_in_every_view(name: str) -> None:
    made = desk({f"n{n}": {"hostname": f"…ö{n}\n", "tainted": f"{n}\n"} for n in range(1, 60)})
    made = replace(made, answers={"diff": CommandResult(1, json.dumps(DIFF))})
    async with shown(made, ASCII, view=name, about=ABOUT.get(name, ())) as pilot:
        for keys in ([], ["j"], ["z"], ["enter"], ["escape", "i"], ["escape", "question_mark"], ["escape", "ctrl+p"]):
            await pilot.press(*keys)
            await settled(pilot)
            assert [line for line in screen(pilot.app).splitlines() if not line.isascii()] == [], keys


async def test_questions_and_forms_of_a_plain_terminal_are_ascii() -> None:
    async with shown(again(wrong(), {"n1": {}}), ASCII) as pilot:
        for key in ("r", "w", "D", "x", "y", "slash", "colon"):
            await pilot.press(key)
            await settled(pilot)
            assert [line for line in screen(pilot.app).splitlines() if not line.isascii()] == [], key
            await pilot.press("escape")


async def test_hostile_text_is_literal_in_rows_details_and_reader() -> None:
    async with shown(desk({"n1": {"hostname": HOSTILE + "\n"}}), size=(120, 40)) as pilot:
        for key in ("", "enter", "enter"):
            await pilot.press(*([key] if key else []))
            await settled(pilot)
            output = screen(pilot.app)
            assert "[bold red]x[/] \\x1b[31m\\x1b]0;owned\\x07" in output
            assert "\x1b" not in output


async def test_no_color_leaves_no_colour_on_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    colours = {}
    for name in ("with", "without"):
        monkeypatch.delenv("NO_COLOR", raising=False)
        if name == "without":
            monkeypatch.setenv("NO_COLOR", "1")
        async with shown(wrong()) as pilot:
            svg = pilot.app.export_screenshot()
            colours[name] = {word for word in svg.replace('"', " ").replace(";", " ").split() if word.startswith("#")}
    assert len(colours["without"]) < len(colours["with"])
    assert os.environ["NO_COLOR"] == "1"


# ---- the same on the command line


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one real run of it."""
    folder = tmp_path_factory.mktemp("kept")
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("RACKCHECK_HOME", str(folder))
        stored(RUN, {"n1": BAD, "n2": {}, "n3": {}, "n4": {}, "n5": SILENT}, nodes=numbered(5, 2, "n"))
    return folder


@pytest.mark.parametrize("name", VIEWS)
def test_the_command_shown_for_a_view_runs(name: str, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(kept))
    found = RunSession(found=subject.find(RUN))
    ctx = replace(context(wrong()), desk=found)
    line = twin(ctx, ViewState(name, ABOUT.get(name, ())))
    program, *words = shlex.split(line)
    assert program == "rackcheck"
    done = rackcheck(*words)
    assert done.status in {0, 1, 3}, f"{line}: {done.err}"
    assert "\x1b" not in done.out


@pytest.mark.parametrize("name", VIEWS)
def test_the_command_shown_for_a_view_of_a_run_opened_by_its_folder_runs(
    name: str, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    (folder,) = (each.parent for each in kept.rglob("run.json"))
    ctx = replace(context(wrong()), desk=RunSession(found=subject.find(str(folder))))
    _, *words = shlex.split(twin(ctx, ViewState(name, ABOUT.get(name, ()))))
    done = rackcheck(*words)
    # `history` reads the index of the state folder, which does not contain this run.
    assert done.status in ({0, 1, 2, 3} if name == "history" else {0, 1, 3}), f"{words}: {done.err}"


@pytest.mark.parametrize("name", VIEWS)
def test_the_command_shown_for_a_filtered_view_runs(name: str, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(kept))
    ctx = replace(context(wrong()), desk=RunSession(found=subject.find(RUN)))
    _, *words = shlex.split(twin(ctx, ViewState(name, ABOUT.get(name, ()), "node:n1")))
    done = rackcheck(*words)
    assert done.status in {0, 1, 3}, f"{words}: {done.err}"


def test_every_view_names_a_command_that_there_is() -> None:
    named: Sequence[str] = [view.twin.split()[1] for view in VIEWS.values()]
    assert set(named) <= set(COMMANDS)
    assert set(verbs()) >= set(VIEWS)
    assert board(wrong()).counts
