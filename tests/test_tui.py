"""The screens over real runs: profile, facts, judging and folding are the tool's own; only the nodes are made up."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Static

from rackcheck import library
from rackcheck.core.capture import NodeCapture
from rackcheck.core.event import Answered
from rackcheck.core.fact import Plane, Reason, Unknown
from rackcheck.core.plan import plan
from rackcheck.core.probe import Read
from rackcheck.core.verdict import Status
from rackcheck.inventory import Node
from rackcheck.job import Job
from rackcheck.mistake import Mistake
from rackcheck.registry import registry
from rackcheck.report.signs import Signs, signs_for
from rackcheck.report.summary import Summary, summarize
from rackcheck.run import audit
from rackcheck_tui import show
from rackcheck_tui.app import Screens
from rackcheck_tui.entries import Filter, chosen, nothing, state
from rackcheck_tui.groups import groups
from rackcheck_tui.nodes import nodes
from rackcheck_tui.reader import Reader
from rackcheck_tui.rows import Rows
from rackcheck_tui.words import about, head, labelled

PROFILE = """\
rackcheck: 1
profile: small
version: 2026.11
params:
  site: { type: text, default: unset, about: the name of this site }
rules:
  host.named:
    title: The node has its name
    severity: minor
    fact: node.hostname
    is: right
    fix: hostnamectl set-hostname NAME
  memory.swappiness:
    title: The kernel prefers to keep programs in memory
    severity: advisory
    fact: sysctl.vm.swappiness
    at-most: 10
    why: Swapping in stalls whatever was swapped out.
  kernel.clean:
    title: The kernel is clean
    severity: blocker
    fact: kernel.tainted
    is: 0
    fix: Reboot, and report the trace.
  site.named:
    title: The site is the right one
    fact: node.product
    is: $site
"""
GOOD = {"tainted": "0\n", "hostname": "right\n", "swappiness": "10\n"}
PLACES = {
    "tainted": "/proc/sys/kernel/tainted",
    "hostname": "/proc/sys/kernel/hostname",
    "swappiness": "/proc/sys/vm/swappiness",
}
UNICODE, ASCII = Signs(plain=False), Signs(plain=True)
HOSTILE = "[bold red]x[/] \x1b[31m\x1b]0;owned\x07 [@click=app.quit]y[/]"

Told = Mapping[str, str] | Unknown
"""What a node's files say beside the good ones, or why it says nothing."""


def run(tmp_path: Path, told: Mapping[str, Told], planes: frozenset[Plane] | None = None) -> Summary:
    """Judge nodes by what they tell, through the same code as every audit; only the transport is ours."""
    file = tmp_path / "small.yaml"
    file.write_text(PROFILE)
    known = registry()
    profile = library.load(str(file), known.catalogue)
    job = Job(
        plan(profile.facts(), known.probes, known.catalogue),
        tuple(Node(name, host=name) for name in told),
        profile,
        planes or frozenset({Plane.OS, Plane.BMC}),
        targets="the test",
        id="20260101T000000Z-abcd",
        time="2026-01-01T00:00:00Z",
    )

    def ask(node: Node, plane: Plane, job: Job, stop: threading.Event) -> Answered:
        said = told[node.name]
        if isinstance(said, Unknown):
            return Answered(node.name, plane, job.time, said)
        globs = {glob: None for q in job.plan.questions if isinstance(q, Read) for glob in q.globs}
        files = {PLACES[name]: text for name, text in {**GOOD, **said}.items()}
        return Answered(node.name, plane, job.time, None, NodeCapture(globs=globs, files=files))

    return summarize(audit(job, ask, threading.Event()), profile)


