"""Options for the power limits of a burn-in, and the confirmation before a large load."""

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from rackcheck.base.user_error import UserError
from rackcheck.burnin.ramp import STEP_NODES, STEP_WATTS, PowerLimits, kilo, problems, together
from rackcheck.burnin.watts import Estimate
from rackcheck.inventory import Rack

F = TypeVar("F", bound=Callable[..., object])

SHOWN = 3
"""Maximum number of nodes whose power is reported as too high."""


class Kilowatts(click.FloatRange):
    """A power in kilowatts; rejects `nan`, which the base class accepts in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert to kilowatts; a value outside the range is a usage error that names the range."""
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not a power in kilowatts", param, ctx)
        return found


KILOWATTS = Kilowatts(0.001, 1_000_000)


def power_options(command: F) -> F:
    """Add the options for the power of a burn-in to a command."""
    step = "Start each stage on all nodes at the same time, as a test of the power supply; --power-ramp does not apply."
    return limit_options(click.option("--in-step", is_flag=True, help=step)(command))


def limit_options(command: F) -> F:
    """Add the options for the power limits of a burn-in, and for its confirmation, to a command."""
    budget = (
        "Maximum power of all nodes together; other nodes wait (default: none). Racks and PDUs can have budgets too."
    )
    ramp = "Maximum power that is added per second. At most 10 nodes start per second, whatever this value is."
    sure = "Skip the confirmation before more than 10 nodes or 100 kW are under load at the same time."
    given: dict[str, Any] = {"metavar": "KW", "type": KILOWATTS}
    for option in (
        click.option("--yes", is_flag=True, help=sure),
        click.option("--power-ramp", default=STEP_WATTS / 1000, show_default=True, help=ramp, **given),
        click.option("--power-budget", help=budget, **given),
    ):
        command = option(command)
    return command


def limits(
    budget: float | None, ramp: float, racks: Mapping[str, Rack], pdus: Mapping[str, int], *, in_step: bool
) -> PowerLimits:
    """Return the limits of the options, which are in kilowatts, and of the inventory."""
    shelves = {name: rack.budget for name, rack in racks.items() if rack.budget}
    total = round(1000 * budget) if budget is not None else None
    return PowerLimits(
        round(1000 * ramp), total, shelves, {name: watts for name, watts in pdus.items() if watts}, in_step
    )


def agreed(found: Estimate, bound: PowerLimits, *, real: bool, yes: bool) -> str:
    """Return a description of the load, once it is within its limits and the user has agreed to it.

    `real` is false for simulated nodes, which draw no power. Raises UserError if the limits cannot be kept, if the user
    does not agree, or if the question is needed and there is no terminal.
    """
    if wrong := problems(found.loads, bound):
        rest = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise UserError(f"{'; '.join(wrong[:SHOWN])}{rest} ({found.words})")
    nodes, watts = together(found.loads, bound)
    at_once = f"up to {nodes} of {len(found.loads)} nodes" if nodes < len(found.loads) else f"{nodes} nodes"
    load = f"{at_once} under load at the same time, up to {kilo(watts)} ({found.words})"
    load += ", all nodes together" if bound.in_step else f", added at {kilo(bound.rate)} per second at most"
    if real and not yes and _large(nodes, watts):
        _ask(load)
    return load


def _large(nodes: int, watts: int) -> bool:
    return nodes > STEP_NODES or watts > STEP_WATTS


def _ask(load: str) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UserError(f"not started: this burn-in puts {load}; add --yes to skip the confirmation")
    if not click.confirm(f"This burn-in puts {load}. Start it?", err=True):
        raise UserError("not started")
