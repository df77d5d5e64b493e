"""Each GPU's rates and power under load, compared with the better GPUs of its model in the same node."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from rackcheck import Absent, Class, Facts, Inputs, Reason, Unknown, join, quantity, spell_key
from rackcheck.model.fact import Reading
from rackcheck.model.path import parse
from rackcheck.parse.burnin.light import pcie

RATES = {
    "memory.copy": "Rate of copies within memory",
    "memory.verify": "Rate of reading and comparing memory",
    "link.h2d": "Rate of copies from host memory",
    "link.d2h": "Rate of copies to host memory",
    "tensor.rate": "Rate of matrix products",
    "tensor.power": "Mean power during the tensor stage",
}
"""The facts that are compared, and what they measure."""

OTHERS = "compared with the upper quartile of the node's other GPUs of this model"
ALONE = Absent("the only GPU of its model in the node")
PAIR, SLOT = "burnin.gpu/*.peer/*.rate", ("link.max_generation", "link.max_width")

Values = Mapping[str, Reading]
"""One fact of each GPU of a node, by the GPU's index."""


@join(
    needs=(
        "burnin.gpu",
        "burnin.gpu/*.model",
        PAIR,
        *(f"burnin.gpu/*.{leaf}" for leaf in (*RATES, *SLOT)),
    ),
    gives={
        **{
            f"burnin.gpu/*.beside.{leaf}": quantity("%", f"{what}, {OTHERS}", Class.MEASUREMENT)
            for leaf, what in RATES.items()
        },
        "burnin.gpu/*.beside.peer": quantity(
            "%",
            f"Median rate of copies to and from other GPUs, {OTHERS}; absent if most copies do not run over NVLink",
            Class.MEASUREMENT,
        ),
        "burnin.gpu/*.peer/*.beside": quantity(
            "%",
            "Rate of copies to that GPU, compared with the median rates of both GPUs; absent without NVLink",
            Class.MEASUREMENT,
        ),
    },
)
def burnin_beside(inputs: Inputs) -> Facts:
    """Compare every GPU with the other GPUs of its model in the node; a GPU without a measurement is left out."""
    models = inputs.table("burnin.gpu", "model")
    for leaf in RATES:
        yield from _compared(leaf, models, inputs.table("burnin.gpu", leaf))
    yield from _peers(inputs, models)


def _compared(leaf: str, models: Values, values: Values) -> Facts:
    """Yield by how many percent each GPU's value is above the upper quartile of the others' known values."""
    for gpu, own in values.items():
        others = [
            number
            for other, value in values.items()
            if other != gpu and models[other] == models[gpu] and (number := _number(value)) is not None
        ]
        alone = sum(1 for model in models.values() if model == models[gpu]) < 2
        yield f"burnin.gpu/{spell_key(gpu)}.beside.{leaf}", _beside(own, others, alone=alone)


def _beside(own: Reading, others: Sequence[float], *, alone: bool) -> Reading:
    value = _number(own)
    if value is None:
        return own
    if alone:
        return ALONE
    if not others:
        return Unknown(Reason.NOT_TESTED, "no other GPU of its model in the node has a measurement")
    usual = sorted(others)[round(0.75 * (len(others) - 1))]
    return (value / usual - 1) * 100 if usual > 0 else Unknown(Reason.NOT_TESTED, "the other GPUs' value is 0")


def _peers(inputs: Inputs, models: Values) -> Facts:
    """Compare the copies between GPUs: each GPU's usual rate with that of others, and each pair with its two GPUs.

    A pair that is slow because one of its GPUs is slow in every pair does not stand out among that GPU's pairs.
    """
    every = {path: _number(reading) for path, reading in inputs.every(PAIR)[0].items()}
    rates = {path: rate for path, rate in every.items() if rate is not None}
    ends = {path: _ends(path) for path in rates}
    usual = {
        gpu: median(rate for path, rate in rates.items() if gpu in ends[path])
        for gpu in sorted({gpu for pair in ends.values() for gpu in pair})
    }
    most = max(_slots(inputs), default=None)
    if most is None or not rates or median(rates.values()) <= most:
        absent = Absent("most copies between the node's GPUs do not run over NVLink")
        yield from ((f"burnin.gpu/{spell_key(gpu)}.beside.peer", absent) for gpu in models)
        yield from ((f"{path.rpartition('.')[0]}.beside", absent) for path in rates)
        return
    missing = Unknown(Reason.NOT_TESTED, "no copy to or from this GPU was measured")
    yield from _compared("peer", models, {gpu: usual.get(gpu, missing) for gpu in models})
    for path, rate in rates.items():
        least = min(usual[gpu] for gpu in ends[path])
        if least > 0:
            yield f"{path.rpartition('.')[0]}.beside", (rate / least - 1) * 100


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
