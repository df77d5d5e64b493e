"""A run in progress: the board shows at any moment what a summary of the same events would show."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from desks import (
    LATER,
    PROFILE,
    RUN,
    Answer,
    MadeDesk,
    board,
    desk,
    events_of,
    job_of,
    numbered,
    second,
    small,
    with_requests,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.inventory import Node, Rack
from rackcheck.model.change import Turn
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.probe.group import is_group
from rackcheck.report.merge_runs import settle
from rackcheck.report.run_data import gather
from rackcheck.run.event import Answered, Event, FactsRead, Foreseen, Judged, NodeRequested, RunDone, RunStarted
from rackcheck.views.state import QUIET, Board, Turned
from rackcheck.views.summary import findings, summarize

SILENT = Unknown(Reason.UNREACHABLE, "no route to host")
ACROSS = """\
rackcheck: 1
profile: alike
version: 1
rules:
  kernel.clean: { title: The kernel is clean, fact: kernel.tainted, is: 0 }
  kernel.named: { title: The node has its name, severity: minor, needs: [kernel.clean], fact: node.hostname, is: right }
  kernel.alike:
    title: All kernels are alike
    across: { role: compute, facts: [sysctl.vm.swappiness] }
    agree: { quorum: 75 % }
"""
ANSWERS = st.one_of(
    st.just(SILENT),
    st.fixed_dictionaries(
        {},
        optional={
            "tainted": st.sampled_from(["0\n", "1\n", "junk\n"]), "hostname": st.sampled_from(["right\n", "wrong\n"]),
            "swappiness": st.sampled_from(["10\n", "60\n"]),
        },
    ),
)  # fmt: skip
NODES = numbered(4, 2, "n")
RACKS = {"r01": Rack("r01", row="a"), "r02": Rack("r02")}


def taken(events: Sequence[Event]) -> Board:
    found = Board(small(ACROSS), {node.name: node for node in NODES}, RACKS)
    for number, event in enumerate(events):
        found.take(event, float(number))
    return found


def judged_by_now(events: Sequence[Event]) -> dict[str, Judged]:
    """The newest judgement of each node in the events."""
    found: dict[str, Judged] = {}
    for event in events:
        if isinstance(event, Judged | Foreseen):
            judged = event.judged if isinstance(event, Foreseen) else event
            found[judged.node] = judged
    return found


@settings(max_examples=40)
@given(st.lists(ANSWERS, min_size=4, max_size=4), st.data())
def test_after_every_event_findings_and_counts_are_those_of_what_was_judged_by_then(
    text: list[Answer], data: st.DataObject
) -> None:
    values = {node.name: each for node, each in zip(NODES, text, strict=True)}
    job = job_of(NODES, small(ACROSS))
    events = list(with_requests(events_of(job, values)))
    # Siblings wait for each other: before the run's end a node has its predicted state.
    at = data.draw(st.integers(1, len(events)))
    cut = events[:at]
    now, made = judged_by_now(cut), taken(cut)
    everyone = [*(now[node.name] for node in NODES if node.name in now), *(j for n, j in now.items() if is_group(n))]
    assert made.summary(every=True).findings == tuple(findings(everyone, small(ACROSS).rules))
    assert +made.counts == Counter(v.status for each in everyone for v in each.verdicts)
    loud = [f for f in findings(everyone, small(ACROSS).rules) if f.status not in QUIET]
    assert list(made.summary().findings) == loud
    assert made.version == at
    assert made.running is (at < len(events))


@settings(max_examples=25)
@given(st.lists(ANSWERS, min_size=4, max_size=4))
def test_for_a_whole_run_it_equals_the_summary(text: list[Answer]) -> None:
    values = {node.name: each for node, each in zip(NODES, text, strict=True)}
    events = events_of(job_of(NODES, small(ACROSS)), values)
    summary, made = summarize(events, small(ACROSS)), taken(events).summary(every=True)
    assert made.findings == summary.findings
    assert made.judged == summary.judged
    assert made.groups == summary.groups
    assert made.notes == summary.notes
    assert made.silent == summary.silent
    assert made.done == summary.done
    assert made.counts == summary.counts


@settings(max_examples=25)
@given(
    st.lists(ANSWERS, min_size=4, max_size=4),
    st.dictionaries(st.sampled_from([n.name for n in NODES]), ANSWERS, min_size=1),
)
def test_a_second_reading_over_the_first_is_what_an_acceptance_makes_of_both(
    text: list[Answer], later: dict[str, Answer]
) -> None:
    profile = small(ACROSS)
    values = {node.name: each for node, each in zip(NODES, text, strict=True)}
    first = events_of(job_of(NODES, profile), values)
    some = [node for node in NODES if node.name in later]
    then = events_of(job_of(some, profile, run=LATER), later)
    settled = settle([gather(first), gather(then)], profile)
    made = taken([*first, *then])
    mine = {each.node: each for each in made.summary(every=True).judged}
    for each in settled.judged:
        assert mine[each.node].verdicts == each.verdicts
        assert mine[each.node].outcome is each.outcome
        assert mine[each.node].not_in_scope == each.not_in_scope
    outcomes = [each.outcome for each in settled.everyone]
    assert made.done is not None
    assert made.done.outcome is max(outcomes, key=[Outcome.PASS, Outcome.INCOMPLETE, Outcome.FAIL].index)
    assert +made.counts == Counter(v.status for each in settled.everyone for v in each.verdicts)


def pair(first: dict[str, Answer], later: dict[str, Answer]) -> tuple[MadeDesk, Board]:
    made = desk(first)
    return made, board(made, [*made.first, *second(made, later)])


def test_it_shows_what_a_second_reading_changed_and_what_it_left() -> None:
    _, now = pair({"n1": {"tainted": "1\n"}, "n2": {"swappiness": "60\n"}}, {"n1": {"hostname": "wrong\n"}})
    assert now.turned == [
        Turned("n1", Turn("host.named", "pass", "fail")), Turned("n1", Turn("kernel.clean", "fail", "pass")),
    ]  # fmt: skip
    assert now.again is not None
    assert now.again.nodes == ("n1",)
    assert now.due() == ("n1",)
    assert now.fresh == {"n1"}
    assert {v.rule: v.status for v in now.judged["n2"].verdicts}["memory.swappiness"] is Status.WARN


def test_a_node_that_is_silent_the_second_time_is_unknown_and_never_what_it_was() -> None:
    _, now = pair({"n1": {}, "n2": {}}, {"n1": SILENT})
    assert {v.status for v in now.judged["n1"].verdicts} == {Status.UNKNOWN, Status.NA}
    assert now.silent[("n1", Plane.OS)] == SILENT
    assert now.done is not None
    assert now.done.outcome is Outcome.INCOMPLETE


def test_a_plane_that_answers_the_second_time_is_silent_no_more() -> None:
    made, now = pair({"n1": SILENT}, {"n1": {}})
    assert ("n1", Plane.OS) in board(made).silent
    assert ("n1", Plane.OS) not in now.silent
    assert now.done is not None
    assert now.done.outcome is Outcome.PASS


def test_a_third_reading_shows_what_it_changed_itself() -> None:
    made = desk({"n1": {"tainted": "1\n"}})
    once = second(made, {"n1": {}})
    now = board(made, [*made.first, *once, *second(made, {"n1": {"swappiness": "60\n"}})])
    assert [each.turn for each in now.turned] == [Turn("memory.swappiness", "pass", "warn")]


def test_while_a_second_reading_goes_on_the_run_runs_and_keeps_what_it_knew() -> None:
    made = desk({"n1": {"tainted": "1\n"}, "n2": {}})
    later = second(made, {"n1": {}})
    start = next(place for place, event in enumerate(later) if isinstance(event, RunStarted)) + 1
    now = board(made, [*made.first, *later[:start]])
    assert now.running
    assert now.counts[Status.FAIL] == 1
    assert now.due() == ("n1",)


def test_an_interrupted_second_reading_is_incomplete_however_well_the_nodes_stand() -> None:
    made = desk({"n1": {}})
    later = [replace(e, interrupted=True) if isinstance(e, RunDone) else e for e in second(made, {"n1": {}})]
    now = board(made, [*made.first, *later])
    assert now.done is not None
    assert now.done.outcome is Outcome.INCOMPLETE


@pytest.mark.parametrize("cut", [1, 3])
def test_notes_are_shown_at_the_end_of_a_run_and_those_beside_it_first(cut: int) -> None:
    made = desk({"n1": {}})
    part = board(made, made.first[:cut])
    part.beside = ("laid over another",)
    assert part.summary().notes == ()
    whole = board(made)
    whole.beside = ("laid over another",)
    assert whole.summary().notes == ("laid over another", "1 rule without a site value: site (--set NAME=VALUE)")


@pytest.mark.parametrize(("role", "note"), [
    ("comptue", "1 rule for the role comptue (did you mean compute?) judged no node: cpu.amd"),
    ("robot", "1 rule for the role robot judged no node: cpu.amd"),
    ("storage", ""),
])  # fmt: skip
def test_a_rule_for_a_role_that_no_node_has_is_noted_unless_the_role_is_known(role: str, note: str) -> None:
    rule = f"  cpu.amd: {{ role: {role}, fact: cpu.vendor, is: AMD, severity: blocker, title: t, why: w, fix: f }}\n"
    notes = board(desk({"n1": {}}, text=PROFILE + rule)).summary().notes
    assert [each for each in notes if "judged no node" in each] == ([note] if note else [])


def test_a_node_whose_siblings_are_not_heard_yet_waits_and_is_judged_by_what_is_known() -> None:
    events = events_of(job_of(NODES, small(ACROSS)), {node.name: {} for node in NODES})
    first = next(place for place, event in enumerate(events) if isinstance(event, Foreseen))
    now = taken(events[: first + 1])
    assert now.waiting == {NODES[0].name}
    assert NODES[0].name not in now.fresh
    assert taken(events).waiting == set()


def test_it_counts_facts_by_node_and_place_and_not_those_of_racks() -> None:
    nodes = (Node("n1", host="a", rack="r01", u=3), Node("n2", host="b", rack="r02", role="storage"))
    made = desk({"n1": {"tainted": "1\n"}, "n2": {}}, nodes=nodes, racks=RACKS)
    now = board(made)
    assert set(now.measured) == {"n1", "n2"}
    assert {str(value) for value, _ in now.census.sets("kernel.tainted")} == {"0", "1"}


def test_the_times_of_a_planes_request_and_answer_use_the_watchers_clock() -> None:
    made = desk({"n1": SILENT})
    now = Board(made.profile, made.nodes)
    for at, event in (
        (0.0, made.first[0]), (1.5, NodeRequested("n1", Plane.OS)), (4.0, Answered("n1", Plane.OS, "t", SILENT)),
    ):  # fmt: skip
        now.take(event, at)
    asking = now.asking["n1"][Plane.OS]
    assert (asking.requested, asking.answered, asking.trouble) == (1.5, 4.0, SILENT)


def test_a_summary_is_made_once_for_each_state() -> None:
    made = desk({"n1": {"tainted": "1\n"}})
    now = board(made)
    assert now.summary() is now.summary()
    facts = next(event for event in made.first if isinstance(event, FactsRead))
    before = now.summary()
    now.take(facts)
    assert now.summary() is not before
    assert now.summary().started.run == RUN
