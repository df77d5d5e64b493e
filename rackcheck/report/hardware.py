"""Compares parts with a bill of materials, and lists versions by component. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rackcheck.evaluate.waiver import BY_INDEX
from rackcheck.model import identity
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Absent, Class, Plane, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.part_kinds import KINDS, TRANSCEIVER, collection_of, kind_of, plane_of
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree
from rackcheck.report.part_lists import Listed
from rackcheck.report.report_model import Billed, BomComparison, Hardware, Versions
from rackcheck.signoff.bom import Bom as Ordered
from rackcheck.signoff.bom import BomLine

REASONS = 3
"""Maximum number of listed reasons why a component's version is not known on some nodes."""

ORDER = ("missing", "moved", "swapped", "extra", "unread")
"""The kinds of differences from a bill of materials, the gravest first."""


def compared(
    ordered: Ordered, found: Sequence[Hardware], trees: Mapping[str, Tree], never: Sequence[str] = ()
) -> BomComparison:
    """Compare parts with a bill of materials by the serial numbers and part numbers of either plane.

    A part is `missing` only if every plane that could have listed it returned the serial numbers of all parts of its
    kind. `never` are nodes of the inventory that no run has read. For each line of the bill, either a part with this
    serial number matches, or the result contains a difference.
    """
    return _Comparison(found, {node: Listed(tree) for node, tree in trees.items()}, never).of(ordered)


