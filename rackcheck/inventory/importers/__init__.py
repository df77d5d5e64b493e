"""Importers for the inventories of other tools: each reads a text, and returns the values for a rackcheck inventory."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.inventory.importers import ansible, columns, slurm
from rackcheck.inventory.importers.taken import Taken
from rackcheck.inventory.importers.writing import written

__all__ = ["READERS", "Taken", "drained", "text_of", "written"]

READERS: dict[str, Callable[[str, str], Taken]] = {
    "ansible": ansible.read,
    "slurm": slurm.read,
    "csv": columns.read,
}
"""Importers by format name: each reads a text with its file name, returns nodes, and raises UserError or BadFile."""

SIZE = 32 << 20
"""Maximum size of an imported file, in bytes."""


def text_of(path: Path) -> str:
    """Read a file to be imported; raises UserError if it cannot be read."""
    try:
        with safe_read.opened(path) as file:
            return drained(file, str(path))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def drained(stream: BinaryIO, name: str) -> str:
    """Read a stream as UTF-8 text, with or without a byte order mark; raises UserError if it is too long or invalid."""
    raw = stream.read(SIZE + 1)
    if len(raw) > SIZE:
        raise UserError(f"{name} is longer than {SIZE >> 20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 text (byte {error.start})") from None
