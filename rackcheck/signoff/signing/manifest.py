"""Reads and writes `SHA256SUMS`: every file of a bundle with its digest, in the form that `sha256sum -c` reads.

Each file has one line: 64 hex digits, two blanks, the path; lines are sorted by the path's bytes. All files are listed
except the manifest itself and `signatures/`. File names that `sha256sum` would write with escapes are not allowed.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import visible
from rackcheck.model.regex import regex
from rackcheck.signoff.signing import files
from rackcheck.signoff.signing.shape import BundleFault

NAME = "SHA256SUMS"
SIGNATURES = "signatures"

SIZE = 64 << 20
"""Maximum size of a manifest, in bytes: enough for about 400,000 raw replies."""

SHOWN = 1000
"""Maximum number of faults reported; with more faults it is probably another bundle."""

_OWN = frozenset({NAME, SIGNATURES})
_LINE = regex(rb"([0-9a-f]{64})  ([^\x00-\x1f\x7f\\]+)")


@dataclass(frozen=True)
class Manifest:
    """A manifest as read: the digest of the manifest itself, every path with its digest, and the error, if any."""

    digest: str
    entries: Mapping[str, str]
    damage: str = ""


def write(folder: Path) -> str:
    """Write a bundle's manifest, and return the manifest's digest.

    Raises UserError if a party has already signed, and for files that a manifest cannot list: links, devices, and files
    whose names contain control characters or backslashes, or are not UTF-8.
    """
    with contextlib.suppress(OSError):
        if any((folder / SIGNATURES).iterdir()):
            raise UserError(f"{folder} is signed; its manifest is not overwritten")
    digests = {}
    for path, wrong in files.walk(folder, _OWN):
        message = wrong or _unspeakable(path)
        try:
            digests[path] = files.digest(folder, path) if not message else ""
        except FileNotFoundError:
            message = "disappeared"
        except files.Unfit as unfit:
            message = str(unfit)
        if message:
            raise UserError(f"cannot make a manifest of {folder}: {visible(path)} {message}")
    lines = [f"{digests[path]}  {path}\n".encode() for path in sorted(digests, key=str.encode)]
    data = b"".join(lines)
    if len(data) > SIZE:
        raise UserError(f"cannot make a manifest of {folder}: it would have more than {SIZE >> 20} MiB")
    try:
        _replace(folder, data)
    except OSError as error:
        raise UserError(f"cannot write {folder / NAME}: {error.strerror}") from None
    return hashlib.sha256(data).hexdigest()


def _unspeakable(path: str) -> str:
    """Return why a manifest cannot list a path; empty if it can list the path."""
    if any("\udc80" <= letter <= "\udcff" for letter in path):
        return "has a name that is not UTF-8"
    if not _LINE.fullmatch(b"0" * 64 + b"  " + path.encode()):
        return "has a control character or a backslash in its name"
    return ""


def _replace(folder: Path, data: bytes) -> None:
    """Write the manifest atomically; a link with its name is replaced, not followed."""
    handle, fresh = tempfile.mkstemp(dir=folder, prefix=f".{NAME}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(fresh).chmod(0o644)
        Path(fresh).replace(folder / NAME)
    except OSError:
        Path(fresh).unlink(missing_ok=True)
        raise


def read(folder: Path) -> Manifest:
    """Read a bundle's manifest; if it is missing or not valid, `damage` is a text such as `is missing`."""
    try:
        data = files.content(folder, NAME, SIZE)
    except FileNotFoundError:
        return Manifest("", {}, "is missing")
    except files.Unfit as unfit:
        return Manifest("", {}, str(unfit))
    digest = hashlib.sha256(data).hexdigest()
    entries: dict[str, str] = {}
    before = b""
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        found = _LINE.fullmatch(line)
        path = _path(found[2]) if found else None
        if found is None or path is None or found[2] <= before:
            return Manifest(digest, {}, f"is damaged in line {number}")
        before = found[2]
        entries[path] = found[1].decode()
    if not data.endswith(b"\n"):
        return Manifest(digest, {}, "is damaged at its end")
    return Manifest(digest, entries)


def _path(raw: bytes) -> str | None:
    """Decode a path in the manifest; None if the path is not UTF-8, leaves the bundle, or must not be listed."""
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    parts = path.split("/")
    return None if {"", ".", ".."} & set(parts) or parts[0] in _OWN else path


def faults(folder: Path) -> tuple[BundleFault, ...]:
    """Compare a bundle with its manifest; empty if every file is present and unchanged, and no file is added."""
    return compared(folder, read(folder))


def compared(folder: Path, manifest: Manifest) -> tuple[BundleFault, ...]:
    """Compare a bundle with this manifest; returns at most SHOWN faults, sorted by path."""
    if manifest.damage:
        return (BundleFault(NAME, manifest.damage),)
    found = list(islice(_compared(folder, manifest.entries), SHOWN + 1))
    rows = sorted(found[:SHOWN], key=lambda fault: fault.path.encode("utf-8", "surrogateescape"))
    more = [BundleFault("", f"more files do not match {NAME}: only {SHOWN} are listed")] if len(found) > SHOWN else []
    return (*rows, *more)


def _compared(folder: Path, entries: Mapping[str, str]) -> Iterator[BundleFault]:
    seen = set()
    shut: set[str] = set()
    for path, wrong in files.walk(folder, _OWN):
        seen.add(path)
        if wrong:
            shut.add(path)
            yield BundleFault(path, wrong)
        elif path not in entries:
            yield BundleFault(path, f"is not in {NAME}")
        elif message := _changed(folder, path, entries[path]):
            yield BundleFault(path, message)
    for path in entries:
        # Files below a link or an unreadable folder are not reported: the fault of the link or folder covers them.
        if path not in seen and not (shut and {".", *_above(path)} & shut):
            yield BundleFault(path, "is missing")


def _changed(folder: Path, path: str, digest: str) -> str:
    try:
        return "" if files.digest(folder, path) == digest else "changed"
    except FileNotFoundError:
        return "is missing"
    except files.Unfit as unfit:
        return str(unfit)


def _above(path: str) -> set[str]:
    return {str(parent) for parent in Path(path).parents}
