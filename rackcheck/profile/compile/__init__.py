"""Compiles a merged profile to a typed profile: fills in params, and reads each operand by the kind of its fact."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rackcheck.model.catalogue import Catalogue
from rackcheck.model.path import EVERY, Path
from rackcheck.model.profile import Phase, Profile, Rule, Scope, Source
from rackcheck.profile.compile.context import CompileContext
from rackcheck.profile.compile.rules import rule_of
from rackcheck.profile.document import BadFile, Problem, YamlMapping, YamlNode, plain
from rackcheck.profile.layers import Layers, did_you_mean, entries, listed, texts, word
from rackcheck.profile.schema import profile as profile_schema
from rackcheck.profile.schema_check import deviations

# A profile's other rules take precedence over consensus, which only judges facts that no rule pins. Pure.

PINS = frozenset({"is", "one-of", "like", "matches", "same-as", "within", "mask"})
"""Operators that name the correct values of a fact, in contrast to operators that only exclude or limit values."""


def unpinned(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Remove facts from rules that compare nodes, if another rule always tests the facts' values on the same nodes.

    No fact is removed because of a rule with an unset param or a `when` condition, since such a rule does not always
    test the value.
    """
    found = tuple(rules)
    pins = {(fact, role) for rule in found for fact in _pinned(rule) for role in rule.roles}
    return tuple(_without(rule, pins) for rule in found)


def _pinned(rule: Rule) -> Iterable[Path]:
    if rule.scope is not Scope.NODE or rule.phase is not Phase.CONFIG or rule.across is not None:
        return
    if rule.unset or rule.when is not None:
        return
    look = rule.look
    if rule.join != "all" or (look is not None and (look.mode != "each" or look.where or look.allow_failing)):
        return
    item = Path(()) if look is None else look.collection.item(EVERY)
    for clause in rule.clauses:
        if any(test.op in PINS for test in clause.tests):
            yield item + clause.fact


def _without(rule: Rule, pins: set[tuple[Path, str]]) -> Rule:
    if rule.across is None:
        return rule
    roles = (rule.across.role, "any")
    kept = tuple(each for each in rule.across.shared if not any((each.fact, role) in pins for role in roles))
    return replace(rule, across=replace(rule.across, shared=kept))


# Checks the `needs` of rules: they name rules of the same scope, without a cycle.


def order(ctx: CompileContext, rules: Mapping[str, Rule], found: Layers) -> None:
    """Check that the `needs` of each rule name rules of the same scope, and that `needs` form no circle."""
    tables = found.rules
    for rule in rules.values():
        for need in texts(tables[rule.id], "needs"):
            if need.text in found.dropped:
                by, why = found.rules_written[need.text][-1], found.dropped[need.text]
                dropped = f"{by.layer} dropped ({by.place.file}:{by.place.line}): {why}"
                ctx.note(need.place, f"rule {rule.id} needs {need.text}, which {dropped}")
            elif need.text not in rules:
                ctx.note(need.place, f"no rule {need.text}{did_you_mean(need.text, list(rules))}")
            elif rules[need.text].scope is not rule.scope:
                ctx.note(need.place, f"{need.text} judges a {rules[need.text].scope}, not a {rule.scope}")
            elif rules[need.text].across is not None and rule.across is None:
                message = f"{need.text} compares nodes: it is judged after this rule, when all nodes are read"
                ctx.note(need.place, message)
    done: set[str] = set()
    for first in rules:
        # The rules on the path to this rule, each with the `needs` that have not been followed yet.
        trail = {} if first in done else {first: iter(rules[first].needs)}
        while trail:
            at = next(reversed(trail))
            then = next(trail[at], None)
            if then is None:
                done.add(at)
                del trail[at]
            elif then in trail:
                circle = [*trail][[*trail].index(then) :]
                ctx.note(tables[then].place, f"`needs` are circular: {' -> '.join((*circle, then))}")
            elif then in rules and then not in done:
                trail[then] = iter(rules[then].needs)


