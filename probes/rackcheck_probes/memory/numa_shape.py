"""How NUMA nodes map to CPU packages: NPS, SNC, memory without CPUs."""

from rackcheck import Absent, Facts, Files, Read, Sourced, integer, listing, probe, read, text
from rackcheck.parse.host.cpu import percpu
from rackcheck.parse.host.memory import numa_nodes

NODE = "/sys/devices/system/node"
DISTANCE = f"{NODE}/node*/distance"
ONLINE, HAS_CPU, HAS_MEMORY = (f"{NODE}/{name}" for name in ("online", "has_cpu", "has_memory"))
TIERS = "/sys/devices/virtual/memory_tiering/memory_tier*/nodelist"
PACKAGE = "/sys/devices/system/cpu/cpu*/topology/physical_package_id"


@probe(
    Read(numa_nodes.CPUS, DISTANCE, ONLINE, HAS_CPU, HAS_MEMORY, PACKAGE, TIERS, seconds=30),
    gives={
        "numa.node/*.packages": listing("CPU packages with CPUs in the node: two or more with NPS0."),
        "numa.node/*.distance": text(
            "The node's distance to each NUMA node, in the order of their numbers; 10 is the distance to itself."
        ),
        "numa.per_package.least": integer("Count of NUMA nodes with CPUs per CPU package: the lowest of all packages."),
        "numa.per_package.most": integer(
            "Count of NUMA nodes with CPUs per CPU package: the highest of all packages (NPS, SNC)."
        ),
        "numa.without_cpus": listing("NUMA nodes that have no CPUs: GPU memory on Grace, CXL memory."),
        "numa.without_memory": listing("NUMA nodes that have no memory: no DIMM behind their CPUs."),
        "memory.tiers": listing("Memory tiers with their NUMA nodes, the fastest first; absent on kernels before 6.1."),
    },
)
def numa_shape(files: Files) -> Facts:
    """Compare the CPUs of NUMA nodes with those of packages; the facts are absent if the kernel has no NUMA."""
    packages = percpu.by_cpu(files, PACKAGE)
    found = []
    for node in numa_nodes.nodes(files, packages):
        found.append(node)
        yield f"numa.node/{node.number}.distance", files.read(DISTANCE.replace("*", node.number))
        if node.packages is not None:
            yield f"numa.node/{node.number}.packages", tuple(sorted(node.packages, key=read.natural))
    counts = numa_nodes.per_package(found)
    if counts is not None:
        none = Absent("no NUMA node has CPUs of a package")
        yield "numa.per_package.least", counts[0] if counts else none
        yield "numa.per_package.most", counts[-1] if counts else none
    for path, place in (("numa.without_cpus", HAS_CPU), ("numa.without_memory", HAS_MEMORY)):
        if files.has(ONLINE) and files.has(place):
            left = read.numbers(files.text(ONLINE)) - read.numbers(files.text(place))
            yield path, Sourced(tuple(map(str, sorted(left))), f"{ONLINE}, {place}")
    tiers = [f"memory_tier{tier}: {read.line(files.text(TIERS.replace('*', tier)))}" for (tier,) in files.found(TIERS)]
    yield "memory.tiers", Sourced(tuple(tiers) if tiers else Absent(f"no {TIERS}"), TIERS)
