"""Order of dotted numbers with words beside them, as firmware writes its version.

    28.39.1002 (MT_0000000838)      v2.14.1      HGX_FW_BMC 24.01      A42 v2.60 (08/11/2022)      BF-24.10-10

The words before the number say what is counted: two versions with different ones have no order. A `v` says nothing.
What stands behind it tells builds of one number apart and orders nothing, for `-1` is a later build to one maker and
an earlier one to another; of what is in a bracket, none is also any.
"""

import re

from rackcheck.model.version_key import Key, significant

_NUMBER = re.compile(r"(?<![0-9])[0-9]+(?:\.[0-9]+)+")
_ALONE = re.compile(r"(?:[vV]\.?\s*)?([0-9]+)\Z")
_V = re.compile(r"(?<![0-9A-Za-z])[vV]\.?\s*\Z")
_PARTING = " :-_/=,"


def read_prefixed(text: str) -> Key | None:
    """Read a version; none where there is not one dotted number that stands for itself."""
    rest, note = _bracket(text)
    alone = _ALONE.match(rest)
    if alone is not None:
        return Key(significant([int(alone[1])]), note=note)
    found = list(_NUMBER.finditer(rest))
    before = _V.sub("", rest[: found[0].start()]) if found else ""
    build = rest[found[0].end() :] if found else ""
    # A letter or a point at the number means that it goes on, or that it is hexadecimal.
    if len(found) != 1 or before[-1:] not in {"", *_PARTING} or build[:1] == "." or build[:1].isalnum():
        return None
    numbers = significant([int(part) for part in found[0][0].split(".")])
    return Key(numbers, " ".join(before.split()).rstrip(_PARTING), " ".join(build.split()), note)


def _bracket(text: str) -> tuple[str, str]:
    """Take off the bracket at the end: what it holds is a board or a day."""
    head, opened, inside = text.removesuffix(")").rpartition("(")
    if not text.endswith(")") or not opened or ")" in inside:
        return text, ""
    return head.rstrip(), " ".join(inside.split())
