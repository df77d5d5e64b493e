"""The table of BIOS settings: which attributes hold a setting, and what their values mean in neutral words."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rackcheck.model import unit
from rackcheck.model.catalogue import Kind, quantity, setting, text, view
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.parse.bmc.bios_value import scalar

MIXED = "mixed"
"""Value of a setting whose attributes have different values."""

ELSEWHERE = "elsewhere"
"""Meaning of an attribute's value that leaves the decision about a setting to other attributes (`PerPort`)."""

UNSAID = "unsaid"
"""Meaning of an attribute's value that does not determine the setting (`Unspecified`; `Auto` if a size is expected)."""

PLAIN = ("enabled", "disabled", "auto")
"""Possible values of a setting, unless the table of settings defines others."""

SHOWN = 8
"""Maximum number of attribute names listed in the message about a BIOS that has none of a setting's attributes."""

_SIZE = regex(r"([0-9]{1,9}) ?([kmgt]?)i?b?\Z")
_WHOLE = regex(r"([0-9]{1,18})\.0+\Z")
_ODD = regex(r"\s*([-+]\s*[0-9.]|[0-9]*[.,][0-9])")
"""Matches a number with a plus or minus sign, or with a fraction: its digits alone would be a different number."""

_LETTER = {"": "B", "k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB"}


@dataclass(frozen=True)
class Candidate:
    """One row of a setting: the attributes that hold the setting, by name or by pattern.

    If a BIOS has several attributes of one row, their values must agree. `words` maps each value of the attributes to
    its meaning, such as `enabled`. `number` is a pattern whose first group matches the number in a value, and `unit` is
    the unit of that number.
    """

    names: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    number: re.Pattern[str] | None = None
    unit: str | None = None

    def among(self, spelt: Mapping[str, list[str]]) -> list[str]:
        """Return the attributes of a BIOS that belong to this row, as the BIOS spells them, sorted by name."""
        found = [name for spelling_ in self.names if spelling_ in spelt for name in spelt[spelling_]]
        if self.pattern is not None:
            found += (name for s in spelt if self.pattern.fullmatch(s) and s not in self.names for name in spelt[s])
        return sorted(found)


@dataclass(frozen=True)
class Setting:
    """One BIOS setting, and the rows of the table that show which attributes hold it.

    If `unit` is set, the value is a quantity in this unit; otherwise it is a word such as `enabled`, or, if `counts` is
    set, also a whole number. If a BIOS has attributes of several rows, the first of these rows determines the value,
    unless its attributes leave the decision to other attributes. `apart` means that the setting has its own probe.
    """

    name: str
    about: str
    rows: tuple[Candidate, ...]
    words: tuple[str, ...] = PLAIN
    unit: str | None = None
    counts: bool = False
    apart: bool = False
    sought: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of the fact that this setting yields."""
        if self.unit is not None:
            value = quantity(self.unit, self.about)
        else:
            value = setting(self.about) if self.counts else text(self.about, words=(*self.words, MIXED))
        return view(value)  # the attribute itself, as the BIOS spells it, is reported in another fact

    def meaning(self, row: Candidate, name: str, value: object) -> str | float | Unknown:
        """Return what a BIOS attribute's value means; a value that is not in the table is unknown, never guessed."""
        given = scalar(value)
        if given is None:
            held = f" that can be read: {clean(repr(value), 60)}" if isinstance(value, Mapping) else ""
            return Unknown(Reason.NOT_COLLECTED, f"{clean(name)} has no value{held}")
        given = _WHOLE.sub(r"\1", given)
        if _ODD.match(given):
            return Unknown(Reason.UNPARSABLE, f"{clean(name)} is {clean(given)!r}, which is not a known value")
        word = row.words.get(plain(given))
        if word is not None and word != UNSAID:
            return word
        number = None if word == UNSAID else self._number(row, given)
        if number:
            return number
        none = "which does not determine the setting" if word == UNSAID or number == 0 else "which is not a known value"
        reason = Reason.NOT_COLLECTED if word == UNSAID or number == 0 else Reason.UNPARSABLE
        return Unknown(reason, f"{clean(name)} is {clean(given)!r}, {none}")

    def _number(self, row: Candidate, given: str) -> str | float | None:
        """Return the number in an attribute's value, or None; a number of 0 is returned, but the caller rejects it."""
        if row.number is not None and (match := row.number.fullmatch(plain(given))) is not None:
            digits = int(match[1])
            if self.counts:
                return f"{digits}" if digits else 0.0
            return unit.Quantity(float(digits), row.unit or self.unit or "").to(self.unit or "")
        if self.unit is not None and (size := _SIZE.match(given.strip().casefold())) and (row.unit is None):
            return unit.Quantity(float(size[1]), _LETTER[size[2]]).to(self.unit)
        return None

    def spell(self, value: str | float) -> str:
        """Format a value of the setting as text, with its unit."""
        return value if isinstance(value, str) else unit.spell(value, self.unit or "")


BiosSettings = Mapping[str, Setting]


def settings(table: Mapping[str, Any]) -> BiosSettings:
    """Read the table of BIOS settings.

    The meanings that a row defines for values override those of its setting, which override the common meanings. Raises
    ValueError, which names the setting, if a required key is missing.
    """
    found: dict[str, Setting] = {}
    for name, given in table["settings"].items():
        try:
            found[name] = _setting(name, given, table["words"])
        except KeyError as error:
            raise ValueError(f"bios_settings.json: the setting {name} has no {error.args[0]}") from error
    return found


def _setting(name: str, given: Mapping[str, Any], common: Mapping[str, list[str]]) -> Setting:
    says = tuple(given.get("says", () if "unit" in given else PLAIN))
    known = {plain(w): word for word, ws in common.items() if word in says for w in ws}
    known |= {plain(word): word for word in says} | _words(given)
    rows = tuple(_candidate(row, known, given.get("number")) for row in given["rows"])
    names = [n for row in given["rows"] for n in (*row.get("names", ()), row.get("pattern")) if n]
    sought = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    counts, apart = bool(given.get("counts")), bool(given.get("apart"))
    return Setting(name, given["about"], rows, says, given.get("unit"), counts, apart, sought)


def _candidate(row: Mapping[str, Any], known: Mapping[str, str], number: str | None) -> Candidate:
    turned = {"enabled": "disabled", "disabled": "enabled"} if row.get("inverted") else {}
    number = row.get("number", number)
    return Candidate(
        frozenset(spelling(n) for n in row.get("names", ())),
        regex(row["pattern"]) if "pattern" in row else None,
        {spelt: turned.get(word, word) for spelt, word in known.items()} | _words(row),
        regex(number) if number is not None else None,
        row.get("unit"),
    )


def _words(given: Mapping[str, Any]) -> dict[str, str]:
    return {plain(w): word for word, ws in given.get("words", {}).items() for w in ws}


def spelled(names: Iterable[str]) -> dict[str, list[str]]:
    """Group attribute names by their normalized form (see `spelling`), which several names may share."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(spelling(name), []).append(name)
    return found


@lru_cache(maxsize=16384)
def spelling(name: str) -> str:
    """Normalize an attribute's name for comparison: `Hyper_Threading_ALL__F27F` and `Hyper-Threading [ALL]` match.

    The four hexadecimal digits that Supermicro appends to each attribute name are removed.
    """
    return plain(re.sub(r"_[0-9A-F]{4}\Z", "", name.strip()))


def plain(text: str) -> str:
    """Reduce a text to its letters and digits, for comparison."""
    return re.sub(r"[^a-z0-9]", "", text.casefold())
