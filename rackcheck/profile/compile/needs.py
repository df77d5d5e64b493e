"""Holds the `needs` of rules against each other: they name rules of their own kind, and run in no circle."""

from collections.abc import Mapping

from rackcheck.model.profile import Rule
from rackcheck.profile.compile.context import Context
from rackcheck.profile.layers import Layers, did_you_mean, texts


def order(ctx: Context, rules: Mapping[str, Rule], found: Layers) -> None:
    """Check that `needs` name rules and run in no circle."""
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
                ctx.note(need.place, f"{need.text} is judged of a {rules[need.text].scope}, not of a {rule.scope}")
            elif rules[need.text].across is not None and rule.across is None:
                said = f"{need.text} looks across nodes: it is judged when all of them are, after this rule"
                ctx.note(need.place, said)
    done: set[str] = set()
    for first in rules:
        # The rules that lead here, each with those of its needs that are still to be followed.
        trail = {} if first in done else {first: iter(rules[first].needs)}
        while trail:
            at = next(reversed(trail))
            then = next(trail[at], None)
            if then is None:
                done.add(at)
                del trail[at]
            elif then in trail:
                circle = [*trail][[*trail].index(then) :]
                ctx.note(tables[then].place, f"needs run in a circle: {' -> '.join((*circle, then))}")
            elif then in rules and then not in done:
                trail[then] = iter(rules[then].needs)
