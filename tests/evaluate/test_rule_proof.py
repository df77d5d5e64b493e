"""The mutation proof of the profile library: every rule passes what satisfies it, and each of its words has an effect.

For each rule of each shipped profile a machine is made that satisfies it, and from it machines that are only just
wrong; the judge must find every one of them, with the right reason, and must return unknown where a fact is
removed. A rule that cannot pass, cannot fail, or has a word without effect is named with its place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import gathered
import pytest
import siblings
from machines import Machine, spots, tree
from near_values import VERSIONS
from rule_bench import HIDDEN, NODE, Case, Gap
from satisfied import LOOKS, cases

from rackcheck.evaluate.verdict import Status, Verdict, judge
from rackcheck.model.catalogue import (
    Catalogue,
    Entry,
    Kind,
    collection,
    flag,
    integer,
    listing,
    quantity,
    setting,
    text,
    version,
)
from rackcheck.model.fact import Absent, Class, Plane, Reading, Unknown
from rackcheck.model.operator import SIBLINGS, WORDS, BadOperand, allowed
from rackcheck.model.operator import Test as Asserted
from rackcheck.model.profile import Clause, Profile, Rule, Scope, Severity
from rackcheck.model.tree import Tree
from rackcheck.model.version import SCHEMES
from rackcheck.probe.group import Aggregate, Member, Seat
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.document import YamlMapping, read
from rackcheck.profile.layers import entries, word
from rackcheck.profile.schema import LOOKS as SCHEMA_LOOKS

pytestmark = pytest.mark.landing

Judge = Callable[[Sequence[Rule], Tree], tuple[Verdict, ...]]

TEXTS = {"flag": "true", "text": "thing", "setting": "100", "list": "thing"}
"""What a site may set a param to, by the param's type; numbers follow the order of the params."""


def site_values(profile: Profile) -> dict[str, str]:
    """Return a value for each param that the site must set, by its type, or by the words of the facts in its rules."""
    types: dict[str, str] = {}
    for file, written in profile.files.items():
        head = read(written, file)
        assert isinstance(head, YamlMapping)
        params = entries(head, "params").items()
        types |= {name: word(param, "type", "text") for name, param in params if isinstance(param, YamlMapping)}
    found: dict[str, str] = {}
    for number, name in enumerate((name for name, value in profile.params.items() if value is None), start=3):
        kinds = [c.kind for rule in profile.own if name in rule.unset for c in rule.parts()]
        closed = [one for kind in kinds for one in kind.words]
        type_, _, more = types.get(name, "text").partition(" ")
        numbers = {"quantity": f"{number} {more}", "integer": f"{number}", "version": VERSIONS.get(more, "build 7")}
        found[name] = closed[0] if closed else {**TEXTS, **numbers}[type_]
    return found


def proven(rule: Rule, rules: Mapping[str, Rule], catalogue: Catalogue, judging: Judge = judge) -> Iterator[str]:
    """Yield what is wrong with a rule, or with the judge; a rule without faults is proven.

    The rules it needs are met by the machine too, where they are about the node itself; needs about items count as met.
    """
    if rule.across is not None:
        yield from siblings.proven(rule, catalogue)
        return
    if rule.scope is not Scope.NODE:
        yield from gathered.proven(rule, [rules[need] for need in rule.needs], registry().gatherings)
        return
    needs = [need for need in _needed(rule, rules) if need.look is None and need.across is None]
    given: Machine = {}
    for need in needs:
        given = _good(need, catalogue, given) or given
    for case in (*cases(rule, catalogue, given), *_blocked(rule, needs, catalogue, given)):
        if isinstance(case, Gap):
            yield f"{rule.place}: {rule.id}: {case.text}"
            continue
        verdict = judging([*needs, rule], tree(case.machine, catalogue))[-1]
        soft = rule.severity is Severity.ADVISORY or rule.from_memory
        status = Status.WARN if case.status is Status.FAIL and soft else case.status
        if verdict.status is not status:
            yield f"{rule.place}: {rule.id}: {case.what}: {verdict.status} ({verdict.reason}) instead of {status}"
        elif case.says not in verdict.reason:
            yield f"{rule.place}: {rule.id}: {case.what}: {verdict.reason!r} does not contain {case.says!r}"


