"""How many cores and threads each CPU package has."""

from rackcheck import Facts, Files, Read, collection, integer, listing, probe, spell_key
from rackcheck.parse.host.cpu import percpu
from rackcheck.parse.host.cpu.cpu_topology import packages

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
    for number, package in packages(percpu.numbers(percpu.by_cpu(files, PACKAGE)), siblings).items():
        item, per_core = f"cpu.package/{spell_key(str(number))}", package.per_core()
        yield f"{item}.threads", package.threads()
        # A kernel that does not tell siblings leaves the cores unknown, and the threads counted.
        if per_core is not None:
            yield f"{item}.cores", len(package.cores)
            yield f"{item}.threads_per_core", tuple(map(str, per_core))
