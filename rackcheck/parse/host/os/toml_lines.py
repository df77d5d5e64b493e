"""TOML of one value a line, which is how most tools write their settings."""

import re

_HEAD = re.compile(r"\s{0,20}\[([\w.-]{1,100})\]\s{0,20}(?:#.*)?")
_PAIR = re.compile(r"\s{0,20}([\w-]{1,100})\s{0,20}=\s{0,20}([\"']?)([\w.-]{0,100})\2\s{0,20}(?:#.*)?")


def values(content: str) -> dict[str, str]:
    """Give words and numbers by `table.key`, as they are spelt, without quotes; of several of one key, the last.

    What spans lines, lists, and texts of more than a word are left out.
    """
    found: dict[str, str] = {}
    table = ""
    for row in content.splitlines():
        head, pair = _HEAD.fullmatch(row), _PAIR.fullmatch(row)
        if head is not None:
            table = f"{head[1]}."
        elif pair is not None:
            found[f"{table}{pair[1]}"] = pair[3]
    return found