def _good(rule: Rule, catalogue: Catalogue, given: Machine) -> Machine | None:
    """Return a machine that satisfies a rule, if there is one."""
    made = (case for case in cases(rule, catalogue, given) if isinstance(case, Case))
    return next((case.machine for case in made if case.status is Status.PASS), None)


def _blocked(rule: Rule, needs: Sequence[Rule], catalogue: Catalogue, given: Machine) -> Iterator[Case]:
    """Hide what a needed rule reads: then the rule that needs it is unknown as well."""
    good = _good(rule, catalogue, given)
    for need in needs:
        lost = {path: HIDDEN for clause in need.clauses for path in spots(clause, NODE)}
        if good is not None and need.id in rule.needs:
            yield Case(f"{need.id} unknown", {**good, **lost}, Status.UNKNOWN, f"blocked by {need.id}")


def _needed(rule: Rule, rules: Mapping[str, Rule]) -> list[Rule]:
    """Return the rules that one needs, each after those it needs itself."""
    found: dict[str, Rule] = {}
    for need in rule.needs:
        found |= {r.id: r for r in (*_needed(rules[need], rules), rules[need])}
    return list(found.values())


# ---- the library -----------------------------------------------------------------------------------------------------


def test_every_rule_of_every_shipped_profile_passes_what_satisfies_it_and_fails_what_only_just_does_not(
    record_property: Callable[[str, object], None],
) -> None:
    wrong: list[str] = []
    seen: dict[object, list[str]] = {}
    total = good = 0
    for name in _shipped():
        profile = _loaded(name)
        rules = {rule.id: rule for rule in profile.own}
        bare = {rule.id: rule for rule in library.load(name, registry().catalogue).own}
        for found in profile.own:
            pinned = found.across is not None and not found.across.shared  # by the site's values, all of its facts
            rule = bare[found.id] if pinned else found
            # Rules of parents and fragments are many profiles' rules: each is proven once.
            key = (rule.digest, rule.place, rule.unset)
            if key not in seen:
                seen[key] = list(_proven(rule, rules))
            rows = [f"{name}: {problem}" for problem in seen[key]]
            total, good, wrong = total + 1, good + (not rows), wrong + rows
    record_property("rules proven", f"{good} / {total}")
    print(f"rules proven: {good} / {total}")
    assert good == total > 0, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(library.profiles()))
def test_every_rule_whose_param_the_site_sets_is_not_applicable_until_it_does(name: str) -> None:
    waiting = [rule for rule in library.load(name, registry().catalogue).own if rule.unset]
    assert [(v.status, v.reason) for v in judge(waiting, Tree({}))] == [
        (Status.NA, f"site value not set: {', '.join(rule.unset)}") for rule in waiting
    ]


def test_no_rule_is_left_without_a_value_for_its_params() -> None:
    assert not [rule.place for name in _shipped() for rule in _loaded(name).own if rule.unset]


def _shipped() -> list[str]:
    return [name for name, found in library.profiles().items() if found.origin == "shipped"]


@cache
def _loaded(name: str) -> Profile:
    catalogue = registry().catalogue
    return library.load(name, catalogue, site_values(library.load(name, catalogue)))


def _proven(rule: Rule, rules: Mapping[str, Rule]) -> list[str]:
    try:
        return list(proven(rule, rules, registry().catalogue))
    except NotImplementedError as error:
        return [f"{rule.place}: {rule.id}: {error}"]


# ---- the prover: what it proves --------------------------------------------------------------------------------------

