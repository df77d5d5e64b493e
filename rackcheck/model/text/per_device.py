"""One command's output for many devices, read one by one: for an unreadable device, only its own facts are unknown."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from rackcheck.model.by_part import by_part
from rackcheck.model.fact import Absent, Facts, Reading, Unknown, Unreadable, clean
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


def facts(answer: str, item: str, leaves: Iterable[str], reader: Callable[[str], Leaves]) -> Facts:
    """Yield each device's facts; `item` is the path of the facts with a star for the device: `nic.interface/*.ring`.

    The reader is a function of a module: its results are kept for equal outputs.
    """
    before, _, after = item.partition("*")
    names = tuple(leaves)
    for name, reading in answers(answer):
        path = f"{before}{spell_key(name)}{after}"
        if isinstance(reading, str):
            yield _of_device(path, reading, names, reader)
        else:
            yield from ((f"{path}.{leaf}", reading) for leaf in names)


@by_part
def _of_device(path: str, text: str, names: tuple[str, ...], reader: Callable[[str], Leaves]) -> Facts:
    try:
        leaves = reader(text)
    except Unreadable as error:
        leaves = dict.fromkeys(names, Unknown(error.reason, clean(str(error))))
    for leaf, reading in leaves.items():
        yield f"{path}.{leaf}", reading
