"""Facts of a whole burn-in: its tier, its seed, whether it finished, and its faults."""

from rackcheck import Class, Facts, Load, Reason, Sourced, Unknown, collection, flag, integer, probe, quantity, text
from rackcheck.model.burn_record import Burn, Fault
from rackcheck.parse.burnin.readings import described

MOST = 20
"""Maximum number of affected parts in the fact `burnin.fault/*.where`."""


@probe(
    Load(),
    gives={
        "burnin.tier": text("Tier, which sets the duration: smoke, validate or soak", Class.MEASUREMENT),
        "burnin.simulated": flag("Whether the node is simulated, so that no hardware was under load", Class.IDENTITY),
        "burnin.seed": integer("Seed of patterns and operands, to reproduce any result", Class.MEASUREMENT),
        "burnin.end": text(
            "whole if the burn-in ran to completion; else unknown, with the reason", Class.MEASUREMENT, ("whole",)
        ),
        "burnin.seconds": quantity("s", "Time from the first record to the last", Class.MEASUREMENT),
        "burnin.unread": integer("Records that could not be read", Class.COUNTER),
        "burnin.fault": collection("Faults, by name: mismatch, lost, hang"),
        "burnin.fault/*.name": text("Name of the fault", Class.MEASUREMENT),
        "burnin.fault/*.count": integer("Number of occurrences", Class.COUNTER),
        "burnin.fault/*.where": text("Affected parts", Class.MEASUREMENT),
    },
)
def burnin(burn: Burn) -> Facts:
    """Return the facts of the burn-in as a whole: tier, seed, end, duration and faults."""
    tier, seed = burn.hello.get("tier"), burn.hello.get("seed")
    if isinstance(tier, str):
        yield "burnin.tier", tier
    if burn.hello:
        yield "burnin.simulated", burn.hello.get("simulated") is True
    if isinstance(seed, int):
        yield "burnin.seed", seed
    early = f"the burn-in was stopped: {burn.why}" if burn.ended else "the burn-in reported no verdict"
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
        message = f"burn-in: {described(faults[0], burn)}{more}"
        yield f"{at}.name", Sourced(name, message)
        yield f"{at}.count", len(faults)
        yield f"{at}.where", Sourced(", ".join(sorted({fault.of for fault in faults})[:MOST]), message)
    if not burn.whole or burn.unread:  # parts that were not reached or not read may contain more faults
        early = early if not burn.whole else f"{burn.unread} records could not be read: {burn.odd}"
        yield "burnin.fault", Unknown(Reason.NOT_TESTED, early[:200])