KINDS: Mapping[str, Kind] = {
    "alone": flag("On its own"),
    "text": text("A text"),
    "word": text("A word", words=("awake", "asleep", "away")),
    "flag": flag("A flag"),
    "number": integer("A number"),
    "events": integer("A counter", Class.COUNTER),
    "limit": integer("A limit", unlimited=True),
    "power": quantity("W", "A power"),
    "size": quantity("GiB", "A size", unlimited=True),
    "driver": version("dotted", "A version"),
    **{scheme.replace("-", "_"): version(scheme, "A version") for scheme in SCHEMES},
    "list": listing("A list"),
    "setting": setting("A setting"),
}
COLLECTIONS = ("gpu", "nic", "nic/*.port", "attribute")
PLACES = ("", "gpu/*.", "nic/*.port/*.")
CATALOGUE = Catalogue.of(
    [
        *(Entry(name, collection("Items"), Plane.OS, name) for name in COLLECTIONS),
        Entry("attribute/*", text("What a BMC reported"), Plane.OS, "attribute"),
        Entry("sysctl.**", setting("A tunable"), Plane.OS, "sysctl"),
        *(
            Entry(f"{place}{name}{twin}", kind, Plane.OS, name)
            for name, kind in KINDS.items()
            for place in PLACES
            for twin in ("", "_too")
        ),
    ]
)

OPERANDS: Mapping[str, Mapping[str, str]] = {
    "text": {"is": "a b", "one-of": "[a, b]", "like": "'a*b?c'", "matches": "'^(pt|off)[0-9]+$'"},
    "word": {"is": "awake", "one-of": "[awake, away]", "like": "'a*y'", "matches": "^aw"},
    "flag": {"is": "true", "one-of": "[false]"},
    "number": {"is": "0", "one-of": "[4, 6]", "at-least": "7", "within": "{ of: 10, by: 25 % }", "spread": "{ at-most: 5 % }", "mask": "{ bits: 0x14, is: 0x4 }"},
    "events": {"is": "0", "one-of": "[0, 1]", "at-least": "1", "within": "{ of: 10, by: 2 }", "spread": "{ at-most: 5 % }", "mask": "{ bits: 0x3, is: 0 }"},
    "limit": {"is": "unlimited", "one-of": "[8, unlimited]", "at-least": "65536", "within": "{ of: 8, by: 1 }", "spread": "{ at-most: 1 % }", "mask": "{ bits: 1, is: 1 }"},
    "power": {"is": "700 W", "one-of": "[500 W, 0.7 kW]", "at-least": "450 W", "within": "{ of: 0 W, by: 30 W }", "spread": "{ at-most: 5 % }"},
    "size": {"is": "2 TiB", "one-of": "[1 TiB, unlimited]", "at-least": "80 GiB", "within": "{ of: 2 TiB, by: 3 % }", "spread": "{ at-most: 0 % }"},
    "driver": {"is": "570.86.15", "one-of": "['1.2', '1.0']", "at-least": "'535.0'", "like": "'570.*'", "matches": "^5"},
    **{s.replace("-", "_"): {"is": f"'{v}'", "one-of": f"['{v}']", "at-least": f"'{v}'", "like": f"'{v[:3]}*'", "matches": f"'^{v[:2]}'"} for s, v in VERSIONS.items()},
    "list": {"is": "none", "includes": "[a, b]"},
    "setting": {"is": "1", "one-of": "[a b, 2]", "at-least": "10", "like": "'a*'", "matches": "^a"},
}  # fmt: skip
ALIKE = {
    "is-not": "is", "none-of": "one-of", "excludes": "includes",
    **dict.fromkeys(("at-most", "above", "below", "warn-below", "warn-above"), "at-least"),
}  # fmt: skip
"""Operators with the operands of another one."""


def _asserted() -> Iterator[tuple[str, str]]:
    """Return every operator that is allowed for every kind, as a profile writes it."""
    for name, kind in KINDS.items():
        for op in WORDS if name in OPERANDS else ():
            simple = {"present": "true", "equal": "true", "steady": "true", "rate": "{ at-most: 5/h }"}
            simple["same-as"] = f"{name}_too"
            try:
                allowed(op, kind)
            except BadOperand:
                continue
            yield name, f"{op}: {simple.get(op) or OPERANDS[name][ALIKE.get(op, op)]}"


