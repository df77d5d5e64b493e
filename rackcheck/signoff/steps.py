"""The steps of an acceptance that both parties agree on before its first run: burn-ins, and counters after them. Pure.

An audit is always a step. A burn-in is a step unless it was declined with a reason, which the document contains.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rackcheck.parse.burnin.plan import Tier

LONGEST = 400
"""Maximum number of characters of the reason why a step was declined."""


@dataclass(frozen=True, slots=True)
class AgreedSteps:
    """The agreed tiers of burn-ins, the shortest first, and the reasons for the steps that were declined.

    `no_burn_in` and `no_counters` are empty if the step was not declined. An acceptance that was opened before there
    were steps has none: neither tiers nor reasons.
    """

    tiers: tuple[Tier, ...] = ()
    no_burn_in: str = ""
    no_counters: str = ""

    @property
    def counters(self) -> bool:
        """Whether counters are compared over the burn-in: those of an audit before it with those of an audit after."""
        return bool(self.tiers) and not self.no_counters

    @property
    def longest(self) -> Tier | None:
        """The longest agreed tier; a burn-in of this tier also counts for every shorter one."""
        return self.tiers[-1] if self.tiers else None

    def document(self) -> dict[str, Any]:
        """Return the steps as they are stored in the first event of an acceptance's log."""
        return {"burn-in": [tier.value for tier in self.tiers], "no-burn-in": self.no_burn_in,
                "no-counters": self.no_counters}  # fmt: skip


NO_STEPS = AgreedSteps()


def agreed(given: object) -> AgreedSteps:
    """Read the stored steps of an acceptance; raises ValueError or TypeError if they are not valid."""
    if given is None:
        return NO_STEPS
    if not isinstance(given, Mapping) or not isinstance(given.get("burn-in"), list):
        raise TypeError("`steps` is not a table with the tiers of the burn-in")
    reasons = [given.get(name, "") for name in ("no-burn-in", "no-counters")]
    if not all(isinstance(reason, str) for reason in reasons):
        raise TypeError("the reason why a step was declined is not a text")
    return AgreedSteps(ordered([Tier(tier) for tier in given["burn-in"]]), *reasons)


def ordered(tiers: Iterable[Tier]) -> tuple[Tier, ...]:
    """Return each tier once, the shortest first."""
    return tuple(sorted(set(tiers), key=lambda tier: tier.seconds))
