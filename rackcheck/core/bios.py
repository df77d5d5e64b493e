"""BIOS settings in vendor-neutral words: which attribute of this BIOS tells one, and what its value means."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rackcheck.core.fact import Reading, Reason, Unknown, Unreadable, clean
from rackcheck.core.item import gather
from rackcheck.core.read import Sourced
from rackcheck.core.resource import Documents, Resource, inside

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
    """Give the Bios of every system that tells attributes: of several systems, the host; raises Unreadable if none."""
    found, trouble = gather(docs.at("Systems/*/Bios"))
    telling = [bios for bios in found if attributes(bios)]
    if not telling:
        trouble = next((bios.trouble for bios in found if bios.trouble is not None), trouble)
        if trouble is not None:
            raise Unreadable(trouble.detail, trouble.reason)
        raise Unreadable(f"this BMC has no Bios resource{' with attributes' if found else ''}", Reason.NOT_COLLECTED)
    return telling


def attributes(bios: Resource) -> Attributes:
    """Give the attributes of a Bios resource or of its settings object; raises Unreadable where they are too many."""
    found = bios.body.get("Attributes")
    if isinstance(found, Mapping) and len(found) > MOST:
        raise Unreadable(f"{bios.uri}: {len(found)} attributes", Reason.TOO_LARGE)
    return found if isinstance(found, Mapping) else {}


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
    """Give an attribute's value as text; where it is an object, the current value in it; none where it says none."""
    if isinstance(value, Mapping):
        value = value.get("CurrentValue", value.get("Value"))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}" if -1e18 < value < 1e18 else None
    return value if isinstance(value, str) else None


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


def waiting(known: Settings, now: Attributes, then: Attributes) -> Iterator[tuple[str, Told]]:
    """Name the settings that the next boot changes, with what they will say."""
    for name, candidates in known.items():
        after = tell(name, candidates, {**now, **then})
        changed = [a for a in after.attributes if a in then and scalar(then[a]) != scalar(now.get(a))]
        if changed and (isinstance(after.reading, Unknown) or after.reading != tell(name, candidates, now).reading):
            yield name, Told(after.reading, tuple(changed))


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())
