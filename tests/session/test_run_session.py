"""The desk over real runs: what it returns for a stored one, and that a live one rereads only the requested nodes."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command import rackcheck
from desks import LATER, RUN, Answer, numbered, stored
from mockup_server import WatchedRack
from rack_runs import accepted, copied, folder
from waiting import until

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.inventory import Rack
from rackcheck.model import path as paths
from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.change import Turn
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run import store
from rackcheck.run.event import Answered, Event, FactsRead, Judged, RunDone, RunStarted
from rackcheck.session import cli_choices, last_run, subject
from rackcheck.session.audit_setup import Request, left_of, prepare
from rackcheck.session.run_session import RunSession
from rackcheck.sim import scenario
from rackcheck.sim.shell import SimShell
from rackcheck.views.state import Board, Turned
from rackcheck.views.summary import summarize
from rackcheck_tui.controllers.event_feed import Feed

UNTIL = str(datetime.now(UTC).date() + timedelta(days=9))
SILENT = Unknown(Reason.UNREACHABLE, "no route to host")
ANSWERS: dict[str, Answer] = {"n1": {"tainted": "128\n"}, "n2": {}, "n3": SILENT}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(run: object = RUN) -> RunSession:
    return RunSession(found=subject.find(str(run)))


def small(run: str = RUN, values: dict[str, Answer] | None = None) -> RunSession:
    nodes = [node for node in numbered(3, 1, "n") if node.name in (values or ANSWERS)]
    stored(run, values or ANSWERS, nodes=nodes, racks={"r01": Rack("r01", row="a")})
    return found(run)


def board(desk: RunSession) -> Board:
    made = Board(desk.profile, desk.nodes, desk.racks, desk.waivers)
    for event in desk.events():
        made.take(event)
    made.beside = desk.notes
    return made


# ---- a stored run


def test_a_stored_run_is_judged_again_as_every_command_does() -> None:
    desk = small()
    events = list(desk.events())
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunDone)
    shown = subject.shown(subject.find(RUN))
    assert summarize(events, desk.profile) == shown
    assert board(desk).summary(every=True).findings == shown.findings


def test_it_can_be_read_as_often_as_one_likes() -> None:
    desk = small()
    assert [type(e) for e in desk.events()] == [type(e) for e in desk.events()]
    assert board(desk).summary().findings == board(desk).summary().findings


def test_answers_come_without_their_raw_side_and_it_is_read_when_it_is_wanted() -> None:
    desk = small()
    answered = [event for event in desk.events() if isinstance(event, Answered)]
    assert len(answered) == 3
    assert all(event.capture is None for event in answered)
    (capture,) = desk.replies("n1").values()
    assert isinstance(capture, NodeCapture)
    assert capture.files["/proc/sys/kernel/tainted"] == "128\n"
    assert desk.replies("n3") == {}, "a node that did not answer has no replies"


def test_a_nodes_tree_is_the_one_that_it_was_judged_by() -> None:
    desk = small()
    read = {event.node: event.tree for event in desk.events() if isinstance(event, FactsRead)}
    for name in ("n1", "n2", "n3"):
        assert desk.tree(name).leaves == read[name].leaves
        assert desk.tree(name).silent == read[name].silent
    assert desk.tree("n1") is desk.tree("n1"), "it is read once"


def test_an_unknown_node_is_an_error_with_the_nearest() -> None:
    desk = small()
    list(desk.events())
    with pytest.raises(UserError, match="no node n4 in"):
        desk.tree("n4")


def test_a_damaged_answer_is_an_error_that_names_the_run() -> None:
    desk = small()
    list(desk.events())
    for file in (store.runs_folder() / RUN / "raw").iterdir():
        file.write_bytes(b"junk")
    with pytest.raises(UserError, match=r"raw answer .*Not a gzipped file"):
        desk.replies("n1")


def test_it_gives_places_racks_and_the_name_that_commands_use() -> None:
    desk = small()
    assert (desk.name, desk.run_of("n1"), desk.run_of()) == (RUN, RUN, RUN)
    assert (desk.nodes["n1"].rack, desk.nodes["n1"].u) == ("r01", 3)
    assert desk.racks["r01"].row == "a"
    assert desk.began == []
    assert desk.left_behind == ""
    assert desk.replays
    assert Path(desk.profile_word).name == "small.yaml"
    assert rackcheck("profile", "explain", "kernel.clean", "-p", desk.profile_word).status == 0


def test_a_run_elsewhere_is_called_by_its_folder(tmp_path: Path) -> None:
    place = stored(RUN, ANSWERS, folder=tmp_path / "elsewhere")
    desk = found(place)
    assert (desk.run_of("n1"), desk.run_word, desk.name) == (str(place), str(place), RUN)
    made = tmp_path / "report.md"
    assert desk.run_command(("report", desk.run_word, "--format", "markdown", "-o", str(made), "-q")).status == 0
    assert RUN in made.read_text("utf-8")


def test_a_stored_runs_nodes_cannot_be_read_again_and_it_states_why() -> None:
    desk = small()
    assert "a stored run cannot be read again" in desk.mute
    with pytest.raises(UserError, match="a stored run cannot be read again"):
        list(desk.again(["n1"]))


def test_it_returns_a_facts_kind_its_probe_and_similar_names() -> None:
    desk = small()
    kind, probe = desk.kind("kernel.tainted"), desk.probe("kernel.tainted")
    assert kind is not None
    assert probe is not None
    assert "kernel.tainted" in probe.gives
    assert desk.plane(paths.parse("kernel.tainted")) is Plane.OS
    assert desk.kind("kernel.taintd") is None
    assert desk.kind("no path at all!") is None
    assert desk.probe("no path at all!") is None
    assert "kernel.tainted" in desk.near("kernel.taintd")
    assert desk.nearest("groop", ["groups", "nodes"]) == "; did you mean groups?"
    assert {rule.id for rule in desk.pairs} > {rule.id for rule in desk.profile.own}


# ---- commands and the past


def test_a_command_is_called_in_a_process_that_has_no_terminal_and_no_colour() -> None:
    desk = small()
    result = desk.run_command(("groups", RUN))
    assert result.status == 1
    assert "kernel.clean" in result.text
    assert "\x1b" not in result.text
    assert max(map(len, result.text.splitlines())) <= 100
    assert desk.run_command(("groups", "no-such-run")).status == 2


def test_it_returns_the_past_of_a_node_and_of_a_rule() -> None:
    small(values={"n1": {}})
    desk = small(LATER, {"n1": {"tainted": "128\n"}})
    kind, runs = desk.past("n1")
    assert (kind, [run["newest"]["run"] for run in runs]) == ("node", [LATER, RUN])
    kind, runs = desk.past("kernel.clean")
    assert kind == "rule"
    assert runs[0]["counts"]["fail"] == 1
    with pytest.raises(UserError):
        desk.past("no.such_fact")


def test_it_returns_since_when_a_verdict_stands() -> None:
    small(values={"n1": {"tainted": "128\n"}})
    desk = small(LATER, {"n1": {"tainted": "128\n"}})
    assert desk.since("n1", "kernel.clean").startswith("fail since 2026-01-01T00:00:00Z (2 runs")
    assert desk.since("n1", "no.rule") == ""


def test_what_a_node_can_be_held_against_are_acceptances_then_other_runs_the_newest_first() -> None:
    accepted("pod", "first")
    small(values={"n1": {}})
    desk = small(LATER, {"n1": {}})
    names = [name for name, _ in desk.baselines()]
    assert names == ["pod", RUN]


# ---- waivers


def test_a_file_of_waivers_is_judged_with_from_then_on_and_in_place_of_what_it_was_before(tmp_path: Path) -> None:
    desk = small()
    words = ("waive", "kernel.clean", "--from", RUN, "--nodes", "n1", "--until", UNTIL, "--by", "Jo", "--ticket", "T-1")
    assert desk.run_command((*words, "--reason", "ordered")).status == 0
    desk.waived("waivers.yaml")
    assert [w.rule for w in desk.waivers] == ["kernel.clean"]
    now = board(desk)
    assert now.counts[Status.WAIVED] == 1
    assert now.counts[Status.FAIL] == 0
    desk.waived("waivers.yaml")
    assert len(desk.waivers) == 1, "the same file again counts once"
    (tmp_path / "waivers.yaml").write_text("rackcheck: 1\nwaivers: []\n")
    desk.waived("waivers.yaml")
    assert board(desk).counts[Status.FAIL] == 1


def test_an_invalid_file_of_waivers_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    desk = small()
    (tmp_path / "waivers.yaml").write_text("waivers: 3\n")
    with pytest.raises(UserError):
        desk.waived("waivers.yaml")
    assert desk.waivers == ()
    assert board(desk).counts[Status.FAIL] == 1


# ---- real answers of both planes, and acceptances


def test_both_planes_of_a_real_run_have_their_answers_and_a_refusal_has_none(tmp_path: Path) -> None:
    desk = found(copied("first", tmp_path / "kept"))
    list(desk.events())
    values = desk.replies("n1")
    assert isinstance(values[Plane.OS], NodeCapture)
    assert isinstance(values[Plane.BMC], BmcCapture)
    assert Plane.BMC in desk.tree("n3").silent


def test_an_acceptance_is_shown_as_one_run_of_all_its_nodes_that_equals_its_summary() -> None:
    assert accepted("pod", "first", "os").status == 0
    desk, shown = found("pod"), subject.shown(subject.find("pod"))
    now = board(desk)
    assert desk.name == "pod"
    assert len(desk.began) == 2
    assert now.nodes == shown.started.nodes
    assert now.summary(every=True).findings == shown.findings
    assert now.summary().notes == shown.notes
    assert now.counts == {status: count for status, count in shown.counts.items() if count or status in now.counts}
    assert desk.run_of("n1").endswith("os"), "commands look at the newest reading"


def test_nodes_that_no_reading_of_an_acceptance_has_are_incomplete_on_the_desk() -> None:
    assert accepted("pod", "one").status == 0
    now = board(found("pod"))
    assert now.done is not None
    assert now.done.outcome is not Outcome.PASS
    assert set(now.nodes) - set(now.judged) == {"n2", "n3"}
    assert any("not read by any run: 2 nodes" in note for note in now.summary().notes)


# ---- a live audit


RULES = """\
rackcheck: 1
profile: links
version: 1
rules:
  nic.rate: { title: Eight are fast, count: nic/*.port, where: { fact: rate, at-least: 400 Gb/s }, at-least: 8 }
"""


@contextmanager
def live(place: Path) -> Iterator[tuple[WatchedRack, RunSession]]:
    text = "rackcheck: 1\nscenario: two\nnodes: { 'n[1-2]': { machine: dgx-h100 } }\n"
    (place / "rack.yaml").write_text(f"{text}faults: [{{ nodes: n1, fault: nic-down, nic: mlx5_4 }}]\n")
    (place / "links.yaml").write_text(RULES)
    with WatchedRack(scenario.load(place / "rack.yaml"), place) as rack:
        chosen = lambda: cli_choices.chosen((), Path(rack.inventory), None)  # noqa: E731
        yield rack, RunSession(ready=prepare(chosen, Request("./links.yaml", frozenset({Plane.OS}))))


def taken(now: Board, events: Iterator[Event]) -> Board:
    for number, event in enumerate(events):
        now.take(event, float(number))
    return now


def outcome(now: Board) -> Outcome:
    assert now.done is not None
    return now.done.outcome


def test_a_node_whose_fault_was_fixed_turns_from_fail_to_pass_when_it_is_read_again(tmp_path: Path) -> None:
    with live(tmp_path) as (rack, desk):
        assert desk.mute == ""
        assert not desk.replays
        now = taken(Board(desk.profile, desk.nodes), desk.events())
        assert outcome(now) is Outcome.FAIL
        assert store.ids() == [desk.name]
        up = {each.station.name: each.node for each in rack.stations}
        assert up["n1"] is not None
        assert up["n2"] is not None
        (tmp_path / "good.yaml").write_text("rackcheck: 1\nscenario: one\nnodes: { n1: { machine: dgx-h100 } }\n")
        up["n1"].shell = SimShell(scenario.load(tmp_path / "good.yaml").stations[0].machine.host, "n1")
        asked = up["n2"].connections
        taken(now, desk.again(["n1"]))
        assert up["n2"].connections == asked
        assert now.turned == [Turned("n1", Turn("nic.rate", "fail", "pass"))]
        assert outcome(now) is Outcome.PASS
    first, later = store.ids()
    assert first == desk.name
    assert last_run.named("last") == first, "a second reading of some nodes is not the newest run"
    assert desk.run_of("n1") == later
    assert desk.run_of("n2") == first, "the newest run that read the node"
    assert desk.run_of("n1", "n2") == first, "the newest run that read both"
    assert later in desk.left_behind
    both = taken(Board(desk.profile, desk.nodes), desk.events())
    assert outcome(both) is Outcome.PASS, "read again from its beginning it is both readings"
    assert both.counts == now.counts
    assert json.loads((store.runs_folder() / later / "run.json").read_text())["targets"].startswith("1 of all 2 nodes")
    port = "nic/mlx5_4.port/1.rate"
    assert desk.tree("n1").leaves[port].reading == desk.tree("n2").leaves[port].reading, "the newest answers count"


def test_stopping_ends_a_reading_keeps_what_came_and_leaves_the_rest_unknown(tmp_path: Path) -> None:
    with live(tmp_path) as (rack, desk):
        for up in rack.stations:
            assert up.node is not None
            up.node.latency = 20.0
        events = []
        for event in desk.events():
            events.append(event)
            if len(events) == 2:
                threading.Thread(target=desk.stop).start()
        done = events[-1]
        assert isinstance(done, RunDone)
        assert done.interrupted
        assert done.outcome is Outcome.INCOMPLETE
        judged = [event for event in events if isinstance(event, Judged)]
        assert {v.status for each in judged for v in each.verdicts if v.rule != "silence.nodes"} <= {Status.UNKNOWN}
        assert store.find(desk.name).done() is not None
    assert folder().is_dir()


def test_a_reading_that_is_left_is_ended_and_recorded_as_interrupted(tmp_path: Path) -> None:
    with live(tmp_path) as (rack, desk):
        for up in rack.stations:
            assert up.node is not None
            up.node.latency = 20.0
        feed = Feed()
        feed.start(desk.events)
        until(lambda: desk.made, "no run was made")
        desk.stop()
        feed.join(10.0)
        assert not feed.running
        ended = store.find(desk.name).done()
        assert ended is not None
        assert ended.interrupted


def test_an_answer_whose_raw_reply_is_gone_is_not_said_to_be_kept() -> None:
    small()
    place = store.find(RUN).folder
    events = place / "events.jsonl"
    events.write_text("".join(f"{line}\n" for line in events.read_text().splitlines() if '"run done"' not in line))
    replies = sorted((place / "raw").iterdir())
    assert left_of(place) == f"Not stored: 2 answers without a verdict are kept in {place}"
    replies[0].unlink()
    assert left_of(place) == f"Not stored: 1 answer without a verdict is kept in {place}"
    replies[1].unlink()
    assert left_of(place) == "Not stored: no answer is kept"
