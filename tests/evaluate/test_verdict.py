"""Judging, sentence by sentence of the grammar: how each look, operator and word of a rule treats what is known."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rackcheck.evaluate.verdict import Outcome, Status, Verdict, conclude, in_scope, judge, misfit, worst
from rackcheck.model.catalogue import (
    Catalogue,
    Entry,
    Kind,
    Type,
    collection,
    flag,
    integer,
    listing,
    quantity,
    setting,
    version,
)
from rackcheck.model.catalogue import text as words
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Phase, Profile, Rule, Severity
from rackcheck.model.tree import Leaf, Tree
from rackcheck.profile import library

KINDS: Mapping[str, Kind] = {
    "gpu": collection("GPUs"),
    "gpu/*.mode": words("ECC mode"),
    "gpu/*.errors": integer("Errors"),
    "gpu/*.power": quantity("W", "Power limit"),
    "gpu/*.numa": integer("NUMA node"),
    "gpu/*.nearest_nic.numa": integer("NUMA node of the nearest NIC"),
    "gpu/*.present": flag("Whether the slot holds one"),
    "gpu/*.vbios": version("hex-dotted", "VBIOS"),
    "nic": collection("NICs"),
    "nic/*.port": collection("Ports"),
    "nic/*.port/*.state": words("State"),
    "driver": version("dotted", "Driver"),
    "fabric_manager": version("dotted", "Fabric manager"),
    "memory": quantity("GiB", "Memory"),
    "open_files": integer("Open files", unlimited=True),
    "taint": integer("Taint bits"),
    "isolated": listing("Isolated CPUs"),
    "virtual": flag("Whether this is a guest"),
    "qdisc": setting("Queue discipline"),
}
BMC: Mapping[str, Kind] = {"bmc.memory": quantity("GiB", "Memory as the BMC counts it"), "bmc.driver": KINDS["driver"]}
CATALOGUE = Catalogue.of(
    [
        *(Entry(path, kind, Plane.OS, "os") for path, kind in KINDS.items()),
        *(Entry(path, kind, Plane.BMC, "bmc") for path, kind in BMC.items()),
    ]
)
TIMEOUT = Unknown(Reason.TIMEOUT, "no answer within 10 s")
DENIED = Unknown(Reason.DENIED, "only root may")

Facts = Mapping[str, Reading]
Compile = Callable[..., Profile]


@pytest.fixture
def profile(tmp_path: Path) -> Compile:
    """Reads rules as a profile writes them."""

    def compiled(rules: str, params: str = "{}", sources: str = "{}", **values: str) -> Profile:
        (tmp_path / "sources.yaml").write_text(f"rackcheck: 1\nsources: {sources}\n")
        (tmp_path / "p.yaml").write_text(
            f"rackcheck: 1\nprofile: p\nversion: 1\nparams: {params}\nrules:\n{rules}\n",
        )
        return library.load(str(tmp_path / "p.yaml"), CATALOGUE, values)

    return compiled


def tree(facts: Facts) -> Tree:
    """A node's facts; a collection without a listing has the items that the facts name."""
    leaves: dict[str, Leaf] = {}
    for path, reading in facts.items():
        entry = CATALOGUE.find(parse(path))
        assert entry is not None, path
        leaves[path] = Leaf(reading, entry.kind, entry.plane, f"cat {path}")
    return Tree(leaves)


def gpus(fact: str, *readings: Reading, listing: Reading = ()) -> dict[str, Reading]:
    """This many GPUs, each with one fact; the listing is complete unless it is unknown."""
    value: Reading = tuple(map(str, range(len(readings)))) if isinstance(listing, tuple) else listing
    return {"gpu": value, **{f"gpu/{key}.{fact}": reading for key, reading in enumerate(readings)}}


Judge = Callable[[str, Facts], Verdict]


@pytest.fixture
def verdict(profile: Compile) -> Judge:
    """Judges one rule on a node's facts."""

    def judged(rule: str, facts: Facts) -> Verdict:
        (found,) = judge(profile(f"  r: {rule}").own, tree(facts))
        assert found.reason or found.status is Status.PASS
        return found

    return judged


