"""How the CPUs share the last-level cache."""

from rackcheck import Absent, Facts, Files, Read, integer, listing, probe
from rackcheck.parse.host.cpu import percpu

FOLDER = "/sys/devices/system/cpu/cpu*/cache/index3"
SHARED, SIZE = f"{FOLDER}/shared_cpu_list", f"{FOLDER}/size"


@probe(
    Read(SHARED, SIZE, seconds=30, cap=4 << 20),
    gives={
        "cpu.l3.caches": integer("Level 3 caches: one per package (Intel), one for every few cores (AMD)."),
        "cpu.l3.sizes": listing(
            "The size of one level 3 cache, as the kernel writes it; several sizes if caches differ."
        ),
        "cpu.l3.sizes_odd": listing("CPUs whose cache size differs from the majority, with that size."),
    },
)
def l3(files: Files) -> Facts:
    """Count the level 3 caches, each identified by the CPUs that share it; without any, the facts are absent."""
    shared, sizes = percpu.by_cpu(files, SHARED), percpu.by_cpu(files, SIZE)
    none = Absent(f"no {SHARED}")
    yield "cpu.l3.caches", len(set(shared.values())) if shared else none
    yield "cpu.l3.sizes", percpu.distinct(sizes) if sizes else none
    yield "cpu.l3.sizes_odd", percpu.odd(sizes) if sizes else none
