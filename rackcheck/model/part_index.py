"""The parts of one node: which items of different planes are one physical part, and where and what the part is. Pure.

A GPU is an item of the driver (`gpu/module-3`), of the PCI bus (`pcie/"0000:1b:00.0"`) and of the BMC
(`bmc.gpu/GPU_SXM_1`). Items are one part if they have the same PCI address, serial number, UUID, Ethernet address or
label of a slot. An identity that several items of one collection have identifies none of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rackcheck.model import identity
from rackcheck.model import path as paths
from rackcheck.model.fact import Value
from rackcheck.model.path import BadPath
from rackcheck.model.regex import regex
from rackcheck.model.resource import ROOT
from rackcheck.model.tree import Tree

WORDS: Mapping[str, str] = {
    "gpu": "GPU", "gpu.amd": "GPU", "burnin.gpu": "GPU", "bmc.gpu": "GPU",
    "nvme": "drive", "bmc.drive": "drive", "storage.device": "drive",
    "nic": "NIC", "nic.adapter": "NIC", "nic.interface": "NIC", "bmc.nic": "NIC",
    "dimm": "DIMM", "bmc.dimm": "DIMM", "bmc.cxl_memory": "CXL memory",
    "cpu.socket": "CPU", "bmc.cpu": "CPU",
    "node.psu": "power supply", "psu": "power supply", "fan": "fan", "nvswitch": "NVSwitch", "bmc.nvswitch": "NVSwitch",
    "bmc.pcie_switch": "PCIe switch", "bmc.retimer": "retimer", "pcie": "PCIe device", "bmc.pcie": "PCIe device",
    "bmc.chassis": "chassis",
}  # fmt: skip
"""The word for the parts of a collection. A part that is in several collections has the first of their words."""

IDENTITIES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "pci": tuple((each, "pci") for each in ("gpu", "nvme", "storage.device", "nic", "nic.interface", "burnin.gpu")),
    "serial": tuple(
        (each, "serial")
        for each in (
            "gpu", "gpu.amd", "bmc.gpu", "nvme", "bmc.drive", "dimm", "bmc.dimm", "bmc.cxl_memory", "bmc.cpu", "psu",
            "node.psu", "storage.device", "cpu.socket", "bmc.nvswitch", "bmc.pcie_switch", "bmc.retimer", "bmc.nic",
            "bmc.pcie", "bmc.chassis",
        )
    ),
    "uuid": (("gpu", "uuid"), ("gpu.amd", "uuid"), ("bmc.gpu", "uuid")),
    "mac": (("nic.interface", "mac_permanent"), ("bmc.nic", "port/*.addresses")),
    "DIMM": (("dimm", ""), ("bmc.dimm", "locator"), ("bmc.dimm", "slot")),
    "CPU": (("cpu.socket", ""), ("bmc.cpu", "socket"), ("bmc.cpu", "slot")),
}  # fmt: skip
"""The facts that identify the items of collections, by kind of identity; an empty fact stands for the item's key."""

ADDRESSED = ("pcie", "nic.adapter", "nvswitch", "bmc.pcie")
"""Collections whose keys are PCI addresses."""

