"""Finds unreviewed profiles: a bundle judged by a learned profile that no person has reviewed cannot be signed."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from rackcheck.model.regex import regex
from rackcheck.profile.document import SIZE
from rackcheck.profile.reviewed import unreviewed
from rackcheck.signoff.signing import bundles, files, manifest

_PROFILE = regex(r"(?:.*/)?profile/([^/]+\.yaml)")
"""Matches the path, in a bundle, of a profile of a run or of the acceptance."""


def waiting(folder: Path, entries: Iterable[str], full: str) -> tuple[str, ...]:
    """Return the names of profiles that no person has reviewed; `entries` are the paths in the bundle's manifest.

    A redacted copy contains no profiles, so the profiles in its full bundle are checked, if a bundle on this system has
    the manifest digest `full`.
    """
    found = {name for path in entries for name in _waits(folder, path)}
    if not found and full:
        for kept in _kept(full):
            found |= {name for path in manifest.read(kept).entries for name in _waits(kept, path)}
    return tuple(sorted(found))


def _waits(folder: Path, path: str) -> tuple[str, ...]:
    match = _PROFILE.fullmatch(path)
    if match is None:
        return ()
    try:
        text = files.content(folder, path, SIZE).decode("utf-8")
    except (files.Unfit, FileNotFoundError, UnicodeDecodeError):
        return ()  # the manifest check reports a changed file; a file that is not a valid profile judged nothing
    return unreviewed({match[1]: text})


def _kept(digest: str) -> Iterable[Path]:
    places = (bundles.folder() / name for name in bundles.names())
    return [place for place in places if _digest(place) == digest]


def _digest(place: Path) -> str:
    try:
        return hashlib.sha256(files.content(place, manifest.NAME, manifest.SIZE)).hexdigest()
    except (files.Unfit, FileNotFoundError):
        return ""
