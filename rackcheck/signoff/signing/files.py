"""Finds a bundle's files without following links, and reads them within limits: the sender is not trusted."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MOST = 500_000
"""Maximum number of entries of one folder of a bundle."""

LARGEST = 16 << 30
"""Maximum size of one file of a bundle, in bytes, so that reading a sparse file ends."""

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
    """Raised for a file that does not belong in a bundle.

    The error's text completes a sentence after the file's path, such as `FILE is a FIFO, not a plain file`.
    """


def walk(folder: Path, skip: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the relative path and the fault of every file below a folder, sorted within each folder.

    The fault is empty for a plain file. In file names that are not UTF-8, bytes become surrogates. Top-level files and
    folders in `skip` are left out. A folder itself is yielded only if it cannot be read, or has too many entries.
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
    """Return the names and modes of a folder's entries, sorted; None if there are too many."""
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
    """Return the path of a bundle's file as bytes; the path inside the bundle is UTF-8 in every locale."""
    return os.fsencode(folder) + b"/" + path.encode("utf-8", "surrogateescape")


def digest(folder: Path, path: str) -> str:
    """Return the SHA-256 of a plain file in hex; raises Unfit, or FileNotFoundError if it is missing."""
    found, size = hashlib.sha256(), 0
    for piece in _pieces(folder, path):
        size += len(piece)
        if size > LARGEST:
            raise Unfit(f"has more than {LARGEST >> 30} GiB")
        found.update(piece)
    return found.hexdigest()


def content(folder: Path, path: str, size: int) -> bytes:
    """Return the bytes of a plain file of at most `size` bytes; raises Unfit, or FileNotFoundError if it is missing."""
    pieces, have = [], 0
    for piece in _pieces(folder, path):
        have += len(piece)
        if have > size:
            raise Unfit(f"has more than {size} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _pieces(folder: Path, path: str) -> Iterator[bytes]:
    """Yield a plain file's bytes in pieces; raise Unfit for a link or any other file, without waiting for a pipe."""
    whole = place(folder, path)
    try:
        mode = os.lstat(whole).st_mode
        if not stat.S_ISREG(mode):
            raise Unfit(_not_plain(mode))
        # Checked again on the open file: the name may refer to another file by now.
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
