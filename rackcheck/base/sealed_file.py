"""Files that can be made again, in a folder of the user's cache: each is sealed by a digest of its key and content.

A file is used only if it matches the digest at its beginning: a file that is cut, changed or copied from another key
counts as missing. A folder or a file that does not belong to the user, or that others can write, is not used.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SEAL = 32
"""Size of the digest at the beginning of a file, in bytes."""

LARGEST = 32 << 20
"""Maximum size of a file in bytes."""

RESERVE = 64 << 20
"""Bytes that must stay free on the disk: what can be made again must not take the room of a run."""


@dataclass(frozen=True)
class SealedFiles:
    """The files of one kind in one folder; `head` names the kind and its version.

    At most `most` files are kept, and at most `budget` bytes; those that were not used for longest are removed. Where
    many files are written, only one in `each` writes looks for files to remove.
    """

    folder: Path
    head: bytes
    most: int = 1 << 20
    budget: int = 1 << 40
    each: int = 1

    def load(self, key: str) -> bytes | None:
        """Return the content that was stored under a key; None if there is none, or if it is damaged or not ours."""
        try:
            if not _mine(self.folder.lstat()):
                return None
            opened = os.open(self.path(key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(opened, "rb") as file:
                about = os.fstat(opened)
                if not (stat.S_ISREG(about.st_mode) and _mine(about)) or about.st_size > LARGEST:
                    return None
                data = file.read(LARGEST)
                begin = len(self.head) + SEAL
                content = data[begin:]
                if data[:begin] != self.head + seal(key, content):
                    return None
                with suppress(OSError):  # a file that cannot be changed can still be read
                    os.utime(opened)
        except OSError:
            return None
        return content

    def has(self, key: str) -> bool:
        """Whether there is a file for a key, which may be damaged; not if the folder cannot be searched."""
        try:
            return self.path(key).exists()
        except OSError:
            return False

    def store(self, key: str, content: bytes) -> bool:
        """Store a content, and return whether it was stored; a full disk or a read-only home costs only time later."""
        with suppress(OSError):
            if len(content) >= LARGEST or not _has_room(self.folder, len(content)):
                return False
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _mine(self.folder.lstat()):
                return False
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as fresh:
                try:
                    fresh.write(self.head + seal(key, content) + content)
                    fresh.close()
                    Path(fresh.name).replace(self.path(key))
                except OSError:
                    Path(fresh.name).unlink(missing_ok=True)
                    raise
            if int(self.path(key).name[:8], 16) % self.each == 0:
                self._prune()
            return True
        return False

    def path(self, key: str) -> Path:
        """Return the name of the file for a key."""
        return self.folder / hashlib.blake2b(key.encode(), digest_size=20).hexdigest()

    def _prune(self) -> None:
        """Remove files if there are too many or too large ones, until nine tenths of the budget are left."""
        found = []
        for path in self.folder.iterdir():
            with suppress(OSError):  # another process may remove it
                about = path.stat()
                found.append((about.st_mtime_ns, about.st_size, path))
        found.sort(reverse=True)
        size, full = 0, sum(each for _, each, _ in found) > self.budget
        for number, (_, each, path) in enumerate(found):
            size += each
            if number >= self.most or (full and size > self.budget * 9 // 10):
                path.unlink(missing_ok=True)


def _has_room(folder: Path, size: int) -> bool:
    place = next(each for each in (folder, *folder.parents) if each.exists())
    about = os.statvfs(place)
    return about.f_bavail * about.f_frsize >= size + RESERVE


def _mine(about: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else can write it."""
    return about.st_uid == os.geteuid() and not about.st_mode & 0o022


def seal(key: str, content: bytes) -> bytes:
    """Return a digest of a key and a content, so that neither can be changed without the other."""
    return hashlib.blake2b(key.encode() + b"\0" + content, digest_size=SEAL).digest()