PCI = regex(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", 0)
BRIDGE = "0x0604"
"""The first digits of the PCI class of a bridge between two PCI buses."""

DEPTH = 32
"""Maximum number of bridges above a PCI device that are followed."""

FUNCTIONS = 4096
"""Maximum number of PCI functions of a node among which the device below a bridge is searched."""

_ORDER = {collection: place for place, collection in enumerate(WORDS)}
_KINDS = {
    collection: tuple(
        (kind, fact) for kind, facts in IDENTITIES.items() for owner, fact in facts if owner == collection
    )
    for collection in WORDS
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a node: its items on all planes, and its texts; an unknown text is empty.

    `name` is the key of the part's first item: the item of the operating system, if there is one. `index` is the number
    of a GPU in its driver's tools.
    """

    word: str
    name: str
    items: tuple[str, ...]
    slot: str = ""
    pci: str = ""
    serial: str = ""
    model: str = ""
    index: str = ""
    part_number: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The texts by which the part is found: `slot SXM1`, `PCI 0000:1b:00.0`, `serial 1650001000005`."""
        return part_labels(self.name, self.slot, self.pci, self.serial)

    def key(self, collection: str) -> str:
        """Return the key of the part in a collection, such as `mlx5_0` in `nic`; empty if it is not in it."""
        keys = (_key(item) for item in self.items if _collection(item) == collection)
        return next(keys, "")

    def __str__(self) -> str:
        return f"{self.word} {self.name}" + (f" ({', '.join(self.labels)})" if self.labels else "")


def part_labels(name: str, slot: str, pci: str, serial: str) -> tuple[str, ...]:
    """Return the texts by which a part is found, without unknown texts, and without one that is its name."""
    pairs = (("slot", slot), ("PCI", pci), ("serial", serial))
    return tuple(f"{word} {text}" for word, text in pairs if text and text != name)


Token = tuple[str, str]
"""An identity: its kind, and its normalised text."""


@dataclass(frozen=True)
class PartIndex:
    """The parts of one node by the paths of their items."""

    tree: Tree
    _kinds: dict[str, Mapping[str, Sequence[str]]] = field(init=False, repr=False, compare=False, default_factory=dict)
    _parts: dict[str, Part | None] = field(init=False, repr=False, compare=False, default_factory=dict)

    def part(self, text: str) -> Part | None:
        """Return the part that a fact or an item is about; None if it is about no part of a known kind.

        `text` is the path of a fact, such as `gpu/module-3.link.width` or `log.xid/"0000:1b:00.0".count`.
        """
        try:
            items = [(paths.parse(owner), key) for owner, key in reversed(paths.parse(text).items)]
        except BadPath:
            return None
        for owner, key in items:
            found = self._named(str(owner), str(owner.item(key)), key)
            if found is not None:
                return found
        return None

    def parts(self, collection: str) -> Iterator[Part]:
        """Yield the parts of a collection."""
        for key in self.tree.keys(collection):
            found = self.part(str(paths.parse(collection).item(key)))
            if found is not None:
                yield found

    def _named(self, owner: str, item: str, key: str) -> Part | None:
        if item not in self._parts:
            part = self._parts[item] = self._made(owner, item, key)
            for other in part.items if part is not None else ():
                if not other.startswith("pcie/"):  # a bridge is the part of the device below it
                    self._parts.setdefault(other, part)
        return self._parts[item]

    def _made(self, owner: str, item: str, key: str) -> Part | None:
        begin: Collection[str] = {item} if owner in WORDS and self._has(owner, key) else ()
        if not begin:
            last = paths.parse(owner).segments[-1].word
            if last in WORDS and self._has(last, key):
                begin = {f"{last}/{paths.spell_key(key)}"}  # log.kernel.nvme/nvme2 is about nvme/nvme2
        if not begin and pci_address(key):
            begin = set(self._with(("pci", pci_address(key))))
        if not begin and owner.startswith("bmc."):
            begin = self._at(key)
        if owner == "pcie":
            begin = self._below(item) or begin
        items = self._all(begin)
        if not items:
            return None
        first = items[0]
        return Part(
            WORDS[_collection(first)], _key(first), tuple(items), self._slot(items), self._pci(items),
            self._text(items, ("serial",)), self._text(items, ("model", "name")), self._index(first),
            self._text(items, ("part_number", "part", "flash.part")),
        )  # fmt: skip

    def _has(self, collection: str, key: str) -> bool:
        return key in self.tree.keys(collection)

    def _all(self, begin: Iterable[str]) -> list[str]:
        """Return these items and all that have an identity in common with one of them, the best name first."""
        found: set[str] = set()
        todo = list(begin)
        while todo:
            item = todo.pop()
            if item not in found:
                found.add(item)
                todo += [each for token in self._tokens(item) for each in self._with(token)]
        return sorted(found, key=lambda item: (_ORDER[_collection(item)], item))

    def _tokens(self, item: str) -> Iterator[Token]:
        """Yield the identities of an item."""
        collection, key = _collection(item), _key(item)
        if collection in ADDRESSED and pci_address(key):
            yield "pci", pci_address(key)
        for kind, fact in _KINDS[collection]:
            yield from ((kind, text) for text in self._texts(kind, item, key, fact))

    def _with(self, token: Token) -> Sequence[str]:
        """Return the items with an identity; none, if several items of one collection have it and it must be unique."""
        kind, text = token
        if kind not in self._kinds:
            self._kinds[kind] = self._indexed(kind)
        found = list(self._kinds[kind].get(text, ()))
        if kind == "pci":
            spelt = paths.spell_key(text)
            return [*found, *(f"{each}/{spelt}" for each in ADDRESSED if self._has(each, text))]
        return found if len({_collection(item) for item in found}) == len(found) else ()

    def _indexed(self, kind: str) -> Mapping[str, Sequence[str]]:
        found: dict[str, dict[str, None]] = {}
        for collection, fact in IDENTITIES[kind]:
            for key in self.tree.keys(collection):
                item = f"{collection}/{paths.spell_key(key)}"
                for text in self._texts(kind, item, key, fact):
                    found.setdefault(text, {})[item] = None
        return {text: tuple(items) for text, items in found.items()}

    def _texts(self, kind: str, item: str, key: str, fact: str) -> Iterator[str]:
        """Yield the normalised texts of a kind that a fact of an item has."""
        if not fact:
            yield _folded(key)
            return
        inner, star, leaf = fact.partition("/*.")
        places = [item]
        if star:
            places = [f"{item}.{inner}/{paths.spell_key(each)}" for each in self.tree.keys(f"{item}.{inner}")]
        for place in places:
            value = self._reading(f"{place}.{leaf if star else fact}")
            texts = value if isinstance(value, tuple) else (value,)
            yield from filter(None, (_spelt(kind, text) for text in texts if isinstance(text, str)))

    def _below(self, item: str) -> Collection[str]:
        """Return the only device below a bridge; empty if the item is no bridge, or if there are several devices."""
        return self._behind.get(_key(item), ()) if self._is_bridge(item) else ()

    @cached_property
    def _behind(self) -> Mapping[str, Sequence[str]]:
        """The items of the only device below each bridge; bridges with several devices below them are left out."""
        keys = tuple(self.tree.keys("pcie"))
        if len(keys) > FUNCTIONS:
            return {}
        items = {key: f"pcie/{paths.spell_key(key)}" for key in keys}
        above = {key: self._reading(f"{item}.upstream") for key, item in items.items()}
        functions: dict[str, list[str]] = {}
        devices: dict[str, set[str]] = {}
        for key, item in items.items():
            device = key.rpartition(".")[0]
            functions.setdefault(device, []).append(item)
            for bridge in () if self._is_bridge(item) else _chain(key, above):
                devices.setdefault(bridge, set()).add(device)
        return {bridge: functions[device] for bridge, (device, *more) in devices.items() if not more}

    def _is_bridge(self, item: str) -> bool:
        return str(self._reading(f"{item}.class")).startswith(BRIDGE)

    def _at(self, place: str) -> set[str]:
        """Return the items that the BMC reports at a URI, which is written without the service root."""
        uri = f"{ROOT}/{place}"
        found = set()
        for collection in (each for each in WORDS if each.startswith("bmc.") or each in {"psu", "fan"}):
            for key in self.tree.keys(collection):
                item = f"{collection}/{paths.spell_key(key)}"
                leaf = self.tree.leaves.get(f"{item}.health") or self.tree.leaves.get(f"{item}.state")
                if leaf is not None and (leaf.source == uri or leaf.source.startswith((f"{uri}#", f"{uri}/"))):
                    found.add(item)
        return found if len({_collection(item) for item in found}) == len(found) else set()

    def _reading(self, text: str) -> Value | None:
        leaf = self.tree.leaves.get(text)
        value = None if leaf is None else leaf.reading
        return value if isinstance(value, str | tuple) else None

    def _text(self, items: Iterable[str], words: tuple[str, ...]) -> str:
        """Return the first known text of a part, from the first of its items that has one."""
        for item in items:
            for word in words:
                value = self._reading(f"{item}.{word}")
                if isinstance(value, str) and value.strip() and (word != "serial" or identity.serial(value)):
                    return value.strip()
        return ""

    def _index(self, item: str) -> str:
        leaf = self.tree.leaves.get(f"{item}.index")
        return str(leaf.reading) if leaf is not None and isinstance(leaf.reading, int) else ""

    def _pci(self, items: Iterable[str]) -> str:
        known = (pci_address(_key(item)) or pci_address(str(self._reading(f"{item}.pci"))) for item in items)
        return next(filter(None, known), "")

    def _slot(self, items: Iterable[str]) -> str:
        """Return the label of a part's slot: from the BMC, or from the board's table of slots."""
        return self._text(items, ("slot", "locator", "socket")) or self._board(self._pci(items))

    def _board(self, address: str) -> str:
        """Return the board's label of the slot at a PCI address."""
        slots = (str(paths.parse("node.slot").item(key)) for key in self.tree.keys("node.slot"))
        found = (_key(slot) for slot in slots if address and self._reading(f"{slot}.pci") == address)
        return next(found, "")


def pci_address(text: str) -> str:
    """Return a PCI address with its domain, `0000:1b:00.0`; an empty text if the text is no PCI address."""
    match = PCI.fullmatch(text.casefold())
    return f"{match[1] or '0000'}:{match[2]}" if match is not None else ""


def _spelt(kind: str, text: str) -> str:
    """Normalise an identity; a text that is none, such as a placeholder, gives an empty text."""
    match kind:
        case "pci":
            return pci_address(text)
        case "serial":
            return identity.serial(text)
        case "uuid":
            return identity.uuid(text)
        case "mac":
            spelt = text.casefold().replace(":", "").replace("-", "")
            return spelt if len(spelt) == MAC else ""
        case _:
            return _folded(text)


MAC = 12
"""Number of hexadecimal digits of an Ethernet address."""


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _chain(key: str, above: Mapping[str, Value | None]) -> Iterator[str]:
    """Yield the bridges above a PCI device; a node may return a circle."""
    seen = {key}
    at = above.get(key)
    while isinstance(at, str) and at not in seen and len(seen) <= DEPTH:
        seen.add(at)
        yield at
        at = above.get(at)


def _collection(item: str) -> str:
    return str(paths.parse(item).pattern).removesuffix("/*")


def _key(item: str) -> str:
    return paths.parse(item).segments[-1].key or ""
