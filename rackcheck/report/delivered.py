"""Lists the delivered parts of each node: one entry for each physical part, whichever planes return it. Pure.

Items of several planes are one part if `PartIndex` joins them. A part without a serial number or part number has the
reason, and a kind whose parts no plane could list has one too.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rackcheck.model import identity
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Absent, Class, Unknown
from rackcheck.model.part_kinds import (
    BMC,
    COLLECTIONS,
    KINDS,
    NUMBER,
    OS,
    SERIAL,
    TRANSCEIVER,
    collection_of,
    kind_of,
    plane_of,
)
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.report.part_lists import PLANES, Listed
from rackcheck.report.report_model import Hardware, Unlisted

NAMED = ("serial", "uuid", "guid", "part_number", "part", "model", "name")
"""An item of another kind is listed if the path of one of its identity facts ends in one of these words."""

MODELS = ("model", "name", "product")
"""Facts whose path ends in one of these words identify a part's model; the first known one is used."""

TYPE = "type"
"""The last word of the fact that stands for the model if no plane returns a model: DDR5, OSFP."""

LOADED = "burnin."
"""The beginning of the items that a burn-in loaded: GPUs and CPUs that an audit lists as parts, too."""

SAME = 3
"""Maximum number of other parts that are named for one serial number."""


def parts(trees: Mapping[str, Tree]) -> tuple[Hardware, ...]:
    """Return every part of every node, sorted by node, and by kind."""
    return _repeated([part for node in sorted(trees, key=natural) for part in _of_node(node, Listed(trees[node]))])


def unlisted(trees: Mapping[str, Tree]) -> Iterator[Unlisted]:
    """Yield each kind whose parts no plane could list completely on a node, with the reason."""
    for node in sorted(trees, key=natural):
        known = Listed(trees[node])
        for kind, planes in KINDS.items():
            gaps = [known.gap(kind, plane) for plane in planes]
            lists = any(not known.silence(plane) and not known.lists_none(kind, plane) for plane in planes)
            if all(gaps) and (lists or any(map(known.silence, planes))):
                yield Unlisted(node, kind, "; ".join(gaps))
        if why := known.silence(OS) or known.unread_modules():
            yield Unlisted(node, TRANSCEIVER, why)


def _of_node(node: str, known: Listed) -> Iterator[Hardware]:
    used: set[str] = set()
    for kind, planes in KINDS.items():
        rows = list(_joined(known, kind, [each for several in planes.values() for each in several]))
        used |= {item for row in rows for item in row}
        made = [_part(node, kind, row, known) for row in rows if _is_delivered(known, kind, row)]
        yield from _half_listed(list(_unsure(made)), kind, known)
    rows = _transceivers(known)
    used |= {item for row in rows for item in row}
    yield from (_part(node, TRANSCEIVER, row, known) for row in rows)
    yield from _others(node, known, used)


