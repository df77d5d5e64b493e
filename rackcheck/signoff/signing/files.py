"""A bundle's files, found without following a link, and read within bounds: whoever sent it may have filled it."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MOST = 500_000
"""Entries that one folder of a bundle may have."""

LARGEST = 16 << 30
"""Bytes that one file of a bundle may have, so that a file of holes cannot keep anybody reading for ever."""

_PIECE = 1 << 20

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


class Unfit(Exception):
    """A file that is none of a bundle's; says what is wrong with it, to be read after its path."""


def walk(folder: Path, skip: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Give every file below a folder by its relative path, sorted within each folder, and what is wrong with it.

    The second is empty for a plain file. Names that are no UTF-8 keep their bytes as surrogates. What `skip` names at
    the top is passed over; folders themselves are not given unless they cannot be read.
    """
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            entries = _entries(place(folder, inside))
        except OSError as error:
            yield inside or ".", f"cannot be read: {error.strerror}"
            continue
        if entries is None:
            yield inside or ".", f"has more than {MOST} entries"
            continue
        for name, mode in entries:
            path = f"{inside}/{name}" if inside else name
            if path in skip:
                continue
            if stat.S_ISDIR(mode):
                waiting.append(path)
            else:
                yield path, "" if stat.S_ISREG(mode) else _not_plain(mode)


def _entries(folder: bytes) -> list[tuple[str, int]] | None:
    """Give the names and modes of what is in a folder, sorted; None where there is too much of it."""
    found: list[tuple[str, int]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) == MOST:
                return None
            mode = entry.stat(follow_symlinks=False).st_mode
            found.append((entry.name.decode("utf-8", "surrogateescape"), mode))
    return sorted(found)


def _not_plain(mode: int) -> str:
    return f"is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a plain file"


def place(folder: Path, path: str) -> bytes:
    """Give where a file of a bundle lies, in bytes, whatever this system's locale makes of names."""
    return os.fsencode(folder) + b"/" + path.encode("utf-8", "surrogateescape")


def digest(folder: Path, path: str) -> str:
    """Give the SHA-256 of a plain file in hex, reading piece by piece; raises Unfit."""
    found, size = hashlib.sha256(), 0
    for piece in _pieces(folder, path):
        size += len(piece)
        if size > LARGEST:
            raise Unfit(f"has more than {LARGEST >> 30} GiB")
        found.update(piece)
    return found.hexdigest()


def content(folder: Path, path: str, size: int) -> bytes:
    """Give the bytes of a plain file that has at most `size` of them; raises Unfit, FileNotFoundError where none is."""
    pieces, have = [], 0
    for piece in _pieces(folder, path):
        have += len(piece)
        if have > size:
            raise Unfit(f"has more than {size} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _pieces(folder: Path, path: str) -> Iterator[bytes]:
    """Give a plain file's bytes; never waits for a pipe, never follows a link at its end."""
    whole = place(folder, path)
    try:
        mode = os.lstat(whole).st_mode
        if not stat.S_ISREG(mode):
            raise Unfit(_not_plain(mode))
        # Asked again below: the name may have got another meaning since.
        handle = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise Unfit("is not a plain file")
            while piece := file.read(_PIECE):
                yield piece
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unfit(f"cannot be read: {error.strerror}") from None