# ---- one fact --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "fact", "reading", "status"),
    [
        ("is: 2 TiB", "memory", 2048.0, "pass"),
        ("is: 2048 GiB", "memory", 2048.0000001, "pass"),
        ("is: 2 TiB", "memory", 2000.0, "fail"),
        ("is-not: 2 TiB", "memory", 2000.0, "pass"),
        ("one-of: [1 TiB, 2 TiB]", "memory", 2048.0, "pass"),
        ("none-of: [1 TiB, 2 TiB]", "memory", 2048.0, "fail"),
        ("at-least: 570.86.15", "driver", "570.133.20", "pass"),
        ("at-most: 570.86.15", "driver", "570.133.20", "fail"),
        ("above: 570.86", "driver", "570.86.0", "fail"),
        ("at-least: 570.86.0", "driver", "570.86", "pass"),
        ("below: 571", "driver", "570.999", "pass"),
        ("at-least: 65536", "open_files", float("inf"), "pass"),
        ("is: unlimited", "open_files", float("inf"), "pass"),
        ("is: unlimited", "open_files", 1048576, "fail"),
        ("mask: { bits: 0xE8, is: 0x28 }", "taint", 0x128, "pass"),
        ("mask: { bits: 0xE8, is: 0x28 }", "taint", 0x128 | 0x40, "fail"),
        ("mask: { bits: 0xE8, is: 0 }", "taint", 0x117, "pass"),
        ("within: { of: 2 TiB, by: 1 % }", "memory", 2030.0, "pass"),
        ("within: { of: 2 TiB, by: 1 % }", "memory", 2020.0, "fail"),
        ("within: { of: 2 TiB, by: 20 GiB }", "memory", 2068.0, "pass"),
        ("like: fq*", "qdisc", "fq_codel", "pass"),
        ("matches: '^fq$'", "qdisc", "fq_codel", "fail"),
        ("includes: ['2', '3']", "isolated", ("2", "3", "4"), "pass"),
        ("includes: ['2', '9']", "isolated", ("2", "3", "4"), "fail"),
        ("excludes: '0'", "isolated", (), "pass"),
        ("is: 010", "qdisc", "10", "pass"),
        ("is: '4096  87380 6291456'", "qdisc", "4096\t87380\t6291456", "pass"),
        ("at-least: 10", "qdisc", "fq", "unknown"),
        ("warn-below: 2 TiB", "memory", 2000.0, "warn"),
        ("{ at-least: 1 TiB, warn-below: 2 TiB }", "memory", 2000.0, "warn"),
        ("{ at-least: 1 TiB, warn-below: 2 TiB }", "memory", 1000.0, "fail"),
        ("present: true", "driver", "1", "pass"),
        ("present: false", "driver", "1", "fail"),
    ],
)
def test_an_operator_compares_what_is_known(
    verdict: Judge, rule: str, fact: str, reading: Reading, status: str
) -> None:
    tests = rule.strip("{} ") if rule.startswith("{") else rule
    assert verdict(f"{{ fact: {fact}, {tests} }}", {fact: reading}).status == status


@pytest.mark.parametrize(
    ("tests", "status"),
    [("is: 1", "fail"), ("is-not: 1", "fail"), ("none-of: [1]", "fail"), ("below: 1", "fail"), ("present: true", "fail"),
     ("present: false", "pass"), ("same-as: bmc.driver", "fail"), ("present: true, is: 1", "fail")],
)  # fmt: skip
def test_an_absent_fact_fails_everything_but_being_absent(verdict: Judge, tests: str, status: str) -> None:
    facts = {"driver": Absent("no driver"), "bmc.driver": Absent()}
    assert verdict(f"{{ fact: driver, {tests} }}", facts).status == status


@pytest.mark.parametrize("tests", ["is: 1", "is-not: 1", "present: true", "present: false", "below: 1", "like: '*'"])
def test_an_unknown_fact_is_unknown_under_every_test_and_states_why(verdict: Judge, tests: str) -> None:
    judged = verdict(f"{{ fact: driver, {tests} }}", {"driver": DENIED})
    assert judged.status is Status.UNKNOWN
    assert "denied: only root may" in judged.reason
    assert judged.evidence[0].unknown == DENIED


def test_an_unmentioned_fact_is_unknown_not_absent(verdict: Judge) -> None:
    assert verdict("{ fact: driver, present: false }", {}).status is Status.UNKNOWN


def test_a_version_without_an_order_is_unknown_but_can_be_tested_for_equality(verdict: Judge) -> None:
    facts = {"driver": "22.39.2048 (MT_0000000838)"}
    judged = verdict("{ fact: driver, at-least: 1.0 }", facts)
    assert judged.status is Status.UNKNOWN
    assert "cannot be ordered" in judged.reason
    assert verdict("{ fact: driver, is-not: 1.0 }", facts).status is Status.PASS
    assert verdict("{ fact: driver, at-least: 1.0, is: 1.0 }", facts).status is Status.FAIL


