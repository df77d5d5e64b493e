"""Shared libraries from two listings of `ls -ln`: one of the libraries' own names, one with symbolic links followed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.os import ls

_HIDDEN = "hidden "
"""Prefix of a row that names an unreadable folder or link target."""


@dataclass(frozen=True)
class Library:
    """One library: its path, the version in the name of the file that it leads to, and the size of that file in MiB.

    A library is not `usable` if the file is empty or the link leads nowhere.
    """

    path: str
    version: Reading
    size: Reading
    usable: Reading


def libraries(names: Sequence[str], followed: Sequence[str]) -> Iterator[Library]:
    """Yield each library of the first listing; after the last, raises Unreadable (denied) if a folder cannot be listed.

    The second listing has neither dangling links nor links whose target cannot be read; a row `hidden PATH` in either
    listing marks an unreadable target or folder. Raises Unreadable at a row that is not a file.
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
