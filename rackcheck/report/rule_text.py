"""Describes, as text, what a rule requires."""

from rackcheck.model import operator
from rackcheck.model.profile import Across, Clause, Rule

NAMED = 6
"""Maximum number of facts that are listed in the text of a rule that compares nodes."""


def wants(rule: Rule) -> list[str]:
    """Return what a rule requires: its conditions, when it applies, and the rules it needs."""
    head = ""
    if rule.look is not None:
        where = f" whose {_clause(rule.look.where)}" if rule.look.where is not None else ""
        head = f"{rule.look.mode} {rule.look.collection}{where}: "
    if rule.across is not None:
        across = rule.across
        return [
            f"{_shared(across)} must be the same as on at least {across.quorum:g} % of all {across.role} nodes",
            *_rest(rule),
        ]
    if rule.called is not None:
        message = f": {rule.called.help}" if rule.called.help else ""
        return [f"{rule.called.name} of {rule.called.package}{message}", *_rest(rule)]
    joined = " and " if rule.join == "all" else " or "
    return [head + joined.join(_clause(clause) for clause in rule.clauses), *_rest(rule)]


def _shared(across: Across) -> str:
    named = [str(each.fact) for each in across.shared]
    more = f" and {len(named) - NAMED} more facts" if len(named) > NAMED else ""
    return ", ".join(named[:NAMED]) + more


def _rest(rule: Rule) -> list[str]:
    value = []
    if rule.when is not None:
        value.append(f"when {_clause(rule.when)}")
    if rule.needs:
        value.append(f"needs {', '.join(rule.needs)}")
    return value


def _clause(clause: Clause) -> str:
    tests = " and ".join(operator.expectation(test, clause.kind) for test in clause.tests)
    return f"{clause.fact} {tests}".strip()
