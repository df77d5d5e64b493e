"""Each GPU's rates and power under load, compared with the better GPUs of its model in the same node."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from rackcheck import Absent, Class, Facts, Inputs, Reason, Sourced, Unknown, join, quantity, spell_key
from rackcheck.model.fact import Reading
from rackcheck.model.path import parse
from rackcheck.parse.burnin.light import pcie
from rackcheck.parse.burnin.quartile import upper_quartile

RATES = {
    "memory.copy": "Rate of copies within memory",
    "memory.verify": "Rate of reading and comparing memory",
    "link.h2d": "Rate of copies from host memory",
    "link.d2h": "Rate of copies to host memory",
    "tensor.rate": "Rate of matrix products",
    "tensor.power": "Mean power during the last half of the tensor stage",
}
"""The facts that are compared, and what they measure."""

OTHERS = "compared with the upper quartile of the node's other GPUs of this model."
ALONE = Absent("the only GPU of its model in the node")
PAIR, SLOT = "burnin.gpu/*.peer/*.rate", ("link.max_generation", "link.max_width")
OF_NVLINK = "burnin.gpu/*.peer/*.of_nvlink"
SLOW = Unknown(Reason.NOT_TESTED, "no copy between GPUs is faster than PCIe, although the GPUs have NVLinks")

Values = Mapping[str, Reading]
"""One fact of each GPU of a node, by the GPU's index."""


@join(
    needs=(
        "burnin.gpu",
        "burnin.gpu/*.model",
        PAIR,
        OF_NVLINK,
        *(f"burnin.gpu/*.{leaf}" for leaf in (*RATES, *SLOT)),
    ),
    gives={
        **{
            f"burnin.gpu/*.beside.{leaf}": quantity("%", f"{what}, {OTHERS}", Class.MEASUREMENT)
            for leaf, what in RATES.items()
        },
        "burnin.gpu/*.beside.peer": quantity(
            "%",
            f"Median rate of copies to and from other GPUs, absent if most do not run over NVLink, {OTHERS}",
            Class.MEASUREMENT,
        ),
        "burnin.gpu/*.peer/*.beside": quantity(
            "%",
            "Rate of copies to that GPU, compared with the lower of both GPUs' median rates; absent without NVLink.",
            Class.MEASUREMENT,
        ),
    },
)
def burnin_beside(inputs: Inputs) -> Facts:
    """Compare every GPU with the other GPUs of its model in the node, if all of them have a measurement."""
    models = inputs.table("burnin.gpu", "model")
    for leaf in RATES:
        yield from _compared(leaf, models, inputs.table("burnin.gpu", leaf))
    yield from _peers(inputs, models)


def _compared(leaf: str, models: Values, values: Values) -> Facts:
    """Yield by how many percent each GPU's value is above the upper quartile of the others' values."""
    for gpu, own in values.items():
        known = [other for other in values if other != gpu and not isinstance(models[other], Unknown)]
        others = [values[other] for other in known if models[other] == models[gpu]]
        doubtful = [models[other] for other in values if isinstance(models[other], Unknown)]
        yield f"burnin.gpu/{spell_key(gpu)}.beside.{leaf}", _beside(own, others, _lost([*doubtful, *others]))


def _lost(readings: Iterable[Reading]) -> Unknown | None:
    """Return why a comparison is not possible if any of these readings is unknown; otherwise None."""
    lost = next((reading for reading in readings if isinstance(reading, Unknown)), None)
    if lost is None:
        return None
    return Unknown(Reason.NOT_TESTED, f"a value of the node's GPUs is missing: {lost.detail or lost.reason.value}")


def _beside(own: Reading, others: Sequence[Reading], lost: Unknown | None) -> Reading | Sourced:
    value = _number(own)
    if value is None:
        return own
    if lost is not None:
        return lost
    numbers = [number for other in others if (number := _number(other)) is not None]
    if not numbers:
        return ALONE
    usual = upper_quartile(numbers).high
    if usual <= 0:
        return Unknown(Reason.NOT_TESTED, "the other GPUs' value is 0")
    peers = f"the other {len(numbers)} GPUs of its model in the node" if len(numbers) > 1 else "the other GPU"
    return Sourced((value / usual - 1) * 100, f"burn-in: {value:.4g}, compared with {usual:.4g} of {peers}")


def _peers(inputs: Inputs, models: Values) -> Facts:
    """Compare copies between GPUs: each GPU's median rate with the others', and each pair's rate with its medians.

    A pair that is slow because one of its GPUs is slow in every pair does not stand out among that GPU's pairs.
    """
    readings, cut = inputs.every(PAIR)
    slots = [reading for leaf in SLOT for reading in inputs.table("burnin.gpu", leaf).values()]
    rates = {path: rate for path, reading in readings.items() if (rate := _number(reading)) is not None}
    most = max(_slots(inputs), default=None)
    why: Reading | None = cut or _lost([*readings.values(), *slots])
    if why is None and (most is None or not rates or median(rates.values()) <= most):
        linked = any(_number(reading) is not None for reading in inputs.every(OF_NVLINK)[0].values())
        slow = linked and most is not None and bool(rates) and max(rates.values()) <= most
        why = SLOW if slow else Absent("most copies between the node's GPUs do not run over NVLink")
    if why is not None:
        yield from ((f"burnin.gpu/{spell_key(gpu)}.beside.peer", why) for gpu in models)
        yield from ((f"{path.rpartition('.')[0]}.beside", why) for path in readings)
        return
    ends = {path: _ends(path) for path in rates}
    usual = {
        gpu: median(rate for path, rate in rates.items() if gpu in ends[path])
        for gpu in sorted({gpu for pair in ends.values() for gpu in pair})
    }
    missing = Unknown(Reason.NOT_TESTED, "no copy to or from this GPU was measured")
    yield from _compared("peer", models, {gpu: usual.get(gpu, missing) for gpu in models})
    for path, rate in rates.items():
        least = min(usual[gpu] for gpu in ends[path])
        if least > 0:
            source = f"burn-in: {rate:.4g} GB/s, compared with {least:.4g} GB/s, the lower median rate of its two GPUs"
            yield f"{path.rpartition('.')[0]}.beside", Sourced((rate / least - 1) * 100, source)


def _slots(inputs: Inputs) -> Iterator[float]:
    """Yield the theoretical rate of each GPU's slot in GB/s, as far as it is known."""
    generations, widths = (inputs.table("burnin.gpu", leaf) for leaf in SLOT)
    for gpu, generation in generations.items():
        width = widths[gpu]
        if isinstance(generation, int) and isinstance(width, int) and (rate := pcie(generation, width)) is not None:
            yield rate / 1e9


def _ends(path: str) -> tuple[str, str]:
    """Return the indices of the two GPUs of a pair's fact."""
    keys = [segment.key or "" for segment in parse(path).segments if segment.key is not None]
    return keys[0], keys[1]


def _number(reading: Reading) -> float | None:
    """Return a rate or a power as a number; None if it is not a finite number of at least zero."""
    known = isinstance(reading, int | float) and not isinstance(reading, bool) and math.isfinite(reading)
    return float(reading) if known and isinstance(reading, int | float) and reading >= 0 else None
