"""Finds parts of a node that differ from most parts of their kind; pure.

The result obeys the law of derived facts: it is unknown unless every possible value of the unknown settings gives the
same result.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Value
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import spell_key

FEWEST = 3
"""Minimum number of parts of a kind: of two parts, neither is in the majority."""


def unlike(
    kinds: Mapping[str, Reading], settings: Mapping[str, Mapping[str, Reading]], hidden: Unknown | None = None
) -> Mapping[str, tuple[str, ...] | Unknown]:
    """Return, for each part, the settings whose value more than half of the parts of its kind have, but not the part.

    `kinds` has the kind of each part, such as its model; `settings` maps each setting to the reading of each part. With
    `hidden`, some parts are not listed, and every result is unknown.
    """
    doubt = hidden or next((kind for kind in kinds.values() if isinstance(kind, Unknown)), None)
    if doubt is not None:
        return dict.fromkeys(kinds, doubt)
    groups: dict[Value | None, list[str]] = {}
    for part, kind in kinds.items():
        groups.setdefault(_setting(kind), []).append(part)
    found: dict[str, tuple[str, ...] | Unknown] = {}
    for group in groups.values():
        for part in group:
            found[part] = _odd(part, group, settings) if len(group) >= FEWEST else ()
    return found


def of_functions(inputs: Inputs, collection: str, leaves: Iterable[str]) -> dict[str, Mapping[str, Reading]]:
    """Return facts of the PCI functions of a collection's items, by fact and item, if this run collected them."""
    pci = inputs.table(collection, "pci")
    return {
        leaf: {
            name: inputs.reading(f"pcie/{spell_key(at)}.{leaf}") if isinstance(at, str) else at
            for name, at in pci.items()
        }
        for leaf in leaves
        if inputs.collected(f"pcie/*.{leaf}")
    }


def _odd(part: str, group: list[str], settings: Mapping[str, Mapping[str, Reading]]) -> tuple[str, ...] | Unknown:
    odd: list[str] = []
    for setting, readings in settings.items():
        differs = _differs(part, {each: readings[each] for each in group if each in readings})
        if isinstance(differs, Unknown):
            return differs
        odd += [setting] if differs else []
    return tuple(odd)


def _differs(part: str, readings: Mapping[str, Reading]) -> bool | Unknown:
    """Return whether a part's value is another one than that of more than half of the parts.

    A setting that is absent on some parts only is unknown on these: all parts of a kind have it.
    """
    if part not in readings:
        return False
    if any(not isinstance(each, (Absent, Unknown)) for each in readings.values()):
        readings = {each: _silent(each, read) if isinstance(read, Absent) else read for each, read in readings.items()}
    own, half = readings[part], len(readings) / 2
    others = [reading for each, reading in readings.items() if each != part]
    unread = [reading for reading in others if isinstance(reading, Unknown)]
    values = Counter(_setting(each) for each in others if not isinstance(each, Unknown))
    mine = None if isinstance(own, Unknown) else (_setting(own),)
    rivals = {value: count for value, count in values.items() if mine is None or value != mine[0]}
    if mine is not None and any(count > half for count in rivals.values()):
        return True
    if len(unread) > half or any(count + len(unread) > half for count in rivals.values()):
        return own if isinstance(own, Unknown) else unread[0]
    return False


def _silent(part: str, reading: Absent) -> Unknown:
    return Unknown(Reason.NOT_COLLECTED, f"{part}: {reading.detail or 'absent'}, and other parts of its kind return it")


def _setting(reading: Reading) -> Value | None:
    """Return the value of a setting; None if it is absent."""
    assert not isinstance(reading, Unknown)
    return None if isinstance(reading, Absent) else reading
