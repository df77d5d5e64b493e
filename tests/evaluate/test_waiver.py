"""A waiver hides what it pins, on its nodes, while it is valid; never a worse value, another node or a changed rule."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath

import depth
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_cases import RELAXED, Case, cases
from law_checks import compiled
from law_facts import CATALOGUE
from law_nodes import worlds
from law_rules import judged_rules

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Status, Verdict, judge
from rackcheck.evaluate.waiver import Granted, Pin, Waiver, WaiverState, granted, last_day, pinned, standings
from rackcheck.model.evidence import Evidence
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Leaf, Tree
from rackcheck.profile.document import BadFile
from rackcheck.signoff import waivers

DAY = "2026-11-21"
ECC = Rule("r0", ())


def waiver(
    rule: str = "r0", *pins: tuple[str, str], nodes: str = "n1", digest: str = "", until: str = "2027-01-01"
) -> Waiver:
    return Waiver(
        rule, digest, (nodes,), tuple(Pin(*pin) for pin in pins), until, "Jo", "OPS-1", "part ordered", "w.yaml:3"
    )


def wrong(verdicts: Iterable[Verdict]) -> list[tuple[str, Pin]]:
    return [(v.rule, pinned(e)) for v in verdicts for e in v.evidence if e.status in {Status.FAIL, Status.WARN}]


def pins_of(chosen: Iterable[tuple[str, Pin]]) -> Mapping[str, Granted]:
    found: dict[str, dict[Pin, Waiver]] = {}
    for rule, pin in chosen:
        found.setdefault(rule, {})[pin] = waiver(rule, (pin.item, pin.observed))
    return found


@st.composite
def waived_worlds(draw: st.DrawFn) -> tuple[tuple[Rule, ...], Mapping[str, Granted], Tree]:
    """Rules, waivers of the findings on one set of facts, and another set of facts."""
    rules = draw(judged_rules())
    first = Tree(draw(worlds(rules)))
    found = wrong(judge(rules, first))
    chosen = [one for one in found if draw(st.booleans())]
    second = draw(st.sampled_from([first, Tree(draw(worlds(rules)))]))
    return rules, pins_of(chosen), second


def nothing_else_is_hidden(rules: tuple[Rule, ...], pins: Mapping[str, Granted], tree: Tree) -> None:
    by_id = {rule.id: rule for rule in rules}
    plain = {v.rule: v for v in judge(rules, tree)}
    for verdict in judge(rules, tree, pins):
        truth, held = plain[verdict.rule], pins.get(verdict.rule, {})
        rule = by_id[verdict.rule]
        if truth.status not in {Status.FAIL, Status.WARN}:
            # What it needs may be waived now, and so does not block it any more.
            blocked = verdict.status is Status.UNKNOWN and verdict.reason.startswith("blocked by")
            assert verdict == truth or blocked or truth.reason.startswith("blocked by")
            continue
        counts = rule.look is not None and rule.look.mode == "count"  # what is listed behind a count is no finding
        rows = truth.evidence[:1] if counts else truth.evidence
        open_ = [e for e in rows if e.status is Status.FAIL and pinned(e) not in held]
        if not any(pinned(e) in held for e in rows) and len(rows) == len(open_):
            several = len(rule.clauses) > 1 or (rule.look is not None and rule.look.allow_failing)
            # Something that is unknown in part may be what was waived: that is unknown, and never passes.
            assert several or verdict.status in {truth.status, Status.UNKNOWN}, (truth, verdict)
        allowed = rule.look.allow_failing + (rule.look.expect_count is not None) if rule.look else 0
        if len(open_) > allowed:
            assert verdict.status is not Status.WAIVED, (truth, verdict)
        if verdict.status is Status.WAIVED:
            assert verdict.truth is truth.status
            assert verdict.evidence
            assert all(e.status is Status.WAIVED and pinned(e) in held for e in verdict.evidence)
            assert "part ordered" in verdict.reason
        assert verdict.status is not Status.PASS, (truth, verdict)


@settings(RELAXED, max_examples=300)
@given(waived_worlds())
def test_what_is_not_pinned_is_not_hidden(case: tuple[tuple[Rule, ...], Mapping[str, Granted], Tree]) -> None:
    nothing_else_is_hidden(*case)


@pytest.mark.slow
@settings(RELAXED, max_examples=depth.cases(5000))
@given(waived_worlds())
def test_what_is_not_pinned_is_not_hidden_in_many_machines(
    case: tuple[tuple[Rule, ...], Mapping[str, Granted], Tree],
) -> None:
    nothing_else_is_hidden(*case)


@settings(RELAXED, max_examples=300)
@given(cases(), st.data())
def test_taking_facts_away_never_turns_a_verdict_that_waivers_touch(case: Case, data: st.DataObject) -> None:
    chosen = [one for one in wrong(judge(case.rules, case.whole)) if data.draw(st.booleans())]
    pins = pins_of(chosen)
    before = judge(case.rules, case.whole, pins)
    for was, now in zip(before, judge(case.rules, case.less, pins), strict=True):
        assert now.status in {was.status, Status.UNKNOWN}, (was, now)


@settings(RELAXED, max_examples=100)
@given(cases())
def test_all_that_is_wrong_waived_leaves_nothing_failing(case: Case) -> None:
    pins: dict[str, dict[Pin, Waiver]] = {}
    for _ in range(40):  # a waived clause may show the next one of its item
        found = wrong(judge(case.rules, case.whole, pins))
        if not found:
            break
        for rule, pin in found:
            pins.setdefault(rule, {})[pin] = waiver(rule)
    assert not {v.status for v in judge(case.rules, case.whole, pins)} & {Status.FAIL, Status.WARN}


@settings(RELAXED, max_examples=100)
@given(cases())
def test_another_node_another_day_and_another_rule_judge_as_if_there_were_no_waiver(case: Case) -> None:
    rules = tuple(replace(rule, digest=f"{n:064}") for n, rule in enumerate(case.rules))
    digests = {rule.id: rule.digest for rule in rules}
    plain = judge(rules, case.whole)
    given_ = [waiver(rule, (pin.item, pin.observed), digest=digests[rule]) for rule, pin in wrong(plain)]
    changed = tuple(replace(rule, digest="f" * 64) for rule in rules)
    assert not granted(given_, rules, "n2", DAY)
    assert not granted(given_, changed, "n1", DAY)
    assert not granted(given_, rules, "n1", "2027-01-02")
    assert not granted(given_, rules, "n1", "2025-12-31")  # more than a year before its end
    on_time = granted(given_, rules, "n1", "2027-01-01")
    assert {(rule, pin) for rule, held in on_time.items() for pin in held} == set(wrong(plain))


# ---- examples --------------------------------------------------------------------------------------------------------


def world(**values: object) -> Tree:
    leaves = {}
    for path, value in values.items():
        entry = CATALOGUE.find(parse(path := path.replace("__", ".").replace("_in_", "/")))
        assert entry is not None, path
        leaves[path] = Leaf(value, entry.kind, entry.plane, "cat")  # type: ignore[arg-type]
    return Tree(leaves)


def one(tmp_path: FilePath, **rule: object) -> Rule:
    (found,) = compiled(tmp_path, {"r0": rule}).rules
    return found


def waive(rule: Rule, tree: Tree) -> Mapping[str, Granted]:
    return pins_of(wrong(judge([rule], tree)))


def status(rule: Rule, tree: Tree, pins: Mapping[str, Granted]) -> Status:
    return judge([rule], tree, pins)[0].status


def test_a_value_that_is_shown_alike_and_is_another_is_not_hidden(tmp_path: FilePath) -> None:
    rule = one(tmp_path, fact="here.power", **{"at-least": "9 W"})
    pins = waive(rule, world(here__power=5.12345678))
    assert status(rule, world(here__power=5.12345678), pins) is Status.WAIVED
    assert status(rule, world(here__power=5.12345699), pins) is Status.FAIL


def test_a_comparison_is_pinned_on_both_sides(tmp_path: FilePath) -> None:
    rule = one(tmp_path, fact="here.text", **{"same-as": "there.text"})
    pins = waive(rule, world(here__text="a", there__text="b"))
    assert status(rule, world(here__text="a", there__text="b"), pins) is Status.WAIVED
    assert status(rule, world(here__text="a", there__text="ab"), pins) is Status.FAIL


def test_another_item_that_differs_from_its_siblings_is_not_hidden(tmp_path: FilePath) -> None:
    rule = one(tmp_path, each="box", fact="text", equal="true")
    odd = {"box": ("0", "1", "2"), "box_in_0__text": "a", "box_in_1__text": "a", "box_in_2__text": "b"}
    pins = waive(rule, world(**odd))
    assert status(rule, world(**odd), pins) is Status.WAIVED
    assert status(rule, world(**{**odd, "box_in_1__text": "b", "box_in_2__text": "a"}), pins) is Status.FAIL


def test_a_waived_clause_does_not_hide_the_next_one_of_its_item(tmp_path: FilePath) -> None:
    rule = one(tmp_path, each="box", **{"all-of": [{"fact": "number", "is": "2"}, {"fact": "text", "is": "b"}]})
    tree = world(box=("0",), box_in_0__number=1, box_in_0__text="a")
    pins = pins_of([("r0", Pin("box/0.number", "1"))])
    (verdict,) = judge([rule], tree, pins)
    assert verdict.status is Status.FAIL
    assert "box/0.text is a" in verdict.reason
    assert {e.item for e in verdict.evidence if e.status is Status.WAIVED} == {"box/0.number"}


def test_an_unknown_value_neither_matches_nor_lapses(tmp_path: FilePath) -> None:
    rule = one(tmp_path, fact="here.number", **{"is": "2"})
    pins = waive(rule, world(here__number=1))
    gone = Tree(
        {
            **world(here__number=1).leaves,
            "here.number": replace(world(here__number=1).leaves["here.number"], reading=Unknown(Reason.DENIED)),
        }
    )
    (verdict,) = judge([rule], gone, pins)
    assert verdict.status is Status.UNKNOWN
    (stand,) = standings([waiver("r0", ("here.number", "1"), digest=rule.digest)], {"n1": [verdict]}, [rule], DAY)
    assert stand.state is WaiverState.WAITING


def test_a_waiver_is_noted_as_what_it_is(tmp_path: FilePath) -> None:
    rule = one(tmp_path, fact="here.number", **{"is": "2"})

    def state(number: int, given_: Waiver, day: str = DAY) -> tuple[WaiverState, str]:
        verdicts = judge([rule], world(here__number=number), granted([given_], [rule], "n1", day))
        (stand,) = standings([given_], {"n1": verdicts}, [rule], day)
        return stand.state, stand.detail

    pin = ("here.number", "1")
    assert state(1, waiver("r0", pin, digest=rule.digest)) == (WaiverState.USED, "")
    assert state(2, waiver("r0", pin, digest=rule.digest)) == (WaiverState.UNUSED, "the verdict of the rule is pass")
    assert state(0, waiver("r0", pin, digest=rule.digest)) == (
        WaiverState.LAPSED,
        "here.number is 0 now, and was waived as 1",
    )
    assert state(1, waiver("r0", pin, digest="0" * 64)) == (
        WaiverState.LAPSED,
        "the rule was changed since it was waived",
    )
    assert state(1, waiver("r0", pin, digest=rule.digest), "2027-01-02") == (
        WaiverState.EXPIRED, "its last day was 2027-01-01",
    )  # fmt: skip
    assert state(1, waiver("r0", pin, digest=rule.digest, nodes="n9"))[0] is WaiverState.ELSEWHERE
    assert state(1, waiver("gone", pin, digest=rule.digest)) == (WaiverState.UNUSED, "the profile has no rule gone")


def test_a_waiver_holds_for_a_year_at_most() -> None:
    assert last_day("2026-11-21") == "2027-11-21"
    assert last_day("2028-02-29") == "2029-02-29"  # as text: the last day of that February is before it


def test_the_words_of_a_rule_may_change_and_what_it_judges_may_not(tmp_path: FilePath) -> None:
    first = one(tmp_path, fact="here.number", **{"is": "2"}, why="one", fix="two")
    assert one(tmp_path, fact="here.number", **{"is": "2"}, why="another", title="new").digest == first.digest
    assert one(tmp_path, fact="here.number", **{"is": "3"}, why="one", fix="two").digest != first.digest
    assert one(tmp_path, fact="here.number", **{"is": "2"}, severity="blocker").digest != first.digest
    assert (
        one(tmp_path, fact="here.number", **{"is": "2"}, when={"fact": "here.flag", "is": "true"}).digest
        != first.digest
    )


# ---- files -----------------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda t: t.strip() != "")


@settings(RELAXED, max_examples=200)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3, unique=True), TEXTS, TEXTS, TEXTS)
def test_what_is_written_to_a_file_is_what_is_read_from_it(
    pins: list[tuple[str, str]], by: str, ticket: str, reason: str
) -> None:
    first = Waiver(
        "gpu.count", "0" * 64, ("dgx01", "dgx02"), tuple(Pin(*p) for p in pins), "2027-01-01", by, ticket, reason
    )
    second = replace(first, rule="nic.rate", nodes=("n1",))
    text = waivers.added(waivers.added("", [first]), [second])
    assert [replace(w, place="") for w in waivers.read(text, "w.yaml")] == [first, second]


def test_adding_a_waiver_leaves_every_line_of_the_file_as_it_is() -> None:
    text = (
        "# ours\n" + waivers.added("", [waiver("r0", ("a.b", "1"), digest="0" * 64)]) + "  # until the part is here\n"
    )
    after = waivers.added(text, [waiver("r1", ("a.b", "1"), digest="0" * 64)])
    assert after.startswith(text)
    assert [w.rule for w in waivers.read(after, "w.yaml")] == ["r0", "r1"]
    assert (
        len(
            waivers.read(waivers.added("rackcheck: 1\nwaivers: []\n", [waiver("r0", ("a", "1"), digest="0" * 64)]), "w")
        )
        == 1
    )


GOOD = waivers.added("", [waiver("r0", ("a.b", "1"), digest="0" * 64)])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2027-01-01", "2027-02-30", "no such day: 2027-02-30"),
        ("2027-01-01", "tomorrow", "a day as YYYY-MM-DD"),
        ("nodes: n1", "nodes: 'n[1'", "not a node set"),
        ("by: Jo", "by: ' '", "`by` is empty"),
        ("ticket: OPS-1", "tiket: OPS-1", "did you mean `ticket`?"),
        ("0" * 64, "0" * 63, "a SHA-256"),
        ("observed: 1", "observd: 1", "did you mean `observed`?"),
        ("    reason: part ordered\n", "", "reason"),
    ],
)
def test_an_error_in_a_file_is_reported_with_its_place(old: str, new: str, message: str) -> None:
    text = GOOD.replace('observed: "1"', "observed: 1")
    assert old in text
    with pytest.raises(BadFile) as error:
        waivers.read(text.replace(old, new), "w.yaml")
    assert message in str(error.value)
    assert str(error.value).startswith("w.yaml:")


def test_the_same_item_of_a_node_is_waived_once() -> None:
    with pytest.raises(BadFile, match="waived twice"):
        waivers.read(waivers.added(GOOD, [waiver("r0", ("a.b", "1"), digest="1" * 64)]), "w.yaml")


@given(st.text(max_size=300))
def test_nonsense_is_a_single_error(text: str) -> None:
    try:
        waivers.read(text, "w.yaml")
    except UserError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("observed", "named"),
    [("disabled", '; gpu/"0000:1b:00.0".ecc.mode has the waived value'), ("enabled", "")],
)
def test_a_waiver_by_the_index_of_a_gpu_is_not_applied_and_names_the_finding_that_it_may_be(
    observed: str, named: str
) -> None:
    found = Evidence(Status.FAIL, 'gpu/"0000:1b:00.0".ecc.mode', "disabled", "must be enabled")
    other = Evidence(Status.FAIL, 'gpu/"0000:1b:00.0".mig.mode', "disabled", "must be enabled")
    verdict = Verdict("r0", Status.FAIL, "", (found, other))
    old = waiver("r0", ("gpu/3.ecc.mode", observed), digest="d")
    (row,) = standings([old], {"n1": [verdict]}, [replace(ECC, digest="d")], DAY)
    assert row.state is WaiverState.UNUSED
    again = "GPUs are named by module or PCI address now: waive the finding again"
    assert row.detail == f"gpu/3.ecc.mode names a GPU by its index; {again}{named}"