NODE_RULES = [f"fact: {name}, {test}" for name, test in _asserted() if test.split(":")[0] not in SIBLINGS]
ITEM_RULES = [
    f"{look}, fact: {name}, {test.replace('same-as: ', 'same-as: .')}"
    for look in ("each: gpu", "each: nic/*.port, expect-count: 3", "each: gpu, allow-failing: 2", "any: gpu", "no: gpu")
    for name, test in _asserted()
    if not (test.startswith(("warn", "steady", "rate")) and look.startswith("no:"))
    and not (test.split(":")[0] in SIBLINGS and ("each" not in look or "failing" in look))
]
OTHERS = [
    "fact: word, present: false",
    "fact: attribute/Boost, is: high",
    "fact: sysctl.dev.hpet/max-user-freq, at-least: 64",
    "fact: number, at-least: 3, at-most: 5, is-not: 4",
    "fact: number, at-least: 3, warn-below: 5",
    "fact: number, within: { of: 3, by: 1 }, warn-above: 3",
    "all-of: [{ fact: number, same-as: number_too }, { fact: number_too, same-as: number }]",
    "all-of: [{ fact: number, at-least: 3 }, { fact: number, at-most: 3 }, { fact: alone, is: true }]",
    "any-of: [{ fact: number, at-least: 3 }, { fact: word, is: awake }, { fact: list, includes: a }]",
    "any-of: [{ fact: list, includes: a }, { fact: list, includes: b }]",
    "when: { fact: alone, is: true }, fact: number, is: 3",
    "when: { fact: number, present: true }, fact: number, is: 3",
    "when: { fact: number, same-as: number_too }, any-of: [{ fact: number, is: 3 }, { fact: alone, is: true }]",
    "fact: events, rate: { at-most: 0/h }, at-most: 3",
    "fact: driver, steady: true, at-least: '535.0'",
    "any-of: [{ fact: number, steady: true }, { fact: events, rate: { at-most: 2/min } }]",
    "when: { fact: alone, is: true }, severity: advisory, fact: events, rate: { at-most: 5/h }",
    "each: gpu, where: { fact: word, is: awake }, allow-failing: 1, fact: events, rate: { at-most: 5/h }",
    "severity: advisory, fact: number, is: 3",
    "severity: advisory, fact: number, at-least: 3, warn-below: 5",
    "each: gpu, where: { fact: word, is: awake }, fact: number, is: 3",
    "each: gpu, where: { fact: number, present: true }, fact: number, is: 3",
    "each: gpu, where: { fact: number, present: true }, allow-empty: true, fact: number_too, same-as: .number",
    "each: gpu, where: { fact: word, is: awake }, expect-count: 8, fact: driver, equal: true",
    "each: gpu, where: { fact: word, is: awake }, allow-failing: 3, allow-empty: true, fact: number, is: 3",
    "when: { fact: gpu/a.text, present: true }, each: gpu, where: { fact: word, is: awake }, expect-count: 3, fact: number, is: 3",
    "each: gpu, expect-count: 1, fact: number, is: 3",
    "each: gpu, expect-count: 4, allow-failing: 3, fact: number, is: 3",
    "each: gpu, fact: number, same-as: number",
    "each: gpu, fact: number, at-least: 50, equal: true",
    "each: gpu, fact: size, spread: { at-most: 5 % }, at-least: 50 GiB",
    "each: gpu, any-of: [{ fact: number, is: 3 }, { fact: word, is: awake }]",
    "each: gpu, all-of: [{ fact: number, is: 3 }, { fact: word, is-not: asleep, equal: true }]",
    "each: nic/*.port, where: { fact: word, is: awake }, when: { fact: alone, is: true }, fact: number, is: 3",
    "any: gpu, where: { fact: word, is: awake }, allow-empty: true, fact: number, at-most: 3, warn-above: 1",
    "any: gpu, expect-count: 1, any-of: [{ fact: number, is: 3 }, { fact: word, is: awake }]",
    "any: nic/*.port, expect-count: 3, fact: number, at-least: 3",
    "no: gpu, where: { fact: word, is: awake }, fact: number, is: 3",
    "no: gpu, all-of: [{ fact: number, is: 3 }, { fact: word, is: awake }]",
    "no: nic/*.port, when: { fact: alone, is: true }, any-of: [{ fact: list, includes: a }, { fact: list, includes: b }]",
    "count: gpu, is: 0",
    "count: gpu, is: 8",
    "count: gpu, at-least: 2, at-most: 4, is-not: 3",
    "count: gpu, one-of: [2, 4]",
    "count: gpu, within: { of: 4, by: 1 }",
    "count: nic/*.port, where: { fact: word, is: awake }, when: { fact: alone, is: true }, at-least: 3",
    "count: gpu, where: { fact: power, at-least: 400 W }, above: 1",
    "severity: advisory, count: gpu, where: { fact: word, is: awake }, is: 0",
]  # fmt: skip

