"""Limited reading of files that the user names: a device may never end, and a pipe without a writer blocks."""

import stat
from pathlib import Path
from typing import BinaryIO

from rackcheck.base.user_error import UserError

_HANDED = (Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders of file descriptors that are already open, such as standard input and pipes of the shell's `<(command)`."""

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def opened(path: Path) -> BinaryIO:
    """Open a plain file, or a pipe that the caller's shell has opened; raises UserError for anything else."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        handed = path == Path("/dev/stdin") or path.parent in _HANDED
        if kind == stat.S_IFREG or (kind == stat.S_IFIFO and handed):
            return path.open("rb")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # a name with a NUL character
        raise UserError(f"cannot read {str(path)!r}: {error}") from None
    raise UserError(f"cannot read {path}: {_KINDS.get(kind, 'something else')}, not a file")


def text(path: Path, size: int) -> str:
    """Read a file of UTF-8 text of at most `size` bytes; raises UserError if it cannot be read."""
    try:
        with opened(path) as file:
            data = file.read(size + 1)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > size:
        raise UserError(f"{path} has more than {size} bytes, the maximum")
    try:
        # Files from other systems may use other line ends.
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start})") from None
