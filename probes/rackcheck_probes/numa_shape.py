"""How NUMA nodes and CPU packages lie to one another: NPS, SNC, memory without CPUs."""

from rackcheck import Absent, Facts, Files, Read, Reason, Sourced, Unreadable, integer, listing, probe, text
from rackcheck.core import read
from rackcheck.core.read import percpu

NODE = "/sys/devices/system/node"
CPUS, DISTANCE = f"{NODE}/node*/cpulist", f"{NODE}/node*/distance"
ONLINE, HAS_CPU, HAS_MEMORY = (f"{NODE}/{name}" for name in ("online", "has_cpu", "has_memory"))
TIERS = "/sys/devices/virtual/memory_tiering/memory_tier*/nodelist"
MOST, MOST_CPUS = 1024, 8192
"""NUMA nodes, and CPUs, that a Linux kernel may have; each CPU is of one node."""

PACKAGE = "/sys/devices/system/cpu/cpu*/topology/physical_package_id"


@probe(
    Read(CPUS, DISTANCE, ONLINE, HAS_CPU, HAS_MEMORY, PACKAGE, TIERS, seconds=30),
    gives={
        "numa.node/*.packages": listing("CPU packages that the node has CPUs of: two or more with NPS0."),
        "numa.node/*.distance": text("The node's distance to each node, in their order; 10 is its own."),
        "numa.per_package.least": integer("NUMA nodes with CPUs of one package, where they are fewest."),
        "numa.per_package.most": integer("NUMA nodes with CPUs of one package, where they are most: NPS, SNC."),
        "numa.without_cpus": listing("NUMA nodes that have no CPUs: GPU memory on Grace, CXL memory."),
        "numa.without_memory": listing("NUMA nodes that have no memory: no DIMM behind their CPUs."),
        "memory.tiers": listing("Memory tiers with their NUMA nodes, the fastest first; kernels since 6.1."),
    },
)
def numa_shape(files: Files) -> Facts:
    """Lay the nodes' CPUs over the packages'; absent without NUMA in the kernel."""
    packages = percpu.by_cpu(files, PACKAGE)
    nodes: dict[str, set[str]] = {}
    numbers = [number for (number,) in files.found(CPUS)]
    if len(numbers) > MOST:
        raise Unreadable(f"more than {MOST} NUMA nodes", Reason.TOO_LARGE)
    named = 0
    whole = True  # where the kernel does not tell a CPU's package, nobody knows how the nodes lie
    for number in numbers:
        cpus = read.numbers(files.text(CPUS.replace("*", number)), limit=MOST_CPUS)
        named += len(cpus)
        if named > MOST_CPUS:
            raise Unreadable(f"NUMA nodes with more than {MOST_CPUS} CPUs: some are named twice", Reason.TOO_LARGE)
        if number.isascii() and number.isdigit():
            yield f"numa.node/{number}.distance", files.read(DISTANCE.replace("*", number))
            if cpus <= packages.keys():
                of = {packages[cpu] for cpu in cpus}
                yield f"numa.node/{number}.packages", tuple(sorted(of, key=read.natural))
                for package in of:
                    nodes.setdefault(package, set()).add(number)
            else:
                whole = False
    counts = [len(of) for of in nodes.values()]
    none = Absent("no NUMA node has CPUs of a package")
    if whole:
        yield "numa.per_package.least", min(counts) if counts else none
        yield "numa.per_package.most", max(counts) if counts else none
    for path, place in (("numa.without_cpus", HAS_CPU), ("numa.without_memory", HAS_MEMORY)):
        if files.has(ONLINE) and files.has(place):
            left = read.numbers(files.text(ONLINE)) - read.numbers(files.text(place))
            yield path, Sourced(tuple(map(str, sorted(left))), f"{ONLINE}, {place}")
    tiers = [f"memory_tier{tier}: {read.line(files.text(TIERS.replace('*', tier)))}" for (tier,) in files.found(TIERS)]
    yield "memory.tiers", Sourced(tuple(tiers) if tiers else Absent(f"no {TIERS}"), TIERS)
