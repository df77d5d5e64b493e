"""The folder of a rack that is up: its inventory and its secrets, removed with the rack."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rackcheck.base.user_error import UserError

INVENTORY, KEY, PASSWORD, KNOWN = FILES = ("inventory.yaml", "id_ed25519", "bmc-password", "known_hosts")
"""The files of a rack."""

PREFIX = "rackcheck-sim-"
"""Prefix of a new folder's name, where the user names no folder."""


@contextmanager
def room(named: Path | None = None) -> Iterator[Path]:
    """Yield a rack's folder: the one that the user names, or a new one in the system's temporary folder.

    On exit the new one is removed; of the named one only the folders made here, if they are empty. Raises UserError if
    the folder cannot be made, or if a file of the rack exists in it already.
    """
    if named is None:
        place = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return
    made = [folder for folder in (named, *named.parents) if not folder.exists()]
    try:
        named.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{named} is no folder") from None
    except OSError as error:
        raise UserError(f"cannot make the folder {named}: {error.strerror}") from None
    there = next((named / name for name in FILES if os.path.lexists(named / name)), None)
    if there is not None:
        raise UserError(f"{there} is there already, and is never written over; name another folder")
    try:
        yield named
    finally:
        for folder in made:  # the innermost first
            with contextlib.suppress(OSError):
                folder.rmdir()


def remove(files: Iterable[Path]) -> None:
    """Remove the files that exist."""
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()


def write(file: Path, text: str) -> None:
    """Write a new file, readable by our user only; raises UserError if that fails."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None
