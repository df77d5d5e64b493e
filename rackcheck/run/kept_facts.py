"""Keeps the facts of nodes of stored runs on disk, so that most commands need not parse the raw replies again.

One file holds the facts of one node. Its name is a digest of everything that the facts depend on: the digests of the
raw replies, which `store` compares with the replies themselves, the probes and the facts that were wanted, the
program's own code, and Python. A changed parser therefore never finds facts of an earlier one. A file that is cut,
changed or renamed does not match the digest at its beginning, and is written anew.

The files are a cache in a folder that only the user can write, not a part of a run: a run of a third party brings none
along, and nothing is lost if they are removed. Facts of probes that are not part of rackcheck are not kept, nor are
those of a node on which a probe failed, because the reason may be temporary.
"""

import hashlib
import json
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from rackcheck.base import safe_read, state
from rackcheck.base.program import PROBES
from rackcheck.base.program import digest as _code
from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.contract import Probe
from rackcheck.probe.index import own_readers
from rackcheck.probe.join import Join
from rackcheck.probe.plan import Plan
from rackcheck.run.event import Answered

BUDGET = 1 << 30
"""Maximum size of all files in bytes; the facts of a node with eight GPUs take about 200 KB."""

PRUNE_EACH = 64
"""The size of all files is checked after the first file that a process writes, and then after so many files."""

FORMAT = b"rackcheck facts 1\n"
OFF = "RACKCHECK_KEPT_FACTS"
"""With the value `0` of this environment variable, no facts are kept and none are read."""


@dataclass
class KeptFacts:
    """The facts that are kept in one folder; a folder that others can write, or that cannot be written, keeps none."""

    folder: Path
    budget: int = BUDGET
    _written: int = field(default=0, init=False)

    def tree(self, plan: Plan, node: Node, came: Sequence[Answered], read: Callable[[], tuple[Tree, bool]]) -> Tree:
        """Return the kept facts of a node; if there are none, the facts that `read` parses.

        `read` also returns whether the facts may be kept: not if a probe failed. Only replies of stored runs have the
        digest by which facts are kept.
        """
        key = _key(plan, node, came)
        if key is None:
            return read()[0]
        path = self.folder / key[:2] / key
        found = _loaded(path, key) if self._mine() else None
        if found is None:
            found, lasting = read()
            if lasting:
                self._write(path, key, found)
        return found

    def _mine(self) -> bool:
        """Whether the folder exists, and only this user can write it."""
        try:
            about = self.folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o022

    def _write(self, path: Path, key: str, tree: Tree) -> None:
        """Write a file; a full disk or a read-only home costs later commands time, and nothing else."""
        packed = zlib.compress(json.dumps(_form(tree), separators=(",", ":")).encode(), 1)
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._mine():
                return
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _replace(path, FORMAT + _seal(key, packed) + packed)
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


