"""The folder of a running rack: its inventory and its secrets, which are removed with the rack."""

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
"""Prefix of a new folder's name, if the user names no folder."""


@contextmanager
def room(named: Path | None = None) -> Iterator[Path]:
    """Yield a rack's folder: the folder that the user names, or a new one in the system's temporary folder.

    On exit a new temporary folder is removed. If the user named the folder, only folders of its path that were
    made here and are empty are removed. Raises UserError if the folder cannot be made, or already has a file of a rack.
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
    """Remove the files that exist."""
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()


def write(file: Path, text: str) -> None:
    """Write a new file that only our user can read; raises UserError if that fails."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None
