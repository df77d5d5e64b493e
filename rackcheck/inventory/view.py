"""Views of an inventory: a table with one row for nodes with identical values, and a drawing of each rack."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rackcheck.inventory.node import Inventory, Node, Rack
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold

HEAD = ("nodes", "count", "role", "host", "bmc", "rack", "u")
"""The columns of the table in which identical nodes share one row."""

InventoryRow = tuple[str, ...]


def rows(nodes: Iterable[Node]) -> list[InventoryRow]:
    """Return one row for all nodes that differ only in name and position; `{node}` replaces a node's name in a host."""
    shapes: dict[tuple[object, ...], list[Node]] = {}
    for node in nodes:
        bmc = node.bmc
        ways = (node.ssh, bmc and (bmc.user, bmc.password, bmc.ca, bmc.width, bmc.expand))
        shape = (node.role, _shape(node.host, node), _shape(bmc.url if bmc else "", node), node.rack, ways)
        shapes.setdefault(shape, []).append(node)
    return [
        (fold(n.name for n in alike), str(len(alike)), *(clean(str(word)) for word in shape[:4]), units(alike))
        for shape, alike in shapes.items()
    ]


def _shape(text: str, node: Node) -> str:
    return text.replace(node.name, "{node}")


def units(nodes: Iterable[Node]) -> str:
    """Format the rack units that nodes fill: `1-18,20`."""
    runs: list[list[int]] = []
    for unit in sorted({unit for node in nodes for unit in node.units}):
        if runs and unit == runs[-1][1] + 1:
            runs[-1][1] = unit
        else:
            runs.append([unit, unit])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def racks(inventory: Inventory, nodes: Sequence[Node]) -> Iterator[tuple[Rack, list[Node]]]:
    """Yield each rack with its nodes: first the racks declared under `racks`, then racks that only nodes refer to."""
    names = dict.fromkeys([*inventory.racks, *(node.rack for node in nodes if node.rack)])
    for name in names:
        inside = [node for node in nodes if node.rack == name]
        if inside:
            yield inventory.racks.get(name, Rack(name)), inside


def elevation(rack: Rack, nodes: Sequence[Node]) -> Iterator[str]:
    """Draw a rack in plain text, one line per unit from top to bottom, including empty units and slots."""
    about = ", ".join(clean(word) for word in (rack.title, f"row {rack.row}" if rack.row else "") if word)
    count = f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}"
    yield f"{clean(rack.name)}: {about + ', ' if about else ''}{count}"
    here = {unit: node for node in nodes for unit in node.units}
    slots = {unit: name for name, slot in rack.slots.items() for unit in range(slot.u, slot.u + slot.height)}
    top = rack.height or max(here, default=0)
    wide = max((len(node.name) for node in here.values()), default=0)
    for unit in range(top, 0, -1):
        node = here.get(unit)
        if node is None:
            slot = slots.get(unit, "")
            text = f"({slot}: {rack.slots[slot].role or 'empty'})" if slot else ""
            yield f"  {unit:>3}  {text}".rstrip()
        elif unit == node.u + node.height - 1:
            yield f"  {unit:>3}  {node.name:<{wide}}  {clean(node.role)}{f'  {clean(node.slot)}' if node.slot else ''}"
        else:
            yield f"  {unit:>3}  |"
    lost = [node.name for node in nodes if not node.u]
    if lost:
        yield f"       without a position: {fold(lost)}"


def document(inventory: Inventory, nodes: Sequence[Node]) -> dict[str, Any]:
    """Return an inventory as one JSON document; it contains references to secrets, never the secrets themselves."""
    shown = {node.name for node in nodes}
    return {
        "inventory": inventory.name,
        "origin": inventory.origin,
        "nodes": [asdict(node) for node in nodes],
        "racks": {name: asdict(rack) for name, rack in inventory.racks.items()},
        "pdus": dict(inventory.pdus),
        "limits": [
            {"name": limit.name, "nodes": sorted(limit.nodes & shown), **{p.value: n for p, n in limit.most.items()}}
            for limit in inventory.limits
        ],
        "groups": {name: [n for n in names if n in shown] for name, names in inventory.groups.items()},
    }
