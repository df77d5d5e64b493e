"""Each GPU's rates and power under load, compared with the better GPUs of its model in the same node."""

from collections.abc import Mapping, Sequence

from rackcheck import Absent, Class, Facts, Inputs, Reason, Sourced, Unknown, join, quantity, spell_key
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin.peer_copies import NEEDS, ends, missing, peer_copies
from rackcheck.parse.burnin.quartile import upper_quartile
from rackcheck.parse.burnin.readings import rate_of

RATES = {
    "memory.copy": "Rate of copies within memory",
    "memory.verify": "Rate of reading and comparing memory",
    "link.h2d": "Rate of copies from host memory",
    "link.d2h": "Rate of copies to host memory",
    "tensor.rate": "Rate of matrix products",
    "tensor.power": "Mean power during the last half of the tensor stage",
}
"""The facts that are compared, and what they measure."""

UNITS = {"tensor.rate": "TFLOP/s", "tensor.power": "W"}
"""The units of the facts that are not in GB/s."""

OTHERS = "compared with the upper quartile of the node's other GPUs of this model."
ALONE = Absent("the only GPU of its model in the node")
ONLY = Absent("the only GPU of the node")
NOT_OVER_NVLINK = Absent("most copies between the node's GPUs do not run over NVLink")
SLOW = Unknown(Reason.NOT_TESTED, "no copy between GPUs is faster than PCIe, although the GPUs have NVLinks")

Values = Mapping[str, Reading]
"""One fact of each GPU of a node, by the GPU's index."""


@join(
    needs=(*NEEDS, "burnin.gpu/*.model", *(f"burnin.gpu/*.{leaf}" for leaf in RATES)),
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
        yield (
            f"burnin.gpu/{spell_key(gpu)}.beside.{leaf}",
            _beside(own, others, missing([*doubtful, *others]), UNITS.get(leaf, "GB/s")),
        )


def _beside(own: Reading, others: Sequence[Reading], lost: Unknown | None, unit: str) -> Reading | Sourced:
    value = rate_of(own)
    if value is None:
        return own
    if lost is not None:
        return lost
    numbers = [number for other in others if (number := rate_of(other)) is not None]
    if not numbers:
        return ALONE
    usual = upper_quartile(numbers).high
    if usual <= 0:
        return Unknown(Reason.NOT_TESTED, "the other GPUs' value is 0")
    peers = f"the other {len(numbers)} GPUs of its model in the node" if len(numbers) > 1 else "the other GPU"
    source = f"burn-in: {value:.4g} {unit}, compared with {usual:.4g} {unit} of {peers}"
    return Sourced((value / usual - 1) * 100, source)


def _peers(inputs: Inputs, models: Values) -> Facts:
    """Compare copies between GPUs: each GPU's median rate with the others', and each pair's rate with its medians.

    A pair that is slow because one of its GPUs is slow in every pair does not stand out among that GPU's pairs.
    """
    if len(models) == 1:
        yield from ((f"burnin.gpu/{spell_key(gpu)}.beside.peer", ONLY) for gpu in models)
        return
    copies = peer_copies(inputs)
    why: Reading | None = copies.lost
    if why is None and not copies.fast:
        why = SLOW if copies.all_slow else NOT_OVER_NVLINK
    if why is not None:
        yield from ((f"burnin.gpu/{spell_key(gpu)}.beside.peer", why) for gpu in models)
        yield from ((f"{path.rpartition('.')[0]}.beside", why) for path in copies.paths)
        return
    not_copied = Unknown(Reason.NOT_TESTED, "no copy to or from this GPU was measured")
    yield from _compared("peer", models, {gpu: copies.usual.get(gpu, not_copied) for gpu in models})
    for path, rate in copies.rates.items():
        least = min(copies.usual[gpu] for gpu in ends(path))
        if least > 0:
            source = f"burn-in: {rate:.4g} GB/s, compared with {least:.4g} GB/s, the lower median rate of its two GPUs"
            yield f"{path.rpartition('.')[0]}.beside", Sourced((rate / least - 1) * 100, source)