def _loaded(path: Path, key: str) -> Tree | None:
    """Return the facts in a file; None if there is no such file, or if it is damaged."""
    try:
        with safe_read.opened(path) as file:
            data = file.read(LARGEST + 1)
        packed = data[len(FORMAT) + SEAL :]
        if len(data) > LARGEST or data[: len(FORMAT) + SEAL] != FORMAT + _seal(key, packed):
            return None
        inflating = zlib.decompressobj()
        found = _tree(json.loads(inflating.decompress(packed, LARGEST)))
    except (OSError, UserError, zlib.error, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    with suppress(OSError):  # a file that cannot be changed can still be read
        os.utime(path)
    return found


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
    if not came or any((answer.capture is None) is not (answer.digest == "") for answer in came):
        return None
    own, code = _own_givers() | own_readers(), _code()
    givers: tuple[Probe[Any] | Join, ...] = (*plan.probes, *plan.joins)
    if not code or not all(id(_reader(giver)) in own for giver in givers):
        return None
    answers = [
        (answer.plane, answer.time, answer.digest, *(("", "") if answer.trouble is None else _why(answer.trouble)))
        for answer in came
    ]
    names = [giver.name for giver in givers]
    depends = code, names, [*map(str, plan.wanted)], bool(node.host), node.bmc is None, answers
    return hashlib.blake2b(json.dumps(depends).encode(), digest_size=24).hexdigest()


def _why(trouble: Unknown) -> tuple[str, str]:
    return trouble.reason.value, trouble.detail


@cache
def _own_givers() -> frozenset[int]:
    """Return the identities of the readers in rackcheck's own modules, which live as long as the process."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == PROBES]
    held = (each for module in modules for each in vars(module).values())
    return frozenset(id(_reader(each)) for each in held if isinstance(each, Probe | Join))


def _reader(giver: Probe[Any] | Join) -> object:
    """Return what makes the facts: a probe itself, and of a join, which is copied to be bound, its function."""
    return giver if isinstance(giver, Probe) else giver.function


# ---- the form on disk: columns, with a table for each column whose values repeat


def _form(tree: Tree) -> dict[str, Any]:
    kinds: dict[Kind, int] = {}
    forms: dict[Hashable, int] = {}
    sources: dict[str, int] = {}
    rows: tuple[list[str], list[int], list[int], list[Any]] = ([], [], [], [])
    for path, leaf in tree.leaves.items():
        kind = kinds.setdefault(leaf.kind, len(kinds))
        rows[0].append(path)
        rows[1].append(forms.setdefault((kind, leaf.plane.value, leaf.time), len(forms)))
        rows[2].append(sources.setdefault(leaf.source, len(sources)))
        rows[3].append(_reading_form(leaf.reading))
    return {
        "kinds": [[getattr(kind, each.name) for each in fields(Kind)] for kind in kinds],
        "forms": list(forms),
        "sources": list(sources),
        "rows": rows,
        "items": {collection: list(keys) for collection, keys in tree.items.items()},
        "silent": {plane.value: _why(why) for plane, why in tree.silent.items()},
    }


def _reading_form(reading: Reading) -> Any:
    if isinstance(reading, Unknown):
        return {"unknown": _why(reading)}
    return {"absent": reading.detail} if isinstance(reading, Absent) else reading


def _tree(doc: Mapping[str, Any]) -> Tree:
    kinds = [_kind(parts) for parts in doc["kinds"]]
    forms = [(kinds[kind], Plane(plane), time) for kind, plane, time in doc["forms"]]
    leaves = _Leaves(doc["rows"], forms, doc["sources"])
    silent = {Plane(plane): _unknown(*why) for plane, why in doc["silent"].items()}
    return Tree.listed(leaves, silent, doc["items"])


class _Leaves(Mapping[str, Leaf]):
    """Leaves that are made when they are first used: rules use a quarter of a node's facts."""

    def __init__(self, rows: Sequence[Sequence[Any]], forms: Sequence[tuple[Kind, Plane, str]], sources: Any) -> None:
        paths, self._form, self._source, self._reading = rows
        self._at = {path: at for at, path in enumerate(paths)}
        if not len(paths) == len(self._at) == len(self._form) == len(self._source) == len(self._reading):
            raise ValueError("columns of different lengths")
        self._forms, self._sources, self._odd = forms, sources, _Odd()
        self._made: dict[str, Leaf] = {}

    def __getitem__(self, path: str) -> Leaf:
        made = self._made.get(path)
        return self._make(path, self._at[path]) if made is None else made

    def get(self, path: str, default: Any = None) -> Any:
        made = self._made.get(path)
        if made is None:
            at = self._at.get(path)
            return default if at is None else self._make(path, at)
        return made

    def __contains__(self, path: object) -> bool:
        return path in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def _make(self, path: str, at: int) -> Leaf:
        kind, plane, time = self._forms[self._form[at]]
        reading = self._reading[at]
        value = self._odd.reading(reading) if reading.__class__ in {list, dict} else reading
        leaf = self._made[path] = Leaf(value, kind, plane, self._sources[self._source[at]], time)
        return leaf


class _Odd:
    """Makes readings that are no JSON values; equal ones, of which a node has thousands, are one object."""

    def __init__(self) -> None:
        self._made: dict[str, Absent | Unknown] = {}

    def reading(self, form: Any) -> Reading:
        if isinstance(form, list):
            return tuple(form)
        text = str(form)
        found = self._made.get(text)
        if found is None:
            found = self._made[text] = Absent(form["absent"]) if "absent" in form else _unknown(*form["unknown"])
        return found


def _unknown(reason: str, detail: str) -> Unknown:
    return Unknown(Reason(reason), detail)


def _kind(parts: Sequence[Any]) -> Kind:
    named = {each.name: part for each, part in zip(fields(Kind), parts, strict=True)}
    named |= {"type": Type(named["type"]), "cls": Class(named["cls"]), "words": tuple(named["words"])}
    return Kind(**named | {"alike": None if named["alike"] is None else tuple(named["alike"])})
