"""Disks tested with a scratch file: wrong values, and rates without any cache."""

from rackcheck import Class, Facts, Load, collection, integer, probe, quantity, spell_key
from rackcheck.model.burn_record import Burn
from rackcheck.parse.burnin.readings import cited, figure, mismatches


@probe(
    Load(),
    gives={
        "burnin.disk": collection("Disks tested with a scratch file, by the file's folder"),
        "burnin.disk/*.mismatches": integer("Sectors that read back differently", Class.COUNTER),
        "burnin.disk/*.write": quantity("GB/s", "Rate of writing the file, bypassing the cache", Class.MEASUREMENT),
        "burnin.disk/*.read": quantity(
            "GB/s", "Rate of reading and comparing the file, bypassing the cache", Class.MEASUREMENT
        ),
    },
)
def burnin_disk(burn: Burn) -> Facts:
    """Return the results of a burn-in's tests with scratch files."""
    for name in burn.things("disk"):
        of, at = f"disk/{name}", f"burnin.disk/{spell_key(name)}"
        work = list(burn.of_stage("disk", of))
        if not work:
            continue
        count = mismatches(burn, [of], [stage for stage in work if stage.test != "write"], ["disk"])
        yield f"{at}.mismatches", cited(burn, [of], count)
        for test in ("write", "read"):
            rate = figure(burn, list(burn.of_stage("disk", of, test)) or work, "rate")
            yield f"{at}.{test}", rate / 1e9 if isinstance(rate, float) else rate
