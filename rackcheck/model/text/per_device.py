"""One command's output for many devices, read one by one: for an unreadable device, only its own facts are unknown."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.text.each import each

_UNSUPPORTED = ("operation not supported", "not supported by device", "no stats available")
"""Messages of tools for a device whose driver lacks a feature: the fact is then absent, not unknown."""

Leaves = Mapping[str, Reading]


def answers(answer: str) -> Iterator[tuple[str, str | Absent | Unknown]]:
    """Yield the output for each device; absent if its driver lacks the feature."""
    for name, reading in each(answer).items():
        unsupported = isinstance(reading, Unknown) and any(words in reading.detail.casefold() for words in _UNSUPPORTED)
        yield name, Absent("the driver does not support it") if unsupported else reading


def read(answer: str, leaves: Iterable[str], reader: Callable[[str], Leaves]) -> Iterator[tuple[str, Leaves]]:
    """Read the output for each device; the facts `leaves` are unknown for a device whose output cannot be read."""
    names = tuple(leaves)
    for name, reading in answers(answer):
        if not isinstance(reading, str):
            yield name, dict.fromkeys(names, reading)
            continue
        try:
            yield name, reader(reading)
        except Unreadable as error:
            yield name, dict.fromkeys(names, Unknown(error.reason, clean(str(error))))


def facts(
    answer: str, item: str, leaves: Iterable[str], reader: Callable[[str], Leaves]
) -> Iterator[tuple[str, Reading]]:
    """Yield each device's facts; `item` is the path of the facts with a star for the device: `nic.interface/*.ring`."""
    before, _, after = item.partition("*")
    for name, values in read(answer, leaves, reader):
        for leaf, reading in values.items():
            yield f"{before}{spell_key(name)}{after}.{leaf}", reading
