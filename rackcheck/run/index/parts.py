"""Parts: facts of one class, content-addressed; one that differs little from another is kept as its difference.

The canonical form is JSON with sorted keys and no blanks, in ASCII; its SHA-256 is the part's name. What is kept is
compressed by zlib without header. A difference is to a whole part, never to another difference: one step back, always.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST = 256 << 20
"""Bytes that a part may unpack to: those of one event of a run."""

Docs = Mapping[str, Mapping[str, Any]]
"""Readings by path, as on the wire."""


@dataclass(frozen=True, slots=True)
class IndexPart:
    """Facts of one class, as named by what they say."""

    digest: bytes
    text: bytes
    docs: Docs

    def unknowns(self) -> int:
        """How many of its facts are not known; a silent plane is none of them."""
        return sum("unknown" in doc for path, doc in self.docs.items() if not path.startswith(PLANE))

    def silent(self) -> str:
        """The planes that said nothing, with commas between."""
        return ",".join(
            sorted(p.removeprefix(PLANE) for p, doc in self.docs.items() if p.startswith(PLANE) and "unknown" in doc)
        )


PLANE = "plane/"
"""What the paths begin with that say whether a plane spoke."""


def part_of(docs: Docs) -> IndexPart:
    """Name facts by their content."""
    text = canonical(docs)
    return IndexPart(hashlib.sha256(text).digest(), text, docs)


def akin(docs: Docs, base: Docs) -> bool:
    """Whether two parts are of one kind of machine: no more than every sixteenth path is in one of them alone."""
    return len(docs.keys() ^ base.keys()) * 16 <= len(docs.keys() | base.keys())


def canonical(doc: object) -> bytes:
    """Write a document the one way; raises ValueError at what JSON cannot hold."""
    return json.dumps(doc, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def packed(text: bytes) -> bytes:
    """Compress; no clock and no name in it."""
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeeze.compress(text) + squeeze.flush()


def unpacked(data: bytes) -> Any:
    """Give back what was packed; raises ValueError where it is damaged or grows beyond bounds."""
    stretch = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        text = stretch.decompress(data, LARGEST)
        if not stretch.eof:
            raise ValueError("it has no end within bounds")
        return json.loads(text)
    except (zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from None


def difference(docs: Docs, base: Docs) -> bytes:
    """Give what makes one part of another, in canonical form."""
    changed = {path: doc for path, doc in docs.items() if not _same(base.get(path), doc)}
    gone = sorted(path for path in base if path not in docs)
    return canonical({"set": changed, "gone": gone})


def _same(a: object, b: object) -> bool:
    # To Python true is 1 and 1 is 1.0; their texts differ, and so would the digest of what comes back.
    return a == b and repr(a) == repr(b)


def patched(base: Docs, doc: Any) -> Docs:
    """Undo `difference`; raises ValueError where it is none."""
    try:
        gone = frozenset(doc["gone"])
        docs: dict[str, Any] = {path: value for path, value in base.items() if path not in gone}
        docs.update(doc["set"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"no difference: {error!r}") from None
    return docs