Compile = Callable[..., Profile]


def _compiled(folder: FilePath, rules: Sequence[str]) -> Profile:
    listed = "".join(f"  r{number}: {{ {rule} }}\n" for number, rule in enumerate(rules))
    (folder / "p.yaml").write_text(f"rackcheck: 1\nprofile: p\nversion: 1\nrules:\n{listed}")
    return library.load(str(folder / "p.yaml"), CATALOGUE)


@pytest.fixture
def profile(tmp_path: FilePath) -> Compile:
    """Reads rules as a profile writes them, each in the short form of a map."""
    return lambda *rules: _compiled(tmp_path, rules)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """Rules that are all proven."""
    return _compiled(tmp_path_factory.mktemp("right"), (*OTHERS, *NODE_RULES))


def _proofs(profile: Profile, judging: Judge) -> Iterator[str]:
    rules = {rule.id: rule for rule in profile.own}
    return (problem for rule in profile.own for problem in proven(rule, rules, CATALOGUE, judging))


def _problems(profile: Profile, judging: Judge = judge) -> list[str]:
    return list(_proofs(profile, judging))


def test_every_operator_is_proven_for_every_kind_it_applies_to(profile: Compile) -> None:
    assert {rule.split(", ")[1].split(":")[0] for rule in NODE_RULES} | SIBLINGS == set(WORDS)
    assert _problems(profile(*NODE_RULES)) == []


def test_every_operator_is_proven_in_every_look_at_items(profile: Compile) -> None:
    assert _problems(profile(*ITEM_RULES)) == []


def test_what_narrows_joins_and_gates_a_rule_is_proven(profile: Compile) -> None:
    assert _problems(profile(*OTHERS)) == []


def test_every_look_of_the_language_has_its_machines() -> None:
    assert set(LOOKS) == {"node", *SCHEMA_LOOKS}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("version dotted", "570.86.15"),
        ("version opaque", "build 7"),
        ("quantity rpm", "3 rpm"),
        ("integer", "3"),
        ("flag", "true"),
        ("text", "thing"),
    ],
)
def test_a_param_is_set_by_its_type(type_: str, value: str) -> None:
    file = f"rackcheck: 1\nprofile: p\nversion: 1\nparams:\n  site: {{ type: {type_}, default: unset }}\n"
    assert site_values(Profile("p", "1", "", (), params={"site": None}, files={"p.yaml": file})) == {"site": value}


