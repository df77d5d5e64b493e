"""How often memory was allocated on another NUMA node than intended."""

import re

from rackcheck import Class, Facts, Files, Read, integer, probe, read

GLOB = "/sys/devices/system/node/node*/numastat"
COUNTS = {"miss": "numa_miss", "foreign": "numa_foreign", "other": "other_node"}


@probe(
    Read(GLOB),
    gives={
        "numa.node/*.miss": integer("Pages allocated on this node but intended for another node.", Class.COUNTER),
        "numa.node/*.foreign": integer("Pages intended for this node but allocated on another node.", Class.COUNTER),
        "numa.node/*.other": integer("Pages allocated on this node by CPUs of another node.", Class.COUNTER),
    },
)
def numa_misses(files: Files) -> Facts:
    """Read each NUMA node's counts of misplaced allocations since boot."""
    for (number,) in files.found(GLOB):
        if re.fullmatch("[0-9]+", number):
            table = read.key_values(files.text(GLOB.replace("*", number)), separator=" ")
            for leaf, key in COUNTS.items():
                if key in table:
                    yield f"numa.node/{number}.{leaf}", read.whole(table[key])
