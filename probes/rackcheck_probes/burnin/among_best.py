"""Rates and power of each GPU, compared with the better GPUs of its kind on all nodes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck import Absent, Class, Member, Reason, Sourced, Unknown, comparison, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin.peer_copies import NEEDS as OF_PEERS
from rackcheck.parse.burnin.peer_copies import PeerCopies, ends, peer_copies
from rackcheck.parse.burnin.quartile import upper_quartile
from rackcheck.parse.burnin.readings import rate_of
from rackcheck.probe.compare import ItemFacts

APART = 0.3
"""Maximum share by which a value may be below the upper quartile of the GPUs of its kind.

A link that lost half of its lanes or one generation loses 50 %. The bounds within a node are 10 to 20 %. This bound is
wider, because nodes differ too, and because more GPUs are compared. With heavy tails (Student's t with 5 degrees of
freedom), and a spread of 1.5 % of GPUs and another of nodes, 2 of 250 simulated healthy fleets of 1,024 GPUs have a GPU
beyond it in any of the metrics, and 3 of 2,000 fleets of 128 GPUs (`benchmarks/straggler.py best 2000`).
"""

DIRECT = "burnin.gpu/*.peer/*.direct"
PROCESSOR, GPUS = "burnin.cpu.model", "the number of GPUs of the node"
ONLY = Absent("the only GPU of its node")
FEW = Absent("all GPUs of this kind are in one node")
NOT_OVER_NVLINK = Absent("most copies between the node's GPUs do not run over NVLink")
UNEQUAL = "compared with the better GPUs of its kind on all nodes"

GpuKey = tuple[str, str]
"""Identifies a GPU: the name of its node, and the GPU's index on this node."""

Kind = tuple[Reading, ...]
"""The values in which the GPUs that are compared must be equal; one that is unknown or absent may have any value."""


@dataclass(frozen=True, slots=True)
class _Metric:
    """A fact that is compared, what it measures, its unit, and the facts in which its peers must be equal.

    The GPUs that are compared are always of one model and default power limit. The rate of copies from and to the host
    also depends on the slot (or on the part of a shared uplink), the processor, and the number of GPUs that copy at the
    same time; the rate of copies between GPUs depends on the board; power and clock depend on the power limit.
    """

    leaf: str
    what: str
    unit: str
    alike: tuple[str, ...] = ()


ALWAYS = ("model", "limit_default")
METRICS = (
    _Metric("memory.copy", "rate of copies within memory", "GB/s"),
    _Metric("memory.verify", "rate of reading and comparing memory", "GB/s"),
    _Metric("link.h2d", "rate of copies from host memory", "GB/s", ("light.link.h2d.limit", PROCESSOR, GPUS)),
    _Metric("link.d2h", "rate of copies to host memory", "GB/s", ("light.link.d2h.limit", PROCESSOR, GPUS)),
    _Metric("peer", "median rate of copies to and from other GPUs over NVLink", "GB/s", (GPUS,)),
    _Metric("tensor.rate", "rate of matrix products", "TFLOP/s", ("limit",)),
    _Metric("tensor.power", "mean power during the last half of the tensor stage", "W", ("limit",)),
)
"""What is compared; the value of `peer` is computed from the rates of all copies to and from the GPU."""

OWN = (*ALWAYS, "limit", "light.link.h2d.limit", "light.link.d2h.limit", *(m.leaf for m in METRICS if m.leaf != "peer"))


@comparison(
    needs=(*OF_PEERS, DIRECT, PROCESSOR, *(f"burnin.gpu/*.{leaf}" for leaf in OWN)),
    gives={
        f"burnin.gpu/*.among.{m.leaf}": text(
            f"{m.what[0].upper()}{m.what[1:]}, {UNEQUAL}", Class.MEASUREMENT, ("fine", "slow")
        )
        for m in METRICS
    },
)
def burnin_among_best(members: Sequence[Member]) -> ItemFacts:
    """Compare the rates and the power of every GPU with the upper quartile of the GPUs of its kind on all nodes."""
    facts: dict[GpuKey, Mapping[str, Reading]] = {}
    notes: dict[GpuKey, str] = {}
    silent: list[str] = []
    most = 0
    for member in members:
        names, why = member.items("burnin.gpu")
        if why is not None:
            silent.append(member.seat.name)
        most = max(most, len(names))
        peers, words = _peers(member, names, sure=why is None)
        tables = {leaf: member.facts.table("burnin.gpu", leaf) for leaf in OWN}
        whole = {PROCESSOR: member.reading(PROCESSOR), GPUS: len(names) if why is None else why}
        for name in names:
            gpu = (member.seat.name, name)
            facts[gpu] = {leaf: table[name] for leaf, table in tables.items()} | {"peer": peers[name]} | whole
            notes[gpu] = words.get(name, "")
    if len({node for node, _ in facts} | set(silent)) < 2:
        yield from (_fact(gpu, metric, FEW) for metric in METRICS for gpu in facts)
        return
    holes = [node for node in silent for _ in range(most)]
    for metric in METRICS:
        yield from _compared(metric, facts, holes, notes if metric.leaf == "peer" else {})


