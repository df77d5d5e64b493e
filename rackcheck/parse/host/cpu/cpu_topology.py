"""How CPUs share cores and packages, as /sys/devices/system/cpu/cpu*/topology says of each CPU."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """The threads of each core that are online; a core is told by the threads that share it.

    An empty word stands for threads of which the kernel does not tell their siblings.
    """

    cores: Mapping[str, int]

    def threads(self) -> int:
        """Count the logical CPUs that are online."""
        return sum(self.cores.values())

    def per_core(self) -> tuple[int, ...] | None:
        """Give how many threads cores run, several if cores differ; none where cores are not known."""
        return None if "" in self.cores else tuple(sorted(set(self.cores.values())))


def packages(by_cpu: Mapping[int, int], siblings: Mapping[int, str]) -> dict[int, Package]:
    """Gather the CPUs of each package, by its number, in the order of CPUs."""
    found: dict[int, Counter[str]] = {}
    for cpu, package in by_cpu.items():
        found.setdefault(package, Counter())[siblings.get(cpu, "")] += 1
    return {package: Package(cores) for package, cores in found.items()}
