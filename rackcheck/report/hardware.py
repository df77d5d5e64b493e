"""What the machines are: parts with their serials beside a bill of materials, and versions by component. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from rackcheck.bill import Bill as Ordered
from rackcheck.bill import Line
from rackcheck.core import path as paths
from rackcheck.core.catalogue import Type
from rackcheck.core.fact import Absent, Class, Plane, Unknown
from rackcheck.core.fold import fold
from rackcheck.core.read import natural
from rackcheck.core.tree import Tree
from rackcheck.report.dossier import Bill, Billed, Part, Versions

NAMES = ("serial", "uuid", "guid", "part_number", "model", "name")
"""Words of which a thing has one at least to count as a part."""

MODELS = ("model", "name", "product", "type")
"""Words that say what a part is, the best first."""


def parts(trees: Mapping[str, Tree]) -> Iterator[Part]:
    """Give every part that any node names, by node and item; what could not be read is said in `other`."""
    for node in sorted(trees, key=natural):
        items: dict[str, dict[str, str]] = {}
        for path, leaf in trees[node].leaves.items():
            item, _, word = path.rpartition(".")
            if leaf.kind.cls is Class.IDENTITY and item and leaf.kind.type is not Type.COLLECTION:
                said = items.setdefault(item, {})
                match leaf.reading:
                    case Unknown() as why:
                        said[word] = f"{UNREAD} ({why.reason.value})"
                    case Absent():
                        pass
                    case tuple() as several:
                        said[word] = ", ".join(several)
                    case value:
                        said[word] = str(value)
        for item in sorted(items, key=natural):
            if any(word in items[item] for word in NAMES):
                yield _part(node, item, items[item])


UNREAD = "not read"


def _part(node: str, item: str, said: Mapping[str, str]) -> Part:
    def known(word: str) -> str:
        value = said.get(word, "")
        return "" if value.startswith(f"{UNREAD} (") else value

    model = next((word for word in MODELS if known(word)), "")
    kind = "system" if item == "node" else str(paths.parse(item).pattern).removesuffix("/*")
    taken = {model, "serial", "part_number"}
    other = {word: value for word, value in sorted(said.items()) if word not in taken or not known(word)}
    return Part(node, item, kind, known(model), known("part_number"), known("serial"), other)


def compared(ordered: Ordered, found: Sequence[Part], trees: Mapping[str, Tree]) -> Bill:
    """Hold parts against a bill; a thing that nobody could look for is unread, never missing."""
    by_serial: dict[str, list[Part]] = {}
    for part in found:
        if part.serial:
            by_serial.setdefault(part.serial, []).append(part)
    doubtful = {node for node, tree in trees.items() if _doubtful(tree)}
    differences: list[Billed] = []
    matched: set[str] = set()
    used: set[int] = set()
    kinds: set[str] = set()
    for line in ordered.lines:
        holders = by_serial.get(line.serial, [])
        right = [part for part in holders if line.node in {"", part.node} and line.item in {"", part.item}]
        kinds |= {part.kind for part in holders} | ({line.kind} if line.kind else set())
        if line.serial and right:
            matched.add(line.serial)
            used.add(id(right[0]))
        else:
            used |= {id(part) for part in holders}
            differences.append(_missed(line, holders, doubtful, trees))
    for part in found:
        if part.serial and part.kind in kinds and id(part) not in used:
            said = "on the node, and not in the bill" if part.serial not in matched else "found a second time"
            differences.append(Billed("extra", part.node, part.item, part.serial, said))
    order = ("missing", "swapped", "extra", "unread")
    ranked = sorted(differences, key=lambda d: (order.index(d.kind), natural(d.node), natural(d.item), d.line))
    return Bill(ordered.name, ordered.digest, len(ordered.lines), len(matched), tuple(ranked))


def _doubtful(tree: Tree) -> bool:
    """Whether a node may hold parts or serials that nobody has read."""
    return bool(tree.silent) or any(
        isinstance(leaf.reading, Unknown)
        and (leaf.kind.type is Type.COLLECTION or path.rpartition(".")[2] in {"serial", "part_number"})
        for path, leaf in tree.leaves.items()
    )


def _missed(line: Line, holders: Sequence[Part], doubtful: set[str], trees: Mapping[str, Tree]) -> Billed:
    what = (line.node, line.item, line.serial)
    if not line.serial:
        return Billed("unread", *what, "the bill gives no serial: nothing to hold it against", line.row)
    if holders:
        places = ", ".join(f"{part.node} {part.item}" for part in holders)
        bill = " ".join(filter(None, (line.node, line.item)))
        return Billed("swapped", *what, f"the bill has it at {bill}, and it is at {places}", line.row)
    if line.node and line.node not in trees:
        return Billed("unread", *what, f"no reading of {line.node}", line.row)
    unread = {line.node} & doubtful if line.node else doubtful
    if unread:
        return Billed(
            "unread", *what, f"not among what was read of {fold(unread)}, of which not all could be", line.row
        )
    return Billed("missing", *what, "in the bill, and on no node", line.row)


def versions(trees: Mapping[str, Tree]) -> Iterator[Versions]:
    """Give every versioned component with the nodes of each version, the most common first."""
    found: dict[str, Plane] = {}
    for tree in trees.values():
        for path, leaf in tree.leaves.items():
            if leaf.kind.cls is Class.VERSION and leaf.kind.type is not Type.COLLECTION:
                found.setdefault(path, leaf.plane)
    nodes = sorted(trees, key=natural)
    for path in sorted(found, key=natural):
        spot, plane = paths.parse(path), found[path]
        groups: dict[str, list[str]] = {}
        why = ""
        for node in nodes:
            match trees[node].reading(spot, plane):
                case Unknown() as unknown:
                    said, why = "", why or str(unknown)
                case Absent():
                    said = "absent"
                case value:
                    said = str(value)
            groups.setdefault(said, []).append(node)
        if set(groups) != {"absent"}:
            ranked = sorted(groups.items(), key=lambda g: (not g[0], -len(g[1]), natural(g[0])))
            yield Versions(path, plane.value, tuple((version, tuple(where)) for version, where in ranked), why)
