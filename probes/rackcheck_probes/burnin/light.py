"""Each GPU's theoretical limits ("speed of light"), the share that was reached, and possible explanations of the gap.

The limits follow from the GPU's highest clocks, its number of SMs, its memory bus width and its PCIe link.
"""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from rackcheck import Absent, Class, Facts, Load, Unknown, listing, probe, quantity
from rackcheck.model.burn_record import Burn, Record, Stage
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin import light
from rackcheck.parse.burnin.light import Observed
from rackcheck.parse.burnin.readings import column, figure, rows, span, untested

MEASURED = Class.MEASUREMENT

Limit = tuple[str, str, str, str, float]
"""A rate's stage and test, the hardware that limits the rate, the fact's unit, and the divisor for this unit."""

FIGURES: Mapping[str, Limit] = {
    "memory.copy": ("memory", "copy", "memory", "GB/s", 1e9),
    "memory.verify": ("memory", "verify", "memory", "GB/s", 1e9),
    "memory.march": ("memory", "march", "memory", "GB/s", 1e9),
    "tensor": ("tensor", "mma", "compute", "TFLOP/s", 1e12),
    "link.h2d": ("links", "h2d", "pcie", "GB/s", 1e9),
    "link.d2h": ("links", "d2h", "pcie", "GB/s", 1e9),
}


@probe(
    Load(),
    gives={
        pattern: kind
        for name, (_, _, _, unit, _) in FIGURES.items()
        for pattern, kind in (
            (
                f"burnin.gpu/*.light.{name}.limit",
                quantity(
                    unit,
                    "Theoretical limit by the GPU's highest clocks, units and slot, or its share of a PCIe uplink",
                    MEASURED,
                ),
            ),
            (
                f"burnin.gpu/*.light.{name}.reached",
                quantity("%", "Measured rate as a share of the theoretical limit", MEASURED),
            ),
            (
                f"burnin.gpu/*.light.{name}.gap",
                listing("Observations that may explain why the rate is below the limit", MEASURED),
            ),
        )
    },
)
def burnin_light(burn: Burn) -> Facts:
    """Compare each measured rate of each GPU with the rate's theoretical limit."""
    for index, about in burn.gpus.items():
        for name, figures in FIGURES.items():
            for leaf, reading in _held(burn, f"gpu/{index}", about, figures):
                yield f"burnin.gpu/{index}.light.{name}.{leaf}", reading


def _held(burn: Burn, of: str, about: Mapping[str, Any], figures: Limit) -> Iterator[tuple[str, Reading]]:
    stage, test, kind, _, unit = figures
    work = list(burn.of_stage(stage, of, test))
    rate = figure(burn, work, "rate")
    if not isinstance(rate, float):
        for leaf in ("limit", "reached", "gap"):
            yield leaf, rate if isinstance(rate, Unknown) else untested(burn, work)
        return
    seen = _observed(burn, of, about, work)
    limit = _limit(kind, seen, about, work)
    sharing = _sharing(burn, about, figures) if kind == "pcie" else 1
    limit = limit and limit / sharing
    if limit is None:
        absent = Absent("rackcheck cannot compute this limit for the GPU, or a value for it was not reported")
        yield "limit", absent
        yield "reached", absent
    else:
        yield "limit", limit / unit
        yield "reached", rate / limit * 100
    shared = (f"{sharing} GPUs share one PCIe uplink",) if sharing > 1 else ()
    yield "gap", (*shared, *light.explanations(kind, seen))


def _sharing(burn: Burn, about: Mapping[str, Any], figures: Limit) -> int:
    """Return how many GPUs copied through the root port of a GPU in the same stage; 1 if the port is unknown."""
    stage, test, *_ = figures
    uplink = about.get("uplink")
    below = [n for n, each in burn.gpus.items() if uplink and each.get("uplink") == uplink]
    return max(1, sum(any(burn.of_stage(stage, f"gpu/{n}", test)) for n in below))


def _limit(kind: str, seen: Observed, about: Mapping[str, Any], work: list[Stage]) -> float | None:
    match kind:
        case "memory":
            return light.memory(seen.memory_clock_max or seen.memory_clock, _whole(about, "memory_width"))
        case "compute":
            sms = _whole(about, "sms") or int(work[0].number("sms") or 0)
            return light.tensor(str(about.get("cc", "")), sms, seen.clock_max or seen.clock)
    return light.pcie(seen.gen_max or seen.gen, seen.width_max or seen.width)


def _observed(burn: Burn, of: str, about: Mapping[str, Any], work: list[Stage]) -> Observed:
    """Summarize a GPU's samples during `work`, and the properties that the GPU reports."""
    found = list(rows(burn, of, map(span, work)))
    reasons = 0
    for bits in column(found, "reasons"):
        reasons |= int(bits)
    return Observed(
        clock=_mean(found, "clock"), clock_max=_number(about, "clock_max"),
        memory_clock=_mean(found, "memory_clock"), memory_clock_max=_number(about, "memory_clock_max"),
        limit=_number(about, "limit"), limit_default=_number(about, "limit_default"),
        reasons=reasons if column(found, "reasons") else None,
        gen=_least(found, "gen"), gen_max=_whole(about, "link_gen_max"),
        width=_least(found, "width"), width_max=_whole(about, "link_width_max"),
        ecc=about["ecc"] if isinstance(about.get("ecc"), bool) else None,
    )  # fmt: skip


def _mean(found: list[Record], name: str) -> float | None:
    values = column(found, name)
    return fmean(values) if values else None


def _least(found: list[Record], name: str) -> int | None:
    values = column(found, name)
    return int(min(values)) if values else None


def _number(about: Mapping[str, Any], name: str) -> float | None:
    value = about.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(about: Mapping[str, Any], name: str) -> int | None:
    value = _number(about, name)
    return int(value) if value is not None and abs(value) < 1e9 else None
