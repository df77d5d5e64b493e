"""Finds learned profiles that no person has reviewed: they describe machines as they are, not as they should be."""

import re
from collections.abc import Mapping
from functools import lru_cache

from rackcheck.model.regex import regex
from rackcheck.profile.document import BadFile, Scalar, YamlMapping, read

KEY, BY = "reviewed", "reviewed-by"

_HAS_KEY = regex(rf"^\s*'?{KEY}'?\s*:", re.MULTILINE)
_ODD = regex(r"^\s*[\"{?&!]", re.MULTILINE)
"""Matches a line whose YAML key may be written in a form that a text search does not find, for example with escapes."""


def unreviewed(files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the profiles that wait for a review; `files` maps names to texts.

    A profile waits for a review if it has the key `reviewed`, true or false, and no `reviewed-by`. A profile without
    the key `reviewed` was written by a person and needs no review. A text that is not YAML is skipped.
    """
    return tuple(name for name in sorted(files) if _waits(name, files[name]))


@lru_cache(maxsize=256)
def _waits(name: str, text: str) -> bool:
    if KEY not in text and "\\" not in text:  # only an escape can hide the key
        return False
    if not _HAS_KEY.search(text) and not _ODD.search(text):
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
    """Format what to do about profiles that wait for a review; empty if no profile waits."""
    if not names:
        return ""
    listed = ", ".join(name.removesuffix(".yaml") for name in names)
    return f"not reviewed yet: {listed}; read the rules, then write `{BY}: NAME` in place of `{KEY}: false`"