@pytest.mark.parametrize(
    ("left", "right", "status"),
    [("570.86", "570.86", "pass"), ("570.86", "570.87", "fail"), ("570.86", Absent(), "fail"), ("570.86", DENIED, "unknown"),
     (Absent(), DENIED, "fail"), (DENIED, "570.86", "unknown")],
)  # fmt: skip
def test_a_fact_is_compared_with_another(verdict: Judge, left: Reading, right: Reading, status: str) -> None:
    facts = {"driver": left, "fabric_manager": right}
    assert verdict("{ fact: driver, same-as: fabric_manager }", facts).status == status


def test_the_same_idea_is_compared_across_planes(verdict: Judge) -> None:
    assert verdict("{ fact: memory, same-as: bmc.memory }", {"memory": 2048.0, "bmc.memory": 1536.0}).status == "fail"


@pytest.mark.parametrize(
    ("join", "driver", "memory", "status"),
    [
        ("all-of", "2", 2.0, "pass"), ("all-of", "2", 1.0, "warn"), ("all-of", TIMEOUT, 1.0, "unknown"),
        ("all-of", "1", TIMEOUT, "fail"), ("any-of", "1", 2.0, "pass"), ("any-of", TIMEOUT, 2.0, "pass"),
        ("any-of", TIMEOUT, 1.0, "unknown"), ("any-of", "1", 1.0, "warn"), ("any-of", "1", TIMEOUT, "unknown"),
        ("any-of", "1", Absent(), "fail"),
    ],
)  # fmt: skip
def test_facts_are_joined_by_all_and_any(
    verdict: Judge, join: str, driver: Reading, memory: Reading, status: str
) -> None:
    leaves = f"{join}: [{{ fact: driver, is: 2 }}, {{ fact: memory, warn-below: 2 GiB }}]"
    assert verdict(f"{{ {leaves} }}", {"driver": driver, "memory": memory}).status == status


# ---- looks -----------------------------------------------------------------------------------------------------------

EACH, ANY, NO = (f"{look}: gpu, fact: mode, is: enabled" for look in ("each", "any", "no"))


@pytest.mark.parametrize(
    ("look", "readings", "status"),
    [
        (EACH, ("enabled", "enabled"), "pass"),
        (EACH, ("enabled", "disabled"), "fail"),
        (EACH, ("enabled", TIMEOUT), "unknown"),
        (EACH, ("disabled", TIMEOUT), "fail"),
        (EACH, ("enabled", Absent()), "fail"),
        (ANY, ("disabled", "enabled"), "pass"),
        (ANY, (TIMEOUT, "enabled"), "pass"),
        (ANY, ("disabled", TIMEOUT), "unknown"),
        (ANY, ("disabled", "disabled"), "fail"),
        (NO, ("disabled", "disabled"), "pass"),
        (NO, ("disabled", "enabled"), "fail"),
        (NO, ("disabled", TIMEOUT), "unknown"),
        (NO, ("enabled", TIMEOUT), "fail"),
    ],
)
def test_each_is_and_any_is_or_no_is_not_any(
    verdict: Judge, look: str, readings: tuple[Reading, ...], status: str
) -> None:
    assert verdict(f"{{ {look} }}", gpus("mode", *readings)).status == status


@pytest.mark.parametrize(
    ("look", "readings", "status"),
    [
        ("each", (3, 3), "pass"), ("each", (3, 2), "warn"), ("each", (2, TIMEOUT), "unknown"), ("each", (2, TIMEOUT, 1), "fail"),
        ("any", (1, 2, 3), "pass"), ("any", (1, 2), "warn"), ("any", (1, 2, TIMEOUT), "unknown"), ("any", (1, 1), "fail"),
    ],
)  # fmt: skip
def test_warnings_stand_where_the_grammar_orders_them(
    verdict: Judge, look: str, readings: tuple[Reading, ...], status: str
) -> None:
    rule = f"{{ {look}: gpu, fact: errors, at-least: 2, warn-below: 3 }}"
    assert verdict(rule, gpus("errors", *readings)).status == status


@pytest.mark.parametrize("nothing", [(), Absent("the PCI bus holds none")])
@pytest.mark.parametrize(
    ("rule", "status"),
    [
        (f"{{ {EACH} }}", "fail"), (f"{{ {ANY} }}", "fail"), (f"{{ {NO} }}", "pass"), ("{ count: gpu, is: 0 }", "pass"),
        ("{ count: gpu, at-least: 1 }", "fail"), (f"{{ {EACH}, allow-empty: true }}", "n/a"),
        (f"{{ {ANY}, allow-empty: true }}", "n/a"), (f"{{ {EACH}, allow-empty: true, expect-count: 8 }}", "n/a"),
        (f"{{ {EACH}, expect-count: 8 }}", "fail"), (f"{{ {EACH}, allow-failing: 2 }}", "fail"),
    ],
)  # fmt: skip
def test_an_empty_collection_fails_unless_it_may_be_empty(
    verdict: Judge, rule: str, status: str, nothing: Reading
) -> None:
    assert verdict(rule, {"gpu": nothing}).status == status


