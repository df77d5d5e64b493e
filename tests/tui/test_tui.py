"""Views and texts of the screens, without a screen: what is shown of a run, in which space, letters and colours."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from command import rackcheck
from desks import (
    ASCII,
    HOSTILE,
    PROFILE,
    RUN,
    UNICODE,
    Answer,
    MadeDesk,
    board,
    context,
    desk,
    numbered,
    second,
    stored,
)
from rich.cells import cell_len

from rackcheck.base.user_error import UserError
from rackcheck.cli import COMMANDS
from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.filter.where import left_out, parse
from rackcheck.inventory import Rack
from rackcheck.model.catalogue import Kind, collection, version
from rackcheck.model.fact import Plane, Reading, Reason, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run.event import RunDone
from rackcheck.views.signs import Signs, signs_for
from rackcheck.views.state import Board
from rackcheck.views.steps import Step
from rackcheck.views.terminal import MINOR, STYLES, Line
from rackcheck_tui import show
from rackcheck_tui.controllers.commands import ELSEWHERE, VIEWS, asks, twin, verbs
from rackcheck_tui.controllers.filtering import kept_nodes
from rackcheck_tui.controllers.keys import chapters
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.screens import rack
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntry, ViewContent
from rackcheck_tui.widgets.words import about, head, labelled, plain

SILENT = Unknown(Reason.UNREACHABLE, "no route to host")
ATTRIBUTES = {"bold", "dim", "italic", "reverse", "underline"}
COLOURS = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
DECLINED = Step("counters", declined="agreed with the customer")
PLACES = {
    "groups": (), "rack": (), "odd": (), "nodes": (), "live": (), "history": ("n1",), "waivers": (), "steps": (), "profile": (),
    "report": (), "node": ("n1",), "group": ("1",), "facts": ("n1",), "diff": ("n1", "peers"),
}  # fmt: skip
"""Every view, and what it is about here."""

WRONG: Mapping[str, Answer] = {
    "n1": {"hostname": "gödel…\n", "swappiness": "60\n", "tainted": "1\n"}, "n2": {}, "n3": {}, "n4": {},
    "n5": SILENT,
}  # fmt: skip


@cache
def difference() -> object:
    """The output of `rackcheck diff` for n1 and its peers, on a stored run of the same answers."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as home:
        patch.setenv("RACKCHECK_HOME", home)
        stored(RUN, WRONG)
        done = rackcheck("diff", "n1", "peers", "--from", RUN, "--json")
    assert done.status in {0, 1, 3}, done.err
    return json.loads(done.out[done.out.index("{") :])


def wrong(**more: Any) -> MadeDesk:
    return desk(WRONG, nodes=numbered(5, 2, "n"), racks={"r01": Rack("r01", row="a"), "r02": Rack("r02")}, **more)


def full_context(made: MadeDesk, signs: Signs = UNICODE, **more: Any) -> ViewContext:
    """A context whose background reading is complete."""
    ctx = context(made, signs, **more)
    fetched: Mapping[str, Callable[[], object]] = {
        "facts": lambda: made.tree("n1"), "history": lambda: made.past("n1"), "diff": difference,
    }  # fmt: skip
    for view, read in fetched.items():
        ctx.fetched[ViewState(view, PLACES[view])] = read()
    ctx.fetched[ViewState("history", ("kernel.clean",))] = made.past("kernel.clean")
    return ctx


def view(ctx: ViewContext, name: str, where: str = "") -> ViewContent:
    ctx.where = parse(where, ctx.desk.kind)
    return VIEWS[name].build(ctx, ViewState(name, PLACES[name], where))


def lines_of(made: ViewContent, width: int) -> list[Line]:
    head = made.entries.head(width)
    items = [line for entry in made.entries.every for line in (entry.line(width), *entry.details(width))]
    return [*([head] if head is not None else []), *made.above, *items]


def rows(ctx: ViewContext, name: str, where: str = "", width: int = 80) -> list[str]:
    return [str(entry.line(width)).strip() for entry in view(ctx, name, where).entries.every]


# ---- the head


def test_the_head_shows_verdict_profile_run_and_every_count_by_sign_and_word() -> None:
    made = desk({"n1": {"tainted": "128\n"}, "n2": {}})
    output = "\n".join(map(str, head(board(made), UNICODE, made.name, 80)))
    assert f"✘ FAIL  small 2026.11  {RUN}" in output
    assert "2 nodes, 8 verdicts: the test" in output
    for words in ("✔ 5 pass", "! 0 warn", "✘ 1 fail", "~ 0 waived", "? 0 unknown", "· 2 n/a"):
        assert words in output