def screen_of(pilot: Pilot[None]) -> str:
    """What the terminal shows."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def rows_of(pilot: Pilot[None]) -> list[str]:
    """Every entry of the list as it would be written, in sight or not."""
    return [str(entry.line(80)).strip() for entry in pilot.app.query_one(Rows).entries]


# ---- words: pure


def test_the_head_says_verdict_profile_run_and_every_count_by_sign_and_word(tmp_path: Path) -> None:
    said = "\n".join(map(str, head(run(tmp_path, {"n1": {"tainted": "128\n"}, "n2": {}}), UNICODE)))
    assert "✘ FAIL  small 2026.11  20260101T000000Z-abcd" in said
    assert "2 nodes: the test" in said
    for words in ("✔ 5 pass", "! 0 warn", "✘ 1 fail", "~ 0 waived", "? 0 unknown", "· 2 n/a", "of 8"):
        assert words in said
    assert "1 rule without a site value: site" in said


def test_a_run_of_one_plane_says_so_in_the_head(tmp_path: Path) -> None:
    said = [str(line) for line in head(run(tmp_path, {"n1": {}}, frozenset({Plane.OS})), UNICODE)]
    assert said[1].endswith("os plane only")


def test_an_interrupted_run_says_so_beside_its_verdict(tmp_path: Path) -> None:
    summary = run(tmp_path, {"n1": {}})
    stopped = replace(summary, done=replace(summary.done, interrupted=True))
    assert "PASS (interrupted)" in str(head(stopped, UNICODE)[0])


def test_the_same_failure_on_many_nodes_is_one_line_with_the_nodes_folded(tmp_path: Path) -> None:
    summary = run(tmp_path, {f"dgx{n:02}": {"tainted": "128\n"} if n != 7 else {} for n in range(1, 19)})
    first = str(groups(summary, UNICODE)[0].line(132))
    assert "FAIL" in first
    assert "blocker" in first
    assert "17 of 18: dgx[01-06,08-18]" in first


@pytest.mark.parametrize("width", [20, 40, 80, 132, 240])
def test_a_line_never_leaves_its_width(tmp_path: Path, width: int) -> None:
    told = {f"{'漢字' * 9}-{n}": {"hostname": "漢字" * 60 + "\n", "tainted": "1\n"} for n in range(1, 40, 3)}
    summary = run(tmp_path, told)
    for entry in (*groups(summary, UNICODE), *nodes(summary, UNICODE)):
        if width >= 60:
            assert cell_len(str(entry.line(width))) <= width
        assert entry.details(width)


def test_plain_signs_keep_every_line_in_ascii(tmp_path: Path) -> None:
    summary = run(tmp_path, {"n1": {"hostname": "gödel…\n", "swappiness": "60\n", "tainted": "1\n"}, "n2": {}})
    entries = [*groups(summary, ASCII), *nodes(summary, ASCII)]
    written = [str(line) for line in (*head(summary, ASCII), *about(summary, ASCII, 80))]
    written += [str(line) for entry in entries for line in (entry.line(80), *entry.details(80))]
    assert all(line.isascii() for line in written)
    assert any("x FAIL" in line for line in written)


@pytest.mark.parametrize(
    ("environment", "plain"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),  # what Python makes of the line above
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ({}, False),
    ],
)
def test_the_locale_and_the_terminal_decide_the_signs(environment: dict[str, str], plain: bool) -> None:
    assert signs_for(environment).plain is plain


def test_control_characters_of_a_node_are_shown_and_never_sent() -> None:
    assert UNICODE.text("a\x1b[31mb\x07\u202ec") == "a\\x1b[31mb\\x07\\u202ec"
    assert UNICODE.fit("\x1b[2Jx", 8) == "\\x1b[2Jx"


def test_a_text_is_wrapped_beside_its_label() -> None:
    written = [str(line) for line in labelled("why", "word " * 20, UNICODE, 40)]
    assert written[0].startswith(" why       word")
    assert all(line.startswith(" " * 11 + "word") for line in written[1:])


def test_nodes_stand_worst_first_and_a_silent_one_before_a_passing_one(tmp_path: Path) -> None:
    told: dict[str, Told] = {"n1": {}, "n2": Unknown(Reason.UNREACHABLE, "no route"), "n3": {"tainted": "128\n"}}
    written = [str(entry.line(80)) for entry in nodes(run(tmp_path, told), UNICODE)]
    assert [line.split()[:3] for line in written] == [
        ["✘", "FAIL", "n3"],
        ["?", "INCOMPLETE", "n2"],
        ["✔", "PASS", "n1"],
    ]


def test_a_filter_shows_its_status_alone_and_not_passing_leaves_out_what_does_not_apply(tmp_path: Path) -> None:
    entries = groups(run(tmp_path, {"n1": {"tainted": "1\n", "swappiness": "60\n"}}), UNICODE)
    shown = {by: [set(e.statuses) for e in chosen(entries, by, "")] for by in Filter}
    assert len(shown[Filter.ALL]) == 4
    assert shown[Filter.FAIL] == [{Status.FAIL}]
    assert shown[Filter.WARN] == [{Status.WARN}]
    assert shown[Filter.UNKNOWN] == []
    assert shown[Filter.NOT_PASSING] == [{Status.FAIL}, {Status.WARN}]


def test_the_filters_run_in_a_circle() -> None:
    by, seen = Filter.ALL, []
    for _ in Filter:
        by = by.next
        seen.append(by)
    assert seen[-1] is Filter.ALL
    assert set(seen) == set(Filter)


def test_words_find_rules_reasons_and_nodes_in_any_case(tmp_path: Path) -> None:
    entries = groups(run(tmp_path, {"dgx01": {"tainted": "128\n"}, "dgx02": {}}), UNICODE)
    for text in ("KERNEL", "is 128", "dgx01 clean", "blocker"):
        assert any("kernel.clean" in str(e.line(80)) for e in chosen(entries, Filter.FAIL, text)), text
    assert chosen(entries, Filter.FAIL, "dgx02") == []


def test_an_empty_list_tells_a_filter_from_a_run_without_verdicts() -> None:
    assert nothing(0, Filter.ALL, "", "groups") == "no groups: nothing was judged"
    assert "none of 38 groups with 'bmc' (fail)" in nothing(38, Filter.FAIL, "bmc", "groups")
    assert state("groups", Filter.FAIL, "bmc", 0, 38) == "groups: fail, with 'bmc', 0 of 38 shown"


def test_without_a_terminal_the_screens_say_what_prints_the_same(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="rackcheck runs show 20260101T000000Z-abcd"):
        show(run(tmp_path, {"n1": {}}))


def test_the_screen_library_is_loaded_for_screens_alone() -> None:
    code = "import sys, rackcheck_tui; print([m for m in ('textual', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- screens: a pilot presses keys


async def test_a_run_with_one_fail_shows_it_first_with_its_fix(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {}, "n2": {"tainted": "128\n", "swappiness": "60\n"}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        shown = screen_of(pilot)
        assert rows_of(pilot)[0].startswith("✘ FAIL    blocker  kernel.clean")
        assert "kernel.tainted is 128, must be 0" in shown
        assert "Reboot, and report the trace." in shown


async def test_a_run_where_all_pass_says_pass_and_no_fail(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {}, "n2": {}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "✔ PASS  small" in screen_of(pilot)
        assert "✘ 0 fail" in screen_of(pilot)


async def test_silent_nodes_take_one_line_behind_the_fails_however_many_rules_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "".join(f"  more.{n}: {{ title: More, fact: sysctl.vm.swappiness, is: 10 }}\n" for n in range(5))
    monkeypatch.setitem(globals(), "PROFILE", PROFILE + more)
    silent = {f"n{n}": Unknown(Reason.UNREACHABLE, f"no route to 10.0.0.{n}") for n in range(3, 40)}
    told: dict[str, Told] = {"n1": {}, "n2": {"tainted": "1\n"}, **silent}
    app = Screens(run(tmp_path, told), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j")
        await pilot.pause()
        rows = rows_of(pilot)
        assert rows[0].startswith("✘ FAIL")
        assert rows[1].startswith("? UNKNOWN 8 rules: unreachable ")
        assert "37 of 39: n[3-39]" in rows[1]
        assert not any("UNKNOWN" in row for row in rows[2:])
        assert "no route to 10.0.0." in screen_of(pilot)


async def test_a_silent_node_is_seen_as_unknown_with_its_reason(tmp_path: Path) -> None:
    told: dict[str, Told] = {"n1": {}, "n2": Unknown(Reason.UNREACHABLE, "no route to host")}
    app = Screens(run(tmp_path, told), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        shown = screen_of(pilot)
        assert "? INCOMPLETE  small" in shown
        assert rows_of(pilot)[0].startswith("? UNKNOWN 3 rules: unreachable: no route to host")


@pytest.mark.parametrize("count", [1, 18, 576])
async def test_80x24_shows_verdict_counts_list_details_and_keys(tmp_path: Path, count: int) -> None:
    app = Screens(run(tmp_path, {f"n{n}": {"tainted": "128\n"} for n in range(1, count + 1)}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        shown = screen_of(pilot).splitlines()
        assert shown[0].startswith(" ✘ FAIL  small")
        assert f"✘ {count} fail" in shown[2]
        assert any(line.startswith(" ✘ FAIL    blocker  kernel.clean") for line in shown)
        assert any("reason    kernel.tainted is 128" in line for line in shown)
        assert "f filter  / find  n nodes  i run  ? help  q quit" in shown[-1]


async def test_j_and_k_and_the_arrows_move_and_the_details_follow(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {"tainted": "1\n", "swappiness": "60\n", "hostname": "wrong\n"}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j")
        assert "host.named  (minor)" in screen_of(pilot)
        await pilot.press("down")
        assert "memory.swappiness  (advisory)" in screen_of(pilot)
        await pilot.press("k", "up", "up")
        assert app.query_one(Rows).cursor == 0
        await pilot.press("G")
        assert app.query_one(Rows).cursor == 3


async def test_enter_shows_the_evidence_in_full_and_escape_goes_back(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {"swappiness": "60\n"}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        shown = screen_of(pilot)
        for words in (
            "observed  60",
            "expected  must be at most 10",
            "source    /proc/sys/vm/swappiness",
            "Swapping in",
        ):
            assert words in shown
        await pilot.press("escape")
        assert not isinstance(app.screen, Reader)


async def test_f_turns_the_filter_and_the_verdict_stays_in_sight(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {"tainted": "1\n"}, "n2": {}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        everything = len(rows_of(pilot))
        await pilot.press("f")
        assert len(rows_of(pilot)) == 1
        await pilot.press("f", "f")
        await pilot.pause()
        assert rows_of(pilot) == []
        assert f"none of {everything} groups (unknown)" in screen_of(pilot)
        assert "✘ FAIL  small" in screen_of(pilot)
        await pilot.press("escape")
        assert len(rows_of(pilot)) == everything


async def test_slash_filters_while_it_is_typed_and_letters_are_no_commands_then(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {"tainted": "1\n"}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"swappiness q")
        await pilot.press("backspace", "backspace", "enter")
        await pilot.pause()
        assert len(rows_of(pilot)) == 1
        assert "with 'swappiness', 1 of 4 shown" in screen_of(pilot)
        await pilot.press("escape")
        assert len(rows_of(pilot)) == 4


async def test_n_turns_to_the_nodes_and_back(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {}, "n2": {"tainted": "1\n"}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        await pilot.pause()
        assert rows_of(pilot)[0].startswith("✘ FAIL       n2  ✘ 1 fail")
        assert "kernel.clean  (blocker)" in screen_of(pilot)
        await pilot.press("n")
        assert "kernel.clean" in rows_of(pilot)[0]


async def test_help_is_made_from_the_keys_that_work(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        shown = screen_of(pilot)
        for words in ("down j", "up k", "enter", "turn the filter", "find words", "turn from groups", "q ctrl+c"):
            assert words in shown


async def test_i_shows_every_note_in_full(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("i")
        await pilot.pause()
        assert "1 rule without a site value: site (--set NAME=VALUE)" in screen_of(pilot)


async def test_hostile_text_is_literal_in_list_details_and_reader(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {"hostname": HOSTILE + "\n"}}), UNICODE)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        for key in ("", "enter"):
            await pilot.press(*([key] if key else []))
            await pilot.pause()
            assert "control characters in '[bold red]x[/] \\x1b[31m\\x1b]0;owned\\x07" in screen_of(pilot)
            assert "[@click=app.quit]y[/]'" in screen_of(pilot)
            assert "\x1b" not in screen_of(pilot)


async def test_markup_in_the_filter_line_is_literal(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {}}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"[bold]")
        await pilot.pause()
        assert "with '[bold]', 0 of 4 shown" in screen_of(pilot)


async def test_an_empty_run_says_that_nothing_was_judged_and_survives_every_key(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {}), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "no groups: nothing was judged" in screen_of(pilot)
        assert "INCOMPLETE" in screen_of(pilot)
        await pilot.press("j", "k", "G", "space", "enter", "f", "n", "enter")
        assert "no nodes: nothing was judged" in screen_of(pilot)


async def test_1024_nodes_take_no_more_widgets_than_one(tmp_path: Path) -> None:
    one = Screens(run(tmp_path, {"n1": {"tainted": "1\n"}}), UNICODE)
    async with one.run_test(size=(80, 24)):
        few = len(one.screen.walk_children())
    told = {f"dgx{n:04}": {"hostname": f"wrong{n}\n", "tainted": f"{n}\n"} for n in range(1, 1025)}
    many = Screens(run(tmp_path, told), UNICODE)
    async with many.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "G")
        await pilot.pause()
        assert len(many.query_one(Rows).entries) == 1024
        assert "dgx1024" in screen_of(pilot)
        assert len(many.screen.walk_children()) <= few + 4  # scrollbars
        await pilot.press("enter")
        await pilot.pause()
        assert len(many.screen.walk_children()) <= few


async def test_1024_nodes_that_fail_alike_are_one_group_whose_nodes_unfold(tmp_path: Path) -> None:
    told = {f"dgx{n:04}": {"tainted": "1\n"} if n % 2 else {} for n in range(1, 1025)}
    app = Screens(run(tmp_path, told), UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        shown = str(app.screen.query_one("#text", Static).content)
        assert "512 of 1,024: dgx[0001,0003," in shown
        assert "1023]" in shown


async def test_a_small_window_keeps_the_verdict_and_a_wide_one_puts_details_beside(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {"n1": {"tainted": "1\n"}}), UNICODE)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert "✘ FAIL" in screen_of(pilot)
        await pilot.resize_terminal(200, 50)
        await pilot.pause()
        first = next(line for line in screen_of(pilot).splitlines() if "FAIL    blocker" in line)
        assert "kernel.clean  (blocker)" in first


async def test_a_plain_terminal_gets_ascii_alone(tmp_path: Path) -> None:
    app = Screens(run(tmp_path, {f"n{n}": {"hostname": f"…{n}\n"} for n in range(1, 60)}), ASCII)
    async with app.run_test(size=(80, 24)) as pilot:
        for keys in (["j"], ["n"], ["enter"], ["escape", "i"], ["escape", "question_mark"], ["escape", "f", "f"]):
            await pilot.press(*keys)
            await pilot.pause()
            assert screen_of(pilot).isascii(), keys


async def test_no_color_leaves_no_colour_on_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = run(tmp_path, {"n1": {"tainted": "1\n"}})
    colours = {}
    for name in ("with", "without"):
        monkeypatch.delenv("NO_COLOR", raising=False)
        if name == "without":
            monkeypatch.setenv("NO_COLOR", "1")
        app = Screens(summary, UNICODE)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            svg = app.export_screenshot()
            colours[name] = {word for word in svg.replace('"', " ").replace(";", " ").split() if word.startswith("#")}
    assert len(colours["without"]) < len(colours["with"])
    assert os.environ["NO_COLOR"] == "1"
