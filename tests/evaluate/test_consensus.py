"""Nodes that should be alike: the value of a quorum of expected nodes is right, and unknown is never the majority."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from rackcheck.evaluate.consensus import agreed, large_enough, poll
from rackcheck.evaluate.waiver import NOTHING, Pin, Waiver
from rackcheck.model.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Across, AgreedFact, Rule
from rackcheck.model.tree import Leaf, Tree
from rackcheck.profile.compile import compile_profile, read_profile
from rackcheck.profile.document import BadFile, read
from rackcheck.profile.inheritance import layers

TEXT, SETTING, LIST = (Kind(kind, "") for kind in (Type.TEXT, Type.SETTING, Type.COLLECTION))
HIDDEN = Unknown(Reason.DENIED, "taken away")
SMT = AgreedFact(parse("bios.smt"), TEXT, Plane.BMC)
RATE = AgreedFact(parse("nic/*.rate"), SETTING, Plane.OS)


def rule(*shared: AgreedFact, quorum: float = 75) -> Rule:
    return Rule("same", (), across=Across("compute", shared, quorum))


def tree(smt: Reading = HIDDEN, nics: Mapping[str, Reading] | Unknown | None = None) -> Tree:
    """A node; `smt` is the fact `bios.smt`, `nics` the items of the collection `nic` with their rates."""
    leaves = {"bios.smt": Leaf(smt, TEXT, Plane.BMC, "a BMC")}
    if isinstance(nics, Unknown):
        leaves["nic"] = Leaf(nics, LIST, Plane.OS, "")
    else:
        values = nics or {}
        leaves["nic"] = Leaf(tuple(values), LIST, Plane.OS, "")
        leaves |= {f"nic/{name}.rate": Leaf(rate, SETTING, Plane.OS, "") for name, rate in values.items()}
    return Tree(leaves)


def judged(asked: Rule, trees: Sequence[Tree], expected: int | None = None) -> list[Verdict]:
    assert asked.across is not None
    named = {f"n{i}": each for i, each in enumerate(trees)}
    votes = poll(asked.across, named, len(trees) if expected is None else expected)
    return [agreed(asked, each, votes, NOTHING) for each in trees]


def statuses(asked: Rule, trees: Sequence[Tree], expected: int | None = None) -> str:
    """One letter a node: p, f, u or n."""
    return "".join(verdict.status.value[0] for verdict in judged(asked, trees, expected))


def test_the_odd_one_out_fails_and_its_reason_states_the_others_value() -> None:
    trees = [tree(smt="enabled")] * 3 + [tree(smt="disabled")]
    found = judged(rule(SMT), trees)
    assert [v.status for v in found] == [Status.PASS] * 3 + [Status.FAIL]
    assert found[3].reason == "bios.smt is disabled, must be enabled as on 3 of 4"


def test_without_a_quorum_no_node_is_right_or_wrong() -> None:
    trees = [tree(smt="enabled")] * 2 + [tree(smt="disabled")] * 2
    found = judged(rule(SMT), trees)
    assert {v.status for v in found} == {Status.UNKNOWN}
    assert "no consensus: of 4 nodes: disabled on 2, enabled on 2" in found[0].reason


def test_the_quorum_is_of_the_expected_nodes_and_not_of_those_that_spoke() -> None:
    rows = [tree(smt="enabled")] * 3
    assert statuses(rule(SMT), rows, 4) == "ppp"
    assert statuses(rule(SMT), rows, 5) == "uuu"
    assert statuses(rule(SMT), [*rows, tree(smt=HIDDEN)]) == "pppu"


def test_to_be_absent_is_a_value() -> None:
    assert statuses(rule(SMT), [tree(smt=Absent())] * 3 + [tree(smt="enabled")]) == "pppf"


def test_settings_that_are_one_number_are_one_value() -> None:
    trees = [tree(smt="x", nics={"a": "400"})] * 2 + [tree(smt="x", nics={"a": "0400"})]
    assert statuses(rule(RATE), trees) == "ppp"


def test_an_item_missing_from_or_unique_to_one_node_is_reported() -> None:
    most = [tree(nics={"a": "1", "b": "1"})] * 3
    assert statuses(rule(RATE), [*most, tree(nics={"a": "1"})]) == "pppf"
    assert statuses(rule(RATE), [*most, tree(nics={"a": "1", "b": "1", "c": "1"})]) == "pppf"
    assert statuses(rule(RATE), [*most, tree(nics=HIDDEN)]) == "pppu"


def test_a_fact_that_no_node_has_is_agreed_on() -> None:
    assert statuses(rule(RATE), [tree(nics={})] * 3) == "ppp"


def test_an_item_that_is_left_out_may_differ() -> None:
    asked = rule(RATE)
    assert asked.across is not None
    trees = [tree(nics={"a": "1", "b": str(i)}) for i in range(3)]
    assert statuses(asked, trees) == "uuu"
    spared = replace(asked, across=replace(asked.across, left=frozenset({parse("nic/b.rate")})))
    assert statuses(spared, trees) == "ppp"


def test_where_every_fact_is_pinned_nothing_is_left_to_ask() -> None:
    assert statuses(rule(), [tree(smt="x")] * 3) == "nnn"


def test_a_waiver_pins_the_value_of_the_odd_one() -> None:
    asked, trees = rule(SMT), [tree(smt="enabled")] * 3 + [tree(smt="disabled")]
    assert asked.across is not None
    votes = poll(asked.across, {str(i): each for i, each in enumerate(trees)}, 4)
    waiver = Waiver("same", "", ("n3",), (), "2027-01-01", "jo", "T-1", "known")
    found = agreed(asked, trees[3], votes, {Pin("bios.smt", "disabled"): waiver})
    assert found.status is Status.PASS
    assert [e.status for e in found.evidence] == [Status.WAIVED]
    assert agreed(asked, trees[3], votes, {Pin("bios.smt", "auto"): waiver}).status is Status.FAIL


@pytest.mark.parametrize(
    ("targets", "expected", "enough"),
    [(3, 3, True), (2, 2, False), (3, 4, True), (2, 4, False), (54, 72, True), (53, 72, False), (0, 0, False)],
)
def test_too_few_are_never_a_consensus(targets: int, expected: int, enough: bool) -> None:
    assert large_enough(Across("compute", (SMT,), 75), targets, expected) is enough


# ---- how a profile states it -----------------------------------------------------------------------------------------

CATALOGUE = Catalogue.of(
    [
        Entry("bios.smt", TEXT, Plane.BMC, "b"),
        Entry("bios.turbo", TEXT, Plane.BMC, "b"),
        Entry("bios.serial", Kind(Type.TEXT, "", cls=Class.IDENTITY), Plane.BMC, "b"),
        Entry("bios.pending", LIST, Plane.BMC, "b"),
        Entry("bios.view", Kind(Type.TEXT, "", view=True), Plane.BMC, "b"),
        Entry("gpu", LIST, Plane.OS, "g"),
        Entry("gpu/*.vbios", TEXT, Plane.OS, "g"),
        Entry("rack.gpus", Kind(Type.INTEGER, ""), Plane.DERIVED, "r"),
    ]
)


def compiled(rules: str) -> tuple[Rule, ...]:
    text = f"rackcheck: 1\nprofile: p\nversion: 1\nparams:\n  share: {{ default: 80 % }}\nrules:\n{rules}"
    table, wrong = read_profile(read(text, "p.yaml"))
    laid = layers(table, lambda *_: pytest.fail("no parent"))
    return compile_profile(laid, CATALOGUE, {}, {}, wrong).own


def shared(asked: Rule) -> set[str]:
    assert asked.across is not None
    return {str(each.fact) for each in asked.across.shared}


def test_a_star_is_every_setting_below_and_no_identity() -> None:
    (asked,) = compiled(
        "  same: { across: { facts: ['bios.*', 'gpu/*.*'], except: [bios.turbo] }, agree: { quorum: $share } }\n"
    )
    assert shared(asked) == {"bios.smt", "gpu/*.vbios"}
    assert asked.across is not None
    assert (asked.across.quorum, asked.roles) == (80, ("compute",))
    assert {str(path) for path in asked.facts()} == {"bios.smt", "gpu/*.vbios"}
    assert asked.planes == {Plane.BMC, Plane.OS}


PINNED = """
  same: {{ across: {{ facts: [bios.smt, 'gpu/*.vbios'] }}, agree: {{ quorum: 75 % }} }}
  pin: {pin}