def _peers(member: Member, names: Sequence[str], *, sure: bool) -> tuple[Mapping[str, Reading], Mapping[str, str]]:
    """Return the median rate of each GPU's copies over NVLink, and how many of these copies are direct.

    If no copy is faster than PCIe although the GPUs have NVLinks, the GPUs are compared too: those of other nodes show
    whether this is slow. A GPU that is `sure` to be the only one of its node has no such copies, whatever its slot is.
    """
    if sure and len(names) == 1:
        return dict.fromkeys(names, ONLY), {}
    copies = peer_copies(member.facts)
    why = _not_compared(copies)
    if why is not None:
        return dict.fromkeys(names, why), {}
    not_copied = Unknown(Reason.NOT_TESTED, "no copy to or from this GPU was measured")
    values: dict[str, Reading] = {name: copies.usual.get(name, not_copied) for name in names}
    direct: dict[str, list[bool]] = defaultdict(list)
    for path, reading in member.facts.every(DIRECT)[0].items():
        for end in ends(path):
            direct[end].append(reading is True)
    return values, {gpu: f"; {sum(each)} of {len(each)} copies direct" for gpu, each in direct.items()}


def _not_compared(copies: PeerCopies) -> Unknown | Absent | None:
    if copies.lost is not None:
        return copies.lost
    if copies.fast or copies.all_slow:
        return None
    return copies.not_linked or NOT_OVER_NVLINK


def _compared(
    metric: _Metric, facts: Mapping[GpuKey, Mapping[str, Reading]], holes: Sequence[str], notes: Mapping[GpuKey, str]
) -> ItemFacts:
    """Yield the outcome of one metric for every GPU; `holes` has the node of each GPU that a node may not have listed.

    A node that does not list its GPUs counts as if it had as many as the largest other node.
    """
    bins: dict[Kind, list[GpuKey]] = defaultdict(list)
    undecided: dict[Kind, list[GpuKey]] = defaultdict(list)
    for gpu, own in facts.items():
        if isinstance(own[metric.leaf], Absent):
            yield _fact(gpu, metric, own[metric.leaf])
            continue
        kind = tuple(own[leaf] for leaf in (*ALWAYS, *metric.alike))
        lost = next((part for part in kind if not _known(part)), None)
        (bins if lost is None else undecided)[kind].append(gpu)
        if lost is not None:
            detail = f"it is not known with which GPUs it can be compared: {_detail(lost)}"
            why = own[metric.leaf] if isinstance(own[metric.leaf], Unknown) else Unknown(Reason.NOT_TESTED, detail)
            yield _fact(gpu, metric, why)
    for kind, gpus in bins.items():
        more = [gpu for other, several in undecided.items() if _fits(other, kind) for gpu in several]
        values = {gpu: facts[gpu][metric.leaf] for gpu in gpus}
        yield from _judged(metric, values, more, holes, notes)


def _known(part: Reading) -> bool:
    """Return whether a part of a kind is known; the limit of a slot that could not be read is absent."""
    return not isinstance(part, Unknown | Absent)


def _detail(part: Reading) -> str:
    """Return why a part of a kind is not known."""
    if isinstance(part, Unknown):
        return part.detail or part.reason.value
    return part.detail if isinstance(part, Absent) else ""


def _fits(kind: Kind, other: Kind) -> bool:
    return all(not _known(part) or part == wanted for part, wanted in zip(kind, other, strict=True))


def _judged(
    metric: _Metric,
    values: Mapping[GpuKey, Reading],
    more: Sequence[GpuKey],
    holes: Sequence[str],
    notes: Mapping[GpuKey, str],
) -> ItemFacts:
    """Compare the GPUs of one kind; those in `more` and in `holes` may be of this kind too.

    A GPU without a value may have any rank, or may be of another kind, so another GPU gets a result only if all these
    cases lead to the same result.
    """
    numbers = {gpu: rate for gpu, reading in values.items() if (rate := rate_of(reading)) is not None}
    yield from (_fact(gpu, metric, reading) for gpu, reading in values.items() if gpu not in numbers)
    lost = len(values) - len(numbers) + len(more) + len(holes)
    nodes = {node for node, _ in numbers}
    others = {node for node, _ in (*values, *more)} | set(holes)
    missing = Unknown(Reason.NOT_TESTED, f"up to {lost} GPUs of its kind have no measurement")
    if len(nodes) < 2:
        yield from (_fact(gpu, metric, missing if others - nodes else FEW) for gpu in numbers)
        return
    usual = upper_quartile(numbers.values(), lost)
    peers = f"the upper quartile of {len(numbers)} GPUs of its kind on {len(nodes)} nodes"
    for gpu, value in numbers.items():
        slow, fine = value < usual.low * (1 - APART), value >= usual.high * (1 - APART)
        if usual.high <= 0:
            yield _fact(gpu, metric, Unknown(Reason.NOT_TESTED, "the other GPUs' value is 0"))
        elif slow or fine:
            line = usual.low if slow else usual.high
            source = f"burn-in: {metric.what}: {value:.4g} {metric.unit}, {(value / line - 1) * 100:+.1f} % against "
            source += f"{line:.4g} {metric.unit} of {peers}, limit {-APART * 100:+.0f} %{notes.get(gpu, '')}"
            yield _fact(gpu, metric, Sourced("slow" if slow else "fine", source))
        else:
            yield _fact(gpu, metric, missing)


def _fact(gpu: GpuKey, metric: _Metric, reading: Reading | Sourced) -> tuple[str, str, Reading | Sourced]:
    return gpu[0], f"burnin.gpu/{spell_key(gpu[1])}.among.{metric.leaf}", reading
