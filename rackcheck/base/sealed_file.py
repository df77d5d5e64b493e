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
    """The files of one kind in one folder; `head` names the kind and its version, `most` is the number that is kept."""

    folder: Path
    head: bytes
    most: int

    def load(self, key: str) -> bytes | None:
        """Return the content that was stored under a key; None if there is none, or if it is damaged or not ours."""
        try:
            if not _mine(self.folder.lstat()):
                return None
            opened = os.open(self._path(key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(opened, "rb") as file:
                about = os.fstat(opened)
                if not (stat.S_ISREG(about.st_mode) and _mine(about)) or about.st_size > LARGEST:
                    return None
                data = file.read(LARGEST)
        except OSError:
            return None
        begin = len(self.head) + SEAL
        content = data[begin:]
        return content if data[:begin] == self.head + _seal(key, content) else None

    def store(self, key: str, content: bytes) -> None:
        """Store a content; a full disk or a read-only home costs later commands time, and nothing else."""
        with suppress(OSError):
            if len(content) >= LARGEST or not _has_room(self.folder, len(content)):
                return
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _mine(self.folder.lstat()):
                return
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as fresh:
                try:
                    fresh.write(self.head + _seal(key, content) + content)
                    fresh.close()
                    Path(fresh.name).replace(self._path(key))
                except OSError:
                    Path(fresh.name).unlink(missing_ok=True)
                    raise
            self._prune()

    def _path(self, key: str) -> Path:
        return self.folder / hashlib.blake2b(key.encode(), digest_size=20).hexdigest()

    def _prune(self) -> None:
        """Remove the oldest files, so that `most` are left."""
        found = []
        for path in self.folder.iterdir():
            with suppress(OSError):  # another process may remove it
                found.append((path.stat().st_mtime, path))
        for _, path in sorted(found)[: -self.most]:
            path.unlink(missing_ok=True)


def _has_room(folder: Path, size: int) -> bool:
    place = next(each for each in (folder, *folder.parents) if each.exists())
    about = os.statvfs(place)
    return about.f_bavail * about.f_frsize >= size + RESERVE


def _mine(about: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else can write it."""
    return about.st_uid == os.geteuid() and not about.st_mode & 0o022


def _seal(key: str, content: bytes) -> bytes:
    return hashlib.blake2b(key.encode() + b"\0" + content, digest_size=SEAL).digest()