# ---- the prover: what it catches -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("fact: number, at-least: 5, at-most: 4", "no machine passes it"),
        ("fact: power, above: 5 W, below: 5 W", "no machine passes it"),
        ("fact: word, is: awake, is-not: awake", "no machine passes it"),
        ("fact: word, like: z*", "no machine passes it"),
        ("fact: number, is: 3, warn-above: 1", "no machine passes it"),
        ("all-of: [{ fact: number, is: 3 }, { fact: number, is: 4 }]", "no machine passes it"),
        ("when: { fact: word, is: awake }, fact: word, is: asleep", "no machine passes it"),
        ("when: { fact: number, at-least: 5, at-most: 4 }, fact: word, is: asleep", "no machine passes it"),
        ("each: gpu, where: { fact: number, at-least: 5, at-most: 4 }, fact: word, is: awake", "no machine passes it"),
        ("each: gpu, where: { fact: word, is: awake }, fact: word, is: asleep", "no machine passes it"),
        ("any: gpu, where: { fact: word, is: awake }, fact: word, is: asleep", "no machine passes it"),
        ("no: gpu, fact: number, at-least: 5, at-most: 4", "no machine passes it"),
        ("count: gpu, above: 3, below: 4", "no machine passes it"),
        ("count: gpu, where: { fact: word, like: z* }, is: 0", "no machine passes it"),
        ("when: { fact: word, is: awake }, fact: word, is: awake", "no machine fails it"),
        ("fact: word, one-of: [awake, asleep, away]", "no machine fails it"),
        ("fact: text, like: '*'", "no machine fails it"),
        ("fact: text, matches: '.*'", "no machine fails it"),
        ("fact: events, at-least: 0", "no machine fails it"),
        ("fact: size, at-least: 0 GiB", "no machine fails it"),
        ("fact: limit, at-most: unlimited", "no machine fails it"),
        ("each: gpu, where: { fact: word, present: true }, fact: word, present: true", "no machine fails it"),
        ("each: gpu, expect-count: 2, allow-failing: 2, fact: number, is: 3", "`is` of number decides nothing"),
        ("each: gpu, where: { fact: events, present: true }, fact: events, at-least: 0", "no machine fails it"),
        ("each: gpu, fact: size, spread: { at-most: 100 % }", "no machine fails it"),
        ("each: gpu, expect-count: 1, fact: driver, equal: true", "`equal` of driver decides nothing"),
        ("count: gpu, at-least: 0", "no machine fails it"),
        ("fact: number, at-least: 5, warn-below: 3", "`warn-below` of number decides nothing"),
        ("each: gpu, fact: word, is: awake, equal: true", "`equal` of word decides nothing"),
        ("any-of: [{ fact: number, is: 3 }, { fact: events, at-least: 0 }]", "`at-least` of events decides nothing"),
        ("when: { fact: events, at-least: 0 }, fact: number, is: 3", "`at-least` of events decides nothing"),
        ("count: gpu, where: { fact: word, like: '*' }, is: 3", "`like` of word decides nothing"),
    ],
)
def test_a_rule_that_cannot_pass_or_fail_and_a_word_that_decides_nothing_are_named_with_their_place(
    profile: Compile, rule: str, problem: str
) -> None:
    (found,) = _problems(profile(rule))
    assert found.startswith("p.yaml:5: r0: ")
    assert problem in found


def test_a_value_that_no_machine_can_report_is_caught_even_if_the_compiler_missed_it(profile: Compile) -> None:
    (rule,) = profile("fact: word, is: awake").own
    (clause,) = rule.clauses
    (test,) = clause.tests
    beyond_words = replace(rule, clauses=(replace(clause, tests=(replace(test, operand="sleepy"),)),))
    assert list(proven(beyond_words, {}, CATALOGUE)) == ["p.yaml:5: r0: no machine passes it"]


def test_a_rule_that_contradicts_what_it_needs_is_caught(profile: Compile) -> None:
    found = _problems(profile("fact: number, is: 3", "needs: [r0], fact: number, is: 4"))
    assert found == ["p.yaml:6: r1: no machine passes it"]


def test_a_rule_beside_what_it_needs_is_proven_and_blocked_where_that_is_unknown(profile: Compile) -> None:
    rules = (
        "fact: number, is: 3",
        "needs: [r0], fact: word, is: awake",
        "needs: [r1], when: { fact: alone, is: true }, fact: list, is: none",
    )
    assert _problems(profile(*rules)) == []
    assert _problems(profile(*rules), lambda rules, tree: judge([replace(r, needs=()) for r in rules], tree)) != []


