"""The kinds of parts of which every one is listed, their collections by plane, and the facts about a part. Pure."""

from collections.abc import Mapping

from rackcheck.model import path as paths
from rackcheck.model.fact import Plane

OS, BMC = Plane.OS, Plane.BMC

KINDS: Mapping[str, Mapping[Plane, tuple[str, ...]]] = {
    "CPU": {OS: ("cpu.socket",), BMC: ("bmc.cpu",)},
    "DIMM": {OS: ("dimm",), BMC: ("bmc.dimm",)},
    "drive": {OS: ("nvme", "storage.device"), BMC: ("bmc.drive",)},
    "GPU": {OS: ("gpu", "gpu.amd"), BMC: ("bmc.gpu",)},
    "NVSwitch": {OS: ("nvswitch",), BMC: ("bmc.nvswitch",)},
    "NIC": {OS: ("nic", "nic.adapter", "nic.interface"), BMC: ("bmc.nic",)},
    "power supply": {OS: ("node.psu",), BMC: ("psu",)},
}
"""The kinds of parts of which every one is listed, with their collections by plane."""

TRANSCEIVER = "transceiver"
MODULES: Mapping[Plane, tuple[str, ...]] = {
    OS: ("nic.adapter/*.module", "nic.interface/*.module"),
    BMC: ("bmc.nic/*.port/*.module",),
}
"""The transceiver or the cable of a port, by plane."""

SERIAL, NUMBER = ("serial",), ("part_number", "part")
"""The last words of the facts with a part's serial number, and with its part number."""

FACTS = frozenset(
    {*SERIAL, *NUMBER, "pci", "state", "size", "virtual", "locator", "slot", "socket", "vendor", "type"}
    | {"uuid", "mac_permanent", "model"}
)
"""The last words of the facts from which a part is listed."""

SLOT = "node.slot"
"""The collection of the board's slots, whose labels and PCI addresses give the places of cards."""

_KIND_OF = {
    **{each: kind for kind, planes in KINDS.items() for several in planes.values() for each in several},
    **{each: TRANSCEIVER for several in MODULES.values() for each in several},
}
_NAMED = {
    **_KIND_OF,
    **{kind.casefold(): kind for kind in (*KINDS, TRANSCEIVER)},
    "cpu": "CPU",
}


def collection_of(item: str) -> str:
    """Return the collection of an item, with `*` for keys; an empty text for an empty item."""
    return str(paths.parse(item).pattern).removesuffix("/*") if item else ""


def kind_of(item: str) -> str:
    """Return the kind of the part at an item: `GPU` for `gpu/0`, `system` for `node`, else the item's collection."""
    collection = collection_of(item)
    return "system" if item == "node" else _KIND_OF.get(collection, collection)


def kind_named(word: str) -> str:
    """Return the kind that a text names, which is its word or one of its collections; another text is unchanged."""
    return _NAMED.get(word.casefold(), word)


def place_of(kind: str) -> tuple[int, str]:
    """Return the position of a kind among all kinds, by which lists of kinds are sorted: the listed kinds first."""
    order = (*KINDS, TRANSCEIVER)
    return (order.index(kind) if kind in order else len(order), kind)


def plane_of(item: str) -> Plane:
    """Return the plane that lists an item."""
    return BMC if item.partition(".")[0] == "bmc" or item.startswith("psu/") else OS


def is_part_fact(fact: str) -> bool:
    """Whether the list of parts, or the place of a part, is made from a fact."""
    item, _, word = fact.rpartition(".")
    if item and word in FACTS:
        collection = collection_of(item)
        if (collection, word) == (SLOT, "pci"):
            return True
        return collection in _KIND_OF or (collection == "pcie" and word in (*SERIAL, *NUMBER))
    return fact in _KIND_OF


COLLECTIONS = frozenset(_KIND_OF)
"""The collections of all kinds, with `*` in place of keys."""
