"""Temperatures of each CPU package that have reached a limit which the CPU itself reports."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, join, listing, spell_key
from rackcheck.model.fact import Reading

LIMITS = ("max", "critical")


@join(
    needs=("cpu.thermal", *(f"cpu.thermal/*.{leaf}" for leaf in ("hottest", *LIMITS))),
    gives={
        "cpu.thermal/*.beyond": listing(
            "Limits that the hottest sensor of the package has reached: `95 C, max 86 C`; absent if none is reported.",
            Class.MEASUREMENT,
        )
    },
)
def cpu_beyond(inputs: Inputs) -> Facts:
    """Compare each package's hottest sensor with the package's own limits."""
    for name in inputs.items("cpu.thermal")[0]:
        item = f"cpu.thermal/{spell_key(name)}"
        hottest = inputs.reading(f"{item}.hottest")
        limits = {leaf: inputs.reading(f"{item}.{leaf}") for leaf in LIMITS}
        yield f"{item}.beyond", _reached(hottest, limits)


def _reached(hottest: Reading, limits: dict[str, Reading]) -> Reading:
    lost = next((reading for reading in (hottest, *limits.values()) if isinstance(reading, Unknown)), None)
    known = {leaf: limit for leaf, limit in limits.items() if isinstance(limit, float)}
    if lost is not None or not isinstance(hottest, float) or not known:
        return lost or Absent("the package reports no limit")
    return tuple(f"{hottest:g} C, {leaf} {limit:g} C" for leaf, limit in known.items() if hottest >= limit)
