"""The facts that lists of work show beside findings: the links of ports with their values, and Xids. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rackcheck.evaluate.verdict import Status, Verdict
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.fact import Absent, Unknown
from rackcheck.model.part_index import Part, PartIndex
from rackcheck.model.path import BadPath
from rackcheck.model.tree import Tree
from rackcheck.probe.group import is_group
from rackcheck.run.event import Event, FactsRead, Foreseen, Judged

BAD = frozenset({Status.FAIL, Status.WARN})

PORT = ("state", "physical", "rate", "width")
ERRORS = ("symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "local_link_integrity_errors")
"""Counters of a port of a NIC that are shown if they are not 0."""

MODULE = ("type", "vendor", "part", "serial")


@dataclass(frozen=True, slots=True)
class Link:
    """One end of a cable: the device and its port, and the port of the switch; an unknown text is empty.

    `values` has the facts that were read about the link, by their names, such as `state` and `rate`.
    """

    device: str
    port: str = ""
    interface: str = ""
    pci: str = ""
    slot: str = ""
    serial: str = ""
    switch: str = ""
    switch_port: str = ""
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        near = (("slot", self.slot), ("PCI", self.pci), ("serial", self.serial), ("interface", self.interface))
        far = f"switch {self.switch} port {self.switch_port}" if self.switch else ""
        place = ", ".join(filter(None, (*(f"{word} {text}" for word, text in near if text), far)))
        name = f"{self.device} port {self.port}" if self.port else self.device
        return f"{name} ({place})" if place else name


XIDS = (("log.xid", "Xid"), ("log.sxid", "SXid"))
"""The collections of driver errors by PCI address, and the word for one."""


@dataclass
class WorkFacts:
    """Reads the facts while the events of runs arrive.

    `links` has the links of failing and warning verdicts of `rules`, by node and rule. `xids` has the Xids and SXids in
    the kernel's log with their meaning, by node and PCI address.
    """

    rules: frozenset[str]
    links: dict[tuple[str, str], tuple[Link, ...]] = field(default_factory=dict)
    xids: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    _node: str = ""
    _tree: Tree = field(default_factory=lambda: Tree({}))

    def take(self, event: Event) -> None:
        """Take the next event; the facts of a node come directly before its verdicts, or its preliminary verdicts."""
        match event:
            case FactsRead(node, tree) if not is_group(node):
                self._node, self._tree = node, tree
            case Foreseen(judged):
                self._judged(judged)
            case Judged() if event.node == self._node or is_group(event.node):
                self._judged(event)

    def _judged(self, judged: Judged) -> None:
        index = PartIndex(self._tree if judged.node == self._node else Tree({}))
        for verdict in judged.verdicts:
            if verdict.rule in self.rules:
                self.links[judged.node, verdict.rule] = tuple(_links(index, verdict)) if verdict.status in BAD else ()
        self.xids = {key: some for key, some in self.xids.items() if key[0] != judged.node}
        self.xids |= {(judged.node, pci): some for pci, some in _xids(index.tree)}
        self._node, self._tree = "", Tree({})


def _xids(tree: Tree) -> Iterator[tuple[str, tuple[str, ...]]]:
    for collection, word in XIDS:
        for key in tree.keys(collection):
            leaves = (tree.leaves.get(f"{collection}/{paths.spell_key(key)}.{fact}") for fact in ("named", "codes"))
            found = next((each.reading for each in leaves if each is not None and isinstance(each.reading, tuple)), ())
            yield key, tuple(f"{word} {text}" for text in found)


def _links(index: PartIndex, verdict: Verdict) -> Iterator[Link]:
    items = dict.fromkeys(each.item for each in verdict.evidence if each.status in BAD)
    yield from dict.fromkeys(filter(None, (_link(index, item) for item in items)))


def _link(index: PartIndex, item: str) -> Link | None:
    """Return the link that a fact is about; None if the path names no item."""
    try:
        keyed = [(each.word, each.key) for each in paths.parse(item).segments if each.key is not None]
    except BadPath:
        return None
    if not keyed:
        return None
    part = index.part(item) or index.part(f"nic.interface/{paths.spell_key(keyed[-1][1] or '')}")
    port = next((key or "" for name, key in keyed[1:] if name == "port"), "")
    if part is None or part.word != "NIC":
        return Link(keyed[0][1] or "", port)
    return _of(index.tree, part, port or _only_port(index.tree, part))


def _only_port(tree: Tree, part: Part) -> str:
    nic = part.key("nic")
    ports = list(tree.keys(f"nic/{paths.spell_key(nic)}.port")) if nic else []
    return ports[0] if len(ports) == 1 else ""


def _of(tree: Tree, part: Part, port: str) -> Link:
    nic, interface = part.key("nic"), part.key("nic.interface")
    at = f"nic/{paths.spell_key(nic)}.port/{paths.spell_key(port)}" if nic and port else ""
    lldp = f"nic.lldp/{paths.spell_key(interface)}" if interface else ""
    module = [f"nic.adapter/{paths.spell_key(part.pci)}.module"] if part.pci else []
    module += [f"nic.interface/{paths.spell_key(interface)}.module"] if interface else []
    values = [*_values(tree, at, PORT), *_values(tree, f"{at}.counter" if at else "", ERRORS, no_zero=True)]
    cable = next(filter(None, (tuple(_values(tree, each, MODULE)) for each in module)), ())
    values += [(f"module {name}", text) for name, text in cable]
    return Link(
        f"NIC {nic or part.name}", port, interface, part.pci, part.slot, part.serial, _text(tree, f"{lldp}.switch"),
        _text(tree, f"{lldp}.port"), tuple(values),
    )  # fmt: skip


def _values(tree: Tree, at: str, names: Iterable[str], *, no_zero: bool = False) -> Iterator[tuple[str, str]]:
    for name in names if at else ():
        text = _text(tree, f"{at}.{name}")
        if text and not (no_zero and text == "0"):
            yield name, text


def _text(tree: Tree, path: str) -> str:
    leaf = tree.leaves.get(path)
    if leaf is None or isinstance(leaf.reading, Unknown | Absent):
        return ""
    return operator.spell(leaf.reading, leaf.kind)
