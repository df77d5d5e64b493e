"""A node compared with others, with itself, and with what was accepted: what differs, and which rules read it."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st
from rack_runs import copied, folder
from stored_runs import events, made, stored

from rackcheck.model import catalogue
from rackcheck.model.change import ChangeKind, ComparedFacts, compare
from rackcheck.model.fact import Class, Plane
from rackcheck.model.path import parse
from rackcheck.model.profile import Clause, Rule, RuleSelection
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import Join
from rackcheck.views.against import Against, against, difference_text, document, facts_of, rules, word_difference
from rackcheck.views.peers import peers
from rackcheck.views.rule_coverage import Covering

KIND = catalogue.text("A text.")


def config(**docs: object) -> ComparedFacts:
    """Config facts of one node whose operating system answered: `gpu__0_x` is spelt by the caller as a path."""
    return {Class.CONFIG: {"plane/os": {"value": "answered", "plane": "os"}, **_docs(docs)}}


def _docs(values: Mapping[str, object]) -> dict[str, Any]:
    return {path: _doc(value) for path, value in values.items()}


def _doc(value: object) -> dict[str, Any]:
    values = {"unknown": "denied"} if value is None else {"absent": True} if value is ... else {"value": value}
    return {**values, "plane": "os"}


def rule(name: str, fact: str, look: str = "") -> Rule:
    where = RuleSelection("each", parse(look), Plane.OS) if look else None
    return Rule(name, (Clause(parse(fact), KIND, Plane.OS, ()),), where)


def test_items_that_differ_alike_are_one_line_with_the_rules_that_read_them() -> None:
    mine = config(gpu=["0", "1"], **{"gpu/0.vbios": "a", "gpu/1.vbios": "a", "other": "x"})
    other = config(gpu=["0", "1"], **{"gpu/0.vbios": "b", "gpu/1.vbios": "b", "other": "y"})
    covering = Covering([rule("gpu.vbios", "vbios", "gpu")])
    found = against(mine, other, covering, {"gpu.vbios": "fail", "b": "pass"})
    assert [(one.path, one.before, one.after, rules(one)) for one in found.differing] == [
        ("gpu/[0-1].vbios", "b", "a", "gpu.vbios fail"),
        ("other", "y", "x", "no rule"),
    ]
    assert found.differing[0].paths == ("gpu/0.vbios", "gpu/1.vbios")


def test_items_of_which_a_rule_reads_only_one_are_not_shown_as_covered_together() -> None:
    mine = config(gpu=["0", "1"], **{"gpu/0.vbios": "a", "gpu/1.vbios": "a"})
    other = config(gpu=["0", "1"], **{"gpu/0.vbios": "b", "gpu/1.vbios": "b"})
    found = against(mine, other, Covering([rule("first", "gpu/0.vbios")]))
    assert [(one.path, rules(one)) for one in found.differing] == [("gpu/0.vbios", "first"), ("gpu/1.vbios", "no rule")]


def test_a_fact_is_covered_by_the_rule_that_reads_what_follows_from_it() -> None:
    found = Join("missing", ("pcie/*.class",), {"driver.gpus_missing": KIND}, lambda _: iter(()))
    covering = Covering([rule("gpu.none_missing", "driver.gpus_missing")], [found])
    assert covering.of('pcie/"0000:01:00.0".class') == ("gpu.none_missing",)
    assert covering.of('pcie/"0000:01:00.0".vendor') == ()


def test_an_item_that_is_gone_is_covered_by_the_rule_that_counts_its_collection() -> None:
    counted = Rule("gpu.count", (Clause(parse("gpu"), KIND, Plane.OS, ()),))
    mine, other = config(gpu=["0"], **{"gpu/0.x": 1}), config(gpu=["0", "1"], **{"gpu/0.x": 1, "gpu/1.x": 1})
    (gone,) = against(mine, other, Covering([counted])).differing
    assert (gone.path, gone.kind, rules(gone)) == ("gpu/1", ChangeKind.GONE, "gpu.count")


def test_identities_of_another_machine_are_counted_and_those_of_the_same_one_listed() -> None:
    mine: ComparedFacts = {Class.IDENTITY: {"node.serial": _doc("A")}, **config()}
    other: ComparedFacts = {Class.IDENTITY: {"node.serial": _doc("B")}, **config()}
    assert against(mine, other) == Against((), own=1)
    assert [one.path for one in against(mine, other, same=True).differing] == ["node.serial"]


READINGS = st.sampled_from(["a", "b", 1, True, ["0"], None, ...])
SIDES = st.dictionaries(st.sampled_from(["x", "y", "gpu/0.x", "gpu/1.x", "gpu"]), READINGS, max_size=5)


@given(SIDES, SIDES)
def test_the_differences_are_those_of_the_core_and_no_missing_value_is_a_change(a: Any, b: Any) -> None:
    mine, other = config(**a), config(**b)
    found = against(mine, other)
    raw = list(compare(other, mine))
    names = {path for one in found.differing for path in one.paths}
    assert names <= {c.path for c in raw} | {c.under for c in raw}
    assert bool(names) == bool(raw)
    for one in found.differing:
        silent = any(a.get(path, 0) is None or b.get(path, 0) is None for path in one.paths)
        assert one.kind.uncertain or not silent


@given(SIDES)
def test_a_node_does_not_differ_from_itself(a: Any) -> None:
    assert not against(config(**a), config(**a)).differing


def test_a_long_text_and_a_list_show_the_words_that_differ() -> None:
    assert word_difference("a b pci=noats d", "a b d iommu=pt") == (("pci=noats",), ("iommu=pt",))
    assert word_difference(("a", "a", "b"), ("a", "b", "c")) == (("a",), ("c",))
    assert word_difference("one two", "one three") is None
    (one,) = against(config(line="ro quiet splash pci=noats"), config(line="ro quiet splash iommu=pt")).differing
    assert difference_text(one) == "line -iommu=pt +pci=noats"
    assert document(one)["lost"] == ["iommu=pt"]
    (other,) = against(config(line="a b c d"), config(line="d c b a")).differing
    assert difference_text(other) == "line: in another order"


def test_peers_are_right_where_more_than_half_of_all_agree_and_these_are_three_at_least() -> None:
    mine = config(x="mine")
    for count, expected, decided in (
        (1, 2, False),
        (2, 2, False),
        (1, 3, False),
        (2, 3, True),
        (3, 4, True),
        (3, 6, False),
        (4, 6, True),
        (4, 7, True),
    ):
        found = peers(mine, [config(x="theirs")] * count, expected)
        assert ("x" in found.decided) is decided, (count, expected)


def test_peers_that_are_silent_count_as_if_they_differed() -> None:
    found = peers(config(x="a"), [*[config(x="b")] * 3, *[config(x=None)] * 3], 7)
    assert "x" not in found.decided
    assert found.split == 1


def test_what_peers_do_not_agree_on_is_no_difference() -> None:
    mine, others = config(x="a", y="a"), [config(x=str(n), y="b") for n in range(5)]
    by = peers(mine, others, 6)
    found = against(mine, by.facts, same=True, keep=by.speaks_of)
    assert [one.path for one in found.differing] == ["y"]


def test_an_item_that_no_peer_has_is_reported_once_and_one_that_all_have_too() -> None:
    mine = config(gpu=["0", "9"], **{"gpu/0.x": "a", "gpu/9.x": "a", "gpu/9.y": "a"})
    others = [config(gpu=["0", "1"], **{"gpu/0.x": "a", "gpu/1.x": "b", "gpu/1.y": "b"}) for _ in range(4)]
    by = peers(mine, others, 5)
    found = against(mine, by.facts, same=True, keep=by.speaks_of)
    assert {(one.path, one.kind) for one in found.differing} == {
        ("gpu/9", ChangeKind.APPEARED),
        ("gpu/1", ChangeKind.GONE),
    }


@given(st.lists(SIDES, max_size=6), SIDES, st.integers(0, 5))
def test_removing_a_peers_value_never_makes_another_value_right(others: list[Any], mine: Any, silenced: int) -> None:
    rows = [config(**side) for side in others]
    before = peers(config(**mine), rows, len(rows) + 1)
    hushed = [config(**dict.fromkeys(side)) if at == silenced else config(**side) for at, side in enumerate(others)]
    after = peers(config(**mine), hushed, len(rows) + 1)
    for path in after.decided & before.decided:
        here, there = before.facts[Class.CONFIG].get(path), after.facts[Class.CONFIG].get(path)
        assert here is None or there is None or here == there


def test_a_measurement_is_held_against_the_median_of_three_at_least() -> None:
    def hot(value: object) -> ComparedFacts:
        return {**config(), Class.MEASUREMENT: {"gpu/0.temperature": {**_doc(value), "unit": "C"}}}

    classes = (Class.CONFIG, Class.MEASUREMENT)
    by = peers(hot(90.0), [hot(40.0), hot(60.0), hot(50.0), hot(None)], 5, classes)
    (one,) = against(hot(90.0), by.facts, classes=classes, same=True, keep=by.speaks_of).differing
    assert (one.before, one.after, one.percent) == ("50 C", "90 C", 80.0)
    assert difference_text(one) == "gpu/0.temperature 50 C -> 90 C (+80.0 %)"
    assert "gpu/0.temperature" not in peers(hot(1.0), [hot(1.0), hot(2.0), hot(None)], 4, classes).decided
    assert by.facts[Class.CONFIG] == config()[Class.CONFIG]


def test_the_facts_of_a_tree_are_those_that_its_run_keeps() -> None:
    found = facts_of(Tree({"x": Leaf("a", KIND, Plane.OS, "/x")}))
    assert found[Class.CONFIG] == {"x": {"value": "a", "plane": "os"}, "plane/os": {"value": "answered", "plane": "os"}}


# ---- on the command line


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate home, without the user's runs."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))


@pytest.fixture
def pod() -> Callable[..., Path]:
    """Writes a run of five nodes with this value on the first."""

    def written(name: str, first: object, rest: object = "b") -> Path:
        sides = {f"n{n}": {"x.y": ("config", first if n == 1 else rest), "node.serial": ("identity", f"S{n}")}
                 for n in range(1, 6)}  # fmt: skip
        return made(name, sides)

    return written


def test_diff_peers_shows_what_most_others_have_and_leaves_serials_alone(pod: Callable[..., Path]) -> None:
    pod("r1", "a")
    done = rackcheck("diff", "n1", "peers", "--from", "r1")
    assert (done.status, done.out) == (1, "x.y b -> a\n")
    assert "at least 3 of 5 nodes of role compute in r1" in done.err
    assert rackcheck("diff", "n2", "peers", "--from", "r1").status == 0
    doc = json.loads(rackcheck("diff", "n1", "peers", "--json").out)
    assert doc["differing"][0]["fact"] == "x.y"
    assert doc["peers"] == {"asked": 4, "needed": 3, "decided": 2, "split": 1}


def test_diff_peers_of_too_few_nodes_is_not_alike_but_not_known() -> None:
    made("r1", {"n1": {"x.y": ("config", 1)}, "n2": {"x.y": ("config", 2)}})
    done = rackcheck("diff", "n1", "peers")
    assert (done.status, done.out) == (3, "")
    assert "r1 has facts of 1 other node of role compute; a majority needs 3 equal values" in done.err


def test_diff_before_is_the_newest_earlier_run_that_read_the_node(pod: Callable[..., Path]) -> None:
    pod("r1", "a")
    pod("r2", "c")
    stored("r3", [*events("r3", {"n1": {}, "n2": {}})[:1], {"event": "run done", "time": "t", "outcome": "INCOMPLETE"}])
    pod("r4", "d")
    done = rackcheck("diff", "n1", "before")
    assert (done.status, done.out) == (1, "x.y c -> d\n")
    assert rackcheck("diff", "n1", "before", "--from", "r2").out == "x.y a -> c\n"
    assert "no audit before r1 has read n1" in rackcheck("diff", "n1", "before", "--from", "r1").err


def test_diff_against_a_run_is_the_same_node_there_or_else_its_peers(pod: Callable[..., Path]) -> None:
    pod("r1", "a")
    pod("r2", "c")
    assert rackcheck("diff", "n1", "r1").out == "x.y a -> c\n"
    made("r3", {"n9": {"x.y": ("config", "z"), "node.serial": ("identity", "S9")}})
    done = rackcheck("diff", "n9", "r1", "--from", "r3")
    assert (done.status, done.out) == (1, "x.y b -> z\n")


def test_diff_of_one_node_is_narrowed_and_an_unknown_word_is_still_refused(pod: Callable[..., Path]) -> None:
    pod("r1", "a")
    pod("r2", "c")
    assert rackcheck("diff", "n1", "r1", "--where", "fact:z.*").out == ""
    done = rackcheck("diff", "n1", "pears")
    assert (done.status, "no node pears" in done.err) == (2, True)


def test_each_line_of_a_real_run_ends_with_the_rules_that_read_the_fact(tmp_path: Path) -> None:
    run = copied("one", tmp_path)
    lines = (run / "events.jsonl").read_text().splitlines()
    for at, line in enumerate(lines):
        doc = json.loads(line)
        if doc["event"] == "facts" and not doc["node"].startswith("@"):
            for item in range(1, 9):
                doc["facts"][f"gpu/module-{item}.vbios"]["value"] = "96.00.00.00.00"
            doc["facts"]["node.vendor"]["value"] = "Another"
            lines[at] = json.dumps(doc)
    (run / "events.jsonl").write_text("\n".join(lines) + "\n")
    done = rackcheck("diff", "n1", folder() / "one", "--from", run)
    assert done.status == 1, done.err
    (vbios,) = re.findall(r"gpu/module-\[1-8\]\.vbios .*", done.out)
    assert "gpu.vbios" in vbios
    assert re.search(r"^node\.vendor NVIDIA -> Another  no rule$", done.out, re.MULTILINE)