def test_an_operator_unknown_to_the_prover_is_reported_and_not_taken_as_proven(
    profile: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rule,) = profile("fact: number, is: 3").own
    (clause,) = rule.clauses
    monkeypatch.setitem(WORDS, "waits", "must wait")
    newer = replace(rule, clauses=(replace(clause, tests=(Asserted("waits", True),)),))
    with pytest.raises(NotImplementedError, match="`waits`"):
        list(proven(newer, {}, CATALOGUE))


# ---- racks: gatherings that are wrong --------------------------------------------------------------------------------

GROUP_RULES = (
    "scope: rack, fact: rack.gpu_count, is: 72",
    "scope: rack, fact: rack.gpu_count, at-least: 8, warn-below: 12",
    "scope: rack, fact: rack.nvlink_domains, at-most: 2",
    "scope: rack, severity: advisory, fact: rack.leaks, is: 0",
    "scope: rack, all-of: [{ fact: rack.alike.bmc, is: true }, { fact: rack.alike.vbios, is: true }]",
    "scope: fleet, fact: fleet.gpu_count, one-of: [8, 16]",
    "scope: fleet, fact: fleet.distinct_serials, is: true",
)


def _group_problems(folder: FilePath, gatherings: Sequence[Aggregate]) -> list[str]:
    listed = "".join(f"  r{number}: {{ {rule} }}\n" for number, rule in enumerate(GROUP_RULES))
    (folder / "p.yaml").write_text(f"rackcheck: 1\nprofile: p\nversion: 1\nrules:\n{listed}")
    rules = library.load(str(folder / "p.yaml"), registry().catalogue).own
    return [problem for rule in rules for problem in gathered.proven(rule, (), gatherings)]


def test_rules_of_racks_and_fleets_are_proven_on_nodes(tmp_path: FilePath) -> None:
    assert _group_problems(tmp_path, registry().gatherings) == []


def _gathers(change: Callable[[Sequence[Member]], Sequence[Member]]) -> list[Aggregate]:
    """Gatherings that read other members than their own."""
    return [
        replace(each, function=lambda members, gather=each.function: gather(change(members)))  # type: ignore[misc]
        for each in registry().gatherings
    ]


@dataclass(frozen=True)
class Deaf:
    """A member whose unknown facts a gathering treats as absent, and whose hidden items it treats as missing."""

    member: Member

    @property
    def seat(self) -> Seat:
        return self.member.seat

    def reading(self, path: str) -> Reading:
        found = self.member.reading(path)
        return Absent() if isinstance(found, Unknown) else found

    def items(self, collection: str) -> tuple[tuple[str, ...], None]:
        return self.member.items(collection)[0], None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda members: members[:-1], id="overlooks the last node"),
        pytest.param(lambda members: [*members, members[-1]], id="takes the last node twice"),
        pytest.param(lambda members: [Deaf(each) for each in members], id="takes unknown for absent"),
    ],
)
def test_a_gathering_that_is_wrong_in_one_thing_is_caught(
    change: Callable[[Sequence[Member]], Sequence[Member]], tmp_path: FilePath
) -> None:
    assert _group_problems(tmp_path, _gathers(change)) != []


# ---- judges that are wrong -------------------------------------------------------------------------------------------


def _altered_judge(change: Callable[[Verdict], Verdict]) -> Judge:
    """A judge that returns another verdict than the one it found."""
    return lambda rules, tree: tuple(change(verdict) for verdict in judge(rules, tree))


def _read(change: Callable[[Rule], Rule]) -> Judge:
    """A judge that reads another rule than the one written."""
    return lambda rules, tree: judge([change(rule) for rule in rules], tree)


def _look(**changes: Any) -> Judge:
    return _read(lambda rule: rule if rule.look is None else replace(rule, look=replace(rule.look, **changes)))


def _mode(mode: str, other: str) -> Judge:
    return _read(
        lambda rule: (
            replace(rule, look=replace(rule.look, mode=other)) if rule.look and rule.look.mode == mode else rule
        )
    )