@pytest.mark.parametrize(
    "rule",
    [f"{{ {EACH} }}", f"{{ {ANY} }}", f"{{ {NO} }}", "{ count: gpu, is: 8 }", "{ count: gpu, at-least: 0 }",
     f"{{ {EACH}, allow-empty: true }}", f"{{ {EACH}, expect-count: 8 }}", f"{{ {EACH}, allow-failing: 8 }}"],
)  # fmt: skip
def test_an_unknown_collection_is_unknown_under_every_look(verdict: Judge, rule: str) -> None:
    judged = verdict(rule, {"gpu": Unknown(Reason.TOOL_MISSING, "nvidia-smi")})
    assert judged.status is Status.UNKNOWN
    assert "tool missing: nvidia-smi" in judged.reason
    assert verdict(rule, {}).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("rule", "readings", "status"),
    [
        (EACH, ("enabled",), "unknown"), (EACH, ("disabled",), "fail"), (ANY, ("enabled",), "pass"), (ANY, ("disabled",), "unknown"),
        (NO, ("enabled",), "fail"), (NO, ("disabled",), "unknown"), (f"{EACH}, allow-failing: 1", ("disabled",), "unknown"),
        (f"{EACH}, allow-failing: 1", ("disabled", "disabled"), "fail"), (f"{EACH}, expect-count: 1", ("enabled", "enabled"), "fail"),
        (f"{EACH}, expect-count: 3", ("enabled", "enabled"), "unknown"), ("count: gpu, at-least: 2", ("x", "x"), "pass"),
        ("count: gpu, at-most: 1", ("x", "x"), "fail"), ("count: gpu, is: 2", ("x", "x"), "unknown"),
        ("count: gpu, is: 1", ("x", "x"), "fail"), ("count: gpu, is-not: 1", ("x", "x"), "pass"),
    ],
)  # fmt: skip
def test_a_collection_not_read_to_its_end_is_its_items_and_one_unknown(
    verdict: Judge, rule: str, readings: tuple[Reading, ...], status: str
) -> None:
    facts = gpus("mode", *readings, listing=Unknown(Reason.NOT_READ_FURTHER, "page 2 of 3 failed"))
    assert verdict(f"{{ {rule} }}", facts).status == status


def slots(*present: Reading, mode: Reading = "enabled") -> dict[str, Reading]:
    """Slots, each of which holds a GPU or not, all with the same mode."""
    return gpus("present", *present) | {f"gpu/{key}.mode": mode for key in range(len(present))}


WHERE = "where: { fact: present, is: true }"


@pytest.mark.parametrize(
    ("rule", "present", "status"),
    [
        (f"{EACH}, {WHERE}, expect-count: 8", (True,) * 8, "pass"),
        (f"{EACH}, {WHERE}, expect-count: 8", (True,) * 8 + (False,), "pass"),
        (f"{EACH}, {WHERE}, expect-count: 8", (True,) * 7, "fail"),
        (f"{EACH}, {WHERE}, expect-count: 8", (True,) * 7 + (TIMEOUT,), "unknown"),
        (f"{EACH}, {WHERE}, expect-count: 8", (True,) * 6 + (TIMEOUT,), "fail"),
        (f"{EACH}, {WHERE}, expect-count: 7", (True,) * 8 + (TIMEOUT,), "fail"),
        (f"count: gpu, {WHERE}, is: 8", (True,) * 7 + (TIMEOUT,), "unknown"),
        (f"count: gpu, {WHERE}, at-least: 7", (True,) * 7 + (TIMEOUT,), "pass"),
        (f"count: gpu, {WHERE}, at-most: 6", (True,) * 7 + (TIMEOUT,), "fail"),
        (f"count: gpu, {WHERE}, none-of: [2, 3, 4]", (True, TIMEOUT, TIMEOUT, TIMEOUT, TIMEOUT), "unknown"),
        (f"count: gpu, {WHERE}, one-of: [1, 2, 3]", (True, TIMEOUT, TIMEOUT), "pass"),
        (f"count: gpu, {WHERE}, within: {{ of: 4, by: 1 }}", (True, True, TIMEOUT), "unknown"),
        (f"count: gpu, {WHERE}, is: 0", (False, Absent()), "pass"),
        (f"{EACH}, {WHERE}", (False, False), "fail"),
        (f"{EACH}, {WHERE}, allow-empty: true", (False, False), "n/a"),
        (f"{EACH}, {WHERE}, allow-empty: true", (False, TIMEOUT), "unknown"),
        (f"{EACH}, {WHERE}, allow-empty: true, expect-count: 2", (False, TIMEOUT), "unknown"),
        (f"{EACH}, {WHERE}, allow-failing: 1", (False, TIMEOUT), "unknown"),
        (f"{EACH}, {WHERE}, allow-failing: 1", (True, TIMEOUT), "pass"),
        (f"{ANY}, {WHERE}", (False, TIMEOUT), "unknown"),
        (f"{NO}, {WHERE}", (False, TIMEOUT), "unknown"),
        (f"{NO}, {WHERE}", (False, False), "pass"),
    ],
)
def test_an_item_that_may_or_may_not_belong_is_unknown_and_widens_the_count(
    verdict: Judge, rule: str, present: tuple[Reading, ...], status: str
) -> None:
    assert verdict(f"{{ {rule} }}", slots(*present)).status == status


