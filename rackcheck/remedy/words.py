"""Finds a BIOS's own spelling of an expected value: in its registry, else in the table of BIOS settings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Value
from rackcheck.model.regex import regex
from rackcheck.parse.bmc.bios_table import BiosSettings, Candidate, Setting, settings
from rackcheck.parse.bmc.bios_value import scalar

Spelt = str | int | bool

PAIRS = (("Enabled", "Disabled"), ("Enable", "Disable"), ("Yes", "No"), ("True", "False"), ("On", "Off"))
"""Pairs of opposite values: an attribute that has one value of a pair can be set to the other value."""

FIT = regex(r"[A-Za-z0-9][A-Za-z0-9 _.,:+()/%-]{0,79}\Z")
"""Regular expression for a value that may be written to the body of a PATCH."""

UNSURE = "the BIOS's spelling of the value is unknown: neither its registry nor rackcheck's table contains it"
READ_ONLY = "its registry marks it as read-only"


@dataclass(frozen=True)
class SettingWords:
    """Spellings of values for one row of the table of BIOS settings.

    `own` maps each meaning to its spellings in this row. `common` maps each meaning to its spellings in all rows of the
    setting, and in the rest of the table. `seen` is a text with the values of recorded machines.
    """

    own: Mapping[str, Sequence[str]]
    common: Mapping[str, Sequence[str]]
    seen: str


@dataclass(frozen=True)
class SettingTable:
    """The table of BIOS settings with the spellings of values; `words` contains the spellings by setting and row."""

    settings: BiosSettings
    words: Mapping[str, tuple[SettingWords, ...]]


def table(doc: Mapping[str, Any]) -> SettingTable:
    """Build the table of BIOS settings from its JSON document."""
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
    """A registry's data on one attribute: its allowed values with their display names; `fixed` means read-only."""

    values: tuple[tuple[str, str], ...]
    fixed: bool = False


def registry(docs: Documents, names: frozenset[str]) -> Mapping[str, RegistryAttribute]:
    """Return the only registry that contains all these BIOS attributes; empty if none or several contain them."""
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
    """Return an expected value in the attribute's spelling and the source of the spelling, or why it is unknown.

    `number` is the index, in `setting.rows`, of the row that names the attribute; `now` is the attribute's current
    value.
    """
    row = setting.rows[number]
    if entry is not None and entry.fixed:
        return READ_ONLY
    if isinstance(now, bool):
        meant = [v for v in (True, False) if setting.meaning(row, attribute, v) == want]
        return (meant[0], "the two values of a boolean") if meant else UNSURE
    ways = (
        (_allowed(entry, now), "its registry"),
        (words.own.get(str(want), ()), "the table's word for this attribute"),
        (_partner(now), "the counterpart of the current value"),
        (_listed(words), "the value of a recorded machine"),
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
            return "its registry allows no value with this meaning, or more than one"
    return UNSURE


def _allowed(entry: RegistryAttribute | None, now: object) -> list[str]:
    """Return the allowed values in the form of the current value: as names, or as display names (Supermicro)."""
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
    """Whether a word occurs, as a whole word, among the values of recorded machines."""
    return re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", seen) is not None


def row_of(setting: Setting, attribute: str, among: Mapping[str, list[str]]) -> tuple[int, Candidate] | None:
    """Return index and content of a setting's first row in the table that names the attribute; None if no row does."""
    return next(((n, row) for n, row in enumerate(setting.rows) if attribute in row.among(among)), None)
