"""The document contains exactly what was read: its sums hold, the newest reading counts, and blockers are listed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from command import rackcheck
from hypothesis import given, settings
from hypothesis import strategies as st
from law_cases import RELAXED
from law_nodes import World, worlds
from law_rules import judged_rules
from rack_runs import accepted, copied, folder

from rackcheck.evaluate.verdict import Outcome, Status, in_scope, judge, worst
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.profile import LAW, Phase, Profile, Rule
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.report import record
from rackcheck.report.build import ReportJob, build
from rackcheck.report.merge_runs import reworked, settle
from rackcheck.report.record_schema import schema
from rackcheck.report.report_model import LETTERS, OUT, Dossier
from rackcheck.report.run_data import CollectedRun, gather
from rackcheck.run.event import Answered, FactsRead, Judged, RunDone, RunStarted
from rackcheck.run.judging import concluded
from rackcheck.views.locations import NodeLocation

DENIED = Unknown(Reason.DENIED, "sudo")
BOTH = (Plane.OS, Plane.BMC)

# ---- made-up readings ------------------------------------------------------------------------------------------------


def run_of(
    rules: Sequence[Rule], trees: Mapping[str, Tree], *, number: int = 0, planes: Sequence[Plane] = BOTH,
    cut: bool = False, roles: Mapping[str, str] | None = None,
) -> CollectedRun:  # fmt: skip
    """One run over nodes, as `replay` returns it."""
    time = f"2026-11-2{number}T00:00:00Z"
    started = RunStarted(f"r{number}", time, "1", "p", "1", "0" * 64, tuple(trees), tuple(sorted(planes)))
    events: list[Answered | FactsRead | Judged] = []
    for node, tree in trees.items():
        role = (roles or {}).get(node, "compute")
        mine = [r for r in rules if in_scope(r, role, frozenset({*planes, Plane.DERIVED}), frozenset({Phase.CONFIG}))]
        verdicts = judge(mine, tree)
        judged = Judged(node, role, Outcome.INCOMPLETE, verdicts, len(rules) - len(mine))
        events += [Answered(node, plane, time, digest="0" * 64) for plane in planes]
        events += [FactsRead(node, tree), concluded(judged, {rule.id: rule for rule in mine}, LAW)]
    outcome = Outcome.INCOMPLETE if cut else worst(e.outcome for e in events if isinstance(e, Judged))
    return gather([started, *events, RunDone(time, outcome, cut)])


def made_of(rules: Iterable[Rule]) -> Profile:
    """Return a profile of rules."""
    return Profile("p", "1", "t", tuple(rules), digest="0" * 64)


def documented(
    readings: Sequence[CollectedRun], rules: Sequence[Rule], *, nodes: Sequence[str] = (), kind: str = "acceptance"
) -> Dossier:
    places = {node: NodeLocation("compute") for t in readings for node in t.started.nodes} | dict.fromkeys(
        nodes, NodeLocation("compute")
    )
    profile = made_of(rules)
    return build(readings, ReportJob(kind, "pod", "draft", profile, (profile,), {}, places))


@st.composite
def many(draw: st.DrawFn, least: int = 1) -> tuple[tuple[Rule, ...], tuple[CollectedRun, ...]]:
    """Rules, and runs over one or two nodes on both planes or one; a plane may not answer, a run may be cut."""
    rules = draw(judged_rules())
    rules = tuple(
        replace(rule, roles=draw(st.sampled_from([("compute",), ("compute",), ("any",), ("dpu",)]))) for rule in rules
    )
    readings = []
    for number in range(draw(st.integers(least, 3))):
        planes = draw(st.sampled_from([BOTH, BOTH, (Plane.OS,), (Plane.BMC,)]))
        nodes = draw(st.sampled_from([("n1",), ("n1", "n2"), ("n2",)]))
        trees = {
            node: _quiet(draw(worlds(rules)), draw(st.sampled_from([(), (), (Plane.BMC,), BOTH]))) for node in nodes
        }
        readings.append(run_of(rules, trees, number=number, planes=planes, cut=draw(st.integers(0, 7)) == 0))
    return rules, tuple(readings)


def _quiet(world: World, silent: Sequence[Plane]) -> Tree:
    return Tree({p: leaf for p, leaf in world.items() if leaf.plane not in silent}, dict.fromkeys(silent, DENIED))


Case = tuple[tuple[Rule, ...], tuple[CollectedRun, ...]]

# ---- laws ------------------------------------------------------------------------------------------------------------


@settings(RELAXED, max_examples=200)
@given(many())
def test_the_tally_is_the_sum_of_the_vectors_and_of_the_gates(case: Case) -> None:
    rules, readings = case
    found = documented(readings, rules, nodes=["n9"])
    letters = Counter("".join(row.vector for row in found.nodes))
    assert {status: letters[letter] for status, letter in LETTERS.items()} == dict(found.tally.counts)
    assert found.tally.total == sum(found.tally.counts.values()) == letters.total() - letters[OUT]
    for groups in (
        [gate.counts for gate in found.gates], [area.counts for area in found.compliance],
        list(found.tally.severe.values()),
    ):  # fmt: skip
        assert {s: sum(group[s] for group in groups) for s in Status} == dict(found.tally.counts)
    assert sorted(node for nodes in found.tally.nodes.values() for node in nodes) == [row.name for row in found.nodes]
    assert all(len(row.vector) == len(found.gates) for row in found.nodes)


@settings(RELAXED, max_examples=200)
@given(many())
def test_a_reading_alone_is_what_it_was(case: Case) -> None:
    rules, (first, *_) = case
    found = settle([first], made_of(rules))
    assert {node.node: node for node in found.judged} == dict(first.judged)
    assert {node: set(tree.leaves) for node, tree in found.trees.items()} == {
        node: {p for p, leaf in tree.leaves.items() if leaf.plane.value in first.started.planes}
        for node, tree in first.trees.items()
    }


@settings(RELAXED, max_examples=200)
@given(many(2))
def test_the_newest_reading_of_a_rule_counts_even_where_it_has_fewer_facts(case: Case) -> None:
    rules, readings = case
    found = {(n.node, v.rule): v for n in settle(readings, made_of(rules)).judged for v in n.verdicts}
    newest = {(n.node, v.rule): v for t in readings for n in t.judged.values() for v in n.verdicts}
    assert found == newest


@settings(RELAXED, max_examples=200)
@given(many(2))
def test_an_older_reading_never_changes_the_result_of_a_newer_whole_one(case: Case) -> None:
    rules, (*older, last) = case
    if set(last.started.planes) != set(BOTH):
        return
    with_older, alone = settle([*older, last], made_of(rules)), settle([last], made_of(rules))
    for node in alone.judged:
        assert node in with_older.judged
        assert with_older.trees[node.node] == alone.trees[node.node]
        assert with_older.prints[node.node] == alone.prints[node.node]


@settings(RELAXED, max_examples=300)
@given(many(), st.booleans())
def test_something_blocks_wherever_the_outcome_is_not_pass(case: Case, unread: bool) -> None:
    rules, readings = case
    for found in (
        documented(readings, rules, nodes=["n9"] if unread else []),
        documented(readings[:1], rules, kind="run"),
    ):
        assert any(line.cls == "A" for line in found.punch) == (found.tally.outcome is not Outcome.PASS)


@settings(RELAXED, max_examples=300)
@given(many())
def test_every_unknown_verdict_is_counted_once_among_what_was_not_checked(case: Case) -> None:
    rules, readings = case
    found = documented(readings, rules)
    assert (
        sum(one.count for one in found.unchecked if one.kind in {"plane", "rule"}) == found.tally.counts[Status.UNKNOWN]
    )


@settings(RELAXED, max_examples=300)
@given(many())
def test_every_rule_that_was_not_judged_on_a_node_is_reported(case: Case) -> None:
    rules, readings = case
    found = documented(readings, rules)
    scope = [one for one in found.unchecked if one.kind == "scope"]
    for row in found.nodes:
        left = {g.id for g, letter in zip(found.gates, row.vector, strict=True) if letter == OUT}
        for rule in (rule for rule in rules if rule.id in left):
            if "dpu" in rule.roles:
                assert any(one.what == "role" for one in scope)
            else:
                assert any("plane" in one.what and row.name in (one.nodes or [row.name]) for one in scope)


@settings(RELAXED, max_examples=40)
@given(many())
def test_the_record_is_the_document(case: Case) -> None:
    rules, readings = case
    found = documented(readings, rules, nodes=["n9"])
    text = record.text(found)
    assert record.read(text) == found
    jsonschema.validate(json.loads(text), schema())


# ---- examples of false statements ------------------------------------------------------------------------------------


def leaf(reading: Reading, cls: Class = Class.CONFIG, plane: Plane = Plane.OS, kind: Type = Type.TEXT) -> Leaf:
    return Leaf(reading, Kind(kind, "", cls=cls), plane, "cat /x")


def runs(*trees: Tree, planes: Sequence[Sequence[Plane]] = ()) -> tuple[CollectedRun, ...]:
    return tuple(
        run_of((), {"n1": tree}, number=n, planes=planes[n] if planes else BOTH) for n, tree in enumerate(trees)
    )


def test_no_node_and_no_rule_give_incomplete_and_are_reported_as_blocking() -> None:
    nothing = documented([run_of((), {})], (), kind="run")
    assert (nothing.tally.outcome, [p.what for p in nothing.punch]) == (Outcome.INCOMPLETE, ["no node was read"])
    bare = documented(runs(Tree({})), (), kind="run")
    assert (bare.tally.outcome, bare.tally.total) == (Outcome.INCOMPLETE, 0)
    assert [(p.cls, p.what, p.nodes) for p in bare.punch] == [("A", "no rule was judged", ("n1",))]
    assert [(u.kind, u.what, u.nodes) for u in bare.unchecked] == [("node", "not judged", ("n1",))]


def gpus(first: Reading, second: Reading, listing: Reading = ("0", "1")) -> Tree:
    found = {"gpu": leaf(listing, kind=Type.COLLECTION)}
    for key, serial in (("0", first), ("1", second)):
        if isinstance(listing, tuple) and key in listing:
            found[f"gpu/{key}.serial"] = leaf(serial, Class.IDENTITY)
    return Tree(found)


def swaps(*readings: CollectedRun) -> list[tuple[str, ...]]:
    return [(one.fact, *(output for _, _, output in one.steps)) for one in reworked(readings, ()) if one.fact]


def test_a_part_that_replaced_another_is_reported() -> None:
    assert swaps(*runs(gpus("A", "B"), gpus("A", "C"))) == [("gpu/1.serial", "B", "C")]
    assert swaps(*runs(gpus("A", "B"), gpus("A", "", ("0",)))) == [("gpu/1.serial", "B", "not there")]
    assert swaps(*runs(gpus("A", "", ("0",)), gpus("A", "B"))) == [("gpu/1.serial", "not there", "B")]
    assert swaps(*runs(gpus("A", "B"), gpus("B", "A"))) == []
    assert swaps(*runs(gpus("A", "B"), gpus("B", "", ("0",)))) == [("gpu/0.serial", "A", "not there")]


@pytest.mark.parametrize(
    "between", [gpus("A", DENIED), gpus(DENIED, DENIED), Tree({}, {Plane.OS: DENIED}), Tree({"gpu": leaf(DENIED)})]
)
def test_an_unknown_reading_hides_no_swap_and_claims_none(between: Tree) -> None:
    assert swaps(*runs(gpus("A", "B"), between)) == []
    assert swaps(*runs(gpus("A", "B"), between, gpus("A", "B"))) == []
    found = reworked(runs(gpus("A", "B"), between, gpus("A", "C")), ())
    assert [one.steps for one in found] == [
        (("r0", "2026-11-20T00:00:00Z", "B"), ("r2", "2026-11-22T00:00:00Z", "C")),
    ]  # fmt: skip


def test_a_part_that_stopped_telling_its_serial_is_not_gone() -> None:
    assert swaps(*runs(gpus("A", "B"), gpus("A", Absent()))) == []


def test_a_plane_that_was_not_read_again_keeps_its_facts() -> None:
    bios = Tree({"bios.x": leaf("on", Class.VERSION, Plane.BMC), "os.x": leaf("1", Class.VERSION)})
    other = Tree({"os.x": leaf("2", Class.VERSION)}, {Plane.BMC: DENIED})
    kept = settle(runs(bios, other, planes=[BOTH, (Plane.OS,)]), made_of(())).trees["n1"]
    assert {p: one.reading for p, one in kept.leaves.items()} == {"bios.x": "on", "os.x": "2"}
    assert not kept.silent
    gone = settle(runs(bios, other), made_of(())).trees["n1"]
    assert {p: one.reading for p, one in gone.leaves.items()} == {"os.x": "2"}
    assert set(gone.silent) == {Plane.BMC}


# ---- the baseline ----------------------------------------------------------------------------------------------------

FACTS = {
    "a.serial": leaf("A", Class.IDENTITY), "a.version": leaf("1", Class.VERSION), "a.mode": leaf("on"),
    "a.errors": leaf(3, Class.COUNTER, kind=Type.INTEGER), "a.heat": leaf(40, Class.MEASUREMENT, kind=Type.INTEGER),
}  # fmt: skip


def digests(leaves: Mapping[str, Leaf], silent: Sequence[Plane] = ()) -> tuple[str, Mapping[str, str]]:
    tree = Tree(leaves, dict.fromkeys(silent, DENIED))
    baseline = documented(runs(tree), ()).baseline
    return baseline.digest, baseline.classes


@pytest.mark.parametrize("path", ["a.serial", "a.version", "a.mode"])
@pytest.mark.parametrize("reading", ["other", DENIED, Absent(), None])
def test_the_baseline_is_another_when_a_fact_that_should_stay_is_another(path: str, reading: Reading | None) -> None:
    other = {**FACTS, path: replace(FACTS[path], reading=reading)} if reading is not None else dict(FACTS)
    if reading is None:
        del other[path]
    digest, classes = digests(FACTS)
    changed, others = digests(other)
    assert digest != changed
    assert [c for c in classes if classes[c] != others[c]] == [FACTS[path].kind.cls.value]


@given(st.sampled_from(sorted(FACTS)), st.text(), st.integers(), st.booleans())
def test_the_baseline_is_the_same_when_counters_and_sources_are_others(
    path: str, source: str, count: int, turned: bool
) -> None:
    other = {**FACTS, path: replace(FACTS[path], source=source)}
    other["a.errors"] = replace(FACTS["a.errors"], reading=count)
    other["a.heat"] = replace(FACTS["a.heat"], reading=DENIED if turned else count)
    order = dict(reversed(other.items())) if turned else other
    assert digests(order) == digests(FACTS)


def test_a_silent_plane_is_distinguished_from_an_unread_one() -> None:
    assert digests(FACTS, [Plane.BMC]) != digests(FACTS)
    found = documented(runs(Tree(FACTS, {Plane.BMC: DENIED})), ()).baseline
    assert (found.facts, found.unknown) == (4, 1)
    narrow = documented(runs(Tree(FACTS, {Plane.BMC: DENIED}), planes=[(Plane.OS,)]), ()).baseline
    assert (narrow.facts, narrow.unknown) == (3, 0)


# ---- a simulated rack ------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def report(name: str | Path, *words: object) -> Dossier:
    done = rackcheck("report", name, "--format", "json", "-q", *words)
    assert done.status == 0, done.err
    jsonschema.validate(json.loads(done.out), schema())
    found = record.read(done.out)
    assert record.text(found) == done.out
    return found


def test_a_rack_is_reported_as_it_is(tmp_path: Path) -> None:
    found = report(folder() / "first")
    assert {o: n for o, n in found.tally.nodes.items() if n} == {
        Outcome.PASS: ("n2",), Outcome.FAIL: ("n1",), Outcome.INCOMPLETE: ("n3",),
    }  # fmt: skip
    assert [(p.cls, p.rule, p.nodes) for p in found.punch if p.cls == "A"] == [
        ("A", "nic.rate", ("n1",)), ("A", "", ("n3",)),
    ]  # fmt: skip
    assert [(u.what, u.nodes) for u in found.unchecked if u.kind == "plane"] == [("bmc", ("n3",))]
    assert sum(u.count for u in found.unchecked if u.kind in {"plane", "rule"}) == found.tally.counts[Status.UNKNOWN]
    assert {a.trouble for a in found.evidence if a.node == "n3" and a.plane == "bmc"} == {
        "unreachable: Connection refused"
    }
    firmware = {v.fact: v for v in found.firmware}
    assert not firmware["firmware.bmc"].even
    assert firmware["firmware.bmc"].groups[-1] == ("", ("n3",))
    assert found.performance.startswith("No burn-in was run")
    again = report(folder() / "first")
    assert again == found


def test_os_runs_and_bmc_runs_together_are_what_one_run_of_both_is() -> None:
    """But for rules that compare the planes of one reading: in two runs they are unknown, and decide nothing."""
    compared = sum(rule.id.startswith("planes.") for rule in library.load("h100-dgx", registry().catalogue).rules)
    accepted("parts", "os", "bmc")
    together, whole = report("parts"), report(folder() / "first")
    assert together.tally.outcome is whole.tally.outcome
    rows = {row.name: row for row in whole.nodes}
    for row in together.nodes:
        differ = [(a, b) for a, b in zip(row.vector, rows[row.name].vector, strict=True) if a != b]
        assert {a for a, _ in differ} <= {OUT, "u"}, differ
        assert sum(a == "u" for a, _ in differ) <= compared
    assert [p.item for p in together.parts] == [p.item for p in whole.parts]


def test_a_plane_read_on_some_nodes_only_is_reported_for_the_others() -> None:
    assert accepted("some", "os", "one").status == 0
    found = report("some")
    (plane,) = (u for u in found.unchecked if u.kind == "plane")
    assert (plane.what, plane.nodes) == ("bmc", ("n2", "n3"))
    assert plane.why == "not collected: no reading collected the bmc plane"
    assert plane.count >= 44
    assert {"n2", "n3"} & set(found.tally.nodes[Outcome.PASS]) == set()
    assert sum(f.status is Status.UNKNOWN for f in found.findings) >= 22


def test_a_node_that_no_run_has_read_is_nowhere_reported_as_fine(tmp_path: Path) -> None:
    accepted("part", "one")
    found = report("part")
    row = next(row for row in found.nodes if row.name == "n2")
    assert (row.outcome, set(row.vector), row.note) == (Outcome.INCOMPLETE, {OUT}, "never read")
    assert found.tally.nodes[Outcome.INCOMPLETE] == ("n2", "n3")
    assert [u.nodes for u in found.unchecked if u.what == "never read"] == [("n2", "n3")]
    assert any(p.cls == "A" and p.nodes == ("n2", "n3") for p in found.punch)
    assert not any(v.even for v in found.firmware)
    assert set(found.baseline.nodes) == {"n1"}


def test_a_run_that_was_cut_off_is_incomplete_and_states_it(tmp_path: Path) -> None:
    run = copied("first", tmp_path)
    events = (run / "events.jsonl").read_text().splitlines(keepends=True)
    for kept in (1, 2, len(events) // 2, len(events) - 1):
        (run / "events.jsonl").write_text("".join(events[:kept]) + events[kept][: len(events[kept]) // 2])
        found = report(run)
        assert (found.tally.outcome, found.tally.interrupted) == (Outcome.INCOMPLETE, True)
        assert found.subject.readings[0].interrupted
        assert any(p.cls == "A" for p in found.punch)
    accepted("pod", run)
    assert report("pod").subject.readings[0].interrupted


def test_a_bill_is_compared_with_the_parts_of_the_rack(tmp_path: Path) -> None:
    whole = report(folder() / "first")
    gpus = [p for p in whole.parts if p.kind == "GPU" and p.serial]
    lines = [f"{p.node},{p.item},gpu,{p.serial}" for p in gpus[1:]]
    lines += ["n2,,gpu,NOT-THERE", "n3,,psu,NOT-READ", "n1,,fan,NOT-ASKED"]
    (tmp_path / "bill.csv").write_text("node,item,kind,serial\n" + "\n".join(lines) + "\n")
    bill = report(folder() / "first", "--bill", "bill.csv").bill
    assert bill is not None
    assert (bill.rows, bill.matched) == (len(lines), len(gpus) - 1)
    names = {(d.kind, d.node, d.serial) for d in bill.differences}
    assert names >= {
        ("missing", "n2", "NOT-THERE"), ("unread", "n3", "NOT-READ"), ("unread", "n1", "NOT-ASKED"),
        ("extra", gpus[0].node, gpus[0].serial),
    }  # fmt: skip
    assert {(d.kind, d.node) for d in bill.differences if d.kind == "extra"} <= {
        ("extra", gpus[0].node), ("extra", "n2"), ("extra", "n3"),
    }  # fmt: skip
