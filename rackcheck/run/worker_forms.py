"""The messages between the process that judges and its worker processes, as JSON; pure.

A worker gets a plan by names, which both sides look up in their registry, and tasks: which stored replies of a node to
read. It returns facts in the form in which they are kept on disk (see `kept_form`): the first node in full, and later
nodes as what differs from it, because nodes of a rack differ in few facts.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.capture import CAPTURES, Capture
from rackcheck.model.fact import Plane
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import AnyProbe
from rackcheck.probe.join import Join
from rackcheck.probe.plan import Plan
from rackcheck.run.event import Answered
from rackcheck.run.kept_form import difference, form, reason_form, restored, sharing, unknown

BASES = 8
"""Maximum number of nodes whose facts a worker holds because those of others are returned as differences from them."""

NONE = -1
"""In place of the number of a base: there is none."""

Read = Callable[[Path, str, Plane], Capture]
"""A function that reads a stored reply: the path of its file, its digest, and its plane."""


def packed(doc: Any) -> bytes:
    """Return JSON; unlike escaped JSON, it keeps two broken halves of a character apart."""
    return json.dumps(doc, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def unpacked(data: bytes) -> Any:
    """Return the content of JSON; raises ValueError if it is damaged."""
    return json.loads(data.decode("utf-8", "surrogatepass"))


def plan_form(plan: Plan, probes: Sequence[AnyProbe], joins: Sequence[Join]) -> dict[str, Any] | None:
    """Return a plan by names; None if it has a probe or a join that is not, as an object, one of those given."""
    known = {id(each) for each in (*probes, *joins)}
    if not all(id(each) in known for each in (*plan.probes, *plan.joins)):
        return None
    return {
        "probes": [probe.name for probe in plan.probes],
        "joins": [join.name for join in plan.joins],
        "wanted": [*map(str, plan.wanted)],
    }


def plan_of(doc: Mapping[str, Any], probes: Iterable[AnyProbe], joins: Iterable[Join]) -> Plan:
    """Return the plan of a form; raises KeyError if a name is not known."""
    known, joined = {probe.name: probe for probe in probes}, {join.name: join for join in joins}
    return Plan(
        tuple(known[name] for name in doc["probes"]),
        tuple(map(paths.parse, doc["wanted"])),
        tuple(joined[name] for name in doc["joins"]),
    )


def task_form(came: Iterable[Answered], *, host: bool, bmc: bool) -> dict[str, Any]:
    """Return what to read: stored replies of a node, by their files, and whether it has a host and a BMC."""
    rows = [
        (
            each.plane.value,
            each.time,
            each.digest,
            None if each.trouble is None else reason_form(each.trouble),
            None if each.capture is None else each.capture.file,
        )
        for each in came
    ]
    return {"host": host, "bmc": bmc, "answers": rows}


def answers_of(doc: Mapping[str, Any], read: Read) -> list[Answered]:
    """Return the answers of a task; `read` is called when a reply is used."""
    found = []
    for name, time, digest, why, file in doc["answers"]:
        plane = Plane(name)
        capture = None if file is None else CAPTURES[plane].later(_reader(read, file, digest, plane))
        found.append(Answered("", plane, time, None if why is None else unknown(*why), capture, digest))
    return found


def _reader(read: Read, file: str, digest: str, plane: Plane) -> Callable[[], Capture]:
    return lambda: read(Path(file), digest, plane)


@dataclass
class SentFacts:
    """The worker's side: the trees that were returned in full, by number, of which later trees are differences."""

    _bases: OrderedDict[int, Tree] = field(default_factory=OrderedDict)
    _count: int = 0

    def message(self, tree: Tree) -> tuple[int, int, bytes]:
        """Return the number of the base of a tree, NONE for a tree in full; its own number in this case; and its JSON.

        Raises ValueError if the tree has no JSON form; it then has no number.
        """
        more = {"failed": list(tree.failed)}
        for number, base in reversed(self._bases.items()):
            change = difference(base, tree)
            if change is not None:
                found = form(tree, base, change)
                emptied = set(found["emptied"])
                order = [name for name in base.items if name not in emptied]
                order += [name for name in found["items"] if name not in base.items]
                other = {"order": [*tree.items] if order != [*tree.items] else []}
                return number, NONE, packed(found | more | other)
        data = packed(form(tree, None, None) | more | {"order": []})
        own = self._count
        self._count += 1
        self._bases[own] = tree
        while len(self._bases) > BASES:
            self._bases.popitem(last=False)
        return NONE, own, data


class KindsOfMachines:
    """A tree for each kind of machine that was read; trees of the same kind share the objects of equal facts.

    Facts of two nodes are compared often, and comparing those that are one object takes the least time.
    """

    def __init__(self) -> None:
        self._trees: list[Tree] = []

    def add(self, tree: Tree) -> Tree:
        """Return a tree with the objects of the first tree of its kind; itself if it is the first one."""
        for first in self._trees:
            if difference(first, tree) is not None:
                return sharing(first, tree)
        self._trees.append(tree)
        del self._trees[:-BASES]
        return tree


@dataclass
class Returned:
    """Facts that a worker returned: the message, and the base of which it is a difference; None if it is in full."""

    data: bytes
    base: "Returned | None"
    _tree: Tree | None = None

    def tree(self, kinds: KindsOfMachines) -> Tree:
        """Return the facts, which share objects with the first tree of their kind.

        Raises ValueError, or an error of type or lookup, if the message is damaged.
        """
        if self._tree is not None:
            return self._tree
        doc = unpacked(self.data)
        if self.base is None:
            found = self._tree = kinds.add(restored(doc, None))
            self.data = b""
        else:
            found = restored(doc, self.base.tree(kinds))
        items: Mapping[str, dict[str, None]] = found.items
        if doc["order"]:
            items = {name: items[name] for name in doc["order"]}
        found = Tree.listed(found.leaves, found.silent, items, found.times, tuple(doc["failed"]))
        if self.base is None:
            self._tree = found
        return found


@dataclass
class ReceivedFacts:
    """The other side: the messages of one worker that others of the same worker are differences from, by number."""

    _bases: OrderedDict[int, Returned] = field(default_factory=OrderedDict)

    def returned(self, base: int, own: int, data: bytes) -> Returned:
        """Return the facts in a message; raises KeyError if the worker does not hold that base."""
        if base != NONE:
            return Returned(data, self._bases[base])
        found = self._bases[own] = Returned(data, None)
        while len(self._bases) > BASES:
            self._bases.popitem(last=False)
        return found
