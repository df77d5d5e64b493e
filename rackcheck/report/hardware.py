"""Lists hardware: parts with serials, their comparison with a bill of materials, and versions by component. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rackcheck.evaluate.waiver import BY_INDEX
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Absent, Class, Plane, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree
from rackcheck.report.report_model import Billed, BomComparison, Hardware, Versions
from rackcheck.signoff.bom import Bom as Ordered
from rackcheck.signoff.bom import BomLine

REASONS = 3
"""Maximum number of listed reasons why a component's version is not known on some nodes."""

NAMES = ("serial", "uuid", "guid", "part_number", "model", "name")
"""An item counts as a part if the path of one of its identity facts ends in one of these words."""

MODELS = ("model", "name", "product", "type")
"""Facts whose path ends in one of these words identify a part's model; the first known one is used."""


def parts(trees: Mapping[str, Tree]) -> Iterator[Hardware]:
    """Yield every part that a node reports, sorted by node and item; `other` has the reason if a value was not read."""
    for node in sorted(trees, key=natural):
        items: dict[str, dict[str, str | Unknown]] = {}
        for path, leaf in trees[node].leaves.items():
            item, _, word = path.rpartition(".")
            of_item = item and paths.parse(path).is_collection  # the last word has no key
            if of_item and leaf.kind.cls is Class.IDENTITY and leaf.kind.type is not Type.COLLECTION:
                values = items.setdefault(item, {})
                match leaf.reading:
                    case Unknown() as why:
                        values[word] = why
                    case Absent():
                        pass
                    case tuple() as several:
                        values[word] = ", ".join(several)
                    case value:
                        values[word] = str(value)
        for item in sorted(items, key=natural):
            if any(word in items[item] for word in NAMES):
                yield _part(node, item, items[item])


UNREAD = "not read"


def _part(node: str, item: str, values: Mapping[str, str | Unknown]) -> Hardware:
    known = {word: value for word, value in values.items() if isinstance(value, str)}
    model = next((word for word in MODELS if known.get(word)), "")
    taken = {model, "serial", "part_number"} & set(known)
    other = {
        word: value if isinstance(value, str) else f"{UNREAD} ({value.reason.value})"
        for word, value in sorted(values.items())
        if word not in taken
    }
    return Hardware(
        node, item, _kind(item), known.get(model, ""), known.get("part_number", ""), known.get("serial", ""), other
    )


def compared(
    ordered: Ordered, found: Sequence[Hardware], trees: Mapping[str, Tree], never: Sequence[str] = ()
) -> BomComparison:
    """Compare parts with a bill of materials; a part is `missing` only if all serials of its kind were read.

    `never` are nodes of the inventory that no run has read. For each line of the bill, either a part with this serial
    matches, or the result contains a difference.
    """
    by_serial: dict[str, list[Hardware]] = {}
    for part in found:
        if part.serial:
            by_serial.setdefault(part.serial, []).append(part)
    differences: list[Billed] = []
    matched: set[str] = set()
    used: set[int] = set()
    kinds: set[str] = set()
    for line in ordered.lines:
        holders = by_serial.get(line.serial, [])
        right = [part for part in holders if line.node in {"", part.node} and _is_at(part, line.item)]
        kinds |= {part.kind for part in holders} | {line.kind or _kind(line.item)}
        other = _another(line, right)
        if line.serial and right and not other:
            matched.add(line.serial)
            used |= _views(right[0], holders)
        else:
            near = [] if holders else _zeros(line, by_serial)
            used |= {id(part) for part in (*holders, *near)}
            what = (line.node, line.item, line.serial)
            if other:
                differences.append(Billed("swapped", *what, other, line.row))
            elif near:
                where = f"{near[0].node} {near[0].item} reports {near[0].serial}"
                differences.append(Billed("unread", *what, f"the bill may have lost leading zeros: {where}", line.row))
            else:
                differences.append(_missed(line, holders, trees, never))
    for part in found:
        if part.serial and part.kind in kinds and id(part) not in used:
            message = "on the node but not in the bill" if part.serial not in matched else "found twice"
            differences.append(Billed("extra", part.node, part.item, part.serial, message))
            used |= _views(part, by_serial[part.serial])
    order = ("missing", "swapped", "extra", "unread")
    ranked = sorted(differences, key=lambda d: (order.index(d.kind), natural(d.node), natural(d.item), d.line))
    return BomComparison(ordered.name, ordered.digest, len(ordered.lines), len(matched), tuple(ranked))


