"""The folder of a rack that is up: its inventory and the secrets it refers to, gone with the rack."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rackcheck.base.user_error import UserError

INVENTORY, KEY, PASSWORD, KNOWN = FILES = ("inventory.yaml", "id_ed25519", "bmc-password", "known_hosts")
"""What a rack writes."""

PREFIX = "rackcheck-sim-"
"""How a folder of ours begins, where our user names none."""


@contextmanager
def room(named: Path | None = None) -> Iterator[Path]:
    """Give a rack its folder: the one our user names, or a new one in the system's place for such.

    On the way out the new one goes; of the named one only what we made of it, where nobody put anything there. Raises
    UserError where the folder cannot be had, or where a file of ours would take another one's place.
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
    """Take files away, those that are there."""
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()


def write(file: Path, text: str) -> None:
    """Write a new file for our user's eyes only; raises UserError where that cannot be done."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None