def test_the_counts_are_those_that_every_other_output_has() -> None:
    made = wrong()
    counts = board(made).summary(every=True).counts
    output = str(head(board(made), UNICODE, made.name, 80)[2])
    assert all(f"{count} {status.value}" in output for status, count in counts.items())


def test_a_run_of_one_plane_states_it_in_the_head() -> None:
    made = desk({"n1": {}}, frozenset({Plane.OS}))
    assert str(head(board(made), UNICODE, made.name, 80)[1]).endswith("os plane only")


def test_an_interrupted_run_states_it_beside_its_verdict_and_is_incomplete() -> None:
    made = desk({"n1": {}}, interrupted=True)
    assert "? INCOMPLETE (interrupted)" in str(head(board(made), UNICODE, made.name, 80)[0])


def test_a_run_under_way_has_no_verdict_yet() -> None:
    made = desk({"n1": {}, "n2": {}})
    part = board(made, [event for event in made.first if not isinstance(event, RunDone)][:4])
    output = "\n".join(map(str, head(part, UNICODE, made.name, 80)))
    assert "> running" in output
    assert "PASS" not in output
    assert "2 nodes, 0 judged" in output or "2 nodes, 1 judged" in output


def test_before_the_first_event_the_head_states_it_and_no_verdict() -> None:
    made = desk({"n1": {}})
    output = "\n".join(map(str, head(Board(made.profile, made.nodes), UNICODE, "pod7", 80)))
    assert "pod7" in output
    assert "no facts yet" in output
    assert not any(word in output for word in ("PASS", "FAIL", "INCOMPLETE"))


def test_nodes_read_again_are_counted_in_the_head() -> None:
    made = desk({"n1": {"tainted": "1\n"}, "n2": {}})
    now = board(made, [*made.first, *second(made, {"n1": {}})])
    output = "\n".join(map(str, head(now, UNICODE, made.name, 80)))
    assert "1 collected again by 20260102T000000Z-abcd" in output
    assert "✔ PASS" in output


def test_everything_about_the_run_stands_on_its_page_with_each_note_in_full() -> None:
    made = desk({"n1": {}})
    output = " ".join(" ".join(map(str, about(board(made), UNICODE, 80, made.name))).split())
    for words in (f"run {RUN}", "began 2026-01-01", "profile small 2026.11", "targets the test"):
        assert words in output
    assert "1 rule without a site value: site (--set NAME=VALUE)" in output


# ---- the views


def test_the_same_failure_on_many_nodes_is_one_line_with_the_nodes_folded() -> None:
    made = desk({f"dgx{n:02}": {"tainted": "128\n"} if n != 7 else {} for n in range(1, 19)})
    first, *rest = rows(context(made), "groups", width=132)
    assert first.startswith("1  ✘ FAIL    kernel.clean")
    assert "128 (0)" in first
    assert "17/18 dgx[01-06,08-18]" in first
    assert rest == []
    details = "\n".join(map(str, view(context(made), "groups").entries.details(0, 132)))
    assert "(blocker)" in details
    assert "Reboot, and report the trace." in details


def test_silent_nodes_take_one_row_behind_the_fails_however_many_rules_there_are() -> None:
    more = "".join(f"  more.{n}: {{ title: More, fact: sysctl.vm.swappiness, is: 10 }}\n" for n in range(5))
    silent = {f"n{n}": Unknown(Reason.UNREACHABLE, f"no route to 10.0.0.{n}") for n in range(3, 40)}
    made = desk({"n1": {}, "n2": {"tainted": "1\n"}, **silent}, text=PROFILE + more)
    found = rows(context(made), "groups", width=132)
    assert "✘ FAIL" in found[0]
    assert "? UNKNOWN 8 rules of the os plane: unre" in found[1]
    assert " no route to … " in found[1], "addresses that differ are left out"
    assert "37/39 n[3-39]" in found[1]
    assert len(found) == 2


def test_nodes_stand_worst_first_and_a_silent_one_before_a_passing_one() -> None:
    made = desk({"n1": {}, "n2": SILENT, "n3": {"tainted": "128\n"}})
    assert [row.split()[:3] for row in rows(context(made, every=True), "nodes")] == [
        ["✘", "FAIL", "n3"],
        ["?", "INCOMPLETE", "n2"],
        ["✔", "PASS", "n1"],
    ]


