"""Trusted host keys: known_hosts files are read once, and then indexed by host name."""

import base64
import binascii
import fnmatch
import hashlib
import hmac
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache
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


def load(paths: tuple[str, ...]) -> KnownHosts:
    """Read known_hosts files once; a missing file counts as empty, and invalid lines are skipped."""
    with _reading:
        return _load(paths)


_reading = threading.Lock()
"""Held while files are read: all threads of a run need them first at the same time."""


def forget() -> None:
    """Read the files again when they are needed next."""
    _load.cache_clear()


@cache
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
