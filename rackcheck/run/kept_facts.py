"""Keeps the facts of nodes of stored runs on disk, so that most commands need not parse the raw replies again.

One file holds the facts of one node, in full or as what differs from the facts of another node (see `kept_form`). Its
name is a digest of everything that the facts depend on: the digests of the raw replies, which `raw_reply` compares with
the replies themselves, the probes and the facts that were wanted, the program's own code, and Python. A changed parser
therefore never finds facts of an earlier one. The file also has the seals of the files of the replies, so that an
unchanged file need not be decompressed to compare its content with the digest. A file that is cut, changed or renamed
does not match the digest at its beginning, and is written anew.

The files are a cache in a folder that only the user can write, not a part of a run: a run of a third party brings none
along, and nothing is lost if they are removed. Facts of probes that are not part of rackcheck are not kept, nor are
those of a node on which a probe failed, because the reason may be temporary.
"""

import hashlib
import json
import os
import sys
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rackcheck.base import state
from rackcheck.base.program import PROBES
from rackcheck.base.program import digest as _code
from rackcheck.base.sealed_file import SealedFiles
from rackcheck.inventory import Node
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import Probe
from rackcheck.probe.index import own_readers
from rackcheck.probe.join import Join
from rackcheck.probe.plan import Plan
from rackcheck.run.event import Answered
from rackcheck.run.kept_form import Difference, difference, form, reason_form, restored
from rackcheck.run.kept_replies import checked

BUDGET = 1 << 30
"""Maximum size of all files in bytes; the facts of a node with eight GPUs take about 200 KB."""

BASES = 8
"""Maximum number of nodes whose facts are in memory because those of others are stored as differences from them."""

PRUNE_EACH = 64
"""The size of all files is checked after one write in so many."""

FORMAT = b"rackcheck facts 3\n"
OFF = "RACKCHECK_KEPT_FACTS"
"""With the value `0` of this environment variable, no facts are kept and none are read."""


