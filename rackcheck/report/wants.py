"""What a rule asks for, in words."""

from rackcheck.core import operator
from rackcheck.core.profile import Clause, Rule


def wants(rule: Rule) -> list[str]:
    """Say in words what a rule asks for: its conditions, when it applies, and what it needs."""
    head = ""
    if rule.look is not None:
        where = f" whose {_clause(rule.look.where)}" if rule.look.where is not None else ""
        head = f"{rule.look.mode} {rule.look.collection}{where}: "
    joined = " and " if rule.join == "all" else " or "
    said = [head + joined.join(_clause(clause) for clause in rule.clauses)]
    if rule.when is not None:
        said.append(f"when {_clause(rule.when)}")
    if rule.needs:
        said.append(f"needs {', '.join(rule.needs)}")
    return said


def _clause(clause: Clause) -> str:
    tests = " and ".join(operator.expectation(test, clause.kind) for test in clause.tests)
    return f"{clause.fact} {tests}".strip()
