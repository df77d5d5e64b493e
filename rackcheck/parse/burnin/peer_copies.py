"""The copies between the GPUs of one node: each GPU's median rate, and whether most copies run over NVLink. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import parse
from rackcheck.parse.burnin.light import pcie
from rackcheck.parse.burnin.readings import rate_of

PAIR = "burnin.gpu/*.peer/*.rate"
OF_NVLINK = "burnin.gpu/*.peer/*.of_nvlink"
SLOT = ("link.max_generation", "link.max_width")

NEEDS = ("burnin.gpu", PAIR, OF_NVLINK, *(f"burnin.gpu/*.{leaf}" for leaf in SLOT))
"""The facts that `peer_copies` reads."""


@dataclass(frozen=True, slots=True)
class PeerCopies:
    """The copies between the GPUs of a node.

    `rates` has the measured rates in GB/s, by the fact's path, `paths` all paths, and `usual` the median rate of the
    copies to and from each GPU. `linked` is whether any of the GPUs has NVLinks, `not_linked` why this may be wrong,
    and `slot` the highest theoretical rate of a GPU's slot in GB/s; None if it is not known. `lost` is the reason why
    the copies cannot be compared.
    """

    rates: Mapping[str, float]
    paths: tuple[str, ...]
    usual: Mapping[str, float]
    linked: bool
    not_linked: Unknown | None
    slot: float | None
    lost: Unknown | None

    @property
    def fast(self) -> bool:
        """Whether most copies are faster than PCIe, and therefore run over NVLink."""
        return self.slot is not None and bool(self.rates) and median(self.rates.values()) > self.slot

    @property
    def all_slow(self) -> bool:
        """Whether no copy is faster than PCIe, although the GPUs have NVLinks."""
        return self.linked and self.slot is not None and bool(self.rates) and max(self.rates.values()) <= self.slot


def peer_copies(inputs: Inputs) -> PeerCopies:
    """Return the copies between the GPUs of a node."""
    readings, cut = inputs.every(PAIR)
    slots = [reading for leaf in SLOT for reading in inputs.table("burnin.gpu", leaf).values()]
    rates = {path: rate for path, reading in readings.items() if (rate := rate_of(reading)) is not None}
    pairs = {path: ends(path) for path in rates}
    usual = {
        gpu: median(rate for path, rate in rates.items() if gpu in pairs[path])
        for gpu in sorted({gpu for pair in pairs.values() for gpu in pair})
    }
    shares = inputs.every(OF_NVLINK)[0].values()
    linked = any(rate_of(share) is not None for share in shares)
    lost, slot = cut or missing([*readings.values(), *slots]), max(_slots(inputs), default=None)
    return PeerCopies(rates, tuple(readings), usual, linked, None if linked else missing(shares), slot, lost)


def missing(readings: Iterable[Reading]) -> Unknown | None:
    """Return why a comparison is not possible if any of these readings is unknown; otherwise None."""
    lost = next((reading for reading in readings if isinstance(reading, Unknown)), None)
    if lost is None:
        return None
    return Unknown(Reason.NOT_TESTED, f"a value of the node's GPUs is missing: {lost.detail or lost.reason.value}")


def ends(path: str) -> tuple[str, str]:
    """Return the indices of the two GPUs of a pair's fact."""
    keys = [segment.key or "" for segment in parse(path).segments if segment.key is not None]
    return keys[0], keys[1]


def _slots(inputs: Inputs) -> Iterator[float]:
    """Yield the theoretical rate of each GPU's slot in GB/s, as far as it is known."""
    generations, widths = (inputs.table("burnin.gpu", leaf) for leaf in SLOT)
    for gpu, generation in generations.items():
        width = widths[gpu]
        if isinstance(generation, int) and isinstance(width, int) and (rate := pcie(generation, width)) is not None:
            yield rate / 1e9