class _Comparison:
    """Parts of nodes as they are compared with a bill, and which of them a line of the bill has named."""

    def __init__(self, found: Sequence[Hardware], known: Mapping[str, Listed], never: Sequence[str]) -> None:
        self._found, self._known, self._never = found, known, never
        self._by_serial: dict[str, list[Hardware]] = {}
        self._by_kind: dict[tuple[str, str], list[Hardware]] = {}
        self._at = {(part.node, place): part for part in found for place in part.places}
        for part in found:
            self._by_kind.setdefault((part.node, part.kind), []).append(part)
            for serial in part.every_serial:
                self._by_serial.setdefault(identity.serial(serial), []).append(part)
        self._named: set[int] = set()
        self._rows: dict[int, int] = {}
        self._doubts: dict[tuple[str, str], str] = {}

    def of(self, ordered: Ordered) -> BomComparison:
        """Return the comparison with a bill."""
        found = [self._line(line) for line in ordered.lines]
        differences = [each for each in found if each is not None]
        matched = len(found) - len(differences)
        differences += filter(None, map(self._gap, ordered.gaps))
        kinds = {line.part_kind for line in ordered.lines}
        serials = {identity.serial(serial) for line in ordered.lines for serial in line.serials}
        kinds |= {part.kind for serial in serials for part in self._by_serial.get(serial, ())}
        extra = (part for part in self._found if part.serial and part.kind in kinds and id(part) not in self._named)
        differences += map(self._extra, extra)
        ranked = sorted(differences, key=lambda d: (ORDER.index(d.kind), natural(d.node), natural(d.item), d.line))
        return BomComparison(ordered.name, ordered.digest, len(ordered.lines), matched, tuple(ranked))

    def _line(self, line: BomLine) -> Billed | None:
        """Return how the parts differ from a line; None if they do not."""
        if line.no_serial:
            return self._unnumbered(line)
        serials = [serial for each in line.serials if (serial := identity.serial(each))]
        holders = list({id(part): part for serial in serials for part in self._by_serial.get(serial, ())}.values())
        right = [part for part in holders if line.node in {"", part.node} and _is_at(part, line.item)]
        self._named |= {id(part) for part in holders} if not right else set()
        if not serials:
            shown = f"the placeholder {line.serial!r} instead of a" if line.serial else "no"
            return _billed("unread", line, f"the bill has {shown} serial number to compare")
        if right:
            return self._at_place(line, right, holders)
        if holders:
            return self._elsewhere(line, holders)
        if near := self._zeros(line):
            self._named |= {id(part) for part in near}
            where = f"{near[0].node} {near[0].item} reports {near[0].serial}"
            return _billed("unread", line, f"the bill may have lost leading zeros: {where}")
        return self._missed(line)

    def _unnumbered(self, line: BomLine) -> Billed | None:
        """Compare a line that has a reason instead of a serial number with the part at its item."""
        part = self._at.get((line.node, line.item))
        if part is not None and not part.serial:
            return self._at_place(line, [part], [part])
        self._named |= {id(part)} if part is not None else set()
        where = f"{line.node} {line.item} reports {part.serial}" if part is not None else "no part is at this item"
        text = f"the bill has no serial number to compare ({line.no_serial}); {where}"
        return Billed("unread", line.node, line.item, "", text, line.row)

    def _gap(self, line: BomLine) -> Billed | None:
        """Return the parts of a kind that the bill could not list on a node; None if there is none."""
        parts = [p for p in self._by_kind.get((line.node, line.part_kind), ()) if p.serial and id(p) not in self._named]
        if not parts:
            return None
        self._named |= {id(part) for part in parts}
        text = f"{line.part_kind} {line.serial}; found: {', '.join(f'{part.item} {part.serial}' for part in parts)}"
        return Billed("unread", line.node, "", "", text, line.row)

    def _at_place(self, line: BomLine, right: Sequence[Hardware], holders: Sequence[Hardware]) -> Billed | None:
        part = right[0]
        if other := _another(line, right):
            self._named |= {id(part) for part in holders}
            unread = self._known[part.node].unread_number(part.places, part.kind)
            is_other = not unread or _is_other_kind(line, right)
            return _billed("swapped", line, other) if is_other else _billed("unread", line, f"{other}; {unread}")
        if (row := self._rows.setdefault(id(part), line.row)) != line.row:
            return _billed("unread", line, f"{part.node} {part.item} returns this serial number and that of row {row}")
        self._named |= _views(part, holders)
        return None

    def _elsewhere(self, line: BomLine, holders: Sequence[Hardware]) -> Billed:
        places = ", ".join(f"{part.node} {part.item}" for part in holders)
        for part in holders:
            if part.node == line.node and (gap := self._unplaced(part, line.item)):
                return _billed("unread", line, f"found at {places}; whether that is {line.item} is unknown: {gap}")
        bill = " ".join(filter(None, (line.node, line.item)))
        return _billed("moved", line, f"in the bill at {bill}, found at {places}")

    def _unplaced(self, part: Hardware, item: str) -> str:
        """Return why it is unknown whether a part is at an item; empty if the item's plane lists the part elsewhere."""
        kind, plane = kind_of(item), plane_of(item)
        if kind not in KINDS or kind != part.kind or collection_of(item) in map(collection_of, part.places):
            return ""
        there = self._at.get((part.node, item))
        if there is not None and not there.serial:
            return there.no_serial
        return self._known[part.node].gap(kind, plane)

    def _missed(self, line: BomLine) -> Billed:
        kind = line.part_kind
        if line.node and line.node not in self._known:
            return _billed("unread", line, f"{line.node} was not read")
        if not kind:
            message = "not found; this line of the bill has neither kind nor item"
            return _billed("unread", line, f"{message}, so it is unknown whether parts of its kind were read")
        nodes = [line.node] if line.node else [*self._known, *self._never]
        doubts = {node: doubt for node in nodes if (doubt := self._doubt(node, kind))}
        if doubts or not nodes:
            where = f" of {fold(doubts)}: {next(iter(doubts.values()))}" if doubts else ""
            return _billed("unread", line, f"the serial number of some {kind} could not be read{where}")
        return _billed(
            "missing", line, f"in the bill but not on {line.node}" if line.node else "in the bill but on no node"
        )

    def _doubt(self, node: str, kind: str) -> str:
        """Return why a node may have a part of a kind whose serial number was not read; empty if it cannot."""
        if node not in self._known:
            return "never read"
        if (node, kind) not in self._doubts:
            known = self._known[node]
            part = next((part for part in self._by_kind.get((node, kind), ()) if not part.serial), None)
            self._doubts[node, kind] = known.doubt(kind) or (
                f"{part.item}: {part.no_serial}" if part is not None else ""
            )
        return self._doubts[node, kind]

    def _extra(self, part: Hardware) -> Billed:
        holders = [each for serial in part.every_serial for each in self._by_serial[identity.serial(serial)]]
        twice = any(id(each) in self._rows for each in holders)
        message = "found twice" if twice else "; ".join(("on the node but not in the bill", *part.notes))
        self._named |= _views(part, holders)
        return Billed("extra", part.node, part.item, part.serial, message)

    def _zeros(self, line: BomLine) -> Sequence[Hardware]:
        """Return the parts whose serial differs from the bill's only in leading zeros, which spreadsheets drop."""
        bare = {serial.lstrip("0") for serial in line.serials if serial.isdecimal()}
        return (
            [p for serial, parts in self._by_serial.items() if serial.lstrip("0") in bare for p in parts]
            if bare
            else ()
        )


