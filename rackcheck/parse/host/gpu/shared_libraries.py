"""Shared libraries from two listings of `ls -ln`: the first shows symbolic links, the second the files they lead to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.os import ls

_HIDDEN = "hidden "
"""Prefix of a row that names an unreadable folder or link target."""


@dataclass(frozen=True)
class Library:
    """One library: its path, and, for the file to which the path leads, the version in its name and its size in MiB.

    `usable` is false if the library's file is empty or its symbolic link leads nowhere.
    """

    path: str
    version: Reading
    size: Reading
    usable: Reading


def libraries(names: Sequence[str], followed: Sequence[str]) -> Iterator[Library]:
    """Yield each library of the listing `names`; at the end, raises Unreadable (denied) if a folder is unreadable.

    The listing `followed` leaves out links whose target does not exist or cannot be read; in both listings, a row
    `hidden PATH` marks a target or folder that cannot be read. Raises Unreadable if a row of a listing is not a file.
    """
    hidden = {row.removeprefix(_HIDDEN) for row in (*names, *followed) if row.startswith(_HIDDEN)}
    links = ls.listed([row for row in names if not row.startswith(_HIDDEN)])
    files = ls.listed(followed)
    for path in links:
        version = ls.release(path, links)
        if path in hidden:
            lost = Unknown(Reason.DENIED, "this login cannot read the link's target")
            yield Library(path, version, lost, lost)
            continue
        size = files.get(path, (None, ""))[0]
        mebibytes = Absent("the link's target does not exist") if size is None else size / (1 << 20)
        yield Library(path, version, mebibytes, bool(size))
    folders = sorted(hidden - links.keys())
    if folders:
        raise Unreadable(f"{folders[0][:80]} cannot be listed", Reason.DENIED)
