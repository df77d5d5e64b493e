"""The steps of an acceptance with their states, as texts that the terminal, the screens and documents share. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fold import fold

AUDIT, BURN_IN, COUNTERS = "audit", "burn-in", "counters"

DECLINED = "declined"
"""The state of a step that the parties declined; any other step has an outcome."""


@dataclass(frozen=True, slots=True)
class CounterRise:
    """A counter that rose between the audits before and after a burn-in, and that a rule of the profile limits.

    `fact` is the path of the counter. All `nodes` have the same values `before` and `after`.
    """

    rule: str
    fact: str
    before: str
    after: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A step: `kind` is audit, burn-in or counters, `tier` the tier of a burn-in; `outcome` is None if it was declined.

    `declined` is the reason why it was declined. `left` contains what is still to be done: a reason, and the nodes.
    """

    kind: str
    tier: str = ""
    outcome: Outcome | None = None
    declined: str = ""
    left: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rises: tuple[CounterRise, ...] = ()

    @property
    def name(self) -> str:
        """The name of the step: `audit`, `burn-in validate`, `counters after the burn-in`."""
        if self.kind == COUNTERS:
            return "counters after the burn-in"
        return f"{self.kind} {self.tier}".rstrip()

    @property
    def state(self) -> str:
        """PASS, FAIL, INCOMPLETE or declined."""
        return DECLINED if self.outcome is None else self.outcome.value

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on which something is left to do, each once."""
        return tuple(dict.fromkeys(node for _, nodes in self.left for node in nodes))

    def details(self) -> Iterator[str]:
        """Yield what is left to do, why the step was declined, and the counters that rose, each in one line."""
        if self.outcome is None:
            yield self.declined
        for reason, nodes in self.left:
            yield f"{reason}: {fold(nodes)}"
        for rise in self.rises:
            yield rise_text(rise) + f" on {fold(rise.nodes)}"


def rise_text(rise: CounterRise) -> str:
    """Format a rise without its nodes: `gpu/3.link.replays rose from 0 to 12 (gpu.replays_gen5)`."""
    return f"{rise.fact} rose from {rise.before} to {rise.after} ({rise.rule})"


def step_notes(steps: Sequence[Step]) -> Iterator[str]:
    """Yield one line for each detail of each step that is declined, open, or has counters that rose."""
    for step in steps:
        for detail in step.details():
            yield f"{step.name}{' declined' if step.outcome is None else ''}: {detail}"


def next_command(steps: Sequence[Step], name: str, where: str = "") -> str:
    """Return the command that continues the first step with something left to do; empty if no step has.

    `name` is the name of the acceptance, `where` the options that choose the nodes.
    """
    for step in steps:
        if step.left:
            command = "burnin" if step.kind == BURN_IN else "audit"
            tier = f" --tier {step.tier}" if step.tier else ""
            return f"rackcheck {command} --accept {name}{tier} {where}".rstrip()
    return ""