@pytest.mark.parametrize(
    ("readings", "status"),
    [
        ((3, 3, 1), "pass"), ((3, 1, 1), "fail"), ((3, 1, TIMEOUT), "unknown"), ((3, 3, TIMEOUT), "pass"),
        ((1, 1, TIMEOUT), "fail"), ((3, TIMEOUT, TIMEOUT), "unknown"), ((3, 3, 3), "pass"),
    ],
)  # fmt: skip
def test_so_many_may_fail_and_an_unknown_may_be_one_of_them(
    verdict: Judge, readings: tuple[Reading, ...], status: str
) -> None:
    assert (
        verdict("{ each: gpu, fact: errors, at-least: 2, allow-failing: 1 }", gpus("errors", *readings)).status
        == status
    )


def test_an_unknown_item_that_may_warn_is_no_pass_even_where_it_may_fail(verdict: Judge) -> None:
    rule = "{ each: gpu, fact: errors, at-least: 2, warn-below: 3, allow-failing: 1 }"
    assert verdict(rule, gpus("errors", 3, TIMEOUT)).status is Status.UNKNOWN
    assert verdict(rule, gpus("errors", 2, TIMEOUT)).status is Status.WARN
    assert verdict(rule, gpus("errors", 2, 1)).status is Status.WARN


def test_allowed_failures_are_reported(verdict: Judge) -> None:
    judged = verdict("{ each: gpu, fact: errors, at-least: 2, allow-failing: 1 }", gpus("errors", 3, 3, 1))
    assert judged.reason == "1 of 3 fail, as the rule allows"


@pytest.mark.parametrize(
    ("readings", "status"),
    [
        (("a", "a", "a"), "pass"), (("a", "b", "a"), "fail"), (("a", "b", TIMEOUT), "fail"), (("a", TIMEOUT, "a"), "unknown"),
        (("a", Absent(), "a"), "fail"), ((TIMEOUT, TIMEOUT), "unknown"), (("a",), "pass"),
    ],
)  # fmt: skip
def test_siblings_are_alike_or_not_whatever_the_unknown_ones_are(
    verdict: Judge, readings: tuple[Reading, ...], status: str
) -> None:
    assert verdict("{ each: gpu, fact: mode, equal: true }", gpus("mode", *readings)).status == status


def test_quantities_a_breath_apart_are_alike_only_from_end_to_end(verdict: Judge) -> None:
    rule = "{ each: gpu, fact: power, equal: true }"
    assert verdict(rule, gpus("power", 700.0, 700.0 * (1 + 5e-10))).status is Status.PASS
    assert verdict(rule, gpus("power", 700.0, 700.0 * (1 + 8e-10), 700.0 * (1 - 8e-10))).status is Status.FAIL


@pytest.mark.parametrize(
    ("readings", "status"),
    [
        ((100.0, 95.0, 97.0), "pass"), ((100.0, 94.0, 97.0), "fail"), ((100.0, 94.0, TIMEOUT), "fail"),
        ((100.0, 97.0, TIMEOUT), "unknown"), ((100.0, float("inf")), "fail"), ((0.0, 0.0), "pass"), ((-1.0, 1.0), "fail"),
        ((100.0, Absent()), "fail"),
    ],
)  # fmt: skip
def test_spread_is_the_share_of_the_largest_that_lies_between_least_and_most(
    verdict: Judge, readings: tuple[Reading, ...], status: str
) -> None:
    assert verdict("{ each: gpu, fact: power, spread: { at-most: 5 % } }", gpus("power", *readings)).status == status


