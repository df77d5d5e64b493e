"""A burn-in as a whole: its tier, its seed, whether it ran to its end, what it was that was wrong."""

from rackcheck import Class, Facts, Load, Reason, Sourced, Unknown, collection, flag, integer, probe, quantity, text
from rackcheck.model.burn_record import Burn, Fault
from rackcheck.parse.burnin.readings import described

MOST = 20
"""Things that are named with a finding."""


@probe(
    Load(),
    gives={
        "burnin.tier": text("How long it took: smoke, validate or soak", Class.MEASUREMENT),
        "burnin.simulated": flag("A simulated node wrote it; no hardware was under load", Class.IDENTITY),
        "burnin.seed": integer("Seed of its patterns and operands, for any result to be had again", Class.MEASUREMENT),
        "burnin.end": text("That it ran to its end; else unknown, and why", Class.MEASUREMENT, ("whole",)),
        "burnin.seconds": quantity("s", "From its first record to its last", Class.MEASUREMENT),
        "burnin.unread": integer("Records that were not what they must be", Class.COUNTER),
        "burnin.fault": collection("What was wrong, by name: mismatch, lost, hang"),
        "burnin.fault/*.name": text("Which one", Class.MEASUREMENT),
        "burnin.fault/*.count": integer("How often", Class.COUNTER),
        "burnin.fault/*.where": text("With what", Class.MEASUREMENT),
    },
)
def burnin(burn: Burn) -> Facts:
    """Give what a burn-in says of itself."""
    tier, seed = burn.hello.get("tier"), burn.hello.get("seed")
    if isinstance(tier, str):
        yield "burnin.tier", tier
    if burn.hello:
        yield "burnin.simulated", burn.hello.get("simulated") is True
    if isinstance(seed, int):
        yield "burnin.seed", seed
    early = f"it was stopped: {burn.why}" if burn.ended else "it gave no verdict"
    yield "burnin.end", "whole" if burn.whole else Unknown(Reason.NOT_TESTED, early)
    times = [stage.t for stage in burn.stages] + [row[-1].t for row in burn.samples.values()]
    if times:
        yield "burnin.seconds", max(times)
    yield "burnin.unread", burn.unread
    where: dict[str, list[Fault]] = {}
    for fault in burn.faults:
        where.setdefault(fault.name, []).append(fault)
    for name, faults in where.items():
        at = f"burnin.fault/{name.replace(' ', '_')}"
        more = f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
        message = f"burn-in: {described(faults[0])}{more}"
        yield f"{at}.name", Sourced(name, message)
        yield f"{at}.count", len(faults)
        yield f"{at}.where", Sourced(", ".join(sorted({fault.of for fault in faults})[:MOST]), message)
    if not burn.whole or burn.unread:  # what was not reached, or not read, may hold more of them
        early = early if not burn.whole else f"{burn.unread} records could not be read: {burn.odd}"
        yield "burnin.fault", Unknown(Reason.NOT_TESTED, early[:200])
