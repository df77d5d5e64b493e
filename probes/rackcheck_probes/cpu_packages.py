"""How many cores and threads each CPU package has."""

from collections import Counter

from rackcheck import Facts, Files, Read, collection, integer, listing, probe, spell_key
from rackcheck.core.read import percpu

FOLDER = "/sys/devices/system/cpu/cpu*/topology"
PACKAGE, SIBLINGS = f"{FOLDER}/physical_package_id", f"{FOLDER}/thread_siblings_list"


@probe(
    Read(PACKAGE, SIBLINGS, seconds=30, cap=4 << 20),
    gives={
        "cpu.package": collection("CPU packages with a CPU that is online, by the kernel's number."),
        "cpu.package/*.threads": integer("Logical CPUs of the package that are online."),
        "cpu.package/*.cores": integer("Cores of the package with a thread that is online."),
        "cpu.package/*.threads_per_core": listing("How many threads its cores run; several if cores differ."),
    },
)
def cpu_packages(files: Files) -> Facts:
    """Count the online CPUs of each package; a core is told by the threads that share it."""
    siblings = percpu.by_cpu(files, SIBLINGS)
    packages: dict[int, dict[str, int]] = {}
    for cpu, package in percpu.numbers(percpu.by_cpu(files, PACKAGE)).items():
        cores = packages.setdefault(package, Counter())
        # A kernel that does not tell siblings leaves the cores unknown, and the threads counted.
        cores[siblings.get(cpu, "")] += 1
    for package, cores in packages.items():
        item = f"cpu.package/{spell_key(str(package))}"
        yield f"{item}.threads", sum(cores.values())
        if "" not in cores:
            yield f"{item}.cores", len(cores)
            yield f"{item}.threads_per_core", tuple(map(str, sorted(set(cores.values()))))
