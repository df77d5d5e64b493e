"""Which parts of a kind each plane of a node lists, and why a list or a number of a part is not known. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from rackcheck.model import identity
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.fold import fold
from rackcheck.model.part_index import PartIndex
from rackcheck.model.part_kinds import BMC, KINDS, MODULES, NUMBER, OS, SERIAL, TRANSCEIVER, plane_of
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree

NAMES = {SERIAL: "serial number", NUMBER: "part number"}

PLANES = {OS: "the OS", BMC: "the BMC"}

_PLACEHOLDERS = (
    regex(r"placeholder (?P<quote>['\"])(?P<text>.*)(?P=quote)\Z", re.DOTALL),
    regex(r"\Admidecode 0x[0-9A-Fa-f]{1,8}: [\w ]{1,40}: (?P<text>.*)\Z", re.DOTALL),
)
"""Match the detail of a reading that is unknown or absent because of a placeholder."""


@dataclass(frozen=True, slots=True)
class Module:
    """What a plane returns about the transceiver or cable of a port; `pci` is the PCI function, if it is known."""

    item: str
    pci: str
    facts: tuple[Reading, ...]

    @property
    def is_known(self) -> bool:
        """Whether the plane returned a fact of a transceiver."""
        return any(isinstance(each, str) for each in self.facts)

    @property
    def is_empty(self) -> bool:
        """Whether the plane returned that there is none."""
        return bool(self.facts) and all(isinstance(each, Absent) for each in self.facts)


@dataclass(frozen=True)
class Listed:
    """The lists of parts of one node, and its parts."""

    tree: Tree

    @cached_property
    def index(self) -> PartIndex:
        """The items of the node that are one part."""
        return PartIndex(self.tree)

    @cached_property
    def planes(self) -> Set[Plane]:
        """The planes that returned a fact."""
        return {leaf.plane for leaf in self.tree.leaves.values()}

    def silence(self, plane: Plane) -> str:
        """Return why a plane was not read; empty if it was read."""
        if plane in self.tree.silent:
            return f"{PLANES[plane]} was not read ({self.tree.silent[plane]})"
        return "" if plane in self.planes else f"the {plane.value.upper()} plane was not read"

    def gap(self, kind: str, plane: Plane) -> str:
        """Return why a plane's list of a kind is missing or may be incomplete; empty if the list is complete."""
        if silence := self.silence(plane):
            return silence
        if self.lists_none(kind, plane):
            return f"{PLANES[plane]} lists none"
        readings = self._lists(kind, plane)
        lost = next((each for each in readings if isinstance(each, Unknown)), None)
        if lost is not None:
            return f"{PLANES[plane]} may not list all ({lost})"
        return "" if readings else f"their list was not read from {PLANES[plane]}"

    def doubt(self, kind: str) -> str:
        """Return why a node may have more parts of a kind than were listed; empty if all planes that can list them did.

        A plane that cannot list this kind is no reason, if the other plane lists the parts.
        """
        if kind == TRANSCEIVER:
            return self._doubt_of_modules()
        if kind not in KINDS:
            return self._doubt_of_items(kind)
        able = [plane for plane in KINDS[kind] if not self._is_dispensable(kind, plane)]
        return next(filter(None, (self.gap(kind, plane) for plane in able or KINDS[kind])), "")

    def _is_dispensable(self, kind: str, plane: Plane) -> bool:
        """Whether the list of the other plane alone is complete: many boards do not list their power supplies."""
        unasked = not self.silence(plane) and not self._lists(kind, plane)
        return self.lists_none(kind, plane) or (unasked and (kind, plane) in {("power supply", OS), ("NVSwitch", OS)})

    def _doubt_of_modules(self) -> str:
        return self.silence(OS) or self.silence(BMC) or self.gap("NIC", OS) or self.unread_modules()

    def _doubt_of_items(self, kind: str) -> str:
        items = ["node"] if kind == "system" else [kind]
        leaf = self.tree.leaves.get(kind)
        if leaf is not None and leaf.kind.type is Type.COLLECTION:
            if isinstance(leaf.reading, Unknown):
                return f"their list was not read ({leaf.reading})"
            items = [str(paths.parse(kind).item(key)) for key in self.tree.keys(kind)]
        unread = [item for item in items if not any(self.texts([item], SERIAL))]
        return f"{fold(unread)} {'has' if len(unread) == 1 else 'have'} no serial number" if unread else ""

    def lists_none(self, kind: str, plane: Plane) -> bool:
        """Whether a plane that was read can list no part of a kind: many BMCs have no list of GPUs or drives."""
        readings = () if self.silence(plane) else self._lists(kind, plane)
        return (
            bool(readings)
            and all(isinstance(each, Unknown) and identity.gives_none(each) for each in readings)
            and not any(self.tree.keys(collection) for collection in KINDS[kind][plane])
        )

    def _lists(self, kind: str, plane: Plane) -> list[Reading]:
        leaves = (self.tree.leaves.get(collection) for collection in KINDS[kind][plane])
        return [leaf.reading for leaf in leaves if leaf is not None]

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """The ports that may have a transceiver or a cable, those of the OS first."""
        items = (item for several in MODULES.values() for pattern in several for item in self._items(pattern))
        return tuple(map(self._module, items))

    def _items(self, pattern: str) -> Iterator[str]:
        outer, _, inner = pattern.partition("/*.")
        for key in sorted(self.tree.keys(outer), key=natural):
            item = f"{paths.parse(outer).item(key)}.{inner}"
            yield from self._items(item) if "/*." in item else (item,)

    def _module(self, item: str) -> Module:
        part = self.index.part(item.removesuffix(".module")) if plane_of(item) is OS else None
        readings = [self.reading(f"{item}.{word}") for word in (*SERIAL, *NUMBER, "vendor", "type")]
        return Module(item, part.pci if part is not None else "", tuple(each for each in readings if each is not None))

    def unread_modules(self) -> str:
        """Return the ports of the OS of which it is unknown whether they have a transceiver, with the reasons."""
        known = {module.pci for module in self.modules if module.is_known or module.is_empty} - {""}
        found: dict[str, list[str]] = {}
        for module in self.modules:
            unread = [each for each in module.facts if isinstance(each, Unknown)]
            if unread and not module.is_known and module.pci not in known and plane_of(module.item) is OS:
                found.setdefault(str(unread[0]), []).append(module.item)
        return "; ".join(f"{fold(items)} not read ({why})" for why, items in found.items())

    def texts(self, items: Iterable[str], words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Yield each item that returns a number of its part, with the number."""
        for item in items:
            for word in words:
                reading = self.reading(f"{item}.{word}")
                if isinstance(reading, str) and _is_number(reading, words):
                    yield item, reading.strip()

    def reading(self, fact: str) -> Reading | None:
        """Return the reading of a fact; None if no probe returned it."""
        leaf = self.tree.leaves.get(fact)
        return None if leaf is None else leaf.reading

    def why(self, items: Sequence[str], words: tuple[str, ...], kind: str) -> str:
        """Return why no item returns this number of its part, by plane."""
        found: dict[str, None] = {}
        for plane in {**KINDS, TRANSCEIVER: MODULES}[kind]:
            own = [item for item in items if plane_of(item) is plane]
            reasons = dict.fromkeys(self.reason(item, words) for item in own)
            if len(reasons) > 1:
                reasons.pop(_none(plane, words), None)
            gap = self.silence(plane) if kind == TRANSCEIVER else self.gap(kind, plane)
            found |= reasons or dict.fromkeys([gap or f"{PLANES[plane]} does not list this part"])
        return "; ".join(found)

    def unread_number(self, items: Sequence[str], kind: str) -> str:
        """Return why a plane may have another part number of a part than those that were read; empty if none may."""
        for item in items:
            readings = (self.reading(f"{item}.{word}") for word in NUMBER)
            if any(isinstance(each, Unknown) and not (_is_none(each) or _placeholder(each)) for each in readings):
                return self.reason(item, NUMBER)
        planes = {**KINDS, TRANSCEIVER: MODULES}.get(kind, {})
        unlisted = (plane for plane in planes if not any(plane_of(item) is plane for item in items))
        return next(filter(None, map(self.silence, unlisted)), "")

    def reason(self, item: str, words: tuple[str, ...]) -> str:
        """Return why one item does not return a number of its part."""
        plane, name = PLANES[plane_of(item)], NAMES[words]
        readings = [reading for word in words if (reading := self.reading(f"{item}.{word}")) is not None]
        for reading in readings:
            if isinstance(reading, str) or (placeholder := _placeholder(reading)):
                return f"{plane} returns the placeholder {(reading if isinstance(reading, str) else placeholder)!r}"
            if isinstance(reading, Unknown) and not _is_none(reading):
                return f"{name} not read from {plane} ({reading})"
        return _none(plane_of(item), words)


def _none(plane: Plane, words: tuple[str, ...]) -> str:
    return f"{PLANES[plane]} returns no {NAMES[words]}"


def _is_number(text: str, words: tuple[str, ...]) -> bool:
    return bool(identity.serial(text)) if words is SERIAL else identity.is_label(text)


def _placeholder(reading: Reading) -> str:
    """Return the placeholder in the place of a number; empty if there is none, or if it is blank."""
    if not isinstance(reading, Absent | Unknown):
        return ""
    if isinstance(reading, Unknown) and reading.reason is not Reason.NOT_COLLECTED:
        return ""
    found = (pattern.search(reading.detail) for pattern in _PLACEHOLDERS)
    return next((match["text"].strip() for match in found if match is not None), "")


def _is_none(unknown: Unknown) -> bool:
    detail = unknown.detail
    bare = not detail or (detail.startswith("dmidecode ") and ": no " in detail)
    return identity.gives_none(unknown) or (unknown.reason is Reason.NOT_COLLECTED and bare)
