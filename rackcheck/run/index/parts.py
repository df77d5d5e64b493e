"""Parts: the facts of one class, addressed by their hash; a part may be stored as its difference from a similar part.

The canonical form of a part is JSON in ASCII, with sorted keys and without blanks; the part's digest is the SHA-256 of
this form. Stored parts are compressed with zlib, without a zlib header. A stored difference always refers to a part
that is stored in full.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

LARGEST = 256 << 20
"""Maximum size of a decompressed part, in bytes; the same limit applies to an event of a run."""

Docs = Mapping[str, Mapping[str, Any]]
"""The values of facts by path, in the same form as in stored events."""


@dataclass(frozen=True, eq=False)
class IndexPart:
    """The facts of one class of a node; parts with the same canonical form are equal."""

    docs: Docs

    @property
    def text(self) -> bytes:
        """The facts in canonical form."""
        return canonical(dict(self.docs))

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
        return sum("unknown" in doc for path, doc in self.docs.items() if not path.startswith(PLANE))

    def silent(self) -> str:
        """The planes without a reply, separated by commas."""
        return ",".join(
            sorted(p.removeprefix(PLANE) for p, doc in self.docs.items() if p.startswith(PLANE) and "unknown" in doc)
        )


PLANE = "plane/"
"""Prefix of the paths that record whether a plane replied."""


def akin(docs: Docs, base: Docs) -> bool:
    """Whether two parts are from the same kind of machine: at most 1 in 16 fact paths is in only one of the parts."""
    return len(docs.keys() ^ base.keys()) * 16 <= len(docs.keys() | base.keys())


def canonical(doc: object) -> bytes:
    """Return a JSON document in canonical form; raises ValueError for numbers that JSON cannot represent."""
    return json.dumps(doc, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


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
    return a == b and repr(a) == repr(b)


def patched(base: Docs, doc: Any) -> Docs:
    """Apply a difference to the part `base`, and return the full part; raises ValueError if `doc` is invalid."""
    try:
        gone = frozenset(doc["gone"])
        docs: dict[str, Any] = {path: value for path, value in base.items() if path not in gone}
        docs.update(doc["set"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"invalid difference: {error!r}") from None
    return docs