def compile_profile(
    found: Layers,
    catalogue: Catalogue,
    sources: Mapping[str, Source],
    values: Mapping[str, str],
    known: Sequence[Problem] = (),
) -> Profile:
    """Compile all rules of a merged profile; raises BadFile with all problems together.

    `known` are the problems found when the files were read; they are reported too.
    """
    ctx = CompileContext(catalogue, sources, _params(found, values))
    rules = unpinned(_built_in(rule_of(ctx, i, table), found) for i, table in found.rules.items())
    ctx.problems += known
    if not known:  # a rule that could not be read is missing, and would be reported as an unknown need
        order(ctx, {rule.id: rule for rule in rules}, found)
    if not any(not rule.built_in for rule in rules) and not known:
        ctx.problems.append(Problem(found.head.place, f"profile {found.name} has no rule"))
    if ctx.problems:
        raise BadFile(ctx.problems)
    applies = {key: tuple(text.text for text in listed(node)) for key, node in found.applies.items()}
    # Built-in rules belong to the law, whose version every run contains; a profile's digest lists those it drops.
    own = {i: plain(t) for i, t in found.rules.items() if i not in found.built_in}
    resolved = {"rules": own, "params": ctx.params, "name": found.name}
    without = sorted(found.built_in & found.dropped.keys())
    resolved |= {"without": without} if without else {}
    packages = {rule.id: rule.called.package for rule in rules if rule.called is not None}
    resolved |= {"packages": packages} if packages else {}
    digest = hashlib.sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()
    cited = {ref: sources[ref] for rule in rules for ref in rule.refs}
    head = found.head
    return Profile(
        found.name, word(head, "version"), word(head, "title"), rules, applies,
        ctx.params, found.dropped, found.lineage, cited, digest, fragment=word(head, "fragment") == "true",
    )  # fmt: skip


def _built_in(rule: Rule, found: Layers) -> Rule:
    """Mark a built-in rule, and make its unknown verdicts minor, because the profile did not require the rule."""
    return replace(rule, built_in=True, unknown_is_minor=True, excuses_all=True) if rule.id in found.built_in else rule


def _params(found: Layers, values: Mapping[str, str]) -> dict[str, str | None]:
    strangers = [name for name in values if name not in found.params]
    if strangers:
        hint = did_you_mean(strangers[0], list(found.params)) or f"; it has {', '.join(found.params) or 'none'}"
        raise BadFile([Problem(found.head.place, f"profile {found.name} has no param {strangers[0]}{hint}")])
    params: dict[str, str | None] = {}
    for name, node in found.params.items():
        default = word(node, "default", "unset") if isinstance(node, YamlMapping) else "unset"
        if default.startswith("$"):
            raise BadFile([Problem(node.place, f"param {name} is {default}: a default cannot be a param")])
        value = values.get(name, default)
        params[name] = None if value == "unset" else value
    return params


def read_profile(node: YamlNode) -> tuple[YamlMapping, list[Problem]]:
    """Return a profile file's table without the rules that violate the schema, and the problems of these rules.

    The valid rules can still be compiled, so that all problems of the file are reported together. Raises BadFile if a
    key outside `rules` violates the schema.
    """
    found = list(deviations(node, profile_schema()))
    spoilt = {path[1] for path, _ in found if len(path) > 1 and path[0] == "rules"}
    problems = [problem for _, problem in found]
    if any(len(path) < 2 or path[0] != "rules" for path, _ in found):
        raise BadFile(problems)
    assert isinstance(node, YamlMapping)
    if not spoilt:
        return node, []
    rules = {key: rule for key, rule in entries(node, "rules").items() if key not in spoilt}
    keys = node.items["rules"]
    assert isinstance(keys, YamlMapping)
    return YamlMapping(
        {**node.items, "rules": YamlMapping(rules, keys.keys, keys.place)}, node.keys, node.place
    ), problems
