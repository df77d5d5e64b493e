"""The public part of a key file, which needs no passphrase: the kind of the key, and by what an agent knows it."""

import base64
import binascii
import os
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MAGIC = b"openssh-key-v1\0"
"""The beginning of a private key in OpenSSH's own format."""

LARGEST = 1 << 16
"""Number of bytes of a key file that are read."""


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file named as a key: its public part if that can be read, and what the private part needs.

    `has_private` is false for a public key, which only an agent can use. `is_plain` is true if the private part needs
    no passphrase.
    """

    public: bytes
    has_private: bool
    is_plain: bool

    @property
    def is_security_key(self) -> bool:
        """Whether the private part is on a FIDO token, and the file only names it."""
        return _kind(self.public).startswith(b"sk-")


NONE = KeyFile(b"", has_private=False, is_plain=False)
"""A file that does not exist or is no key."""


def read(path: str) -> KeyFile:
    """Read a key file, or the public key in `PATH.pub` beside it, as `ssh` does; `NONE` if neither is a key.

    It is read once for all nodes, and again if one of the two files has changed.
    """
    file = os.path.expanduser(path)  # noqa: PTH111  several times for each host: a Path takes four times as long
    return _read(file, _stamp(file), _stamp(f"{file}.pub"))


@lru_cache(maxsize=256)
def _read(file: str, *_changed: tuple[int, ...]) -> KeyFile:
    text = _text(Path(file))
    beside = _line(_text(Path(f"{file}.pub")))
    lines = text.strip().splitlines()
    if len(lines) < 3 or not lines[0].startswith("-----BEGIN "):
        return KeyFile(public, has_private=False, is_plain=False) if (public := _line(text) or beside) else NONE
    if "OPENSSH" not in lines[0]:
        return KeyFile(beside, has_private=True, is_plain="ENCRYPTED" not in text)
    cipher, public = _parts("".join(lines[1:-1]))
    return KeyFile(beside or public, has_private=True, is_plain=cipher == b"none")


def _stamp(file: str) -> tuple[int, ...]:
    """Return what changes whenever a file is written; empty if it does not exist."""
    try:
        found = os.stat(file)  # noqa: PTH116  see `read`
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _line(text: str) -> bytes:
    """Return the public key of a line; empty if the line has none."""
    words = text.split(None, 2)
    if len(words) < 2:
        return b""
    try:
        key = base64.b64decode(words[1], validate=True)
    except (ValueError, binascii.Error):
        return b""
    return key if _kind(key) == words[0].encode() else b""


def _parts(text: str) -> tuple[bytes, bytes]:
    """Return the cipher and the public key of a private key in OpenSSH's format; both are empty if it is not one."""
    try:
        data = base64.b64decode(text)
        if not data.startswith(MAGIC):
            return b"", b""
        at, fields = len(MAGIC), list[bytes]()
        for _ in range(3):  # the cipher, the derivation of its key, and the options of that
            field, at = _field(data, at)
            fields.append(field)
        return fields[0], _field(data, at + 4)[0]
    except (ValueError, struct.error):
        return b"", b""


def _kind(key: bytes) -> bytes:
    try:
        return _field(key, 0)[0]
    except struct.error:
        return b""


def _field(data: bytes, at: int) -> tuple[bytes, int]:
    (length,) = struct.unpack_from(">I", data, at)
    return data[at + 4 : at + 4 + length], at + 4 + length
