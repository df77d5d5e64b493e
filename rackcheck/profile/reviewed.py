"""Whether a person answers for a profile: what was learned from machines says what they are, not what is right."""

import re
from collections.abc import Mapping

from rackcheck.profile.document import BadFile, Scalar, YamlMapping, read

KEY, BY = "reviewed", "reviewed-by"

_ODD = re.compile(r"^\s*[\"{?]", re.MULTILINE)
"""A line by which a key may be spelt with escapes; where there is none, a key stands in the text as it is."""


def unreviewed(files: Mapping[str, str]) -> tuple[str, ...]:
    """Name the profiles among these files, given by name with their texts, that wait for a person's name.

    One waits that says `reviewed`, true or false, and names nobody in `reviewed-by`; one that says neither was written
    by somebody, and does not wait. A parent waits as much as what is laid over it. What is no YAML judged nothing.
    """
    return tuple(name for name in sorted(files) if _waits(name, files[name]))


def _waits(name: str, text: str) -> bool:
    if KEY not in text and not _ODD.search(text):
        return False
    try:
        table = read(text, name)
    except BadFile:
        return False
    if not isinstance(table, YamlMapping) or KEY not in table.items:
        return False
    by = table.get(BY)
    return not (isinstance(by, Scalar) and by.text.strip())


def review_notice(names: tuple[str, ...]) -> str:
    """Say of profiles that wait what is to be done; empty where none does."""
    if not names:
        return ""
    listed = ", ".join(name.removesuffix(".yaml") for name in names)
    return f"nobody has answered for {listed}: read its rules, then write `{BY}: NAME` in place of `{KEY}: false`"
