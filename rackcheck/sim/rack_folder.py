"""The folder of a running rack, with its inventory and secrets; these files are removed when the rack stops."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rackcheck.base.user_error import UserError

INVENTORY, KEY, PASSWORD, KNOWN = FILES = ("inventory.yaml", "id_ed25519", "bmc-password", "known_hosts")
"""The names of a rack's files."""

PREFIX = "rackcheck-sim-"
"""Prefix of the name of a new temporary folder."""


@contextmanager
def room(named: Path | None = None) -> Iterator[Path]:
    """Yield a rack's folder: the folder that the user names, or a new one in the system's temporary folder.

    On exit, a new temporary folder is removed with its content. Folders that this function created because the user
    named them are removed on exit only if they are empty. Raises UserError if the folder cannot be created, or already
    contains a file of a rack.
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
        raise UserError(f"{named} is not a folder") from None
    except OSError as error:
        raise UserError(f"cannot make the folder {named}: {error.strerror}") from None
    there = next((named / name for name in FILES if os.path.lexists(named / name)), None)
    if there is not None:
        raise UserError(f"{there} already exists, and is never overwritten; choose another folder")
    try:
        yield named
    finally:
        for folder in made:  # innermost first
            with contextlib.suppress(OSError):
                folder.rmdir()


def remove(files: Iterable[Path]) -> None:
    """Remove the files in this list; missing files are ignored."""
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()


def write(file: Path, text: str) -> None:
    """Write a new file that only the current user can read; raises UserError if this fails."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None
