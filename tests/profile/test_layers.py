"""Overlays: what a profile changes in its parents, what it keeps, and that each word keeps its own place."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.profile.document import BadFile, Problem, SourcePlace, YamlMapping, plain, read
from rackcheck.profile.inheritance import layers
from rackcheck.profile.layers import Layers

BASE = """\
profile: base
version: 2026.11
params:
  floor: { type: quantity W, default: 700 W, about: what the site has }
  site: { type: text, default: unset }
rules:
  a: { each: gpu, where: { fact: role, is: x }, expect-count: 8, fact: power, at-least: 1 W, warn-below: 2 W, why: b, refs: [r, s] }
  b: { fact: driver, is: 1, severity: blocker }
  c: { all-of: [{ fact: driver, is: 1 }, { fact: memory, is: 2 }] }
"""


def laid(over: str, /, **library: str) -> Layers:
    """Load a file with a library."""
    files = {"base": BASE, **library}

    def find(name: str, place: SourcePlace) -> YamlMapping:
        if name not in files:
            raise BadFile([Problem(place, f"no profile {name}")])
        return table(files[name], f"{name}.yaml")

    return layers(table(over, "over.yaml"), find)


def table(text: str, file: str) -> YamlMapping:
    node = read(text, file)
    assert isinstance(node, YamlMapping)
    return node


def over(rules: str, more: str = "") -> Layers:
    return laid(f"profile: over\nversion: 1\nextends: base@2026.11\n{more}rules:\n{rules}\n")


def rule(found: Layers, rule_id: str) -> object:
    return plain(found.rules[rule_id])


WHOLE = {
    "each": "gpu", "where": {"fact": "role", "is": "x"}, "expect-count": "8", "fact": "power", "at-least": "1 W",
    "warn-below": "2 W", "why": "b", "refs": ["r", "s"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("severity: minor", {"severity": "minor"}),
        ("at-least: 3 W", {"at-least": "3 W"}),
        ("refs: [t]", {"refs": ["t"]}),
        ("expect-count: 4", {"expect-count": "4"}),
        ("where: { fact: slot, above: 3 }", {"where": {"fact": "slot", "above": "3"}}),
    ],
)
def test_a_key_replaces_that_key_and_leaves_the_rest(written: str, changed: Mapping[str, object]) -> None:
    found = over(f"  a: {{ {written} }}")
    assert rule(found, "a") == {**WHOLE, **changed}
    assert rule(found, "b") == {"fact": "driver", "is": "1", "severity": "blocker"}


def test_a_new_look_takes_away_the_old_one_and_what_narrowed_it() -> None:
    assert rule(over("  a: { any: nic }"), "a") == {
        "any": "nic", "fact": "power", "at-least": "1 W", "warn-below": "2 W", "why": "b", "refs": ["r", "s"],
    }  # fmt: skip


@pytest.mark.parametrize("rule_id", ["b", "c"])
@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("fact: memory, at-least: 3", {"fact": "memory", "at-least": "3"}),
        ("any-of: [{ fact: memory, is: 3 }]", {"any-of": [{"fact": "memory", "is": "3"}]}),
    ],
)
def test_a_new_fact_replaces_the_old_one_and_its_tests(rule_id: str, written: str, left: dict[str, object]) -> None:
    found = rule(over(f"  {rule_id}: {{ {written} }}"), rule_id)
    assert isinstance(found, dict)
    assert {key: value for key, value in found.items() if key != "severity"} == left


def test_rules_keep_the_parent_s_order_and_new_ones_come_after() -> None:
    assert list(over("  z: { fact: x, is: 1 }\n  b: { is: 2 }").rules) == ["a", "b", "c", "z"]


def test_every_word_keeps_its_place_in_the_file_that_wrote_it() -> None:
    found = over("  b:\n    is: 2")
    assert str(found.rules["b"].keys["is"]) == "over.yaml:6:5"
    assert str(found.rules["b"].keys["severity"]).startswith("base.yaml:8:")


def test_a_dropped_rule_is_gone_until_a_grandchild_writes_it_anew() -> None:
    child = "profile: child\nversion: 2\nextends: base@2026.11\nrules:\n  b: { drop: two trains }\n"
    found = laid("profile: over\nversion: 1\nextends: child@2\nrules: {}\n", child=child)
    assert (list(found.rules), found.dropped) == (["a", "c"], {"b": "two trains"})
    assert found.lineage == ("base@2026.11", "child@2", "over@1")
    again = laid("profile: over\nversion: 1\nextends: child@2\nrules:\n  b: { fact: x, is: 1 }\n", child=child)
    assert (list(again.rules), again.dropped) == (["a", "c", "b"], {})
    assert rule(again, "b") == {"fact": "x", "is": "1"}


def test_a_drop_of_what_no_parent_has_names_the_nearest() -> None:
    with pytest.raises(
        BadFile, match=r"over\.yaml:5:14: drops `gpu\.cuont`, which no parent has; did you mean gpu\.count"
    ):
        laid(
            "profile: over\nversion: 1\nextends: near@1\nrules:\n  gpu.cuont: { drop: x }\n",
            near="profile: near\nversion: 1\nrules:\n  gpu.count: { count: gpu, is: 8 }\n",
        )


@pytest.mark.parametrize(
    ("params", "default", "about"),
    [
        ("floor: 650 W", "650 W", "what the site has"),
        ("floor: { default: 650 W, about: row 7 }", "650 W", "row 7"),
        ("floor: { about: row 7 }", "700 W", "row 7"),
    ],
)
def test_a_param_is_merged_by_name_and_a_bare_value_is_its_default(params: str, default: str, about: str) -> None:
    found = over("  {}", f"params:\n  {params}\n")
    assert plain(found.params["floor"]) == {"type": "quantity W", "default": default, "about": about}
    assert plain(found.params["site"]) == {"type": "text", "default": "unset"}


def test_another_version_of_the_parent_is_refused_by_both_names() -> None:
    with pytest.raises(BadFile, match=r"extends base@2027\.1, but the library has base@2026\.11"):
        laid("profile: over\nversion: 1\nextends: base@2027.1\n")


@pytest.mark.parametrize(
    ("extends", "circle"),
    [("over@1", "over extends over"), ("left@1", "over extends left extends right extends over")],
)
def test_a_circle_of_parents_is_refused(extends: str, circle: str) -> None:
    library = {
        "over": f"profile: over\nversion: 1\nextends: {extends}\n",
        "left": "profile: left\nversion: 1\nextends: right@1\n",
        "right": "profile: right\nversion: 1\nextends: over@1\n",
    }
    with pytest.raises(BadFile, match=f"{circle}: a cycle"):
        laid(f"profile: over\nversion: 1\nextends: {extends}\n", **library)


KEYS = st.sampled_from(["at-least", "is", "severity", "why", "refs", "where", "expect-count"])
RULES = st.dictionaries(
    st.sampled_from("abcd"), st.dictionaries(KEYS, st.sampled_from(["1", "2", ["x"], {"fact": "y"}]), min_size=1)
)


@given(st.lists(RULES, min_size=2, max_size=4))
def test_layers_of_keys_are_dicts_laid_over_dicts(levels: list[dict[str, dict[str, object]]]) -> None:
    """Where no look and no fact is rewritten, the newest key wins."""
    names = [f"p{n}" for n in range(len(levels))]
    files = {
        name: json.dumps(
            {"profile": name, "version": "1", "rules": rules} | ({"extends": f"{below}@1"} if below else {})
        )
        for name, below, rules in zip(names, ["", *names], levels, strict=False)
    }
    expected: dict[str, dict[str, object]] = {}
    for rules in levels:
        for rule_id, keys in rules.items():
            expected[rule_id] = expected.get(rule_id, {}) | keys
    found = laid(files[names[-1]], **files)
    assert {rule_id: plain(node) for rule_id, node in found.rules.items()} == expected


def test_an_overlay_of_nothing_changes_nothing() -> None:
    assert {k: plain(v) for k, v in over("  {}").rules.items()} == {
        k: plain(v) for k, v in laid(BASE).rules.items()
    }  # fmt: skip
