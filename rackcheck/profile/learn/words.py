"""Texts of learned profiles: rule names, titles, and which nodes report which value."""

import re
from collections.abc import Sequence

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Entry
from rackcheck.model.fact import Class, clean
from rackcheck.model.fold import fold
from rackcheck.model.text import natural

FEW = 3
"""Maximum number of values in a question, and of nodes listed for one value."""


def family(text: str, entry: Entry) -> str:
    """Return the name of the rule for a fact: its parent path, with a suffix for versions and error counters."""
    words = [segment.word for segment in paths.parse(text).segments]
    inside = paths.parse(text).segments[-1].key is not None
    name = ".".join(words if inside else words[:-1] or words)
    return name + _ENDS.get(entry.kind.cls, "")


_ENDS = {Class.VERSION: ".versions", Class.COUNTER: ".errors"}


def folded(name: str, count: int, entry: Entry) -> str:
    """Format the title of a rule that combines several facts."""
    bare = name.removesuffix(_ENDS.get(entry.kind.cls, ""))
    if entry.kind.cls is Class.COUNTER:
        return f"{bare}: {count} error counters are 0"
    return f"{bare}: {count} {'versions' if entry.kind.cls is Class.VERSION else 'facts'} are unchanged"


def words(pattern: str) -> str:
    """Return a path or a pattern without its item keys."""
    return ".".join(segment.word for segment in paths.parse(pattern).segments)


def helped(entry: Entry) -> str:
    """Return a short description of a fact: the first part of its help."""
    return clean(re.split(r"[.;:] ", f"{entry.kind.help} ")[0].strip().rstrip(".,"), 90)


def small(text: str) -> str:
    """Return a text that follows a colon: its first letter in lower case, unless it begins with an abbreviation."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def values_by_count(seen: Sequence[tuple[str, str]]) -> str:
    """Format each value with the number or the names of the nodes that report it, the most common value first."""
    groups: dict[str, list[str]] = {}
    for name, text in seen:
        groups.setdefault(clean(text, 60), []).append(name)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), natural(group[0])))
    if len(ordered) > FEW and len(ordered[0][1]) * 2 <= len(seen):
        return f"{len(ordered)} different values on {len(seen)} machines, the most common: {ordered[0][0]}"
    several = [f"{text} ({_who(names, len(seen))})" for text, names in ordered[:FEW]]
    return ", ".join(several) + (f" and {len(ordered) - FEW} other values" if len(ordered) > FEW else "")


def _who(names: Sequence[str], of: int) -> str:
    if len(names) > FEW or len(names) * 2 > of:
        return f"{len(names)} of {of}"
    return clean(fold(names) if all(" " not in name for name in names) else ", ".join(names), 90)
