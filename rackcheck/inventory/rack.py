"""Racks and their types, and the positions of nodes in racks."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.inventory import supply
from rackcheck.inventory.merge import NodeVars
from rackcheck.inventory.node import Node, Rack, RackSlot
from rackcheck.profile.document import BadFile, Problem, Scalar, SourcePlace, YamlMapping, read
from rackcheck.profile.layers import did_you_mean, entries, word
from rackcheck.profile.library import shipped, text_of
from rackcheck.profile.schema import rack_type as rack_type_schema
from rackcheck.profile.schema_check import conform

NEAR = 200
"""Maximum number of racks up to which a similar name is suggested; with more racks, the search would be too slow."""

UNITS = 1000
"""Maximum height of a rack in units; no standard defines this limit, but it limits loops over units."""

FOLDER = "rack-types"
"""The folder with the site's rack types, in the same folder as the inventory."""


def types(beside: Path) -> dict[str, Path]:
    """Return the file of every rack type by name; rack types of the site override shipped rack types."""
    found: dict[str, Path] = {}
    for folder in (beside / FOLDER, shipped("racks")):
        for path in sorted(folder.glob("*.yaml")) if folder.is_dir() else ():
            found.setdefault(path.stem, path)
    return found


def rack_type(path: Path) -> Rack:
    """Read a rack type, as a rack without a name; raises UserError or BadFile."""
    table = conform(read(text_of(path), str(path)), rack_type_schema())
    problems: list[Problem] = []
    name, title = word(table, "rack-type"), word(table, "title")
    if name != path.stem:
        problems.append(
            Problem(table.items["rack-type"].place, f"the file name {path.name} and the rack type {name} must match")
        )
    height = int(word(table, "height"))
    problems += _outside(name, 1, height, UNITS, table.items["height"].place)
    slots: dict[str, RackSlot] = {}
    taken: dict[int, str] = {}
    for slot_name, given in entries(table, "slots").items():
        assert isinstance(given, YamlMapping)
        slot = RackSlot(int(word(given, "u")), int(word(given, "height", "1")), word(given, "role"))
        slots[slot_name] = slot
        wrong = _outside(slot_name, slot.u, slot.height, min(height, UNITS), given.place)
        problems += wrong
        for unit in range(slot.u, slot.u + slot.height) if not wrong else ():
            if (other := taken.setdefault(unit, slot_name)) != slot_name:
                problems.append(Problem(given.place, f"slot {slot_name} is on U {unit}, which slot {other} occupies"))
                break
    if problems:
        raise BadFile(problems)
    return Rack("", "", title or name, height, slots)


def _outside(name: str, u: int, units: int, height: int, place: SourcePlace) -> list[Problem]:
    if u < 1 or units < 1:
        return [Problem(place, f"{name}: rack units are counted from 1")]
    if u + units - 1 > height:
        return [Problem(place, f"{name} reaches U {u + units - 1}, but the rack has only {height} units")]
    return []


def racks(tables: Mapping[str, YamlMapping], beside: Path, problems: list[Problem]) -> dict[str, Rack]:
    """Return the racks that an inventory file declares; each has the height and the slots of its rack type."""
    known = types(beside) if tables else {}
    read_before: dict[str, Rack] = {}
    found: dict[str, Rack] = {}
    for name, table in tables.items():
        shape = Rack("")
        value = table.get("type")
        if isinstance(value, Scalar) and value.text not in known:
            near = did_you_mean(value.text, list(known))
            problems.append(
                Problem(value.place, f"no rack type {value.text}{near}; there are: {', '.join(sorted(known))}")
            )
        elif isinstance(value, Scalar):
            try:
                if value.text not in read_before:
                    read_before[value.text] = rack_type(known[value.text])
                shape = read_before[value.text]
            except BadFile as error:
                problems += error.problems
            except UserError as error:
                problems.append(Problem(value.place, str(error)))
        found[name] = replace(shape, name=name, row=word(table, "row"), budget=supply.budget(table))
    return found


def placed(
    nodes: Mapping[str, Node], values: Mapping[str, NodeVars], found: Mapping[str, Rack], declared: Collection[str],
    problems: list[Problem],
) -> dict[str, Node]:  # fmt: skip
    """Return the nodes with their racks; a position that is invalid or occupied is a problem.

    If a file declares racks, a node's rack must be one of these racks; if it declares none, any name is valid.
    """
    standing: dict[str, Node] = {}
    taken: dict[tuple[str, int], str] = {}
    for name, node in nodes.items():
        try:
            there = _in_slot(node, values[name], found, declared)
        except BadFile as error:
            problems += error.problems
            there = replace(node, u=0)
        standing[name] = there
        place = next((values[name][k].place for k in ("slot", "u", "rack") if k in values[name]), None)
        rack = found.get(there.rack)
        if place is None or not there.u:
            continue
        top = (rack.height if rack is not None else 0) or UNITS
        wrong = _outside(name, there.u, there.height, top, place)
        problems += wrong
        for unit in there.units if not wrong else ():
            if (other := taken.setdefault((there.rack, unit), name)) != name:
                problems.append(Problem(place, f"{name} is on U {unit} of {there.rack}, which {other} occupies"))
                break
    return standing


def _in_slot(node: Node, values: NodeVars, found: Mapping[str, Rack], declared: Collection[str]) -> Node:
    """Return a node with the position of its slot, if it names a slot; raises BadFile if the position is invalid."""
    if "rack" in values and declared and node.rack not in declared:
        near = did_you_mean(node.rack, list(declared)) if len(declared) <= NEAR else ""
        raise BadFile([Problem(values["rack"].place, f"{node.name}: no rack {node.rack}{near}")])
    if "u" in values and (not node.u or not node.rack):
        why = f"{node.name} has a `u` but no `rack`" if node.u else f"{node.name}: rack units are counted from 1"
        raise BadFile([Problem(values["u"].place, why)])
    if "height" in values and not node.height:
        raise BadFile([Problem(values["height"].place, f"{node.name}: a height must be 1 or more")])
    if "slot" not in values:
        return node
    place = values["slot"].place
    if "u" in values:
        raise BadFile([Problem(place, f"{node.name} has a `slot` and a `u` at {values['u'].place}: set only one")])
    rack = found.get(node.rack)
    if rack is None and node.rack in declared:
        return node  # the rack's entry is wrong, and is reported where it is read
    slot = rack.slots.get(node.slot) if rack is not None else None
    if rack is None or slot is None:
        near = did_you_mean(node.slot, list(rack.slots)) if rack is not None else ""
        why = f"{node.name}: rack {node.rack} has no slot {node.slot}{near}"
        raise BadFile([Problem(place, why if node.rack else f"{node.name} has a `slot` but no `rack`")])
    if slot.role and slot.role != node.role:
        raise BadFile(
            [
                Problem(
                    place,
                    f"{node.name} has role {node.role}, but slot {node.slot} of {node.rack} is for role {slot.role}",
                )
            ]
        )
    return replace(node, u=slot.u, height=slot.height)