def test_passing_nodes_are_left_out_until_requested_and_counted() -> None:
    made = desk({"n1": {}, "n2": {"tainted": "1\n"}})
    assert [row.split()[2] for row in rows(context(made), "nodes")] == ["n2"]
    assert "1 pass without findings" in view(context(made), "nodes").words
    assert len(rows(context(made, every=True), "nodes")) == 2
    assert len(rows(context(made), "node")) == 0
    assert "3 rules pass, 1 do not apply" in view(context(made), "node").empty
    assert len(rows(context(made, every=True), "node")) == 4
    few, all_of_them = rows(context(made), "groups"), rows(context(made, every=True), "groups")
    assert [row.split()[2] for row in few] == ["FAIL"]
    assert {row.split()[2] for row in all_of_them} == {"FAIL", "PASS", "N/A"}


def test_a_nodes_view_is_worst_and_heaviest_first() -> None:
    made = desk({"n1": {"hostname": "wrong\n", "swappiness": "60\n", "tainted": "1\n"}})
    assert [entry.rule for entry in view(context(made), "node").entries.every] == [
        "kernel.clean", "host.named", "memory.swappiness",
    ]  # fmt: skip


def test_an_unjudged_node_is_named_as_such_and_passes_nowhere() -> None:
    made = desk({"n1": {}, "n2": {}})
    part = board(made, [e for e in made.first if getattr(e, "node", "") != "n2"])
    ctx = context(made)
    ctx.board = part
    listed = rows(ctx, "nodes")
    assert [row.split() for row in listed if "n2" in row] == [["-", "n2", "not", "judged"]]
    ctx.where = parse("", made.kind)
    assert VIEWS["node"].build(ctx, ViewState("node", ("n2",))).empty == "n2: not judged in this run"


def test_an_empty_view_distinguishes_a_filter_from_a_run_without_verdicts() -> None:
    unread = desk({})
    assert view(context(unread), "groups").empty.startswith("nothing was judged")
    fine = desk({"n1": {}})
    assert view(context(fine), "groups").empty == "nothing is wrong; z shows what passes"
    for judged, words in ((0, "no node is judged yet"), (1, "nothing is wrong on the 1 node judged so far")):
        going = context(two := desk({"n1": {}, "n2": {}}))
        kept = [
            e for e in two.first if not isinstance(e, RunDone) and getattr(e, "node", "") not in ("n1", "n2")[judged:]
        ]
        going.board = board(two, kept)
        assert view(going, "groups").empty == f"{words}; z shows what passes"
    bad = desk({"n1": {"tainted": "1\n"}})
    found = view(context(bad), "groups", "state:unknown")
    assert found.empty == "none of 1 groups matches; / changes the filter"
    assert found.words == "groups: 0 of 1"


def test_the_profile_view_states_what_each_rule_expects_and_its_result() -> None:
    ctx = context(wrong())
    (output,) = (
        " ".join(" ".join(map(str, entry.details(120))).split())
        for entry in view(ctx, "profile").entries.every if entry.name == "memory.swappiness"
    )  # fmt: skip
    assert "expected sysctl.vm.swappiness must be at most 10" in output
    assert "Swapping in stalls" in output
    assert "here 3 pass, 1 warn, 1 unknown" in output
    rule = next(row for row in rows(ctx, "profile") if "kernel.clean" in row)
    assert rule.endswith("✔3 ✘1 ?1")


def test_every_fact_stands_with_its_value_plane_source_and_time() -> None:
    ctx = full_context(wrong())
    (fact,) = (entry for entry in view(ctx, "facts").entries.every if entry.fact == "kernel.tainted")
    output = " ".join(" ".join(map(str, fact.details(120))).split())
    for words in ("value 1", "plane os", "read from /proc/sys/kernel/tainted", "time 2026-01-01T00:00:00Z"):
        assert words in output


def test_the_odd_view_names_who_differs_and_counts_missing_values() -> None:
    found = view(context(wrong()), "odd")
    assert [entry.name for entry in found.entries.every] == ["n1"]
    assert "some facts are unknown on 1 node" in str(found.above[0])
    assert "kernel.tainted is 1" in str(found.entries.line(0, 80))


