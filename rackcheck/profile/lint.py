"""Checks a profile that loads for rules that cannot pass, that contradict themselves, or that cannot fail.

The loader reports errors that make a file invalid. This module reports valid keys that have no effect or are probably
mistakes. A finding is an error if a rule can never pass or can hardly ever fail, a warning if a person should check the
rule, and a hint if a text is missing that shipped profiles have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rackcheck.model.operator import expectation, spell
from rackcheck.model.profile import Clause, Phase, Profile, Rule, RuleSelection, Scope
from rackcheck.profile.document import BadFile, SourcePlace, YamlMapping
from rackcheck.profile.floors import as_written, below, floors, shipped_peaks
from rackcheck.profile.inheritance import is_fragment
from rackcheck.profile.layers import Layers, did_you_mean
from rackcheck.profile.physical_limits import Peak
from rackcheck.profile.roles import EVERY_ROLE, nearest
from rackcheck.profile.rule_lines import LayerPlaces
from rackcheck.profile.satisfiable import can_fail, can_hold

NO_REASON = frozenset({"", "true", "yes", "null", "~"})
"""Values of the key `drop` that contain no reason, because the author used the key as a switch."""

LOW = 2
"""A required minimum below 1/LOW of the hardware's peak value needs a written reason."""

HOPELESS = 10
"""A required minimum below 1/HOPELESS of the hardware's peak value is an error even with a written reason."""


class Level(StrEnum):
    """Level of a finding: an error rejects the profile, a warning is shown, a hint is shown only with `strict`."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True, order=True)
class LintFinding:
    """One finding about a profile, and its location."""

    place: SourcePlace
    level: Level
    text: str
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.level.value}: {self.text}"

    def plain(self) -> dict[str, str | int]:
        """Return the finding as plain strings and numbers, for JSON."""
        at = self.place
        return {
            "file": at.file, "line": at.line, "column": at.column, "level": self.level.value, "rule": self.rule,
            "text": self.text,
        }  # fmt: skip


def of_file(error: BadFile) -> list[LintFinding]:
    """Return the loader's errors for a file as lint findings."""
    return [LintFinding(problem.place, Level.ERROR, problem.text) for problem in error.problems]


def chosen(found: Sequence[LintFinding], *, strict: bool) -> list[LintFinding]:
    """Return the findings to show: hints only with `strict`."""
    return [finding for finding in found if strict or finding.level is not Level.HINT]


def refused(found: Sequence[LintFinding], *, strict: bool) -> bool:
    """Whether these findings reject the profile: any error, or with `strict` any finding."""
    return any(strict or finding.level is Level.ERROR for finding in found)


def findings(profile: Profile, laid: Layers, peaks: Sequence[Peak] | None = None) -> list[LintFinding]:
    """Check a loaded profile and its layers; findings are sorted by location."""
    at = LayerPlaces(laid)
    profile = replace(profile, rules=profile.own)
    table = shipped_peaks() if peaks is None else peaks
    found = [*_params(profile, at), *_roles(profile, at), *_twins(profile, at), *_dropped(profile, at)]
    found += _of_fragment(laid, at) if is_fragment(laid.head) else _verdict(profile, at)
    for rule in profile.rules:
        found += _needs(rule, profile, at)
        found += _contradictions(rule, at)
        found += _lists(rule, at)
        found += _quorum(rule, at)
        found += _words(rule, at)
        found += _floors(rule, profile, at, table)
    return sorted(set(found))


def _params(profile: Profile, at: LayerPlaces) -> Iterator[LintFinding]:
    used = at.used()
    for name in profile.params:
        if name not in used:
            near = did_you_mean(name, sorted(used - set(profile.params))) or f"; a rule uses it as `${name}`"
            yield LintFinding(at.param(name), Level.WARNING, f"no rule uses the param `{name}`{near}")


def _roles(profile: Profile, at: LayerPlaces) -> Iterator[LintFinding]:
    judged = sorted({role for rule in profile.rules for role in rule.roles})
    applied = profile.applies_to.get("role", ())
    for role in applied:
        if not {role, EVERY_ROLE} & set(judged):
            text = f"no rule is for the role `{role}`, which the profile applies to{did_you_mean(role, judged)}"
            yield LintFinding(at.applies("role"), Level.WARNING, text)
            return
    for rule in profile.rules:
        for role in applied:
            if not {role, EVERY_ROLE} & set(rule.roles):
                text = f"rule {rule.id} is for {_several(rule.roles)}, but the profile applies to the role `{role}`"
                text += did_you_mean(rule.roles[0], [role])
                break
        else:
            near = {role: nearest(role) for role in rule.roles if nearest(role)}
            if not near:
                continue
            misspelt, meant = next(iter(near.items()))
            text = f"rule {rule.id} is for the role `{misspelt}`, which is not a known role; did you mean {meant}?"
        yield LintFinding(at.key(rule.id, "role"), Level.WARNING, text, rule.id)


