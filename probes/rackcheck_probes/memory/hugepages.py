"""Huge pages that are reserved on the whole system and on each NUMA node."""

import re

from rackcheck import Class, Facts, Files, Read, collection, integer, probe, read

POOL = "/sys/kernel/mm/hugepages/hugepages-*kB"
NODE = "/sys/devices/system/node/node*/hugepages/hugepages-*kB"


@probe(
    Read(f"{POOL}/nr_hugepages", f"{POOL}/free_hugepages", f"{NODE}/nr_hugepages", f"{NODE}/free_hugepages"),
    gives={
        "memory.hugepages.pool": collection(
            "Sizes of huge pages that the kernel offers, in kB, by the kernel's names."
        ),
        "memory.hugepages.pool/*.pages": integer("Huge pages of this size that are reserved."),
        "memory.hugepages.pool/*.free": integer("Huge pages of this size that are not in use.", Class.MEASUREMENT),
        "numa.node/*.hugepages": collection("Sizes of huge pages that the node offers, in kB."),
        "numa.node/*.hugepages/*.pages": integer("Huge pages of this size that are reserved on the node."),
        "numa.node/*.hugepages/*.free": integer("Huge pages of this size that are not in use.", Class.MEASUREMENT),
    },
)
def hugepages(files: Files) -> Facts:
    """Read the pools of huge pages of each size; a kernel that was built without huge pages has no pools."""
    for (size,) in files.found(f"{POOL}/nr_hugepages"):
        if re.fullmatch("[0-9]{1,9}", size):
            item, place = f"memory.hugepages.pool/{size}kB", POOL.replace("*", size)
            yield f"{item}.pages", files.read(f"{place}/nr_hugepages", read.whole)
            yield f"{item}.free", files.read(f"{place}/free_hugepages", read.whole)
    for node, size in files.found(f"{NODE}/nr_hugepages"):
        if re.fullmatch("[0-9]{1,9} [0-9]{1,9}", f"{node} {size}"):
            item, place = f"numa.node/{node}.hugepages/{size}kB", NODE.replace("*", node, 1).replace("*", size, 1)
            yield f"{item}.pages", files.read(f"{place}/nr_hugepages", read.whole)
            yield f"{item}.free", files.read(f"{place}/free_hugepages", read.whole)
