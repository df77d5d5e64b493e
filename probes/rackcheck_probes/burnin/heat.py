"""Cooling of GPUs: a first-order fit of each GPU's temperature under load, with the BMC's intake temperature."""

from collections.abc import Sequence
from statistics import fmean, median

from rackcheck import Absent, Class, Facts, Load, Reason, Unknown, listing, probe, quantity
from rackcheck.model.burn_record import Burn, Record
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin.plan import Tier
from rackcheck.parse.burnin.readings import column, rows, stretch
from rackcheck.parse.burnin.thermal import Refused, TemperatureSample, ThermalFit, fit

MEASURED = Class.MEASUREMENT

UNREAD_MOST = 10
"""Number of samples without a margin after which the node ends the load of a GPU (UNREAD_MOST of the node)."""


@probe(
    Load(),
    gives={
        "burnin.inlet": quantity("C", "Mean air temperature at the intake during the load, from the BMC", MEASURED),
        "burnin.power": quantity("W", "Peak power of the whole machine, from the BMC", MEASURED),
        "burnin.gpu/*.heat.resistance": quantity(
            "K/W", "Thermal resistance from the chip through heatsink and air to the intake", MEASURED
        ),
        "burnin.gpu/*.heat.ahead": quantity("C", "Predicted temperature after ten minutes of this load", MEASURED),
        "burnin.gpu/*.heat.give": quantity("C", "Uncertainty of the predicted temperature (95 % of cases)", MEASURED),
        "burnin.gpu/*.heat.constant": quantity("s", "Time in which the temperature reaches 63 % of its rise", MEASURED),
        "burnin.gpu/*.heat.below_slowdown": quantity(
            "C", "Margin from the predicted temperature to the GPU's slowdown temperature", MEASURED
        ),
        "burnin.gpu/*.unguarded": listing(
            "Measured temperatures without a limit, at which the burn-in could not end the load: chip, memory", MEASURED
        ),
    },
)
def burnin_heat(burn: Burn) -> Facts:
    """Fit each GPU's temperature under the tensor load."""
    beside = burn.samples.get("bmc", ())
    inlet, power = column(beside, "inlet"), column(beside, "power")
    none = Unknown(Reason.NOT_TESTED, "no BMC reported this value during the load")
    yield "burnin.inlet", fmean(inlet) if inlet else none
    yield "burnin.power", max(power) if power else none
    for index in burn.gpus:
        for name, reading in _fitted(burn, f"gpu/{index}", fmean(inlet) if inlet else None):
            yield f"burnin.gpu/{index}.heat.{name}", reading
        yield f"burnin.gpu/{index}.unguarded", _unguarded(burn, index)


def _unguarded(burn: Burn, index: str) -> Reading:
    """Return which temperatures of a GPU have no limit; a GPU whose memory has no sensor needs none for its memory.

    A limit to which the margin could not be read at the end of the load, although it could before, is none.
    """
    samples, limit = burn.samples.get(f"gpu/{index}", ()), burn.gpus[index].get("memory_limit")
    if not column(samples, "temp"):
        return Unknown(Reason.NOT_TESTED, "no sample of its temperature was taken")
    if not isinstance(limit, bool):
        return Unknown(Reason.NOT_TESTED, "the burn-in does not report whether the memory's limit is known")
    end = samples[-UNREAD_MOST:]
    chip = () if column(end, "below") else ("chip",)
    unread = column(samples, "memory_below") and not column(end, "memory_below")
    return (*chip, *(("memory",) if unread or (column(samples, "memory_temp") and not limit) else ()))


def _fitted(burn: Burn, of: str, inlet: float | None) -> list[tuple[str, Reading]]:
    """Return the thermal fit of one GPU, from the beginning of its first tensor work."""
    work = [stage for stage in burn.of_stage("tensor", of) if stage.done]
    names = ("resistance", "ahead", "give", "constant", "below_slowdown")
    if not work:
        return [(name, Unknown(Reason.NOT_TESTED, "no tensor work was done")) for name in names]
    begin, end = stretch(work)
    taken = list(rows(burn, of, [(begin, end)]))
    found = fit(
        [TemperatureSample(row.t - begin, t, row.number("power")) for row in taken if (t := row.number("temp"))], inlet
    )
    if isinstance(found, Refused):
        later = found.longer and burn.hello.get("tier") == Tier.VALIDATE
        why = (
            Absent(f"only the tier soak is long enough: {found.why}")
            if later
            else Unknown(Reason.NOT_TESTED, found.why)
        )
        return [(name, why) for name in names]
    bare = Unknown(Reason.NOT_TESTED, "no BMC reported the air temperature")
    resistance = found.resistance if found.resistance is not None else bare
    values = (resistance, found.ahead, found.give, found.tau, _below(taken, found))
    return list(zip(names, values, strict=True))


def _below(taken: Sequence[Record], found: ThermalFit) -> Reading:
    """Return the slowdown temperature minus the predicted one; unknown if the difference is within the uncertainty."""
    items = [row for row in taken if row.number("temp") is not None and row.number("below") is not None]
    if not items:
        return Unknown(Reason.NOT_TESTED, "the driver does not report the margin to the slowdown temperature")
    slowdown = median((row.number("temp") or 0.0) + (row.number("below") or 0.0) for row in items)
    below = slowdown - found.ahead
    if abs(below) > found.give:
        return below
    ahead = f"predicted after ten minutes: {found.ahead:.0f} ± {found.give:.0f} C"
    message = f"{ahead}; the slowdown at {slowdown:.0f} C is in this range"
    return Unknown(Reason.NOT_TESTED, message)
