"""One command's answers for many devices, read one by one: a device that cannot be read costs its own facts only."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from rackcheck.model.fact import Absent, Reading, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.text.each import each

_UNSUPPORTED = ("operation not supported", "not supported by device", "no stats available")
"""What tools say where a device's driver has no such thing: that is known, and no trouble."""

Leaves = Mapping[str, Reading]


def answers(answer: str) -> Iterator[tuple[str, str | Absent | Unknown]]:
    """Give what was said of each device; absent where its driver has no such thing."""
    for name, reading in each(answer).items():
        unsupported = isinstance(reading, Unknown) and any(words in reading.detail.casefold() for words in _UNSUPPORTED)
        yield name, Absent("the driver has no such thing") if unsupported else reading


def read(answer: str, leaves: Iterable[str], reader: Callable[[str], Leaves]) -> Iterator[tuple[str, Leaves]]:
    """Read what was said of each device; `leaves` are what is not known of one that cannot be read."""
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
    """Give each device's facts; `item` is what they hang on, with a star for the device: `nic.interface/*.ring`."""
    before, _, after = item.partition("*")
    for name, values in read(answer, leaves, reader):
        for leaf, reading in values.items():
            yield f"{before}{spell_key(name)}{after}.{leaf}", reading