def test_with_too_few_nodes_none_is_odd_and_it_is_stated() -> None:
    found = view(context(desk({"n1": {"tainted": "1\n"}})), "odd")
    assert found.empty == "no comparison is possible"
    assert "compute" in str(found.above[0])


def test_the_steps_of_an_acceptance_stand_with_what_is_left_and_the_command_that_continues() -> None:
    left = Step("burn-in", "soak", Outcome.INCOMPLETE, left=(("not run", ("n1", "n2")),))
    made = desk({"n1": {}, "n2": {}}, name="pod7", steps=(Step("audit", outcome=Outcome.PASS), left, DECLINED))
    ctx = context(made)
    view = VIEWS["steps"].build(ctx, ViewState("steps"))
    assert view.words == "steps: 1 of 3 open"
    lines = [str(entry.line(100)).rstrip() for entry in view.entries.every]
    assert lines == [
        "PASS        audit",
        "INCOMPLETE  burn-in soak: not run: n[1-2]",
        "declined    counters after the burn-in: agreed with the customer",
    ]
    details = "\n".join(map(str, view.entries.every[1].details(100)))
    assert "rackcheck burnin --accept pod7 --tier soak" in details


def test_a_single_run_has_no_steps_and_it_is_stated() -> None:
    made = desk({"n1": {}})
    view = VIEWS["steps"].build(context(made), ViewState("steps"))
    assert (list(view.entries.every), view.empty.partition(":")[0]) == ([], "no steps")


def test_no_key_is_listed_twice_in_the_help() -> None:
    listed = [names.partition(":")[0] if names != ":" else names for _, rows in chapters() for names, _ in rows]
    keys = [key for names in listed for key in names.split()]
    assert sorted(keys) == sorted(set(keys))
    assert {"down", "space", "enter", "0", "9"} <= set(keys)


def test_each_state_has_a_sign_of_its_own_in_the_racks_picture() -> None:
    for signs in (UNICODE, ASCII):
        cells, legend = rack.picture(context(wrong(), signs))
        assert {name: cell.sign for name, cell in cells.items()} == {
            "n1": signs.status(Status.FAIL), **dict.fromkeys(("n2", "n3", "n4"), signs.status(Status.PASS)),
            "n5": signs.status(Status.UNKNOWN),
        }  # fmt: skip
        for words in ("1 FAIL", "1 INCOMPLETE", "3 PASS"):
            assert words in str(legend)


def test_what_a_filter_leaves_out_of_the_picture_is_no_node_that_passes() -> None:
    ctx = context(wrong())
    ctx.where = parse("rack:r02", ctx.desk.kind)
    cells, _ = rack.picture(ctx)
    passing = cells["n4"]
    assert {cells[name].sign for name in ("n1", "n2", "n3")} & {passing.sign, UNICODE.status(Status.PASS)} == set()


def test_a_difference_states_both_values_the_rules_on_it_and_what_is_unknown() -> None:
    ctx = context(wrong())
    before, after = {"value": 0}, {"unknown": "denied"}
    ctx.fetched[ViewState("diff", PLACES["diff"])] = {
        "node": "n1", "against": "peers", "unknown-in-both": 3, "silent": ["bmc"], "differing": [
            {"fact": "kernel.tainted", "facts": ["kernel.tainted"], "kind": "unknown now", "class": "config",
             "before": before, "after": after, "rules": ["kernel.clean"], "verdicts": {"kernel.clean": "unknown"}},
            {"fact": "os.release.id", "facts": ["os.release.id"], "kind": "changed", "class": "version",
             "before": {"value": "a"}, "after": {"value": "b"}, "rules": [], "verdicts": {}},
        ],
    }  # fmt: skip
    made = view(ctx, "diff")
    text = " ".join(map(str, made.above))
    assert "3 facts are unknown on both sides" in text
    assert "bmc: no answer on either side" in text
    first, second_row = (str(made.entries.line(row, 120)) for row in (0, 1))
    assert "unknown" in first
    assert "kernel.clean fail" in first, "as it stands on the screen, not as it was when it was compared"
    assert "no rule covers this fact" in second_row
    assert "1 that no rule covers" in made.words