def test_a_leading_dot_starts_at_the_item(verdict: Judge) -> None:
    facts = gpus("numa", 0, 1) | {"gpu/0.nearest_nic.numa": 0, "gpu/1.nearest_nic.numa": 0, "taint": 0}
    judged = verdict("{ each: gpu, fact: numa, same-as: .nearest_nic.numa }", facts)
    assert (judged.status, [e.item for e in judged.evidence]) == (Status.FAIL, ["gpu/1.numa"])
    assert verdict("{ each: gpu, fact: nearest_nic.numa, same-as: taint }", facts).status is Status.PASS


PORTS: Facts = {
    "nic": ("mlx5_0", "mlx5_1"), "nic/mlx5_0.port": ("1",), "nic/mlx5_1.port": ("1", "2"),
    "nic/mlx5_0.port/1.state": "ACTIVE", "nic/mlx5_1.port/1.state": "ACTIVE", "nic/mlx5_1.port/2.state": "DOWN",
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "gone", "status"),
    [
        ("{ count: nic/*.port, is: 3 }", "", "pass"),
        ("{ count: nic/*.port, is: 3 }", "nic/mlx5_0.port", "unknown"),
        ("{ count: nic/*.port, at-least: 4 }", "nic", "unknown"),
        ("{ count: nic/*.port, at-most: 2 }", "nic", "fail"),
        ("{ count: nic/mlx5_1.port, is: 2 }", "nic", "pass"),
        ("{ each: nic/*.port, fact: state, is: ACTIVE }", "", "fail"),
        ("{ each: nic/*.port, fact: state, is-not: INIT }", "nic/mlx5_1.port", "unknown"),
        ("{ any: nic/*.port, fact: state, is: DOWN }", "nic/mlx5_1.port", "pass"),
        ("{ count: nic/*.port, where: { fact: state, is: ACTIVE }, is: 2 }", "", "pass"),
        ("{ count: nic/*.port, where: { fact: state, is: ACTIVE }, is: 2 }", "nic/mlx5_1.port/2.state", "unknown"),
    ],
)
def test_a_look_into_every_item_s_items_gathers_them_all(verdict: Judge, rule: str, gone: str, status: str) -> None:
    facts = {path: TIMEOUT if path == gone else reading for path, reading in PORTS.items()}
    assert verdict(rule, facts).status == status


def test_an_item_that_a_whole_collection_does_not_hold_is_absent(verdict: Judge) -> None:
    facts = gpus("mode", "enabled", "enabled")
    assert verdict("{ fact: gpu/7.mode, is: enabled }", facts).status is Status.FAIL
    assert verdict("{ fact: gpu/7.mode, present: false }", facts).status is Status.PASS
    partial = gpus("mode", "enabled", listing=TIMEOUT)
    assert verdict("{ fact: gpu/7.mode, present: false }", partial).status is Status.UNKNOWN
    assert verdict("{ fact: gpu/0.mode, is: enabled }", partial).status is Status.PASS


def test_an_item_that_only_the_listing_names_is_unknown_not_absent(verdict: Judge) -> None:
    facts: Facts = {"gpu": ("0", "1"), "gpu/0.mode": "enabled"}
    assert verdict(f"{{ {EACH} }}", facts).status is Status.UNKNOWN
    assert verdict("{ count: gpu, is: 2 }", facts).status is Status.PASS


# ---- when, needs, params, severities ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("virtual", "status", "reason"),
    [
        (False, "fail", "driver is 1"),
        (True, "n/a", "virtual is true"),
        (TIMEOUT, "unknown", "it is unknown whether the rule applies: virtual unknown (timeout"),
        (Absent(), "n/a", "virtual is absent"),
    ],
)
def test_a_rule_applies_when_its_condition_holds(verdict: Judge, virtual: Reading, status: str, reason: str) -> None:
    judged = verdict("{ when: { fact: virtual, is: false }, fact: driver, is: 2 }", {"virtual": virtual, "driver": "1"})
    assert judged.status == status
    assert judged.reason.startswith(reason)


def test_when_is_always_the_node_s_also_inside_a_look(verdict: Judge) -> None:
    facts = gpus("mode", "disabled") | {"virtual": True}
    assert verdict(f"{{ when: {{ fact: virtual, is: false }}, {EACH} }}", facts).status is Status.NA


