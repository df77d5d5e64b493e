"""The topology of AMD's compute driver (KFD): its nodes, and the links between them.

A partitioned GPU appears as several KFD nodes, whose PCI addresses differ in the last digit.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rackcheck.model.fact import Unreadable, clean

XGMI = 11
"""The number by which the kernel marks a link as XGMI; the number of a PCIe link is 2."""

LINKS = {2: "pcie", XGMI: "xgmi"}


@dataclass(frozen=True)
class KfdLink:
    """A link between two KFD nodes; a bandwidth is in MB/s, and 0 if the kernel does not report it."""

    start: int
    end: int
    kind: str
    weight: int
    least: int
    most: int


@dataclass(frozen=True)
class KfdNode:
    """One compute node: its PCI address, its instruction set (`gfx942`), its number of compute units, its XGMI hive."""

    address: str
    target: str
    units: int
    hive: int
    links: tuple[KfdLink, ...] = field(default=())


def properties(content: str) -> Mapping[str, int]:
    """Read lines of the form `name number`; raises Unreadable on a line of any other form."""
    found = {}
    for row in content.splitlines():
        name, _, number = row.partition(" ")
        if not re.fullmatch(r"[a-z_0-9]{1,60}", name) or not re.fullmatch(r"[0-9]{1,20}", number):
            raise Unreadable(f"not a property: {clean(row, 80)!r}")
        found[name] = int(number)
    return found


def _one(found: Mapping[str, int], name: str) -> int:
    if name not in found:
        raise Unreadable(f"no {name}")
    return found[name]


def node(content: str) -> KfdNode | None:
    """Read a KFD node's properties; None for a CPU, which has no compute units."""
    found = properties(content)
    if not _one(found, "simd_count"):
        return None
    place, version = _one(found, "location_id"), found.get("gfx_target_version", 0)
    address = f"{found.get('domain', 0):04x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7:x}"
    target = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}" if version else ""
    per_unit = _one(found, "simd_per_cu")
    if not per_unit:
        raise Unreadable("simd_per_cu is 0")
    return KfdNode(address, target, found["simd_count"] // per_unit, found.get("hive_id", 0))


def link(content: str) -> KfdLink:
    """Read a link's properties."""
    found = properties(content)
    kind = _one(found, "type")
    start, end, weight = (_one(found, name) for name in ("node_from", "node_to", "weight"))
    bandwidths = (found.get(f"{which}_bandwidth", 0) for which in ("min", "max"))
    return KfdLink(start, end, LINKS.get(kind, f"type {kind}"), weight, *bandwidths)


def nearest(links: Iterable[KfdLink], owners: Mapping[int, str]) -> dict[str, dict[str, KfdLink]]:
    """Return the link of lowest weight from each GPU to each other GPU; if several have this weight, the first of them.

    `owners` maps the number of a KFD node to the PCI address of its GPU. Leaves out links from or to a node that is not
    in `owners`, and links within one GPU.
    """
    found: dict[str, dict[str, KfdLink]] = {address: {} for address in owners.values()}
    for each in links:
        ours, theirs = owners.get(each.start), owners.get(each.end)
        if ours is not None and theirs is not None and ours != theirs:
            best = found[ours].setdefault(theirs, each)
            found[ours][theirs] = min(best, each, key=lambda one: one.weight)
    return found
