"""Libraries as `ls -ln` lists them twice: by their own names, and as what these lead to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.os import ls

_HIDDEN = "hidden "
"""Begins a row that names what may not be looked at: a folder, or a link's target."""


@dataclass(frozen=True)
class Library:
    """One library: its place, the version in the name of the file that it leads to, and that file's size in MiB.

    A file of no bytes and a link that leads nowhere are there by name only: they are not usable.
    """

    path: str
    version: Reading
    size: Reading
    usable: Reading


def libraries(names: Sequence[str], followed: Sequence[str]) -> Iterator[Library]:
    """Yield each library of the first listing; raises Unreadable (denied) after the last if a folder is hidden.

    A dangling link is not in the second listing, nor is one that leads to a place that cannot be read: a row `hidden
    PATH`, among the names or what they lead to, marks the latter. Raises Unreadable at a row that is not a file.
    """
    hidden = {row.removeprefix(_HIDDEN) for row in (*names, *followed) if row.startswith(_HIDDEN)}
    links = ls.listed([row for row in names if not row.startswith(_HIDDEN)])
    files = ls.listed(followed)
    for path in links:
        version = ls.release(path, links)
        if path in hidden:
            lost = Unknown(Reason.DENIED, "the link leads where this login may not look")
            yield Library(path, version, lost, lost)
            continue
        size = files.get(path, (None, ""))[0]
        mebibytes = Absent("the link leads nowhere") if size is None else size / (1 << 20)
        yield Library(path, version, mebibytes, bool(size))
    folders = sorted(hidden - links.keys())
    if folders:
        raise Unreadable(f"{folders[0][:80]} may not be listed", Reason.DENIED)