@pytest.mark.parametrize(
    ("first", "status"),
    [
        ("{ fact: driver, is: 1 }", "pass"),
        ("{ fact: driver, is: 2 }", "unknown"),
        ("{ fact: driver, is: 2, severity: advisory }", "pass"),
        ("{ fact: driver, is: 2, severity: minor }", "unknown"),
        ("{ fact: driver, warn-below: 2 }", "pass"),
        ("{ fact: fabric_manager, is: 2 }", "unknown"),
        ("{ when: { fact: driver, is: 2 }, fact: driver, is: 3 }", "pass"),
        ("{ fact: driver, is: $site }", "pass"),
    ],
)
def test_needs_are_satisfied_by_pass_warn_and_not_applicable(profile: Compile, first: str, status: str) -> None:
    rules = profile(f"  a: {{ fact: memory, is: 1 GiB, needs: [b] }}\n  b: {first}", "{ site: { default: unset } }").own
    judged = judge(rules, tree({"driver": "1", "memory": 1.0, "fabric_manager": TIMEOUT}))
    assert [v.rule for v in judged] == ["a", "b"]
    assert judged[0].status == status
    assert (judged[0].reason == "blocked by b") == (status == "unknown")


def test_a_needed_rule_that_is_not_in_scope_does_not_block(profile: Compile) -> None:
    rules = profile("  a: { fact: memory, is: 1 GiB, needs: [b] }\n  b: { fact: driver, is: 2, phase: burn-in }").own
    scope = [r for r in rules if in_scope(r, "compute", frozenset({Plane.OS}), frozenset({Phase.CONFIG}))]
    (judged,) = judge(scope, tree({"memory": 1.0, "driver": "1"}))
    assert judged.status is Status.PASS


def test_a_block_is_passed_on_and_a_long_chain_is_judged(profile: Compile) -> None:
    chain = "\n".join(f"  r{n}: {{ fact: memory, is: 1 GiB, needs: [r{n + 1}] }}" for n in range(1500))
    judged = judge(profile(f"{chain}\n  r1500: {{ fact: driver, is: 2 }}").own, tree({"memory": 1.0, "driver": "1"}))
    assert judged[-1].status is Status.FAIL
    assert {v.status for v in judged[:-1]} == {Status.UNKNOWN}
    assert judged[0].reason == "blocked by r1"


def test_a_rule_with_an_unset_site_value_does_not_apply_and_names_it(profile: Compile) -> None:
    rule = "  r: { when: { fact: virtual, is: $guest }, fact: driver, at-least: $driver }"
    params = "{ driver: { default: unset }, guest: { default: 'false' } }"
    (judged,) = judge(profile(rule, params).own, tree({"virtual": TIMEOUT, "driver": TIMEOUT}))
    assert (judged.status, judged.reason) == (Status.NA, "site value not set: driver")
    (judged,) = judge(profile(rule, params, driver="2").own, tree({"virtual": False, "driver": "1"}))
    assert judged.status is Status.FAIL


def test_an_advisory_and_a_figure_from_memory_only_warn(profile: Compile) -> None:
    sources = (
        "{ book: { title: t, section: s, publisher: p, date: 2026, confidence: read in source },"
        " lore: { title: t, section: s, publisher: p, date: 2026, confidence: from memory } }"
    )
    rules = profile(
        "  a: { fact: driver, is: 2, severity: advisory }\n"
        "  b: { fact: driver, is: 2, severity: blocker, refs: [lore] }\n"
        "  c: { fact: driver, is: 2, severity: blocker, refs: [book] }\n"
        "  d: { fact: fabric_manager, is: 2, severity: advisory }",
        sources=sources,
    ).own
    judged = judge(rules, tree({"driver": "1", "fabric_manager": TIMEOUT}))
    assert [v.status for v in judged] == ["warn", "warn", "fail", "unknown"]


def test_verdicts_come_in_the_profile_s_order_and_show_item_seen_and_wanted(profile: Compile) -> None:
    rules = profile(f"  z: {{ {EACH}, needs: [a] }}\n  a: {{ fact: memory, at-least: 1 TiB }}").own
    first, second = judge(rules, tree(gpus("mode", "enabled", "disabled") | {"memory": 1023.0}))
    assert (first.rule, second.rule) == ("z", "a")
    assert second.reason == "memory is 1023 GiB, must be at least 1024 GiB"
    (evidence,) = second.evidence
    assert (evidence.item, evidence.observed, evidence.expected) == ("memory", "1023 GiB", "must be at least 1024 GiB")
    assert evidence.source == "cat memory"


# ---- a node and a run ------------------------------------------------------------------------------------------------


