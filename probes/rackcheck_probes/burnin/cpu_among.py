"""Rates of cores and of NUMA nodes, compared with those of their kind in the same machine."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from rackcheck import Class, Facts, Load, Reason, Sourced, Unknown, probe, quantity, text
from rackcheck.model.burn_record import Burn
from rackcheck.model.fact import Absent, Reading
from rackcheck.parse.burnin.readings import figure, untested

CORE = 0.6
"""Least share of the median FP64 rate of the other cores of its kind; below it, a core is slow.

A core that lost one of its two vector units, or half of its clock, is at 50 %.
"""

MEMORY = 0.9
"""Least share of the median bandwidth of the other NUMA nodes; a node that lost one of eight channels is at 87.5 %."""

ALIKE = 0.9
"""NUMA nodes are compared if the smaller of them has at least this share of the CPUs of the larger one.

Some processors divide their cores unevenly: 43, 43 and 42, for example.
"""

VIRTUAL = Absent("a virtual machine, whose CPUs may share a core of the host, and its memory channels")
WORDS = ("fine", "slow")


@dataclass(frozen=True, slots=True)
class _Peers:
    """The least share of the median of the others, their name, and the unit in which a rate of 1e9 is 1."""

    least: float
    name: str
    unit: str


CORES = _Peers(CORE, "cores of its kind", "GFLOP/s")
NODES = _Peers(MEMORY, "NUMA nodes", "GB/s")


@probe(
    Load(),
    gives={
        "burnin.core/*.kind": text("Kind of the core: type, last-level cache, threads of the core", Class.IDENTITY),
        "burnin.core/*.among.rate": text(
            "FP64 rate, compared with the median of the other cores of its kind", Class.MEASUREMENT, WORDS
        ),
        "burnin.memory/*.rate": quantity(
            "GB/s", "Memory bandwidth of the NUMA node's processors while those of all nodes worked", Class.MEASUREMENT
        ),
        "burnin.memory/*.among.rate": text(
            "Memory bandwidth, compared with the median of the machine's other NUMA nodes", Class.MEASUREMENT, WORDS
        ),
    },
)
def burnin_cpu_among(burn: Burn) -> Facts:
    """Compare cores of one kind with each other, and NUMA nodes with each other."""
    cores, kinds = _cores(burn)
    for key in burn.things("cpu"):
        kind = kinds.get(key)
        others = {name: rate for name, rate in cores.items() if name != key and kinds.get(name) in (kind, None)}
        odd: Reading | None = None
        if kind is None:
            odd = Unknown(Reason.NOT_TESTED, "the burn-in reports no kind of this core")
        elif not kind:
            odd = Absent("other work may run on a thread of this core that the burn-in may not use")
        yield f"burnin.core/{key}.kind", odd or str(kind)
        yield f"burnin.core/{key}.among.rate", _judged(burn, cores[key], others, CORES, odd)
    nodes, threads = _nodes(burn)
    shared = _shared(burn)
    for key in burn.things("numa"):
        rate = nodes.get(key, Absent("the machine has one NUMA node, or this one has no CPUs or no memory"))
        yield f"burnin.memory/{key}.rate", rate / 1e9 if isinstance(rate, float) else rate
        others = {
            name: each
            for name, each in nodes.items()
            if name != key and name not in shared and _similar(threads, key, name)
        }
        odd = Absent(f"other work may run on {shared[key]:.0f} CPUs of this NUMA node") if key in shared else None
        yield f"burnin.memory/{key}.among.rate", _judged(burn, rate, others, NODES, odd)


def _cores(burn: Burn) -> tuple[dict[str, Reading], dict[str, str]]:
    """Return the rate of each CPU, also of those without a record, and the kind of each CPU that reports one."""
    keys = dict.fromkeys((*map(str, burn.hello.get("cpus", ())), *burn.things("cpu")))
    work = {key: list(burn.of_stage("fma", f"cpu/{key}")) for key in keys}
    kinds = {key: each.word("core") for key, stages in work.items() for each in stages if "core" in each.words}
    return {key: figure(burn, stages, "rate") for key, stages in work.items()}, kinds


def _nodes(burn: Burn) -> tuple[dict[str, Reading], dict[str, float]]:
    """Return the bandwidth and the number of CPUs of each NUMA node that has records of it."""
    work = {key: list(burn.of_stage("triad", f"numa/{key}")) for key in burn.things("numa")}
    threads = {key: count for key, stages in work.items() for each in stages if (count := each.number("threads"))}
    whole = list(burn.of_stage("triad", "node"))
    if len(work) > 1 and not (whole and all(stage.done for stage in whole)):
        return dict.fromkeys(work, untested(burn, whole)), threads
    return {key: figure(burn, stages, "rate") for key, stages in work.items() if stages}, threads


def _shared(burn: Burn) -> dict[str, float]:
    """Return how many CPUs of a NUMA node the burn-in may not use, for each node that has such CPUs."""
    work = [
        (key, stage.number("unlisted"))
        for key in burn.things("numa")
        for stage in burn.of_stage("triad", f"numa/{key}")
    ]
    return {key: count for key, count in work if count}


def _similar(threads: Mapping[str, float], one: str, other: str) -> bool:
    """Return whether two NUMA nodes have about as many CPUs; they may have if it is not known."""
    pair = sorted((threads.get(one, math.nan), threads.get(other, math.nan)))
    return not pair[0] < ALIKE * pair[1]


def _judged(
    burn: Burn, own: Reading, others: Mapping[str, Reading], peers: _Peers, odd: Reading | None = None
) -> Reading | Sourced:
    """Return whether a rate is slow, compared with the median of the others, of which some may not be known."""
    if not isinstance(burn.hello.get("virtual"), int):
        return Unknown(Reason.NOT_TESTED, "the burn-in does not report whether this is a virtual machine")
    if burn.hello["virtual"]:
        return VIRTUAL
    if odd is not None:
        return odd
    if not isinstance(own, float):
        return own
    if not others:
        return Absent(f"no other {peers.name} to compare with")
    known = [rate for rate in others.values() if isinstance(rate, float)]
    low, high = (median([*known, *[edge] * (len(others) - len(known))]) for edge in (0.0, math.inf))
    slow, fine = own < peers.least * low, own >= peers.least * high
    if not slow and not fine:
        return Unknown(Reason.NOT_TESTED, f"too many rates of other {peers.name} are missing")
    usual = low if slow else high
    value, middle, bound = (f"{each / 1e9:.4g} {peers.unit}" for each in (own, usual, peers.least * usual))
    source = f"burn-in: {value}, the median of {len(known)} other {peers.name} is {middle}"
    return Sourced("slow" if slow else "fine", f"{source}; at least {peers.least:.0%} of it, {bound}, is required")
