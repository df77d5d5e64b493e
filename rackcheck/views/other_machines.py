"""Counts the findings of machines that the profile is not for; such findings do not affect the outcome.

Pure. A machine that the profile is not for has the outcome INCOMPLETE, and its findings need no fix.
"""

from collections.abc import Iterable, Sequence
from dataclasses import Field, dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

from rackcheck.evaluate.verdict import Status
from rackcheck.model.profile import Rule
from rackcheck.views.summary import several


class OnNodes(Protocol):
    """A rule's verdict on nodes: a finding of a run, or a finding in a JSON document that has only the rule's id."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def rule(self) -> Rule | str:
        """The rule, or the id of the rule."""
        ...

    @property
    def status(self) -> Status:
        """The verdict."""
        ...

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes with this verdict."""
        ...


F = TypeVar("F", bound=OnNodes)


@dataclass(frozen=True, slots=True)
class OtherMachines:
    """Nodes that the profile is not for, and the numbers of rules that fail and that are unknown on these nodes."""

    nodes: tuple[str, ...]
    fails: int
    unknowns: int

    def text(self, where: str) -> str:
        """Format the numbers of rules in one line that ends with `where`, such as `--all lists them`."""
        verb = "fails" if self.fails == 1 else "fail"
        fails = [f"{several(self.fails, 'rule')} {verb}"] if self.fails else []
        what = f"{self.unknowns}" if fails else several(self.unknowns, "rule")
        unknowns = [f"{what} {'is' if self.unknowns == 1 else 'are'} unknown"] if self.unknowns else []
        if not fails and not unknowns:
            return "no rule fails or is unknown on these machines"
        they = "it does not affect the outcome" if self.fails + self.unknowns == 1 else "they do not affect the outcome"
        return f"{' and '.join((*fails, *unknowns))} there; {they}: {where}"


def deciding(found: Iterable[F], others: frozenset[str]) -> list[F]:
    """Remove the nodes in `others` from all findings; findings without any other node are left out."""
    if not others:
        return list(found)
    left = ((each, tuple(node for node in each.nodes if node not in others)) for each in found)
    return [each if len(nodes) == len(each.nodes) else replace(each, nodes=nodes) for each, nodes in left if nodes]


def apart(found: Iterable[F], nodes: Sequence[str]) -> OtherMachines:
    """Count the rules that fail or are unknown on any node in `nodes`; a rule with both verdicts counts as failing."""
    others = frozenset(nodes)
    rules: dict[Status, set[str]] = {Status.FAIL: set(), Status.UNKNOWN: set()}
    for each in found:
        if each.status in rules and not others.isdisjoint(each.nodes):
            rules[each.status].add(each.rule if isinstance(each.rule, str) else each.rule.id)
    fails = rules[Status.FAIL]
    return OtherMachines(tuple(nodes), len(fails), len(rules[Status.UNKNOWN] - fails))
