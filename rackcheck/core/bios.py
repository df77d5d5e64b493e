"""BIOS settings in vendor-neutral words: which attribute of this BIOS tells one, and what its value means."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rackcheck.core.fact import Reading, Reason, Unknown, Unreadable, clean
from rackcheck.core.item import gather, not_there
from rackcheck.core.read import Sourced
from rackcheck.core.resource import BROKEN, Documents, Resource, inside

WORDS = ("enabled", "disabled", "auto", "mixed")
"""What a setting may say; `mixed` where several attributes of one idea say different things."""

ELSEWHERE = "elsewhere"
"""In a word table: this value says that other attributes decide (`PerPort`)."""

Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Candidate:
    """Attributes that tell a setting: by name, or a family of them by pattern; all that are there must agree."""

    names: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)

    def matches(self, name: str) -> bool:
        """Whether an attribute is one of these, however this BIOS spells it."""
        spelt = spelling(name)
        return spelt in self.names or (self.pattern is not None and self.pattern.fullmatch(spelt) is not None)


@dataclass(frozen=True)
class Told:
    """What the attributes say of one setting, and which of them said it."""

    reading: Reading
    attributes: tuple[str, ...] = ()

    def sourced(self, bios: Resource) -> Sourced:
        """Name the attributes that were used as the source."""
        return Sourced(self.reading, inside(bios.uri, "Attributes", ",".join(self.attributes)).rstrip("/"))


@dataclass(frozen=True)
class Waiting:
    """The settings that the next boot changes, with what they will say, and why there may be more of them."""

    changes: Mapping[str, Told]
    doubt: Unknown | None = None


Settings = Mapping[str, tuple[Candidate, ...]]


MOST = 5_000
"""Attributes that are read of one BIOS; the recorded machines have up to 455."""


def settings(table: Mapping[str, Any]) -> Settings:
    """Read the table of candidates; its word tables are laid over the common one."""
    common: dict[str, str] = {_word(w): word for word, ws in table["words"].items() for w in ws}
    return {
        name: tuple(
            Candidate(
                frozenset(spelling(n) for n in row.get("names", ())),
                re.compile(row["pattern"]) if "pattern" in row else None,
                common | {_word(w): word for word, ws in row.get("words", {}).items() for w in ws},
            )
            for row in rows
        )
        for name, rows in table["settings"].items()
    }


def with_attributes(docs: Documents) -> list[Resource]:
    """Give the Bios of every system that tells attributes: of several systems, the host.

    Raises Unreadable if there is none, or where one could not be read that may say something else.
    """
    found, trouble = gather(docs.at("Systems/*/Bios"))
    telling = [bios for bios in found if attributes(bios)]
    unread = [bios.unread for bios in found if bios.unread is not None]
    trouble = next((why for why in (trouble, *unread) if why is not None and not (telling and not_there(why))), None)
    if trouble is not None:
        raise Unreadable(trouble.detail, trouble.reason)
    if not telling:
        raise Unreadable(f"this BMC has no Bios resource{' with attributes' if found else ''}", Reason.NOT_COLLECTED)
    return telling


def attributes(bios: Resource) -> Attributes:
    """Give the attributes of a Bios resource or of its settings object, none where it has no such property.

    Raises Unreadable where they are null, or too many.
    """
    found = bios.body.get("Attributes", {})
    if not isinstance(found, Mapping):
        why = Reason.NOT_COLLECTED if found is None else Reason.UNPARSABLE
        raise Unreadable(f"{bios.uri}: its Attributes are none: {clean(repr(found), 60)}", why)
    if len(found) > MOST:
        raise Unreadable(f"{bios.uri}: {len(found)} attributes", Reason.TOO_LARGE)
    return found


def agreed(readings: Iterable[Sourced]) -> Sourced:
    """Give what all systems of this BMC say; where they differ, nobody knows which one is meant."""
    first, *others = readings
    if all(other.reading == first.reading for other in others):
        return first
    shown = ", ".join(f"{clean(str(r.reading), 60)} ({r.source})" for r in (first, *others))
    return Sourced(Unknown(Reason.UNPARSABLE, f"the systems of this BMC differ: {shown}"), first.source)


@lru_cache(maxsize=16384)
def spelling(name: str) -> str:
    """Spell an attribute's name as it is compared: `Hyper_Threading_ALL__F27F` and `Hyper-Threading [ALL]` are one.

    Supermicro adds four hex digits to each name.
    """
    return re.sub(r"[^a-z0-9]", "", re.sub(r"_[0-9A-F]{4}\Z", "", name.strip()).casefold())


def scalar(value: object) -> str | None:
    """Give an attribute's value as text; where it is an object, the current value in it; none where it says none.

    A text that could not be decoded says none either.
    """
    if isinstance(value, Mapping):
        value = value.get("CurrentValue", value.get("Value"))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}" if -1e18 < value < 1e18 else None
    return value if isinstance(value, str) and BROKEN not in value else None


def tell(name: str, candidates: tuple[Candidate, ...], given: Attributes) -> Told:
    """Read one setting: the first candidate that this BIOS has, and that does not point elsewhere, decides."""
    for candidate in candidates:
        found = sorted(a for a in given if candidate.matches(a))
        words = [_meaning(candidate, a, given[a]) for a in found]
        said = [w for w in words if w != ELSEWHERE]
        if said:
            unknown = next((w for w in said if isinstance(w, Unknown)), None)
            return Told(unknown or (said[0] if len(set(said)) == 1 else "mixed"), tuple(found))
    return Told(Unknown(Reason.NOT_COLLECTED, f"none of {len(given)} attributes is known as {name}"))


def _meaning(candidate: Candidate, name: str, value: object) -> str | Unknown:
    text = scalar(value)
    if text is None:
        return Unknown(Reason.NOT_COLLECTED, f"{clean(name)} says nothing")
    word = candidate.words.get(_word(text))
    return word or Unknown(Reason.UNPARSABLE, f"{clean(name)} says {clean(text)!r}, which is no known word")


def waiting(known: Settings, now: Attributes, then: Attributes) -> Waiting:
    """Name the settings that the next boot changes; of what nobody knows now, nobody knows whether it changes."""
    changes: dict[str, Told] = {}
    doubt: Unknown | None = None
    for name, candidates in known.items():
        mine = sorted(a for a in then if any(candidate.matches(a) for candidate in candidates))
        differ = {a: _differ(now.get(a), then[a]) for a in mine}
        changed = [a for a in mine if differ[a]]
        before, after = tell(name, candidates, now), tell(name, candidates, {**now, **{a: then[a] for a in changed}})
        if changed and isinstance(before.reading, Unknown):
            doubt = doubt or before.reading
        elif changed and before.reading != after.reading:
            changes[name] = Told(after.reading, tuple(changed))
        elif None in differ.values():
            unclear = next(a for a in mine if differ[a] is None)
            doubt = doubt or Unknown(Reason.NOT_COLLECTED, f"{clean(unclear)} says nothing, now or for the next boot")
    return Waiting(changes, doubt)


def _differ(now: object, then: object) -> bool | None:
    """Whether two values differ; nobody knows where one of them says nothing."""
    before, after = scalar(now), scalar(then)
    return None if before is None or after is None else before != after


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())