def test_a_past_states_how_many_nodes_fail_run_by_run_the_newest_first() -> None:
    ctx = context(wrong())
    runs = [
        {"newest": {"run": f"r{n}", "time": f"2026-01-0{n}T00:00:00Z"}, "oldest": {"run": f"r{n}", "time": "t"},
         "alike": n, "counts": {"fail": n, "pass": 4}}
        for n in (3, 2, 1)
    ]  # fmt: skip
    ctx.fetched[ViewState("history", ("kernel.clean",))] = ("rule", runs)
    for signs, drawn in ((UNICODE, "▃▆█"), (ASCII, "1 2 3")):
        ctx.signs = signs
        made = VIEWS["history"].build(ctx, ViewState("history", ("kernel.clean",)))
        assert drawn in str(made.above[0])
        assert "now 3" in str(made.above[0])
    assert "3 runs" in str(made.entries.line(0, 80))
    assert "3 fail" in str(made.entries.line(0, 80))


# ---- the filter


@pytest.mark.parametrize(
    ("where", "rules"),
    [
        ("state:fail", ["host.named", "kernel.clean"]),
        ("state:warn", ["memory.swappiness"]),
        ("!state:unknown", ["kernel.clean", "host.named", "memory.swappiness"]),
        ("severity:blocker", ["kernel.clean", ""]),
        ("rule:kernel.*", ["kernel.clean", ""]),
        ("~KERNEL.CLEAN", ["kernel.clean", ""]),
        ("node:n1", ["kernel.clean", "host.named", "memory.swappiness"]),
        ("rack:r02 state:fail", []),
        ("kernel.tainted>0 state:fail", ["kernel.clean", "host.named"]),
        ("group:1", ["kernel.clean"]),
    ],
)
def test_a_filter_chooses_groups_by_its_terms(where: str, rules: list[str]) -> None:
    found = [entry.rule for entry in view(context(wrong()), "groups", where).entries.every]
    assert sorted(found) == sorted(rules)


def test_words_find_rules_reasons_and_nodes_in_any_case() -> None:
    made = desk({"dgx01": {"tainted": "128\n"}, "dgx02": {}})
    for text in ("~KERNEL", "~128", "~DGX01", "~clean"):
        assert any("kernel.clean" in row for row in rows(context(made), "groups", text)), text
    assert rows(context(made), "groups", "~dgx02") == []


def test_nodes_that_may_or_may_not_match_are_counted_and_not_shown() -> None:
    for name in ("groups", "nodes", "rack"):
        found = view(context(wrong(), every=True), name, "kernel.tainted<1")
        assert "1 node left out" in found.left_out, name
        assert "unknown" in found.left_out
    assert "n5" not in " ".join(rows(context(wrong(), every=True), "nodes", "kernel.tainted<1"))


def test_a_group_that_a_filter_narrows_keeps_its_number() -> None:
    made = desk({f"n{n}": {"tainted": "1\n"} for n in range(1, 5)}, nodes=numbered(4, 2, "n"))
    (row,) = rows(context(made), "groups", "rack:r02", width=120)
    assert row.startswith("1  ✘ FAIL    kernel.clean")
    assert "2/4 n[3-4]" in row


# ---- the space, the letters, the colours


@pytest.mark.parametrize("width", [40, 60, 80, 132, 240])
@pytest.mark.parametrize("name", PLACES)
def test_a_row_never_leaves_its_width(name: str, width: int) -> None:
    ctx = full_context(wrong(), every=True)
    for entry in view(ctx, name).entries.every:
        assert cell_len(str(entry.line(width))) <= width, entry.name


@pytest.mark.parametrize("width", [20, 40, 80, 240])
def test_wide_letters_take_the_room_that_they_take_on_the_screen(width: int) -> None:
    names = [f"{'漢字' * 9}-{n}" for n in range(1, 9)]
    made = desk({name: {"hostname": "漢字" * 60 + "\n", "tainted": "1\n"} for name in names})
    for name in ("groups", "nodes", "live", "odd"):
        for entry in view(context(made), name).entries.every:
            if width >= 60:
                assert cell_len(str(entry.line(width))) <= width, name
            assert entry.details(width)


@pytest.mark.parametrize("name", PLACES)
def test_plain_signs_keep_every_line_in_ascii(name: str) -> None:
    ctx = full_context(wrong(), ASCII, every=True)
    made = view(ctx, name)
    written = [str(line) for line in lines_of(made, 80)]
    assert [line for line in written if not line.isascii()] == []
    shown = [str(line) for line in (*head(ctx.board, ASCII, ctx.desk.name, 80), *about(ctx.board, ASCII, 80, "x"))]
    assert all(line.isascii() for line in shown)
    assert any("x FAIL" in line for line in shown)
    assert ASCII.text(made.words + made.empty + made.left_out).isascii()


