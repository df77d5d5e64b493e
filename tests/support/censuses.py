"""Small fleets of made-up facts, counted."""

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from rackcheck.model.catalogue import Kind, collection, integer, setting, text, version
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.tree import Leaf, Tree
from rackcheck.views.census import Census

DENIED = Unknown(Reason.DENIED, "10.0.0.1")


GONE = Absent("looked in /sys")


KINDS: Mapping[str, Kind] = {
    "bios.nps": text("Memory domains."),
    "firmware.bios": version("dotted", "The BIOS."),
    "gpu": collection("GPUs."),
    "gpu/*.vbios": version("opaque", "VBIOS."),
    "node.serial": text("Serial.", Class.IDENTITY),
    "node.product": text("Model.", Class.IDENTITY),
    "sysctl.vm.swappiness": setting("Swappiness."),
    "log.xid": collection("XIDs."),
    "log.xid/*.count": integer("How often.", Class.COUNTER),
    "nic.lldp": collection("Ports with a neighbour."),
    "nic.lldp/*.switch": text("Name of the switch.", Class.IDENTITY),
}


Facts = Mapping[str, Reading]


def tree(facts: Facts, plane: Plane = Plane.OS) -> Tree:
    """A node's facts, of the kinds above."""
    kinds = {path: KINDS[str(parse(path).pattern)] for path in facts}
    return Tree({path: Leaf(value, kinds[path], plane, "somewhere") for path, value in facts.items()})


def census(
    nodes: Mapping[str, Facts], role: str = "compute", places: Mapping[str, Mapping[str, str]] | None = None
) -> Census:  # fmt: skip
    """A census of nodes of one role."""
    found = Census()
    for name, facts in nodes.items():
        found.take(name, role, tree(facts), (places or {}).get(name, {}))
    return found


def many(values: Sequence[Reading], path: str = "bios.nps") -> dict[str, dict[str, Reading]]:
    """Nodes n0, n1, …, each of which has one of these values of one fact."""
    return {f"n{number}": {path: value} for number, value in enumerate(values)}


VALUES: st.SearchStrategy[Reading] = st.sampled_from(["a", "b", "c", DENIED, GONE])
