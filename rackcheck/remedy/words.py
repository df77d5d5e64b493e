"""The BIOS's own spelling of a wanted value: from its registry, else from the table's words for that attribute."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Value
from rackcheck.parse.bmc.bios_table import BiosSettings, Candidate, Setting, scalar, settings

Spelt = str | int | bool

PAIRS = (("Enabled", "Disabled"), ("Enable", "Disable"), ("Yes", "No"), ("True", "False"), ("On", "Off"))
"""Pairs of words: an attribute with one of them may be set to the other."""

FIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.,:+()/%-]{0,79}\Z")
"""A registry value that may be put into a body."""

UNSURE = "how this BIOS spells it is in its registry, which was not read, and in no word of the table"
READ_ONLY = "its registry says that it cannot be written"


@dataclass(frozen=True)
class SettingWords:
    """One row of the table: its own words by meaning, the common ones, and the values seen on recorded machines."""

    own: Mapping[str, Sequence[str]]
    common: Mapping[str, Sequence[str]]
    seen: str


@dataclass(frozen=True)
class SettingTable:
    """The table of BIOS settings, with the spelling of its words; `words` are parallel to the rows of a setting."""

    settings: BiosSettings
    words: Mapping[str, tuple[SettingWords, ...]]


def table(doc: Mapping[str, Any]) -> SettingTable:
    """Read the table of BIOS settings."""
    found = {
        name: tuple(
            SettingWords(row.get("words", {}), {**doc["words"], **given.get("words", {})}, row["seen"])
            for row in given["rows"]
        )
        for name, given in doc["settings"].items()
    }  # fmt: skip
    return SettingTable(settings(doc), found)


@dataclass(frozen=True)
class RegistryAttribute:
    """A registry's entry for one attribute: the allowed values, each with its display name, and if it is `fixed`."""

    values: tuple[tuple[str, str], ...]
    fixed: bool = False


def registry(docs: Documents, names: frozenset[str]) -> Mapping[str, RegistryAttribute]:
    """Return the registry of a BIOS with these attributes; empty if none or two were read."""
    found = [entries for body in docs.bodies.values() if isinstance(body, Mapping) and (entries := _entries(body))]
    covering = [entries for entries in found if names <= set(entries)]
    return covering[0] if len(covering) == 1 else {}


def _entries(body: Mapping[str, Any]) -> dict[str, RegistryAttribute]:
    held = body.get("RegistryEntries")
    listed = held.get("Attributes") if isinstance(held, Mapping) else None
    found: dict[str, RegistryAttribute] = {}
    for each in listed if isinstance(listed, list) else ():
        name = each.get("AttributeName") if isinstance(each, Mapping) else None
        if isinstance(name, str):
            value = each.get("Value")
            values = tuple(_value(v) for v in value if isinstance(v, Mapping)) if isinstance(value, list) else ()
            fixed = any(each.get(word) is True for word in ("ReadOnly", "Immutable", "GrayOut", "Hidden"))
            found[name] = RegistryAttribute(values, fixed)
    return found


def _value(value: Mapping[str, Any]) -> tuple[str, str]:
    name, shown = value.get("ValueName"), value.get("ValueDisplayName")
    name = name if isinstance(name, str) else ""
    return name, shown if isinstance(shown, str) else name


def spelling_of(
    setting: Setting,
    number: int,
    words: SettingWords,
    attribute: str,
    now: object,
    want: Value,
    entry: RegistryAttribute | None,
) -> tuple[Spelt, str] | str:
    """Return a wanted value in one attribute's spelling, with the source of the spelling; or why there is none.

    `number` is the row of the attribute, `now` its current value.
    """
    row = setting.rows[number]
    if entry is not None and entry.fixed:
        return READ_ONLY
    if isinstance(now, bool):
        meant = [v for v in (True, False) if setting.meaning(row, attribute, v) == want]
        return (meant[0], "the other of two") if meant else UNSURE
    ways = (
        (_allowed(entry, now), "its registry"),
        (words.own.get(str(want), ()), "the table's word for this attribute"),
        (_partner(now), "the word that goes with the present one"),
        (_listed(words), "the word that a recorded machine says"),
    )
    for step, (candidates, source) in enumerate(ways):
        fit = [c for c in dict.fromkeys(candidates) if FIT.match(c) and setting.meaning(row, attribute, c) == want]
        if step > 0 and (len(fit) > 1 or step == len(ways) - 1):
            fit = [c for c in fit if _is_seen(c, words.seen)]
        if len(fit) > 1:
            fit = [c for c in fit if c in _partner(now)]
        if len(fit) == 1:
            return fit[0], source
        if step == 0 and entry is not None and entry.values:
            return "its registry allows no value that means this, or several"
    return UNSURE


def _allowed(entry: RegistryAttribute | None, now: object) -> list[str]:
    """Return the values of a registry as attributes spell them: by name, or (Supermicro) by display name."""
    if entry is None or not entry.values:
        return []
    says = scalar(now)
    named = any(name == says for name, _ in entry.values)
    shown = not named and any(display == says for _, display in entry.values)
    return [display if shown else name for name, display in entry.values]


def _partner(now: object) -> tuple[str, ...]:
    return tuple(b if now == a else a for a, b in PAIRS if now in {a, b}) if isinstance(now, str) else ()


def _listed(words: SettingWords) -> Iterator[str]:
    for group in (words.own, words.common):
        for each in group.values():
            yield from each


def _is_seen(word: str, seen: str) -> bool:
    """Whether a word is noted for a recorded machine, as a whole word."""
    return re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", seen) is not None


def row_of(setting: Setting, attribute: str, among: Mapping[str, list[str]]) -> tuple[int, Candidate] | None:
    """Return the first row that has an attribute in this spelling, with its number."""
    return next(((n, row) for n, row in enumerate(setting.rows) if attribute in row.among(among)), None)