@dataclass
class KeptFacts:
    """The facts that are kept in one folder; a folder that others can write, or that cannot be written, keeps none."""

    folder: Path
    budget: int = BUDGET
    _bases: OrderedDict[str, Tree] = field(default_factory=OrderedDict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def tree(self, plan: Plan, node: Node, came: Sequence[Answered], read: Callable[[], Tree]) -> Tree:
        """Return the kept facts of a node; if there are none, the facts that `read` parses.

        Only replies of stored runs have the digest by which facts are kept.
        """
        bare = any((answer.capture is None) is not (answer.digest == "") for answer in came)
        key = None if bare else _key(plan, node, came)
        if key is None:
            return read()
        found = self._read(key)
        if found is None:
            tree = read()
            self._write(key, tree)
            return tree
        tree, doc = found
        seals = checked(came, doc["seals"])
        if seals != doc["seals"]:
            self._store(key, {**doc, "seals": seals})
        return tree

    def has(self, plan: Plan, node: Node, came: Sequence[Answered]) -> bool:
        """Whether there is a file with the facts in these replies, which may turn out to be damaged."""
        key = _key(plan, node, came)
        return key is not None and self.files.has(key)

    def add(self, plan: Plan, node: Node, came: Sequence[Answered], tree: Tree) -> None:
        """Keep the facts that were parsed from these replies, which have been stored, unless they are kept already."""
        key = _key(plan, node, sorted(came, key=lambda answer: answer.plane))
        if key is not None and not self.files.has(key):
            self._write(key, tree)

    @property
    def files(self) -> SealedFiles:
        """The files with the facts of one node each."""
        return SealedFiles(self.folder, FORMAT, budget=self.budget, each=PRUNE_EACH)

    def _read(self, key: str) -> tuple[Tree, Mapping[str, Any]] | None:
        """Return the facts in a file, and its content; None if the file or that of its base is missing or damaged."""
        doc = self._loaded(key)
        if doc is None:
            with self._lock:
                self._bases.pop(key, None)  # it is not on disk, so nothing may be stored as a difference from it
            return None
        try:
            name = str(doc["base"])
            base = self._base(name) if name else None
            if name and base is None:
                return None
            found = restored(doc, base)
            if not isinstance(doc["seals"], dict):
                return None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return None
        if not name:
            self._remember(key, found)
        return found, doc

    def _base(self, key: str) -> Tree | None:
        """Return the facts of a base, which has no base itself."""
        with self._lock:
            known = self._bases.get(key)
            if known is not None:
                self._bases.move_to_end(key)
        if known is None:
            doc = self._loaded(key)
            if doc is not None and not doc["base"]:
                known = restored(doc, None)
                self._remember(key, known)
        return known

    def _remember(self, key: str, tree: Tree) -> None:
        with self._lock:
            self._bases[key] = tree
            while len(self._bases) > BASES:
                self._bases.popitem(last=False)

    def _near(self, tree: Tree) -> tuple[str, Tree | None, Difference | None]:
        """Return the base from which the facts of a node differ in less than half of them; the newest bases first."""
        with self._lock:
            bases = list(reversed(self._bases.items()))
        for key, base in bases:
            change = difference(base, tree)
            if change is not None:
                return key, base, change
        return "", None, None

    def _loaded(self, key: str) -> Mapping[str, Any] | None:
        """Return the content of a file; None if there is no such file, or if it is damaged."""
        packed = self.files.load(key)
        try:
            doc = None if packed is None else json.loads(zlib.decompressobj().decompress(packed, LARGEST))
        except (zlib.error, ValueError, RecursionError):
            return None
        return doc if isinstance(doc, dict) else None

    def _write(self, key: str, tree: Tree) -> None:
        """Write a file; a full disk or a read-only home costs later commands time, and nothing else.

        If a probe or a join failed, nothing is written: the reason may be temporary.
        """
        if tree.failed:
            return
        name, base, change = self._near(tree)
        if self._store(key, {"base": name, "seals": {}, **form(tree, base, change)}) and not name:
            self._remember(key, tree)

    def _store(self, key: str, doc: Mapping[str, Any]) -> bool:
        return self.files.store(key, zlib.compress(json.dumps(doc, separators=(",", ":")).encode(), 1))


def kept_facts() -> KeptFacts | None:
    """Return the kept facts of this user; None if the environment variable `OFF` turns them off."""
    return None if os.environ.get(OFF) == "0" else _kept_in(state.cache_folder("facts"))


@cache
def _kept_in(folder: Path) -> KeptFacts:
    return KeptFacts(folder)


LARGEST = 256 << 20
"""Maximum size of the content of a file, in bytes."""


# ---- what the facts depend on


def _key(plan: Plan, node: Node, came: Sequence[Answered]) -> str | None:
    """Return the name of the file with a node's facts; None if the facts are not kept."""
    begin = _plan_parts.of(plan, _code()) if came else None
    if begin is None:
        return None
    answers = [
        (
            answer.plane,
            answer.time,
            answer.digest,
            *(("", "") if answer.trouble is None else reason_form(answer.trouble)),
        )
        for answer in came
    ]
    rest = json.dumps((bool(node.host), node.bmc is None, answers))
    whole = begin.copy()
    whole.update(f", {rest[1:]}".encode())
    return str(whole.hexdigest())


class _PlanParts:
    """The begin of the digests of nodes for the newest plans: the plan's part takes longer than that of a node."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str], tuple[Plan, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, plan: Plan, code: str) -> Any:
        """Return the begin of a digest, which must be copied; None if facts of this plan are not kept."""
        with self._lock:
            known = self._known.get((id(plan), code))
            if known is None:
                known = self._known[id(plan), code] = plan, _plan_part(plan, code)
                while len(self._known) > BASES:
                    self._known.popitem(last=False)
            return known[1]


_plan_parts = _PlanParts()


def _plan_part(plan: Plan, code: str) -> Any:
    own = _own_givers() | own_readers()
    givers: tuple[Probe[Any] | Join, ...] = (*plan.probes, *plan.joins)
    if not code or not all(id(_reader(giver)) in own for giver in givers):
        return None
    depends = json.dumps((code, [giver.name for giver in givers], [*map(str, plan.wanted)]))
    return hashlib.blake2b(depends[:-1].encode(), digest_size=24)


@cache
def _own_givers() -> frozenset[int]:
    """Return the identities of the readers in rackcheck's own modules, which live as long as the process."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == PROBES]
    held = (each for module in modules for each in vars(module).values())
    return frozenset(id(_reader(each)) for each in held if isinstance(each, Probe | Join))


def _reader(giver: Probe[Any] | Join) -> object:
    """Return what makes the facts: a probe itself, and of a join, which is copied to be bound, its function."""
    return giver if isinstance(giver, Probe) else giver.function
