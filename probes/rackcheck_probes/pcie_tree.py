"""Where each PCI function hangs: the port above it, its root port, its host bridge."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, probe, spell_key, text
from rackcheck.core.fact import clean
from rackcheck.core.read import rows

ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
LINK = re.compile(rf"l\S{{9,12}} .*? ({ADDRESS}) -> (\S{{1,900}})")
BRIDGE = re.compile(r"/pci([0-9a-f]{4,8}:[0-9a-f]{2})/")


def above(target: str) -> tuple[str, list[str]]:
    """Read the host bridge and the functions, from the top, in a link's target.

    A bridge may stand below a function, as that of Intel's VMD does: the last one counts.
    """
    bridges = list(BRIDGE.finditer(target))
    parts = target[bridges[-1].end() :].split("/") if bridges else []
    if not parts or not all(re.fullmatch(ADDRESS, part) for part in parts):
        raise Unreadable(f"not a place below a host bridge: {clean(target, 120)!r}")
    return bridges[-1][1], parts


@probe(
    Shell("ls -l /sys/bus/pci/devices", quick=True),
    gives={
        "pcie/*.upstream": text("The address of the port above; absent on a root bus.", Class.IDENTITY),
        "pcie/*.root": text("The address of the root port it hangs on; absent on a root bus.", Class.IDENTITY),
        "pcie/*.host_bridge": text("The domain and bus of its root: 0000:17.", Class.IDENTITY),
    },
)
def pcie_tree(answer: str) -> Facts:
    """Read the links of /sys/bus/pci/devices, each of which names all that stands above a function."""
    for row in rows(answer):
        if re.fullmatch(r"total [0-9]{1,9}", row):
            continue
        match = LINK.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a link of a PCI function: {clean(row, 120)!r}")
        item, (bridge, parts) = f"pcie/{spell_key(match[1])}", above(match[2])
        if parts[-1] != match[1]:
            raise Unreadable(f"{match[1]} leads to {parts[-1]}")
        yield f"{item}.upstream", parts[-2] if len(parts) > 1 else Absent("on a root bus")
        yield f"{item}.root", parts[0] if len(parts) > 1 else Absent("on a root bus")
        yield f"{item}.host_bridge", bridge