def _joined(known: Listed, kind: str, collections: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the items of each part of a kind, those of the OS first; the functions of one NIC are one part."""
    rows: dict[tuple[str, str], list[str]] = {}
    for collection in collections:
        for key in sorted(known.tree.keys(collection), key=natural):
            item = str(paths.parse(collection).item(key))
            part = known.index.part(item)
            items = [item, *(part.items if part is not None else ())]
            card = ("pci", part.pci.rpartition(".")[0]) if kind == "NIC" and part is not None and part.pci else None
            rows.setdefault(card or ("item", part.items[0] if part is not None else item), []).extend(items)
    if kind == "NIC":
        rows = _by_serial(known, rows)
    for items in rows.values():
        own = [
            item for item in dict.fromkeys(items) if kind_of(item) in {kind, "pcie"} or any(known.texts([item], SERIAL))
        ]
        yield tuple(sorted(own, key=lambda item: (kind_of(item) != kind, plane_of(item) is not OS)))


def _by_serial(known: Listed, rows: Mapping[tuple[str, str], list[str]]) -> dict[tuple[str, str], list[str]]:
    """Join the devices of a NIC that has several, each with the serial number of the NIC."""
    found: dict[tuple[str, str], list[str]] = {}
    for key, items in rows.items():
        serial = next((identity.serial(text) for _, text in known.texts(items, SERIAL)), "")
        found.setdefault(("serial", serial) if serial else key, []).extend(items)
    return found


def _is_delivered(known: Listed, kind: str, row: Sequence[str]) -> bool:
    """Whether the items are a part: not an empty slot, a virtual function, or a device without hardware of its own."""
    own = [item for item in row if kind_of(item) == kind]
    if own and all(known.reading(f"{item}.state") == "Absent" for item in own):
        return False
    if kind == "drive" and all(collection_of(item) == "storage.device" for item in own):
        return any(isinstance(known.reading(f"{item}.model"), str) and known.reading(f"{item}.size") for item in own)
    if kind == "NIC" and all(collection_of(item) == "nic.interface" for item in own):
        return any(isinstance(known.reading(f"{item}.pci"), str) for item in own)
    return not any(known.reading(f"{item}.virtual") is True for item in own)


def _part(node: str, kind: str, row: Sequence[str], known: Listed) -> Hardware:
    """Return a part; a PCI function is one of its items only if it returns a number."""
    places = tuple(item for item in row if kind_of(item) == kind or any(known.texts([item], (*SERIAL, *NUMBER))))
    serials = list(known.texts(row, SERIAL))
    numbers = list(known.texts(row, NUMBER))
    model = next(_plain(known, row, MODELS), "") or next(_plain(known, row, (TYPE,)), "")
    notes = []
    if len({identity.serial(text) for _, text in serials}) > 1:
        notes.append("the serial numbers differ: " + ", ".join(f"{item} returns {text}" for item, text in serials))
    every = tuple({identity.serial(text): text for _, text in reversed(serials)}.values())[::-1]
    labels = tuple(dict.fromkeys(text for _, text in numbers))
    return Hardware(
        node, row[0], kind, model, labels[0] if labels else "", every[0] if every else "", _other(known, row, model),
        items=places if len(places) > 1 else (),
        serials=every if len(every) > 1 else (), part_numbers=labels if len(labels) > 1 else (),
        no_serial="" if every else known.why(row, SERIAL, kind),
        no_part_number="" if labels else known.why(row, NUMBER, kind),
        notes=tuple(notes),
    )  # fmt: skip


def _plain(known: Listed, row: Iterable[str], words: Iterable[str]) -> Iterator[str]:
    """Yield the texts of the first item that has one of these facts, then those of the next item."""
    readings = (known.reading(f"{item}.{word}") for item in row for word in words)
    yield from (reading.strip() for reading in readings if isinstance(reading, str) and reading.strip())


def _other(known: Listed, row: Iterable[str], model: str) -> dict[str, str]:
    """Return the other identity facts of a part; the first plane that returns one decides."""
    found: dict[str, str] = {}
    for item in row:
        for word in OTHER:
            leaf = known.tree.leaves.get(f"{item}.{word}")
            match leaf.reading if leaf is not None else None:
                case tuple() as several:
                    found.setdefault(word, ", ".join(several))
                case str() as text if text != model:
                    found.setdefault(word, text)
    return dict(sorted(found.items()))


OTHER = (
    "uuid", "guid", "wwn", "manufacturer", "vendor", "pci", "psid", "sku", "spare_part", "name", "model", "id",
    "signature", "date", "node_description",
)  # fmt: skip
"""Identity facts that are listed beside serial number, part number and model."""


def _unsure(rows: Sequence[Hardware]) -> Iterator[Hardware]:
    """Mark the parts of one plane that may be parts which the other plane lists, but have no identity in common.

    Those without any number are left out, if the other plane lists enough parts that they may be.
    """
    alone = {plane: [row for row in rows if all(plane_of(item) is plane for item in row.places)] for plane in (OS, BMC)}
    fewer, more = sorted((BMC, OS), key=lambda plane: sum(bool(row.serial) for row in alone[plane]))
    marked = {id(row) for row in alone[fewer]} if alone[more] else set()
    enough = len(alone[more]) >= len(alone[fewer])
    text = f"may be one of {len(alone[more])} that only {PLANES[more]} lists: they have no identity in common"
    for row in rows:
        if id(row) not in marked:
            yield row
        elif not enough or row.serial or row.part_number:
            yield replace(row, notes=(*row.notes, text), repeat=True)


def _half_listed(rows: Sequence[Hardware], kind: str, known: Listed) -> Iterator[Hardware]:
    """Note the parts that only one plane lists, if the other plane lists all other parts of this kind."""
    seen = {id(row): {plane_of(item) for item in row.places} for row in rows}
    whole = [row for row in rows if len(seen[id(row)]) > 1]
    lone = [row for row in rows if len(seen[id(row)]) == 1]
    planes = {plane for row in lone for plane in seen[id(row)]}
    if not whole or len(planes) != 1:
        yield from rows
        return
    (mine,) = planes
    other = OS if mine is BMC else BMC
    if known.gap(kind, other):
        yield from rows
        return
    text = f"only {PLANES[mine]} lists it; {PLANES[other]} lists {len(whole)} others"
    for row in rows:
        yield replace(row, notes=(*row.notes, text)) if row in lone and not row.repeat else row


def _transceivers(known: Listed) -> list[tuple[str, ...]]:
    """Return the items of each transceiver; two items are one if they have the same serial number or PCI function."""
    rows: list[list[str]] = []
    at: dict[tuple[str, str], list[str]] = {}
    for module in known.modules:
        if module.is_known:
            serial = next((identity.serial(text) for _, text in known.texts([module.item], SERIAL)), "")
            marks = [mark for mark in (("pci", module.pci), ("serial", serial)) if mark[1]]
            row = next((at[mark] for mark in marks if mark in at and _is_new(module.item, at[mark])), None)
            if row is None:
                rows.append(row := [])
            row.append(module.item)
            for mark in marks:
                at.setdefault(mark, row)
    return [tuple(row) for row in rows]


def _is_new(item: str, row: Iterable[str]) -> bool:
    return collection_of(item) not in map(collection_of, row)


def _others(node: str, known: Listed, used: set[str]) -> Iterator[Hardware]:
    """Yield the items of other kinds that have an identity, such as boards and chassis."""
    items: dict[str, dict[str, Leaf]] = {}
    for path, leaf in known.tree.leaves.items():
        item, _, word = path.rpartition(".")
        is_identity = leaf.kind.cls is Class.IDENTITY and leaf.kind.type is not Type.COLLECTION
        if is_identity and item not in {"", "cpu"} and item not in used and paths.parse(path).is_collection:
            items.setdefault(item, {})[word] = leaf
    listed = {identity.serial(text) for _, text in known.texts(sorted(used), (*SERIAL, "uuid"))}
    for item in sorted(items, key=natural):
        words = {word for word, leaf in items[item].items() if not isinstance(leaf.reading, Absent)}
        if item.startswith(LOADED) and _is_listed(known, item, listed):
            continue
        if words & set(NAMED) and collection_of(item) not in COLLECTIONS:
            yield _other_part(node, item, known, {word: items[item][word] for word in words})


def _is_listed(known: Listed, item: str, listed: Collection[str]) -> bool:
    """Whether a part that a burn-in loaded is one that the audit listed, or has no number beside an audit's parts."""
    own = {identity.serial(text) for _, text in known.texts([item], (*SERIAL, "uuid"))}
    return not own.isdisjoint(listed) or (not own and bool(listed))


def _other_part(node: str, item: str, known: Listed, leaves: Mapping[str, Leaf]) -> Hardware:
    values = {
        word: ", ".join(leaf.reading) if isinstance(leaf.reading, tuple) else str(leaf.reading)
        for word, leaf in leaves.items()
        if not isinstance(leaf.reading, Unknown)
    }
    model = next((word for word in (*MODELS, TYPE) if values.get(word)), "")
    serial = next((text for _, text in known.texts([item], SERIAL)), "")
    number = next((text for _, text in known.texts([item], NUMBER)), "")
    other = {word: text for word, text in sorted(values.items()) if word not in {model, *SERIAL, *NUMBER}}
    return Hardware(
        node, item, kind_of(item), values.get(model, ""), number, serial, other,
        no_serial="" if serial else known.reason(item, SERIAL),
    )  # fmt: skip


def _repeated(found: Sequence[Hardware]) -> tuple[Hardware, ...]:
    """Note every serial number that several parts of one kind have; both ends of a cable have the same one."""
    holders: dict[tuple[str, str, str], list[Hardware]] = {}
    for part in found:
        for serial in part.every_serial:
            holders.setdefault((part.kind, identity.serial(serial), part.part_number), []).append(part)
    return tuple(_noted(part, holders) for part in found)


def _noted(part: Hardware, holders: Mapping[tuple[str, str, str], Sequence[Hardware]]) -> Hardware:
    keys = [(part.kind, identity.serial(serial), part.part_number) for serial in part.every_serial]
    same = [each for key in keys for each in holders[key] if each is not part]
    if not same or part.kind not in KINDS:
        return part
    named = ", ".join(f"{each.node} {each.item}" for each in same[:SAME])
    more = f" and {len(same) - SAME} more" if len(same) > SAME else ""
    text = f"the same serial number as {named}{more}"
    return replace(part, notes=(*part.notes, text))
