"""Formats an imported inventory as YAML: identical nodes are written as one node set, and shared values as defaults."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from rackcheck.inventory.importers.taken import Taken
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex

KEY = 900
"""Maximum number of characters of a key; YAML accepts at most 1,024."""

_PLAIN = regex(r"[A-Za-z0-9_~/.](?:[A-Za-z0-9_./@+-]|:(?=[A-Za-z0-9_./]))*")
_SET = regex(r"[A-Za-z0-9_][A-Za-z0-9_.,\[\]-]*")
_SHARED = ("ssh.user", "ssh.port", "ssh.key", "ssh.password", "bmc.user", "bmc.password", "bmc.ca")
_ORDER = ("role", "rack", "u", "height", "slot", "pdu", "power", "host")

NodeWords = Mapping[str, str]


def written(taken: Taken, source: str) -> str:
    """Format an inventory as YAML text, which rackcheck reads as the same nodes.

    `source` describes where the nodes come from.
    """
    shared = _shared(taken)
    own = {name: {k: v for k, v in words.items() if k not in shared} for name, words in taken.nodes.items()}
    lines = [f"# Imported from {clean(source)}."]
    lines += [f"# note: {clean(words, 600)}" for words in taken.notes]
    lines.append("rackcheck: 1")
    if shared:
        lines += ["defaults:", *(f"  {key}: {_value(value)}" for key, value in _nested(shared).items())]
    if taken.groups:
        lines += ["groups:", *(f"  {name}: {{ nodes: {_text(fold(in_it))} }}" for name, in_it in taken.groups.items())]
    lines.append("nodes:")
    for words, names in _sets(own):
        lines += [f"  {key}: {_value(_nested(dict(words)))}" for key in _set_keys(names)]
    return "\n".join(lines) + "\n"


def _shared(taken: Taken) -> dict[str, str]:
    """Return the values that all nodes share; for BMC keys, the values that all nodes with a BMC share."""
    found: dict[str, str] = {}
    for key in _SHARED:
        asked = [w for w in taken.nodes.values() if "bmc.url" in w] if key.startswith("bmc.") else taken.nodes.values()
        values = {words.get(key) for words in asked}
        value = values.pop() if len(values) == 1 else None
        if value is not None:
            found[key] = value
    return found


def _sets(nodes: Mapping[str, NodeWords]) -> Iterator[tuple[tuple[tuple[str, str], ...], list[str]]]:
    """Yield sets of nodes whose values differ only in the node's name."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, words in nodes.items():
        bare = {key: _nameless(value, name) if key in {"host", "bmc.url"} else value for key, value in words.items()}
        alike.setdefault(tuple(sorted(bare.items(), key=_rank)), []).append(name)
    yield from alike.items()


def _rank(word: tuple[str, str]) -> tuple[int, str]:
    return (_ORDER.index(word[0]) if word[0] in _ORDER else len(_ORDER), word[0])


def _nameless(text: str, name: str) -> str:
    """Replace a node's name in a text by `{node}` where it is a whole word.

    A name that consists only of digits is not replaced, because addresses contain numbers.
    """
    if name.isdigit():
        return text
    return re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", "{node}", text)


def _set_keys(names: Sequence[str]) -> Iterator[str]:
    """Yield names as one node set, or as several node sets if one set would be too long for a YAML key."""
    key = fold(names)
    if len(key) > KEY and len(names) > 1:
        half = len(names) // 2
        yield from _set_keys(names[:half])
        yield from _set_keys(names[half:])
    else:
        yield key if _SET.fullmatch(key) else json.dumps(key)


def _nested(words: NodeWords) -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = {}
    for key, value in words.items():
        table, dot, inner = key.partition(".")
        if dot:
            under = found.setdefault(table, {})
            assert isinstance(under, dict)
            under[inner] = value
        else:
            found[key] = value
    return found


def _value(value: str | Mapping[str, str | dict[str, str]] | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return _text(value)
    inside = ", ".join(f"{key}: {_value(word)}" for key, word in value.items())
    return f"{{ {inside} }}" if inside else "{}"


def _text(text: str) -> str:
    """Format a YAML scalar: without quotes if it has only safe characters, else as a JSON string."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
