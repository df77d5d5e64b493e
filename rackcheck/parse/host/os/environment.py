"""Assignments of several files, as `grep` gives them: `== FILE`, then `NAME=VALUE` or `export NAME=VALUE`."""

import re
from collections.abc import Collection

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows, unquoted

END = "-- end --"
"""The answer's last line."""

_ASSIGNMENT = re.compile(r"\s{0,80}(?:export\s{1,80})?([A-Z][A-Z0-9_]{1,100})\s{0,80}=(.{0,4000})")


def assignments(answer: str, places: Collection[str]) -> dict[tuple[str, str], str]:
    """Give each value by file and name, without quotes; of a repeated name the last counts.

    Raises Unreadable on an answer that was cut, and on a row that is no assignment in one of these files.
    """
    told = rows(answer)
    if not told or told[-1] != END:
        raise Unreadable("the answer was cut")
    found: dict[tuple[str, str], str] = {}
    place = ""
    for row in told[:-1]:
        match = _ASSIGNMENT.fullmatch(row)
        if row.startswith("== ") and row.removeprefix("== ") in places:
            place = row.removeprefix("== ")
        elif match is None or not place:
            raise Unreadable(f"not an assignment: {row[:80]!r}")
        else:
            found[place, match[1]] = unquoted(match[2])
    return found