def _of_fragment(laid: Layers, at: LayerPlaces) -> Iterator[LintFinding]:
    """Yield findings for keys that have no effect in a fragment."""
    if "applies-to" in laid.head.items:
        text = "a fragment's `applies-to` is ignored: the profile that includes it names its machines"
        yield LintFinding(at.head("applies-to"), Level.WARNING, text)


def _verdict(profile: Profile, at: LayerPlaces) -> Iterator[LintFinding]:
    """Yield a finding if the profile cannot give a node a verdict, because it has no own blocker or major rule."""
    own = [rule for rule in profile.rules if rule.scope is Scope.NODE]
    decided = {rule.phase for rule in own if rule.severity.decides}
    if not decided:
        yield LintFinding(
            at.head("profile"),
            Level.WARNING,
            "the profile cannot give a verdict: no rule with scope node is a blocker or major",
        )
    elif Phase.CONFIG in {rule.phase for rule in own} - decided:
        text = "an audit with this profile cannot give a verdict: no rule of phase config is a blocker or major"
        yield LintFinding(at.head("profile"), Level.WARNING, text)


def _twins(profile: Profile, at: LayerPlaces) -> Iterator[LintFinding]:
    first: dict[object, Rule] = {}
    for rule in profile.rules:
        asks = rule.look or rule.across or rule.called or any(clause.tests for clause in rule.clauses)
        if rule.unset or not asks:
            continue  # a param has no site value yet, or there is nothing to compare
        same = (
            rule.look, frozenset(rule.clauses), rule.join, rule.when, rule.phase, frozenset(rule.roles),
            rule.scope, rule.across, rule.called,
        )  # fmt: skip
        other = first.setdefault(same, rule)
        if other is not rule:
            where = at.rule(other.id)
            text = f"rule {rule.id} checks the same as {other.id} ({where.file}:{where.line}); one of them is enough"
            yield LintFinding(at.rule(rule.id), Level.WARNING, text, rule.id)


def _dropped(profile: Profile, at: LayerPlaces) -> Iterator[LintFinding]:
    for rule_id, reason in profile.dropped.items():
        if reason.strip().casefold() in NO_REASON:
            text = f"rule {rule_id} is dropped without a reason: `drop` must contain the reason, not {reason!r}"
            yield LintFinding(at.rule(rule_id), Level.WARNING, text, rule_id)


def _needs(rule: Rule, profile: Profile, at: LayerPlaces) -> Iterator[LintFinding]:
    known = {other.id: other for other in profile.rules}
    for need in rule.needs:
        other = known.get(need)
        if other is None:
            continue  # the loader has reported it
        if other.phase is not rule.phase:
            phases = rule.phase.value, other.phase.value
            text = f"rule {rule.id} needs {need}, but no command judges both phases, {' and '.join(phases)}"
        elif EVERY_ROLE not in {*rule.roles, *other.roles} and not set(rule.roles) & set(other.roles):
            text = (
                f"rule {rule.id} for {_several(rule.roles)} needs {need}, which is for {_several(other.roles)}: "
                "no node is judged by both"
            )
        else:
            continue
        yield LintFinding(at.key(rule.id, "needs"), Level.WARNING, text, rule.id)


def _contradictions(rule: Rule, at: LayerPlaces) -> Iterator[LintFinding]:
    """Yield a finding if no value passes a clause of the rule.

    A finding is also yielded if a rule can never fail or never pass because of its `where` or `when`.
    """
    named, given = ("where", rule.look.where) if rule.look is not None else ("when", rule.when)
    mode = rule.look.mode if rule.look is not None else ""
    for clause in (*rule.clauses, *((given,) if given is not None else ())):
        if can_hold([clause]) is False:
            place = at.key(rule.id, *_key(clause, rule, at), "fact")
            what = clause.fact if clause.fact.segments else "count"
            asked = ", ".join(expectation(test, clause.kind) for test in clause.tests)
            yield LintFinding(place, Level.ERROR, f"no value of {what} passes all of this: {asked}", rule.id)
            return
    if given is None or mode == "count":
        return
    both = [clause for clause in rule.clauses if clause.fact == given.fact]
    every = len(both) == len(rule.clauses)
    if not both or (rule.join == "any" and not every):
        return
    never = [can_hold([given, clause]) is False for clause in both]
    always = [can_fail(given, clause) is False for clause in both]
    place = at.key(rule.id, named)
    if all(never) if rule.join == "any" else any(never):
        line = "the rule can never fail" if mode == "no" else "the rule can never pass"
        yield LintFinding(place, Level.ERROR, f"`{named}` contradicts the rule's test of {given.fact}: {line}", rule.id)
    elif _silent(rule.look) and every and (any(always) if rule.join == "any" else all(always)):
        text = f"`{named}` tests {given.fact} as the rule does: the rule can never fail"
        yield LintFinding(place, Level.ERROR, text, rule.id)