"""


@pytest.mark.parametrize(
    ("pin", "left"),
    [
        ("{ fact: bios.smt, is: enabled }", {"gpu/*.vbios"}),
        ("{ each: gpu, fact: vbios, is: '1' }", {"bios.smt"}),
        ("{ fact: bios.smt, is-not: enabled }", {"bios.smt", "gpu/*.vbios"}),
        ("{ fact: bios.smt, is: enabled, when: { fact: bios.turbo, is: x } }", {"bios.smt", "gpu/*.vbios"}),
        ("{ fact: bios.smt, is: enabled, role: storage }", {"bios.smt", "gpu/*.vbios"}),
        ("{ fact: bios.smt, is: enabled, phase: burn-in }", {"bios.smt", "gpu/*.vbios"}),
    ],
)
def test_facts_pinned_by_the_profile_are_not_compared_across_nodes(pin: str, left: set[str]) -> None:
    assert shared(compiled(PINNED.format(pin=pin))[0]) == left


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{ across: { facts: [bios.smt] } }", "`across` without `agree: { quorum: … }` asserts nothing"),
        ("{ across: { facts: [bios.smt] }, agree: { quorum: 50 % } }", "`quorum` is 50 %; it must be more than 50 % and at most 100 %"),
        ("{ across: { facts: [bios.smt] }, agree: { quorum: 0.75 } }", "`quorum` is a share of the expected nodes, as 75 %"),
        ("{ across: { facts: [bios.smtt] }, agree: { quorum: 75 % } }", "no probe provides bios.smtt; did you mean bios.smt?"),
        ("{ across: { facts: ['bois.*'] }, agree: { quorum: 75 % } }", "no probe provides configuration or versions below bois; did you mean bios?"),
        ("{ across: { facts: [bios.smt], except: [bios.smt] }, agree: { quorum: 75 % } }", "`except` leaves no fact to agree on"),
        ("{ across: { facts: [bios.smt] }, agree: { quorum: 75 % }, severity: blocker }", "at most `major`"),
        ("{ across: { facts: [bios.smt] }, agree: { quorum: 75 % }, is: x }", "`is` cannot be combined with `across`"),
        ("{ across: { facts: [bios.smt] }, agree: { quorum: 75 % }, scope: rack }", "its scope must be `node`"),
        ("{ across: { facts: [gpu] }, agree: { quorum: 75 % } }", "gpu is a collection"),
        ("{ fact: bios.smt, is: x, agree: { quorum: 75 % } }", "`agree` is only allowed with `across`"),
        ("{ fact: rack.gpus, is: 72 }", "rack.gpus is a fact of a rack, but the rule's scope is `node`"),
        ("{ fact: bios.smt, is: x, scope: rack }", "bios.smt is a fact of a node, but the rule's scope is `rack`"),
    ],
)  # fmt: skip
def test_an_impossible_rule_across_nodes_is_reported(text: str, message: str) -> None:
    with pytest.raises(BadFile) as error:
        compiled(f"  same: {text}\n")
    assert message in str(error.value)


def test_a_rule_of_a_node_cannot_wait_for_the_others() -> None:
    with pytest.raises(BadFile, match="it is judged after this rule, when all nodes are read"):
        compiled(
            "  same: { across: { facts: [bios.smt] }, agree: { quorum: 75 % } }\n  then: { fact: bios.turbo, is: x, needs: [same] }\n"
        )
