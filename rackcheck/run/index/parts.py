"""Parts: the facts of one class, addressed by their hash; a part may be stored as its difference from a similar part.

The canonical form of a part is JSON in ASCII, with sorted keys and without blanks; the part's digest is the SHA-256 of
this form. Stored parts are compressed with zlib, without a zlib header. A stored difference always refers to a part
that is stored in full.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

LARGEST = 256 << 20
"""Maximum size of a decompressed part, in bytes; the same limit applies to an event of a run."""

Docs = Mapping[str, Mapping[str, Any]]
"""The values of facts by path, in the same form as in stored events."""


class Whole(dict[str, Mapping[str, Any]]):
    """The facts of one class of a node, from which those of other nodes differ."""

    @cached_property
    def texts(self) -> dict[str, bytes]:
        """Each fact in canonical form, sorted by path."""
        return {path: _text(path, self[path]) for path in sorted(self)}


class Patched(Mapping[str, Mapping[str, Any]]):
    """The facts of a `Whole` with some changed, added or gone; takes memory for the differences alone."""

    def __init__(self, base: Whole, changed: dict[str, Mapping[str, Any]], gone: frozenset[str]) -> None:
        self._base, self._changed, self._gone = base, changed, gone

    def __getitem__(self, path: str) -> Mapping[str, Any]:
        if path in self._changed:
            return self._changed[path]
        if path in self._gone:
            raise KeyError(path)
        return self._base[path]

    def __iter__(self) -> Iterator[str]:
        for path in self._base:
            if path not in self._changed and path not in self._gone:
                yield path
        yield from self._changed

    def __len__(self) -> int:
        return len(self._base) - len(self._gone) + sum(path not in self._base for path in self._changed)

    @property
    def text(self) -> bytes:
        """The facts in canonical form, from the form of each fact of the base."""
        texts = self._base.texts | {path: _text(path, doc) for path, doc in self._changed.items()}
        for path in self._gone:
            del texts[path]
        if any(path not in self._base for path in self._changed):
            texts = {path: texts[path] for path in sorted(texts)}
        return b"{" + b",".join(texts.values()) + b"}"

    def as_dict(self) -> dict[str, Mapping[str, Any]]:
        """The facts as a dictionary, which is faster to read as a whole."""
        docs = self._base | self._changed
        for path in self._gone:
            del docs[path]
        return docs


@dataclass(frozen=True, eq=False)
class IndexPart:
    """The facts of one class of a node; parts with the same canonical form are equal."""

    docs: Docs

    @property
    def text(self) -> bytes:
        """The facts in canonical form."""
        return self.docs.text if isinstance(self.docs, Patched) else canonical(dict(self.docs))

    def as_dict(self) -> Docs:
        """The facts as a dictionary, which is faster to read as a whole."""
        return self.docs.as_dict() if isinstance(self.docs, Patched) else self.docs

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of the canonical form."""
        return hashlib.sha256(self.text).digest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, IndexPart) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def unknowns(self) -> int:
        """The number of unknown facts; planes without a reply are not counted."""
        return sum("unknown" in doc for path, doc in self.as_dict().items() if not path.startswith(PLANE))

    def silent(self) -> str:
        """The planes without a reply, separated by commas."""
        planes = (path for path, doc in self.as_dict().items() if path.startswith(PLANE) and "unknown" in doc)
        return ",".join(sorted(path.removeprefix(PLANE) for path in planes))


PLANE = "plane/"
"""Prefix of the paths that record whether a plane replied."""


def akin(docs: Docs, base: Docs) -> bool:
    """Whether two parts are from the same kind of machine: at most 1 in 16 fact paths is in only one of the parts."""
    return len(docs.keys() ^ base.keys()) * 16 <= len(docs.keys() | base.keys())


def canonical(doc: object) -> bytes:
    """Return a JSON document in canonical form; raises ValueError for numbers that JSON cannot represent."""
    return json.dumps(doc, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _text(path: str, doc: Mapping[str, Any]) -> bytes:
    return canonical(path) + b":" + canonical(doc)


def packed(text: bytes) -> bytes:
    """Compress a text; the same text always gives the same bytes, since no time stamp and no name is stored."""
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeeze.compress(text) + squeeze.flush()


def unpacked(data: bytes) -> Any:
    """Decompress a stored part; raises ValueError if the data is damaged or exceeds the size limit."""
    stretch = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        text = stretch.decompress(data, LARGEST)
        if not stretch.eof:
            raise ValueError("the data is incomplete, or exceeds the size limit")
        return json.loads(text)
    except (zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from None


def difference(docs: Docs, base: Docs) -> bytes:
    """Return the difference between this part and the stored part `base`, in canonical form."""
    changed = {path: doc for path, doc in docs.items() if not _same(base.get(path), doc)}
    gone = sorted(path for path in base if path not in docs)
    return canonical({"set": changed, "gone": gone})


def _same(a: object, b: object) -> bool:
    # In Python, true == 1 == 1.0; but the JSON texts differ, and so would the digest of the restored part.
    return a is b or (a == b and repr(a) == repr(b))


def patched(base: Docs, doc: Any) -> Docs:
    """Apply a difference to the part `base`, and return the full part; raises ValueError if `doc` is invalid."""
    try:
        gone = frozenset(doc["gone"])
        docs: dict[str, Any] = {path: value for path, value in base.items() if path not in gone}
        docs.update(doc["set"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"invalid difference: {error!r}") from None
    return docs