def rule(name: str, severity: Severity) -> Rule:
    return Rule(name, (), severity=severity)


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        ({"major": "pass"}, "PASS"), ({"blocker": "pass"}, "PASS"), ({"major": "waived"}, "PASS"),
        ({"major": "pass", "blocker": "n/a"}, "PASS"), ({"major": "pass", "blocker": "warn"}, "PASS"),
        ({"major": "pass", "minor": "fail"}, "PASS"), ({"major": "pass", "minor": "unknown"}, "PASS"),
        ({"major": "pass", "advisory": "warn"}, "PASS"),
        ({"major": "fail"}, "FAIL"), ({"blocker": "fail"}, "FAIL"), ({"major": "unknown", "blocker": "fail"}, "FAIL"),
        ({"major": "unknown"}, "INCOMPLETE"), ({"blocker": "unknown"}, "INCOMPLETE"),
        ({"minor": "fail", "major": "unknown"}, "INCOMPLETE"), ({"major": "pass", "blocker": "unknown"}, "INCOMPLETE"),
        ({"major": "n/a"}, "INCOMPLETE"), ({"major": "warn"}, "INCOMPLETE"), ({"minor": "pass"}, "INCOMPLETE"),
        ({"minor": "fail"}, "INCOMPLETE"), ({"advisory": "warn"}, "INCOMPLETE"), ({"minor": "unknown"}, "INCOMPLETE"),
        ({"minor": "pass", "major": "n/a"}, "INCOMPLETE"), ({}, "INCOMPLETE"),
    ],
)  # fmt: skip
def test_a_node_fails_by_blockers_and_majors_and_is_incomplete_by_their_unknowns(
    found: Mapping[str, str], outcome: str
) -> None:
    verdicts = [Verdict(severity, Status(status), "why") for severity, status in found.items()]
    rules = {severity: rule(severity, Severity(severity)) for severity in found}
    found_out = conclude(verdicts, rules)
    assert found_out.outcome == outcome
    assert bool(found_out.reason) is (outcome == "INCOMPLETE")


def test_a_run_is_its_worst_node_and_none_is_not_a_pass() -> None:
    assert worst([Outcome.PASS, Outcome.INCOMPLETE, Outcome.FAIL]) is Outcome.FAIL
    assert worst([Outcome.PASS, Outcome.INCOMPLETE]) is Outcome.INCOMPLETE
    assert worst([Outcome.PASS]) is Outcome.PASS
    assert worst([]) is Outcome.INCOMPLETE


@pytest.mark.parametrize(
    ("text", "role", "planes", "phases", "inside"),
    [
        ("fact: driver, is: 1", "compute", "os", "config", True),
        ("fact: driver, is: 1", "nvswitch-tray", "os", "config", False),
        ("fact: driver, is: 1, role: any", "nvswitch-tray", "os", "config", True),
        ("fact: driver, is: 1, role: [storage, login]", "login", "os", "config", True),
        ("fact: driver, same-as: bmc.driver", "compute", "os", "config", False),
        ("fact: driver, same-as: bmc.driver", "compute", "os bmc", "config", True),
        ("fact: bmc.memory, is: 1 GiB", "compute", "os", "config", False),
        ("fact: driver, is: 1, phase: burn-in", "compute", "os", "config", False),
        ("fact: driver, is: 1, phase: fabric", "compute", "os", "config fabric", True),
        ("fact: driver, is: 1, when: { fact: bmc.memory, is: 1 GiB }", "compute", "os", "config", False),
    ],
)
def test_a_rule_is_in_scope_by_role_phase_and_all_of_its_planes(
    profile: Compile, text: str, role: str, planes: str, phases: str, inside: bool
) -> None:
    (found,) = profile(f"  r: {{ {text} }}").own
    asked = frozenset(map(Plane, planes.split()))
    assert in_scope(found, role, asked, frozenset(map(Phase, phases.split()))) is inside


def test_a_profile_for_another_machine_is_reported_not_skipped(profile: Compile) -> None:
    made = Profile("dgx", "1", "", (), {"product": ("DGXH100*",), "role": ("compute",)})
    assert misfit(made, "DGXH100-640", "compute") == ""
    assert misfit(made, TIMEOUT, "compute") == ""
    assert "is for product DGXH100*, this is HGX" in misfit(made, "HGX", "compute")
    assert "is for role compute, this is login" in misfit(made, "DGXH100", "login")


def test_every_kind_of_the_catalogue_above_is_used(profile: Compile) -> None:
    assert {kind.type for kind in KINDS.values()} == set(Type)
