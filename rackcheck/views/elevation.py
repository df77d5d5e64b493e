"""Computes rack elevations from the configured positions of nodes: rows of racks, and each rack from top to bottom.

Pure. Nodes without a unit are listed below the shelves of their rack. Nodes without a rack are listed in a separate
panel. If a rack has no configured height, no empty units are shown above its highest node.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from rackcheck.model.text import natural

if TYPE_CHECKING:
    from rackcheck.inventory import Node, Rack, RackSlot
    from rackcheck.views.locations import NodeLocation

    Standing: TypeAlias = Node | NodeLocation

NO_RACK = "no rack"
"""The name of the panel for nodes without a rack; names of racks cannot contain the blank in this name."""

NO_UNIT = "U?"
"""The label of a node in a rack if the rack unit of the node is unknown."""


@dataclass(frozen=True, slots=True)
class RackShelf:
    """One line of a rack: all nodes whose lowest unit is `u` (0 if unknown).

    A shelf without nodes is an empty slot, or an empty range of units. `role` is the role of the nodes or of the empty
    slot.
    """

    nodes: tuple[str, ...]
    label: str = ""
    u: int = 0
    height: int = 1
    slot: str = ""
    role: str = ""


@dataclass(frozen=True)
class RackPanel:
    """One rack with its shelves from top to bottom; `height` is in units, 0 if unknown."""

    name: str
    shelves: tuple[RackShelf, ...] = ()
    row: str = ""
    title: str = ""
    height: int = 0

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The node names on each shelf; an empty shelf has one empty name."""
        return tuple(shelf.nodes or ("",) for shelf in self.shelves)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The label of each shelf: `U21`, `U9-16`, `U?` if the unit is unknown, or empty outside of racks."""
        return tuple(shelf.label for shelf in self.shelves)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, in the order of the shelves."""
        return tuple(node for shelf in self.shelves for node in shelf.nodes)


@dataclass(frozen=True, slots=True)
class Elevation:
    """All racks row by row, followed by the nodes without a rack."""

    racks: tuple[RackPanel, ...]


def elevation(nodes: Mapping[str, "Standing"], shapes: Mapping[str, "Rack"]) -> Elevation:
    """Place every node in its rack; `shapes` contains the configured racks by name, and need not contain every rack."""
    inside: dict[str, list[str]] = {}
    for name, place in nodes.items():
        inside.setdefault(place.rack, []).append(name)
    lost = inside.pop("", [])
    panels = [_panel(name, {node: nodes[node] for node in names}, shapes.get(name)) for name, names in inside.items()]
    panels.sort(key=lambda panel: (not panel.row, natural(panel.row), natural(panel.name)))
    if lost:
        panels.append(RackPanel(NO_RACK, tuple(RackShelf((name,)) for name in sorted(lost, key=natural))))
    return Elevation(tuple(panels))


def dots(panel: RackPanel, columns: int) -> tuple[tuple[str, ...], ...]:
    """Return the nodes of a rack in order, `columns` per line.

    This layout is for racks with more nodes than a screen has lines.
    """
    step = max(1, columns)
    return tuple(panel.nodes[at : at + step] for at in range(0, len(panel.nodes), step))


def _panel(name: str, nodes: Mapping[str, "Standing"], shape: "Rack | None") -> RackPanel:
    slots = shape.slots if shape is not None else {}
    height = shape.height if shape is not None else 0
    placed: dict[int, list[str]] = {}
    tall: dict[int, int] = {}
    lost: list[str] = []
    for node, place in nodes.items():
        u, units = _where(place, slots)
        if u:
            placed.setdefault(u, []).append(node)
            tall[u] = max(tall.get(u, 1), units)
        else:
            lost.append(node)
    filled = _merged([(u, u + tall[u]) for u in placed])
    free = {slot: held for slot, held in slots.items() if not _overlaps(held.u, held.u + held.height, filled)}
    shelves = [_taken(u, tall[u], sorted(names, key=natural), nodes) for u, names in placed.items()]
    shelves += [RackShelf((), _label(h.u, h.height), h.u, h.height, slot, h.role) for slot, h in free.items()]
    used = _merged([*filled, *((held.u, held.u + held.height) for held in free.values())])
    shelves += [RackShelf((), _label(low, high - low), low, high - low) for low, high in _gaps(used, height)]
    shelves.sort(key=lambda shelf: -shelf.u)
    shelves += [RackShelf((node,), NO_UNIT, role=nodes[node].role) for node in sorted(lost, key=natural)]
    row, title = (shape.row, shape.title) if shape is not None else ("", "")
    return RackPanel(name, tuple(shelves), row, title, height)


def _where(place: "Standing", slots: Mapping[str, "RackSlot"]) -> tuple[int, int]:
    """Return the lowest unit and the height of a node; if the node has no unit, return those of its slot."""
    held = slots.get(place.slot)
    return (held.u, held.height) if held is not None and place.u < 1 else (max(place.u, 0), max(place.height, 1))


def _taken(u: int, height: int, names: Sequence[str], nodes: Mapping[str, "Standing"]) -> RackShelf:
    """Return a shelf with nodes; its slot and role are set only if all nodes have the same."""
    alike = {(nodes[name].slot, nodes[name].role) for name in names}
    slot, role = next(iter(alike)) if len(alike) == 1 else ("", "")
    return RackShelf(tuple(names), _label(u, height), u, height, slot, role)


def _label(u: int, height: int) -> str:
    return f"U{u}" if height == 1 else f"U{u}-{u + height - 1}"


UnitRange = tuple[int, int]
"""A range of rack units: the lowest unit, and the unit above the highest."""


def _merged(spans: Sequence[UnitRange]) -> list[UnitRange]:
    """Merge ranges of units that touch or overlap, and return them in ascending order."""
    found: list[UnitRange] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found


def _overlaps(low: int, high: int, merged: Sequence[UnitRange]) -> bool:
    before = bisect_right(merged, (high - 1, float("inf"))) - 1
    return before >= 0 and merged[before][1] > low


def _gaps(merged: Sequence[UnitRange], height: int) -> Iterator[UnitRange]:
    """Yield the ranges of empty units, up to the height of the rack."""
    low = 1
    for start, end in (*merged, (height + 1, height + 1)):
        if low < min(start, height + 1):
            yield low, min(start, height + 1)
        low = max(low, end)