def _operator(op: str, other: str) -> Judge:
    def change(clause: Clause) -> Clause:
        return replace(clause, tests=tuple(replace(t, op=other) if t.op == op else t for t in clause.tests))

    return _read(lambda rule: replace(rule, clauses=tuple(map(change, rule.clauses))))


def _becomes(status: Status, other: Status) -> Judge:
    return _altered_judge(lambda v: replace(v, status=other) if v.status is status else v)


def _apart(tree: Tree, times: float) -> Tree:
    """The same two readings with their time span multiplied."""
    if tree.later is None:
        return tree
    apart = {plane: (least * times, most * times) for plane, (least, most) in tree.later.apart.items()}
    return replace(tree, later=replace(tree.later, apart=apart))


WRONG: Mapping[str, Judge] = {
    **{f"says {b} for {a}": _becomes(a, b) for a in Status for b in Status if a is not b and a is not Status.WAIVED},
    "gives no reason": _altered_judge(lambda v: replace(v, reason="")),
    "names no value": _altered_judge(lambda v: replace(v, reason=re.sub(r" is [^,]+,", " is,", v.reason))),
    "names no item": _altered_judge(lambda v: replace(v, reason=re.sub(r"[a-z]+/[0-9]+\.", "", v.reason))),
    "names no bound": _altered_judge(lambda v: replace(v, reason=re.sub(r"must .*", "must", v.reason))),
    "turns must round": _altered_judge(lambda v: replace(v, reason=v.reason.replace("must not be", "must be"))),
    **{
        f"reads `{op}` as `{other}`": _operator(op, other)
        for op, other in (
            ("is", "is-not"), ("is-not", "is"), ("one-of", "none-of"), ("none-of", "one-of"), ("at-least", "above"),
            ("above", "at-least"), ("at-most", "below"), ("below", "at-most"), ("at-least", "at-most"),
            ("warn-below", "at-least"), ("warn-above", "at-most"), ("at-least", "warn-below"), ("includes", "excludes"),
            ("excludes", "includes"), ("at-least", "is"), ("at-most", "is"),
        )
    },
    "reads all-of as any-of": _read(lambda rule: replace(rule, join="any")),
    "reads any-of as all-of": _read(lambda rule: replace(rule, join="all")),
    "reads the first clause alone": _read(lambda rule: replace(rule, clauses=rule.clauses[:1])),
    "reads the last clause alone": _read(lambda rule: replace(rule, clauses=rule.clauses[-1:])),
    "reads `each` as `any`": _mode("each", "any"),
    "reads `any` as `each`": _mode("any", "each"),
    "reads `no` as `any`": _mode("no", "any"),
    "overlooks `where`": _look(where=None),
    "overlooks `when`": _read(lambda rule: replace(rule, when=None)),
    "overlooks `expect-count`": _look(expect_count=None),
    "overlooks `allow-failing`": _look(allow_failing=0),
    "lets all items fail": _look(allow_failing=1000),
    "overlooks `allow-empty`": _look(allow_empty=False),
    "allows every look to be empty": _look(allow_empty=True),
    "reads the second reading as the first": lambda rules, tree: judge(
        rules, tree if tree.later is None else replace(tree, later=replace(tree.later, tree=replace(tree, later=None)))
    ),
    "overlooks the second reading": lambda rules, tree: judge(rules, replace(tree, later=None)),
    "takes the time between for longer": lambda rules, tree: judge(rules, _apart(tree, 2)),
    "takes the time between for shorter": lambda rules, tree: judge(rules, _apart(tree, 0.5)),
    "reads `rate` as `steady`": _operator("rate", "steady"),
    "takes advice for a duty": _read(lambda rule: replace(rule, severity=Severity.MAJOR)),
    "takes a duty for advice": _read(lambda rule: replace(rule, severity=Severity.ADVISORY)),
}  # fmt: skip


@pytest.mark.parametrize("judging", WRONG.values(), ids=WRONG)
def test_a_judge_that_is_wrong_in_one_thing_is_caught(right: Profile, judging: Judge) -> None:
    assert next(_proofs(right, judging), None) is not None
