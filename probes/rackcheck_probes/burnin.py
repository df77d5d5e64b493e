"""A burn-in as a whole: its tier, its seed, whether it ran to its end, what it was that was wrong."""

from collections import Counter

from rackcheck import Class, Facts, Load, Reason, Unknown, collection, flag, integer, probe, quantity, text
from rackcheck.core.burn.record import Burn


@probe(
    Load(),
    gives={
        "burnin.tier": text("How long it took: smoke, validate or soak"),
        "burnin.simulated": flag("A simulated node wrote it; no hardware was under load", Class.IDENTITY),
        "burnin.seed": integer("Seed of all its patterns and operands; with it any result can be had again"),
        "burnin.end": text("That it ran to its end; else unknown, and why", words=("whole",)),
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
    found = Counter(fault.name for fault in burn.faults)
    for name, count in found.items():
        key = name.replace(" ", "_")
        yield f"burnin.fault/{key}.name", name
        yield f"burnin.fault/{key}.count", count
        yield f"burnin.fault/{key}.where", ", ".join(sorted({f.of for f in burn.faults if f.name == name}))[:400]