def _quorum(rule: Rule, at: LayerPlaces) -> Iterator[LintFinding]:
    """Yield a finding for a quorum of 100 %: no node can fail, because a single differing node breaks the quorum."""
    if rule.across is not None and rule.across.quorum >= 100 and not rule.unset:
        text = "a `quorum` of 100 % can never fail a node: a differing node breaks the quorum, so all nodes are unknown"
        yield LintFinding(at.key(rule.id, "agree", "quorum"), Level.ERROR, text, rule.id)


def _silent(look: RuleSelection | None) -> bool:
    """Whether a rule accepts any number of selected items; also true for a rule without a selection.

    An `each` with `allow-empty` and without `expect-count` accepts any number of items.
    """
    return look is None or (look.mode == "each" and look.allow_empty and look.expect_count is None)


def _lists(rule: Rule, at: LayerPlaces) -> Iterator[LintFinding]:
    for clause in rule.parts():
        for test in clause.tests:
            if test.op not in {"one-of", "none-of"} or not isinstance(test.operand, tuple):
                continue
            place = at.key(rule.id, *_key(clause, rule, at), test.op)
            if len(test.operand) == 1:
                message = f"{'is' if test.op == 'one-of' else 'is-not'}: {spell(test.operand[0], clause.kind)}"
                yield LintFinding(place, Level.WARNING, f"`{test.op}` contains one value: write `{message}`", rule.id)
            elif len(set(test.operand)) < len(test.operand):
                twice = next(v for n, v in enumerate(test.operand) if v in test.operand[:n])
                yield LintFinding(
                    place, Level.WARNING, f"`{test.op}` contains {spell(twice, clause.kind)} twice", rule.id
                )


def _words(rule: Rule, at: LayerPlaces) -> Iterator[LintFinding]:
    wanted = ("title", "why", "fix") if at.of_site(rule.id) else ("title", "why", "fix", "refs")
    missing = [word for word in wanted if not getattr(rule, word)]
    if missing:
        words = ", ".join(f"`{word}`" for word in missing)
        yield LintFinding(at.rule(rule.id), Level.HINT, f"rule {rule.id} has no {words}", rule.id)


def _floors(rule: Rule, profile: Profile, at: LayerPlaces, table: Sequence[Peak]) -> Iterator[LintFinding]:
    reasoned = bool(rule.why and rule.refs and not rule.from_memory)
    for floor in floors(rule, profile, table):
        keys = (*_key(floor.clause, rule, at), *floor.keys)
        line = f"{floor.text()}{floor.meant(as_written(at.node(rule.id, *keys), profile))}"
        place = at.key(rule.id, *keys)
        if floor.too_high:
            yield LintFinding(place, Level.WARNING if floor.for_any_part else Level.ERROR, line, rule.id)
        elif floor.for_any_part:
            continue
        elif below(floor, HOPELESS):
            yield LintFinding(place, Level.ERROR, line, rule.id)
        elif below(floor, LOW) and not reasoned:
            text = f"{line}; so low a floor needs a `why` and, in `refs`, a source that was read"
            yield LintFinding(place, Level.WARNING, text, rule.id)


def _key(clause: Clause, rule: Rule, at: LayerPlaces) -> tuple[str | int, ...]:
    """Return the keys that lead from a rule to a clause: `where`, `when`, `fact`, or a list's key and an index.

    The result is empty if the clause's operators are keys of the rule itself.
    """
    if rule.look is not None and clause is rule.look.where:
        return ("where",)
    if clause is rule.when:
        return ("when",)
    for key in ("all-of", "any-of"):
        if at.node(rule.id, key) is not None:
            return (key, rule.clauses.index(clause))
    return ("fact",) if isinstance(at.node(rule.id, "fact"), YamlMapping) else ()


def _several(roles: Sequence[str]) -> str:
    return " and ".join(f"`{role}`" for role in roles)