@pytest.mark.parametrize("name", PLACES)
def test_no_style_is_more_than_the_sixteen_colours_that_every_terminal_has(name: str) -> None:
    ctx = full_context(wrong(), every=True)
    pieces = [piece for line in lines_of(view(ctx, name), 120) for piece in line.pieces]
    cells, legend = rack.picture(ctx)
    styles = {style for _, style in (*pieces, *legend.pieces)} | {cell.style for cell in cells.values()}
    words = {word.removeprefix("bright_") for style in styles for word in style.split()}
    assert words <= ATTRIBUTES | COLOURS


def test_no_verdict_is_shown_by_colour_alone() -> None:
    ctx = full_context(wrong(), every=True)
    loud = {STYLES[status]: status for status in (Status.FAIL, Status.UNKNOWN)}
    loud |= {STYLES[status]: status for status in (Status.PASS, Status.WARN)}
    for name in ("groups", "nodes", "node", "group", "profile"):
        for entry in view(ctx, name).entries.every:
            for text, style in entry.line(120).pieces:
                if style in loud and text.strip():
                    line = UNICODE.status(loud[style])
                    assert line in text or loud[style].value in text.casefold(), (name, text, style)


def test_a_row_shows_its_verdict_in_a_word_or_a_sign_without_any_colour() -> None:
    ctx = full_context(wrong(), every=True)
    for name in ("groups", "nodes", "node", "group"):
        for entry in view(ctx, name).entries.every:
            output = str(entry.line(100))
            assert any(UNICODE.status(s) in output for s in Status) or MINOR in output, output
            words = [*(status.value.upper() for status in Status), "INCOMPLETE", "MINOR"]
            assert any(word in output for word in words) or name == "group", output


@pytest.mark.parametrize(
    ("environment", "plain_signs"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),  # how Python reads the line above
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ({}, False),
    ],
)
def test_the_locale_and_the_terminal_decide_the_signs(environment: dict[str, str], plain_signs: bool) -> None:
    assert signs_for(environment).plain is plain_signs


def test_control_characters_of_a_node_are_shown_and_never_sent() -> None:
    assert UNICODE.text("a\x1b[31mb\x07\u202ec") == "a\\x1b[31mb\\x07\\u202ec"
    assert UNICODE.fit("\x1b[2Jx", 8) == "\\x1b[2Jx"


@pytest.mark.parametrize("name", PLACES)
def test_no_view_lets_a_nodes_control_characters_through(name: str) -> None:
    made = desk({**WRONG, "n1": {"hostname": HOSTILE + "\n", "tainted": HOSTILE + "\n"}})
    ctx = full_context(made, every=True)
    for line in lines_of(view(ctx, name), 120):
        assert str(line).isprintable(), line


def test_a_text_is_wrapped_beside_its_label() -> None:
    written = [str(line) for line in labelled("why", "word " * 20, UNICODE, 40)]
    assert written[0].startswith(" why       word")
    assert all(line.startswith(" " * 11 + "word") for line in written[1:])


# ---- rows for other programs


def test_rows_are_written_as_csv_and_json_with_all_their_nodes() -> None:
    made = desk({f"n{n}": {"tainted": "1\n"} for n in range(1, 5)})
    found = view(context(made), "groups").entries
    assert plain(found, [0], as_json=False).splitlines()[0] == (
        "row,nodes,rule,fact,number,verdict,severity,title,seen,wanted,hint"
    )
    assert "n[1-4]" in plain(found, [0], as_json=False)
    (doc,) = json.loads(plain(found, [0], as_json=True))
    assert doc["nodes"] == ["n1", "n2", "n3", "n4"]
    assert (doc["rule"], doc["verdict"], doc["seen"], doc["wanted"]) == ("kernel.clean", "fail", "1", "0")
    assert plain(found, [], as_json=True) == "[]\n"


