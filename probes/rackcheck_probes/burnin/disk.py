"""A disk that was written and read through a scratch file: wrong values, and the rates past every cache."""

from rackcheck import Class, Facts, Load, collection, integer, probe, quantity, spell_key
from rackcheck.model.burn_record import Burn
from rackcheck.parse.burnin.readings import cited, figure, mismatches


@probe(
    Load(),
    gives={
        "burnin.disk": collection("Disks that a scratch file was on, by the folder it was in"),
        "burnin.disk/*.mismatches": integer("Sectors that read back otherwise", Class.COUNTER),
        "burnin.disk/*.write": quantity("GB/s", "Writing it, past the cache", Class.MEASUREMENT),
        "burnin.disk/*.read": quantity("GB/s", "Reading and comparing it, past the cache", Class.MEASUREMENT),
    },
)
def burnin_disk(burn: Burn) -> Facts:
    """Give what a burn-in found of scratch files."""
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
