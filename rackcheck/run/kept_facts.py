"""Keeps the facts of nodes of stored runs on disk, so that most commands need not parse the raw replies again.

One file holds the facts of one node, in full or as what differs from the facts of another node (see `kept_form`). Its
name is a digest of everything that the facts depend on: the digests of the raw replies, which `store` compares with the
replies themselves, the probes and the facts that were wanted, the program's own code, and Python. A changed parser
therefore never finds facts of an earlier one. A file that is cut, changed or renamed does not match the digest at its
beginning, and is written anew.

The files are a cache in a folder that only the user can write, not a part of a run: a run of a third party brings none
along, and nothing is lost if they are removed. Facts of probes that are not part of rackcheck are not kept, nor are
those of a node on which a probe failed, because the reason may be temporary.
"""

import hashlib
import json
import os
import re
import stat
import sys
import tempfile
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rackcheck.base import safe_read, state
from rackcheck.base.program import PROBES
from rackcheck.base.program import digest as _code
from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import Probe
from rackcheck.probe.index import own_readers
from rackcheck.probe.join import Join
from rackcheck.probe.plan import Plan
from rackcheck.run.event import Answered
from rackcheck.run.kept_form import Difference, difference, form, reason_form, restored

BUDGET = 1 << 30
"""Maximum size of all files in bytes; the facts of a node with eight GPUs take about 200 KB."""

BASES = 8
"""Maximum number of nodes whose facts are in memory because those of others are stored as differences from them."""

PRUNE_EACH = 64
"""The size of all files is checked after the first file that a process writes, and then after so many files."""

FORMAT = b"rackcheck facts 2\n"
OFF = "RACKCHECK_KEPT_FACTS"
"""With the value `0` of this environment variable, no facts are kept and none are read."""


@dataclass
class KeptFacts:
    """The facts that are kept in one folder; a folder that others can write, or that cannot be written, keeps none."""

    folder: Path
    budget: int = BUDGET
    _written: int = field(default=0, init=False)
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
        found = self._read(key) if self._mine() else None
        if found is None:
            found = read()
            self._write(key, found)
        return found

    def has(self, plan: Plan, node: Node, came: Sequence[Answered]) -> bool:
        """Whether there is a file with the facts in these replies, which may turn out to be damaged."""
        key = _key(plan, node, came)
        return key is not None and self._path(key).exists()

    def add(self, plan: Plan, node: Node, came: Sequence[Answered], tree: Tree) -> None:
        """Keep the facts that were parsed from these replies, which have been stored, unless they are kept already."""
        key = _key(plan, node, sorted(came, key=lambda answer: answer.plane))
        if key is not None and not self._path(key).exists():
            self._write(key, tree)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def _read(self, key: str) -> Tree | None:
        """Return the facts in a file; None if the file or that of its base is missing or damaged."""
        doc = _loaded(self._path(key), key)
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
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return None
        if not name:
            self._remember(key, found)
        return found

    def _base(self, key: str) -> Tree | None:
        """Return the facts of a base, which has no base itself."""
        with self._lock:
            known = self._bases.get(key)
            if known is not None:
                self._bases.move_to_end(key)
        if known is None and re.fullmatch(r"[0-9a-f]{48}", key):
            doc = _loaded(self._path(key), key)
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

    def _mine(self) -> bool:
        """Whether the folder exists, and only this user can write it."""
        try:
            about = self.folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o022

    def _write(self, key: str, tree: Tree) -> None:
        """Write a file; a full disk or a read-only home costs later commands time, and nothing else.

        If a probe or a join failed, nothing is written: the reason may be temporary.
        """
        if tree.failed:
            return
        name, base, change = self._near(tree)
        doc = {"base": name, **form(tree, base, change)}
        packed = zlib.compress(json.dumps(doc, separators=(",", ":")).encode(), 1)
        path = self._path(key)
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._mine():
                return
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _replace(path, FORMAT + _seal(key, packed) + packed)
            if not name:
                self._remember(key, tree)
            if self._written % PRUNE_EACH == 0:
                self._prune()
            self._written += 1

    def _prune(self) -> None:
        """Remove the files that were not used for longest, until nine tenths of the budget are left."""
        files = []
        for entry in self.folder.glob("??/*"):
            with suppress(OSError):  # another process may remove it
                about = entry.stat()
                files.append((about.st_mtime, about.st_size, entry))
        size = sum(each for _, each, _ in files)
        if size <= self.budget:
            return
        for _, each, entry in sorted(files):
            if size <= self.budget * 9 // 10:
                break
            entry.unlink(missing_ok=True)
            size -= each


def kept_facts() -> KeptFacts | None:
    """Return the kept facts of this user; None if the environment variable `OFF` turns them off."""
    return None if os.environ.get(OFF) == "0" else _kept_in(state.cache_folder("facts"))


@cache
def _kept_in(folder: Path) -> KeptFacts:
    return KeptFacts(folder)


def _replace(path: Path, data: bytes) -> None:
    """Write a file under another name, which no other process or thread has, and then give it its name."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as fresh:
        try:
            fresh.write(data)
            fresh.close()
            Path(fresh.name).replace(path)
        except OSError:
            Path(fresh.name).unlink(missing_ok=True)
            raise


def _loaded(path: Path, key: str) -> Mapping[str, Any] | None:
    """Return the content of a file; None if there is no such file, or if it is damaged."""
    try:
        with safe_read.opened(path) as file:
            data = file.read(LARGEST + 1)
        packed = data[len(FORMAT) + SEAL :]
        if len(data) > LARGEST or data[: len(FORMAT) + SEAL] != FORMAT + _seal(key, packed):
            return None
        doc = json.loads(zlib.decompressobj().decompress(packed, LARGEST))
    except (OSError, UserError, zlib.error, ValueError, RecursionError):
        return None
    with suppress(OSError):  # a file that cannot be changed can still be read
        os.utime(path)
    return doc if isinstance(doc, dict) else None


LARGEST = 256 << 20
"""Maximum size of a file, and of its content, in bytes."""

SEAL = 32
"""Size of the digest at the beginning of a file, in bytes."""


def _seal(key: str, packed: bytes) -> bytes:
    """Return a digest of a file's name and content, so that neither can be changed without the other."""
    return hashlib.blake2b(key.encode() + packed, digest_size=SEAL).digest()


# ---- what the facts depend on


def _key(plan: Plan, node: Node, came: Sequence[Answered]) -> str | None:
    """Return the name of the file with a node's facts; None if the facts are not kept."""
    if not came:
        return None
    own, code = _own_givers() | own_readers(), _code()
    givers: tuple[Probe[Any] | Join, ...] = (*plan.probes, *plan.joins)
    if not code or not all(id(_reader(giver)) in own for giver in givers):
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
    names = [giver.name for giver in givers]
    depends = code, names, [*map(str, plan.wanted)], bool(node.host), node.bmc is None, answers
    return hashlib.blake2b(json.dumps(depends).encode(), digest_size=24).hexdigest()


@cache
def _own_givers() -> frozenset[int]:
    """Return the identities of the readers in rackcheck's own modules, which live as long as the process."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == PROBES]
    held = (each for module in modules for each in vars(module).values())
    return frozenset(id(_reader(each)) for each in held if isinstance(each, Probe | Join))


def _reader(giver: Probe[Any] | Join) -> object:
    """Return what makes the facts: a probe itself, and of a join, which is copied to be bound, its function."""
    return giver if isinstance(giver, Probe) else giver.function
