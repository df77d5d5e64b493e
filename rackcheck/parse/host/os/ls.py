"""The output of `ls -ln`: sizes of files, and the targets of links."""

import re
from collections.abc import Iterable, Mapping

from rackcheck.model.fact import Absent, Reading, Unreadable, clean
from rackcheck.model.regex import regex

ROW = regex(
    r"[-l][rwxsStT-]{9}[.+@]? +[0-9]{1,9} +[0-9]{1,10} +[0-9]{1,10} +(?P<size>[0-9]{1,15}) +"
    r"\S{1,12} +[0-9]{1,2} +[0-9:]{4,5} (?P<path>/.{1,300}?)(?: -> (?P<target>.{1,300}))?"
)


def listed(rows: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return each path's size, and its target if it is a link, from `ls -ln`; raises Unreadable on other rows."""
    found = {}
    for row in rows:
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a file: {clean(row, 80)!r}")
        found[match["path"]] = int(match["size"]), match["target"] or ""
    return found


def release(path: str, links: Mapping[str, tuple[int, str]]) -> Reading:
    """Follow symbolic links from a path, and return the version in the last file's name; absent without a version."""
    for _ in range(8):
        target = links.get(path, (0, ""))[1]
        if not target:
            break
        path = target if target.startswith("/") else f"{path.rpartition('/')[0]}/{target}"
    match = re.search(r"\.so\.([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})\Z", path)
    return match[1] if match else Absent("the file's name contains no version")
