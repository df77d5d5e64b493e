"""The kernel's NUMA nodes, and the CPU packages (sockets) to which the CPUs of each node belong."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import numbers

CPUS = "/sys/devices/system/node/node*/cpulist"

MOST, MOST_CPUS = 1024, 8192
"""Maximum number of NUMA nodes, and of CPUs, of a Linux kernel; each CPU belongs to one node."""


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node: its number, and the packages of its CPUs; `packages` is None if a CPU's package is unknown."""

    number: str
    packages: frozenset[str] | None


def nodes(files: Files, packages: Mapping[int, str]) -> Iterator[NumaNode]:
    """Yield the NUMA nodes in the order of their numbers; `packages` maps each CPU to its package.

    Raises Unreadable if a node's list of CPUs cannot be read, and, with the reason TOO_LARGE, if there are more nodes
    or CPUs than a kernel may have.
    """
    found = [number for (number,) in files.found(CPUS)]
    if len(found) > MOST:
        raise Unreadable(f"more than {MOST} NUMA nodes", Reason.TOO_LARGE)
    named = 0
    for number in found:
        cpus = numbers(files.text(CPUS.replace("*", number)), limit=MOST_CPUS)
        named += len(cpus)
        if named > MOST_CPUS:
            raise Unreadable(f"the NUMA nodes list more than {MOST_CPUS} CPUs in all", Reason.TOO_LARGE)
        if number.isascii() and number.isdigit():
            whole = cpus <= packages.keys()
            yield NumaNode(number, frozenset(packages[cpu] for cpu in cpus) if whole else None)


def per_package(found: Iterable[NumaNode]) -> tuple[int, ...] | None:
    """Count, for each CPU package, the NUMA nodes that have CPUs of the package; return the counts in ascending order.

    Returns None instead of the counts if the package of a CPU is unknown.
    """
    counts: dict[str, int] = {}
    for node in found:
        if node.packages is None:
            return None
        for package in node.packages:
            counts[package] = counts.get(package, 0) + 1
    return tuple(sorted(counts.values()))
