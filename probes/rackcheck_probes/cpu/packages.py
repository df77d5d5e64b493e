"""How many cores and threads each CPU package has."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck import Facts, Files, Read, collection, integer, listing, probe, spell_key
from rackcheck.parse.host.cpu import percpu

FOLDER = "/sys/devices/system/cpu/cpu*/topology"
PACKAGE, SIBLINGS = f"{FOLDER}/physical_package_id", f"{FOLDER}/thread_siblings_list"


@probe(
    Read(PACKAGE, SIBLINGS, seconds=30, cap=4 << 20),
    gives={
        "cpu.package": collection("CPU packages with a CPU that is online, by the kernel's number."),
        "cpu.package/*.threads": integer("Logical CPUs of the package that are online."),
        "cpu.package/*.cores": integer("Cores of the package with a thread that is online."),
        "cpu.package/*.threads_per_core": listing(
            "Number of threads that each core of the package runs; several numbers if cores differ."
        ),
    },
)
def cpu_packages(files: Files) -> Facts:
    """Count the online CPUs of each package; a core is identified by the threads that share it."""
    siblings = percpu.by_cpu(files, SIBLINGS)
    for number, package in packages(percpu.numbers(percpu.by_cpu(files, PACKAGE)), siblings).items():
        item, per_core = f"cpu.package/{spell_key(str(number))}", package.per_core()
        yield f"{item}.threads", package.threads()
        # If the kernel does not report siblings, the cores are unknown and the threads are still counted.
        if per_core is not None:
            yield f"{item}.cores", len(package.cores)
            yield f"{item}.threads_per_core", tuple(map(str, per_core))


# How CPUs share cores and packages, from /sys/devices/system/cpu/cpu*/topology of each CPU.


@dataclass(frozen=True)
class Package:
    """One CPU package: the number of online threads of each core, by the core's list of threads (`0,64`).

    Threads whose core the kernel does not report are counted under the empty key.
    """

    cores: Mapping[str, int]

    def threads(self) -> int:
        """Count the package's logical CPUs that are online."""
        return sum(self.cores.values())

    def per_core(self) -> tuple[int, ...] | None:
        """Return the sorted distinct numbers of threads per core; None if the core of any thread is unknown."""
        return None if "" in self.cores else tuple(sorted(set(self.cores.values())))


def packages(by_cpu: Mapping[int, int], siblings: Mapping[int, str]) -> dict[int, Package]:
    """Group the CPUs by package number, in the order of the CPUs."""
    found: dict[int, Counter[str]] = {}
    for cpu, package in by_cpu.items():
        found.setdefault(package, Counter())[siblings.get(cpu, "")] += 1
    return {package: Package(cores) for package, cores in found.items()}