def test_a_comparison_over_items_is_unknown_where_they_were_not_listed() -> None:
    listed, silent = Unknown(Reason.DENIED, "root's"), Unknown(Reason.TIMEOUT, "5 s")
    values: dict[str, dict[str, Reading]] = {
        "n1": {"gpu": ("0",), "gpu/0.vbios": "97.00"}, "n2": {"gpu": listed, "gpu/0.vbios": "96.00"},
        "n3": {"gpu": ("0", "1"), "gpu/0.vbios": "96.00", "gpu/1.vbios": silent}, "n4": {"gpu": ()},
    }  # fmt: skip
    ctx = context(desk({name: {} for name in values}))
    for name, fields in values.items():
        leaves = {path: Leaf(value, kind_of(path), Plane.OS, "") for path, value in fields.items()}
        ctx.board.census.take(name, "compute", Tree(leaves), {})
    ctx = replace(ctx, where=parse("gpu/*.vbios=97.00", ctx.desk.kind))
    assert kept_nodes(ctx, values) == (frozenset({"n1"}), left_out(ctx.where, "2 nodes"))
    ctx = replace(ctx, where=parse("!gpu/*.vbios=97.00", ctx.desk.kind))
    assert kept_nodes(ctx, values) == (frozenset({"n4"}), left_out(ctx.where, "2 nodes"))


def kind_of(path: str) -> Kind:
    return collection("") if path == "gpu" else version("opaque", "")


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["audit", "n1", "-p", "x"], True),
        (["audit", "--from", "last"], False),
        (["audit", "n1", "-o", "--from"], True),
        (["probe", "run", "x", "n1"], True),
        (["facts", "n1", "--from", "last"], False),
        (["facts", "n1"], True),
        (["remedy", "last"], False),
    ],
)
def test_a_command_that_may_ask_nodes_is_known_by_its_words(words: list[str], asked: bool) -> None:
    assert asks(words) is asked


# ---- places, verbs, twins


def test_back_and_forward_remember_how_each_place_was_looked_at() -> None:
    trail = Trail()
    trail.settle(where="state:fail", row="a")
    trail.go(ViewState("node", ("n1",)))
    trail.settle(row="kernel.clean")
    assert trail.step(-1)
    assert trail.here == ViewState("groups", (), "state:fail", "a")
    assert not trail.step(-1)
    assert trail.step(1)
    assert trail.here == ViewState("node", ("n1",), "", "kernel.clean")
    assert trail.step(-1)
    trail.go(ViewState("nodes"))
    assert not trail.step(1), "what lay ahead is forgotten"


def test_the_same_place_again_is_no_step() -> None:
    trail = Trail()
    trail.go(ViewState("groups", where="state:fail"))
    assert trail.places == [ViewState("groups", where="state:fail")]


def test_every_command_can_be_typed_except_those_that_need_their_own_terminal() -> None:
    assert set(verbs()) == {*VIEWS, *COMMANDS} - ELSEWHERE
    assert {"tui", "completion", "sim"} == ELSEWHERE
    assert list(verbs())[: len(VIEWS)] == list(VIEWS), "views stand first"
    keys = [view.key for view in VIEWS.values() if view.key]
    assert len(keys) == len(set(keys))


def test_a_filter_is_part_of_the_command_that_prints_the_same() -> None:
    ctx = context(wrong())
    where = "state:fail ~it's"
    assert twin(ctx, ViewState("groups", (), where)).endswith(f" --where {shlex.quote(where)}")
    assert twin(ctx, ViewState("diff", ("n1", "peers"))) == f"rackcheck diff n1 peers --from {RUN}"


def test_a_nodes_names_in_rows_are_those_that_are_acted_on() -> None:
    made = desk({f"n{n}": {"tainted": "1\n"} for n in range(1, 5)})
    (entry,) = view(context(made), "groups").entries.every
    assert isinstance(entry, ListEntry)
    assert fold(entry.nodes) == "n[1-4]"
    assert entry.into == ViewState("group", ("1",), key="fail:kernel.clean:1")


# ---- the way in


def test_without_a_terminal_the_screens_name_an_equivalent_command() -> None:
    with pytest.raises(UserError, match=f"`rackcheck groups {RUN}` prints the first screen"):
        show(RUN, lambda: desk({"n1": {}}))
    with pytest.raises(UserError, match="`rackcheck audit` prints the same"):
        show("", lambda: desk({"n1": {}}))


def test_without_a_terminal_an_unreadable_run_is_reported_first() -> None:
    def broken() -> MadeDesk:
        raise UserError("run.json is damaged")

    with pytest.raises(UserError, match=r"run\.json is damaged"):
        show(RUN, broken)


def test_the_screen_library_is_loaded_for_screens_alone() -> None:
    code = "import sys, rackcheck_tui; print([m for m in ('textual', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_signs_are_values_of_the_terminal() -> None:
    assert Signs(plain=True).rule == "-"
    assert Signs(plain=False).rule == "─"