def _billed(kind: str, line: BomLine, text: str) -> Billed:
    return Billed(kind, line.node, line.item, line.serial, text, line.row)


def _is_at(part: Hardware, item: str) -> bool:
    """Whether a part is at the item in a line of the bill of materials, or this line contains no item.

    An older bill names a GPU by its index (`gpu/3`); this index matches every GPU whose item contains no index.
    """
    if item in {"", *part.places}:
        return True
    is_indexed = BY_INDEX.fullmatch(part.item) is not None
    return BY_INDEX.fullmatch(item) is not None and not is_indexed and part.kind == kind_of(item)


def _views(part: Hardware, holders: Sequence[Hardware]) -> set[int]:
    """Return the object ids of the entries for one physical part.

    These are one entry per kind, all with one serial and one node; the ends of a cable are all entries of the cable.
    """
    if part.kind == TRANSCEIVER:
        return {id(each) for each in holders if each.kind == TRANSCEIVER}
    first = {p.kind: p for p in reversed(holders) if p.node == part.node} | {part.kind: part}
    return {id(p) for p in first.values()}


def _is_other_kind(line: BomLine, right: Sequence[Hardware]) -> bool:
    return bool(line.kind) and all(line.part_kind.casefold() != part.kind.casefold() for part in right)


def _another(line: BomLine, right: Sequence[Hardware]) -> str:
    """Return how a part with the right serial differs from the bill; empty if all known values match."""
    if _is_other_kind(line, right):
        return f"the bill has kind {line.kind}, the part reports {right[0].kind}"
    # A shipping list has the vendor's product name, the part the name in its firmware: these cannot be compared.
    numbers = [number for part in right for number in part.every_part_number]
    ordered = list(map(_folded, line.part_numbers))
    if ordered and numbers and not any(_folded(each) in ordered for each in numbers):
        return f"the bill has part number {line.part_number}, the part reports {' and '.join(dict.fromkeys(numbers))}"
    return ""


def _folded(text: str) -> list[str]:
    return text.casefold().split()


def versions(trees: Mapping[str, Tree], never: Sequence[str] = ()) -> Iterator[Versions]:
    """Yield every component that has a version, with the nodes of each version, the most common first.

    `never` are nodes of the inventory that no run has read: their versions are not known. A version that is absent on
    every node that replied is left out, even if no reply came from other nodes.
    """
    found: dict[str, Plane] = {}
    for tree in trees.values():
        for path, leaf in tree.leaves.items():
            if leaf.kind.cls is Class.VERSION and leaf.kind.type is not Type.COLLECTION:
                found.setdefault(path, leaf.plane)
    nodes = sorted(trees, key=natural)
    for path in sorted(found, key=natural):
        spot, plane = paths.parse(path), found[path]
        groups: dict[str, list[str]] = {}
        reasons: dict[str, None] = {}
        for node in nodes:
            match trees[node].reading(spot, plane):
                case Unknown() as unknown:
                    message = ""
                    reasons.setdefault(str(unknown))
                case Absent():
                    message = "absent"
                case value:
                    message = str(value)
            groups.setdefault(message, []).append(node)
        if never:
            groups.setdefault("", []).extend(never)
            reasons.setdefault("never read")
        if set(groups) - {""} != {"absent"}:
            ranked = sorted(groups.items(), key=lambda g: (not g[0], -len(g[1]), natural(g[0])))
            yield Versions(
                path, plane.value, tuple((version, tuple(where)) for version, where in ranked), _why(reasons)
            )


def _why(reasons: Iterable[str]) -> str:
    """Join the first REASONS reasons, and add the number of the others."""
    rows = list(reasons)
    more = f"; and {len(rows) - REASONS} more" if len(rows) > REASONS else ""
    return "; ".join(rows[:REASONS]) + more
