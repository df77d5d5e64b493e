"""Trusted host keys: known_hosts files are read once, and then indexed by host name."""

import base64
import binascii
import fnmatch
import hashlib
import hmac
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class KnownHosts:
    """Host keys from known_hosts files: `plain` by host name, `hashed` with names that are compared one by one.

    `lists` has the lists of names that this class does not match itself: those of authorities and those with patterns.
    """

    plain: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    hashed: list[tuple[bytes, bytes, str, str]] = field(default_factory=list)
    revoked: set[str] = field(default_factory=set)
    lists: list[tuple[str, str]] = field(default_factory=list)
    _found: dict[str, Mapping[str, Set[str]]] = field(default_factory=dict)

    def keys(self, host: str, port: int) -> Mapping[str, Set[str]]:
        """Return the trusted keys of a host as base64 text by key type; empty if no key is trusted."""
        name = host if port == 22 else f"[{host}]:{port}"
        if name in self._found:
            return self._found[name]
        found = {kind: set(keys) for kind, keys in self.plain.get(name.lower(), {}).items()}
        for salt, digest, kind, key in self.hashed:
            if hmac.compare_digest(hmac.digest(salt, name.encode(), "sha1"), digest):
                found.setdefault(kind, set()).add(key)
        self._found[name] = found
        return found

    def beyond(self, host: str, port: int) -> str:
        """Return what a line for this host has that only the OpenSSH client handles; empty if there is no such line."""
        name = (host if port == 22 else f"[{host}]:{port}").lower()
        # An authority may be listed without the port, which OpenSSH accepts for any port.
        return next((what for what, names in self.lists if _listed(host.lower(), names) or _listed(name, names)), "")


def _listed(name: str, names: str) -> bool:
    """Whether a list of patterns may be about a host; a list that excludes the host is not."""
    patterns = names.lower().split(",")
    if any(each.startswith("!") and _like(each[1:], name) for each in patterns):
        return False
    return any(_like(each, name) for each in patterns)


def _like(pattern: str, name: str) -> bool:
    """Match `*` and `?` as OpenSSH does; brackets have no meaning of their own."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def fingerprint(key: str) -> str:
    """Return the SHA-256 fingerprint of a base64 key, as ssh-keygen -l prints it."""
    digest = hashlib.sha256(base64.b64decode(key)).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


_reading = threading.Lock()
"""Held while files are read: all threads of a run need them first at the same time."""

_Stamp = tuple[int, int, int] | None
_read: dict[tuple[str, ...], tuple[list[_Stamp], KnownHosts]] = {}
"""What was read, with the stamps of the files before."""


def load(paths: tuple[str, ...]) -> KnownHosts:
    """Return the keys in known_hosts files; a missing file counts as empty, and invalid lines are skipped.

    The files are read again after a change: a user may add a key while a program with several runs waits.
    """
    with _reading:
        stamps = [_stamp(path) for path in paths]
        found = _read.get(paths)
        if found is None or found[0] != stamps:
            found = _read[paths] = stamps, _load(paths)
        return found[1]


def _stamp(path: str) -> _Stamp:
    """Return what changes with the contents of a file; None if the file is missing or cannot be reached."""
    try:
        status = os.stat(path)  # noqa: PTH116  each connection asks several times, and a Path takes longer
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _load(paths: tuple[str, ...]) -> KnownHosts:
    known = KnownHosts()
    for path in map(Path, paths):
        if path.is_file():
            _add(known, path.read_text(encoding="utf-8", errors="replace").splitlines())
    return known


def _add(known: KnownHosts, lines: Iterable[str]) -> None:
    for names, kind, key, marker in _entries(lines):
        if marker == "@revoked":
            known.revoked.add(key)
        elif marker == "@cert-authority":
            known.lists.append(("@cert-authority", names))
        elif any(each in names for each in "*?!"):
            known.lists.append(("a pattern in known_hosts", names))
        elif not marker and names.startswith("|1|"):
            try:
                salt, digest = (base64.b64decode(part) for part in names[3:].split("|"))
            except (ValueError, binascii.Error):
                continue
            known.hashed.append((salt, digest, kind, key))
        elif not marker:
            for name in names.split(","):
                known.plain.setdefault(name.lower(), {}).setdefault(kind, set()).add(key)


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        marker = words.pop(0) if words[0].startswith("@") else ""
        if len(words) >= 3:
            yield words[0], words[1], words[2], marker
