"""The output of `find -printf %F -print`: a file system's type and a path in it, such as `pstore/sys/fs/pstore`."""

from collections.abc import Iterable

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

_ROW = regex(r"([A-Za-z0-9_.-]{1,40})(/.{0,4000})")


def types(answer: str, needed: Iterable[str]) -> dict[str, str]:
    """Return the file system's type for each path; raises Unreadable on other rows, and if a needed path is missing."""
    matches = [_ROW.fullmatch(row) for row in rows(answer)]
    found = {match[2]: match[1] for match in matches if match is not None}
    if None in matches or not found.keys() >= set(needed):
        raise Unreadable("the output was truncated, or does not list types and paths")
    return found
