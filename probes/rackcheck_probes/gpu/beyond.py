"""Temperatures and margins of each NVIDIA GPU that have reached a limit which the GPU itself reports."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, join, listing, spell_key
from rackcheck.model.fact import Reading

HEATS = {
    "temperature": ("temperature_max_operating", "temperature_slowdown", "temperature_shutdown"),
    "temperature_memory": ("temperature_memory_max",),
}
"""Maps each temperature to its limits: at the limit or above it, the GPU slows down or shuts down."""

MARGINS = {"margin": ("margin_max_operating", "margin_slowdown", "margin_shutdown")}
"""Maps each margin to its limits: at the limit or below it, the GPU slows down or shuts down."""


@join(
    needs=(
        "gpu",
        *(f"gpu/*.{leaf}" for pair in (HEATS, MARGINS) for own, limits in pair.items() for leaf in (own, *limits)),
    ),
    gives={
        "gpu/*.beyond": listing(
            "Temperatures and margins that reached a limit of the GPU, with the limit; absent if the GPU reports none.",
            Class.MEASUREMENT,
        )
    },
)
def gpu_beyond(inputs: Inputs) -> Facts:
    """Compare each GPU's temperatures and margins with the GPU's own limits."""
    for name in inputs.items("gpu")[0]:
        item = f"gpu/{spell_key(name)}"
        compared: list[Reading] = []
        for pairs, sign in ((HEATS, 1), (MARGINS, -1)):
            for own, limits in pairs.items():
                compared += [_reached(inputs, item, own, limit, sign) for limit in limits]
        found = tuple(each for reading in compared if isinstance(reading, tuple) for each in reading)
        lost = next((reading for reading in compared if isinstance(reading, Unknown)), None)
        none = all(isinstance(reading, Absent) for reading in compared)
        yield f"{item}.beyond", lost or (Absent("the GPU reports no limit") if none else found)


def _reached(inputs: Inputs, item: str, own: str, limit: str, sign: int) -> Reading:
    """Return a text with the reading and the limit if the limit is reached; absent if either is absent."""
    value, bound = inputs.reading(f"{item}.{own}"), inputs.reading(f"{item}.{limit}")
    for reading in (value, bound):
        if isinstance(reading, (Unknown, Absent)):
            return reading
    assert isinstance(value, float)
    assert isinstance(bound, float)
    return (f"{own} {value:g} C, {limit} {bound:g} C",) if (value - bound) * sign >= 0 else ()