def _is_at(part: Hardware, item: str) -> bool:
    """Whether a part's item is the item in a line of the bill of materials, or this line contains no item.

    An older bill names a GPU by its index (`gpu/3`); this index matches every GPU whose item contains no index.
    """
    indexed = [BY_INDEX.fullmatch(name) is not None for name in (item, part.item)]
    return item in {"", part.item} or (indexed == [True, False] and part.kind == _kind(item))


def _zeros(line: BomLine, by_serial: Mapping[str, Sequence[Hardware]]) -> Sequence[Hardware]:
    """Return the parts whose serial differs from the bill's only in leading zeros, which spreadsheets drop."""
    if not line.serial.isdecimal():
        return ()
    bare = line.serial.lstrip("0")
    return [
        p for serial, parts in by_serial.items() for p in parts if serial != line.serial and serial.lstrip("0") == bare
    ]


def _views(part: Hardware, holders: Sequence[Hardware]) -> set[int]:
    """Return the object ids of the entries for one physical part: one per kind, all with one serial and one node."""
    first = {p.kind: p for p in reversed(holders) if p.node == part.node} | {part.kind: part}
    return {id(p) for p in first.values()}


def _another(line: BomLine, right: Sequence[Hardware]) -> str:
    """Return how a part with the right serial differs from the bill; empty if all known values match."""

    def alike(one: str, other: str) -> bool:
        return one.casefold().split() == other.casefold().split()

    # A shipping list has the vendor's product name, the part the name in its firmware: these cannot be compared.
    for word in ("kind", "part_number"):
        value = getattr(line, word)
        rows = [getattr(part, word) for part in right if getattr(part, word)]
        if value and rows and not any(alike(value, one) for one in rows):
            return f"the bill has {word.replace('_', ' ')} {value}, the part reports {rows[0]}"
    return ""


def _missed(line: BomLine, holders: Sequence[Hardware], trees: Mapping[str, Tree], never: Sequence[str]) -> Billed:
    what = (line.node, line.item, line.serial)
    if not line.serial:
        return Billed("unread", *what, "the bill has no serial number to compare", line.row)
    if holders:
        places = ", ".join(f"{part.node} {part.item}" for part in holders)
        bill = " ".join(filter(None, (line.node, line.item)))
        return Billed("swapped", *what, f"in the bill at {bill}, found at {places}", line.row)
    if line.node and line.node not in trees:
        return Billed("unread", *what, f"{line.node} was not read", line.row)
    kind = line.kind or _kind(line.item)
    if not kind:
        message = "not found; this line of the bill has neither kind nor item"
        return Billed("unread", *what, f"{message}, so it is unknown whether parts of its kind were read", line.row)
    nodes = [line.node] if line.node else [*trees, *never]
    unread = [node for node in nodes if node not in trees or not _whole(trees[node], kind)]
    if unread or not nodes:
        where = f" of {fold(unread)}" if unread else ""
        return Billed("unread", *what, f"the serial number of some {kind} could not be read{where}", line.row)
    where = f"not on {line.node}" if line.node else "on no node"
    return Billed("missing", *what, f"in the bill but {where}", line.row)


def _kind(item: str) -> str:
    """Return the kind of the part at an item: `gpu` for `gpu/0`, `system` for `node`."""
    return "system" if item == "node" else str(paths.parse(item).pattern).removesuffix("/*") if item else ""


def _whole(tree: Tree, kind: str) -> bool:
    """Whether the serials of all parts of a kind are known on a node; always False for a nested collection."""
    if kind == "system":
        return _serial(tree, "node")
    listing = tree.leaves.get(kind)
    if listing is None or listing.kind.type is not Type.COLLECTION:
        return _serial(tree, kind)
    if isinstance(listing.reading, tuple):
        collection = paths.parse(kind)
        return all(_serial(tree, str(collection.item(key))) for key in listing.reading)
    return isinstance(listing.reading, Absent)


def _serial(tree: Tree, item: str) -> bool:
    leaf = tree.leaves.get(f"{item}.serial")
    return leaf is not None and isinstance(leaf.reading, str)


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
