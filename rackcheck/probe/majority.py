"""Finds parts of a node that differ from most parts of their kind; pure.

The result obeys the law of derived facts. A setting is listed only if it differs for every possible value of the
unknown settings. If further settings may differ, the list as a whole is unknown, and the values of the settings that do
differ are still returned.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.model.catalogue import Kind, collection, text
from rackcheck.model.fact import Absent, Class, Facts, Reading, Reason, Unknown, Value
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import spell_key

FEWEST = 3
"""Minimum number of parts of a kind: of two parts, neither is in the majority."""
LONGEST = 120
"""Maximum number of characters of one value in a finding."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The settings in which a part differs, with both values as text; `doubt` is set if there may be more settings."""

    values: Mapping[str, str] = field(default_factory=dict)
    doubt: Unknown | None = None


def unlike(
    kinds: Mapping[str, Reading],
    settings: Mapping[str, Mapping[str, Reading]],
    hidden: Unknown | None = None,
    apart: Collection[str] = (),
) -> Mapping[str, Differences]:
    """Return, for each part, the settings in which it differs from the value of more than half of its kind.

    `kinds` has the kind of each part, such as its model; `settings` maps each setting to the reading of each part. With
    `hidden`, some parts are not listed, and every result is unknown. Parts in `apart` may differ by design: they count
    among the parts of their kind, but have no differences, and a value that only they have is never the majority's.
    """
    doubt = hidden or next((kind for kind in kinds.values() if isinstance(kind, Unknown)), None)
    if doubt is not None:
        return dict.fromkeys(kinds, Differences(doubt=doubt))
    groups: dict[Value | None, list[str]] = {}
    for part, kind in kinds.items():
        groups.setdefault(_setting(kind), []).append(part)
    found: dict[str, Differences] = {}
    for group in groups.values():
        rows = {name: {each: row[each] for each in group if each in row} for name, row in settings.items()}
        for part in group:
            alone = len(group) < FEWEST or part in apart
            found[part] = Differences() if alone else _odd(part, rows, apart)
    return found


def gives(pattern: str, help_of_list: str, leaf: str = "unlike") -> dict[str, Kind]:
    """Return the facts that `facts_of` yields for a collection of parts, such as `gpu/*`."""
    value = "The part's value, then the value of most parts of its kind, as in `650; most: 700`."
    return {
        # A measurement: it follows the other parts, so that a part that is gone is one difference.
        f"{pattern}.{leaf}": replace(collection(help_of_list), cls=Class.MEASUREMENT),
        f"{pattern}.{leaf}/*.value": text(value, Class.MEASUREMENT),
    }


def facts_of(owner: str, found: Mapping[str, Differences], leaf: str = "unlike") -> Facts:
    """Yield the list of each part's differing settings, and their values."""
    yield from facts_at({f"{owner}/{spell_key(part)}": each for part, each in found.items()}, leaf)


def facts_at(found: Mapping[str, Differences], leaf: str = "unlike") -> Facts:
    """Yield the same as `facts_of`, but `found` has the paths of the parts instead of their names."""
    for place, each in found.items():
        item = f"{place}.{leaf}"
        yield item, each.doubt or tuple(each.values)
        for setting, value in each.values.items():
            yield f"{item}/{spell_key(setting)}.value", value


def of_functions(inputs: Inputs, owner: str, leaves: Iterable[str]) -> dict[str, Mapping[str, Reading]]:
    """Return facts of the PCI functions of a collection's items, by fact and item, if this run collected them."""
    pci = inputs.table(owner, "pci")
    return {
        leaf: {
            name: inputs.reading(f"pcie/{spell_key(at)}.{leaf}") if isinstance(at, str) else at
            for name, at in pci.items()
        }
        for leaf in leaves
        if inputs.collected(f"pcie/*.{leaf}")
    }


def _odd(part: str, settings: Mapping[str, Mapping[str, Reading]], apart: Collection[str]) -> Differences:
    values: dict[str, str] = {}
    doubt: Unknown | None = None
    for setting, readings in settings.items():
        found = _most(part, readings, apart) if part in readings else None
        if isinstance(found, Unknown):
            doubt = doubt or found
        elif found is not None:
            values[setting] = f"{_spelt(readings[part])}; most: {_spelt(found.value)}"
    return Differences(values, doubt)


@dataclass(frozen=True, slots=True)
class _Other:
    """The value that most parts have and this part does not have; None if most parts report it as absent."""

    value: Value | None


def _most(part: str, readings: Mapping[str, Reading], apart: Collection[str]) -> _Other | Unknown | None:
    """Return the value of more than half of the parts; None if there is no such value, or if this part has it, too.

    The result is unknown if unknown readings may change it. Parts of a kind have the same settings: if a setting is
    absent on only some parts, it is treated as unknown on these.
    """
    if any(not isinstance(each, (Absent, Unknown)) for each in readings.values()):
        readings = {each: _silent(each, read) if isinstance(read, Absent) else read for each, read in readings.items()}
    own, half = readings[part], len(readings) / 2
    others = {each: reading for each, reading in readings.items() if each != part}
    unread = {each: reading for each, reading in others.items() if isinstance(reading, Unknown)}
    known = {each: _setting(reading) for each, reading in others.items() if each not in unread}
    counts, telling = Counter(known.values()), {value for each, value in known.items() if each not in apart}
    mine = None if isinstance(own, Unknown) else (_setting(own),)
    rivals = {value: count for value, count in counts.items() if mine is None or value != mine[0]}
    if mine is not None:
        for value, count in rivals.items():
            if count > half and value in telling:
                return _Other(value)
    first = next(iter(unread.values()), None)
    if first is None and not isinstance(own, Unknown):
        return None
    told = any(each not in apart for each in unread)
    may_be = any(count + len(unread) > half and (told or value in telling) for value, count in rivals.items())
    if may_be or (told and len(unread) > half):
        return own if isinstance(own, Unknown) else first
    return None


def _silent(part: str, reading: Absent) -> Unknown:
    return Unknown(
        Reason.NOT_COLLECTED, f"{part}: {reading.detail or 'absent'}, but other parts of its kind have a value"
    )


def _setting(reading: Reading) -> Value | None:
    """Return the value of a setting; None if it is absent."""
    assert not isinstance(reading, Unknown)
    return None if isinstance(reading, Absent) else reading


def _spelt(reading: Reading | None) -> str:
    """Return a value as a finding shows it."""
    words = ", ".join(_words(reading)) or "none"
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _words(reading: Reading | None) -> Iterator[str]:
    match reading:
        case None | Absent():
            yield "absent"
        case bool():
            yield "yes" if reading else "no"
        case float():
            yield f"{reading:g}"
        case tuple():
            yield from map(str, reading)
        case _:
            yield str(reading)
