"""Lines of the kernel's log, matched with regular expressions and counted for each device.

A log of 8 MiB is not matched line by line: it is searched for fixed texts, and only the lines that contain such a text
are matched with a regular expression, called the shape of the line. A shape matches from the beginning of the message,
after the level, time and caller that dmesg or journalctl print before the message. A text in a device's name cannot be
mistaken for the kernel's text, as the name comes later in the line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.model.catalogue import Kind, integer, text
from rackcheck.model.fact import Absent, Class, Facts, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.model.text.values import natural

LONGEST = 2048
"""Maximum number of characters read of one line; the kernel's messages are not longer (PRINTK_MESSAGE_MAX)."""

_PARTS = {"<pci>": r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", "<driver>": r"[\w.-]{1,40}"}
"""Regular expressions for the abbreviations `<pci>` (a PCI address) and `<driver>` (a driver's name)."""

_TIME = r"\[ *(?P<seconds>[0-9]{1,12}\.[0-9]{1,9})\]"
_DATE = r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9:]{5,20}\]|\[\.\.\.\]|[0-9]{4}-[0-9]{2}-[0-9]{2}T\S{1,30}(?= )"
_BEFORE = regex(
    r"(?:<[0-9]{1,3}>)?"
    r"(?:[a-z0-9]{1,8} *: *(?:emerg|alert|crit|err|warn|notice|info|debug) *: )?"
    rf"(?:(?:{_TIME}|{_DATE}) ?)?(?:\[ *[TC][0-9]{{1,10}}\] ?)?(?:kernel: )? *"
)

_KEPT_BACK = regex(r"\S{1,80}: (?P<number>[0-9]{1,9}) callbacks suppressed\b")


@dataclass(frozen=True, slots=True)
class LinePattern:
    """One kind of log line: the count it increases, a text in every such line, its regular expression, a help text.

    In the regular expression `shape`, the group `key` matches the device's name, and the group `who` matches a process
    name, which is not shown.
    """

    leaf: str
    holds: str
    shape: re.Pattern[str]
    help: str


def line(leaf: str, holds: str, shape: str, help: str = "") -> LinePattern:  # noqa: A002  the field's word
    """Return the pattern of one kind of line; in `shape`, `<pci>` stands for a PCI address, `<driver>` for a driver.

    Several kinds of line may increase the same count `leaf`; only one of these kinds needs a help text for the count.
    """
    for short, long in _PARTS.items():
        shape = shape.replace(short, long)
    return LinePattern(leaf, holds, regex(shape), help)


@dataclass(slots=True)
class LineTally:
    """The counts of one device, each by its name, and the text of the last counted line."""

    counts: dict[str, int] = field(default_factory=dict)
    last: str = ""


def whole(log: str) -> None:
    """Raise Unreadable if a log is empty or ends within a line, that is, if the log is incomplete."""
    if not log.strip():
        raise Unreadable("an empty log: even a kernel that has just started logs lines")
    if not log.endswith("\n"):
        raise Unreadable(f"the last line is incomplete: {clean(log[-80:].rpartition(chr(10))[2])!r}")


def lines(log: str, *held: str) -> Iterator[str]:
    """Yield the lines of a complete log that contain any of these texts, each line once, in the log's order."""
    places: dict[int, int] = {}
    for word in held:
        at = log.find(word)
        while at >= 0:
            end = log.find("\n", at)
            end = end if end >= 0 else len(log)
            places[log.rfind("\n", 0, at) + 1] = end
            at = log.find(word, end)
    for start in sorted(places):
        yield log[start : min(places[start], start + LONGEST)]


def message(row: str) -> str:
    """Return a line without the level, time and caller that dmesg or journalctl print before the message."""
    before = _BEFORE.match(row)
    return row[before.end() :] if before is not None else row


def seconds(row: str) -> float | None:
    """Return a line's time in seconds since boot; None if the line has no time, or has a date instead."""
    before = _BEFORE.match(row)
    return float(before["seconds"]) if before is not None and before["seconds"] else None


def span(log: str) -> tuple[float | None, float | None]:
    """Return the times of a whole log's first and last line, in seconds since boot; None if a line has no such time."""
    return seconds(log[:LONGEST]), seconds(log[log.rfind("\n", 0, len(log) - 1) + 1 :][:LONGEST])


def kept_back(log: str) -> int:
    """Add up the messages that the kernel's rate limit suppressed, from the lines with `callbacks suppressed`."""
    rows = (_KEPT_BACK.match(message(row)) for row in lines(log, "callbacks suppressed"))
    return sum(int(match["number"]) for match in rows if match is not None)


def tallies(log: str, kinds: Sequence[LinePattern]) -> Mapping[str, LineTally]:
    """Count the lines of each kind, by device name; the lines that name no device are counted under an empty name.

    If several kinds match a line, only the first of them counts the line. Raises Unreadable if the log is empty or ends
    within a line.
    """
    whole(log)
    found: dict[str, LineTally] = {}
    for row in lines(log, *dict.fromkeys(kind.holds for kind in kinds)):
        wording = message(row)
        for kind in kinds:
            match = kind.shape.match(wording) if kind.holds in wording else None
            if match is not None:
                named = match.groupdict()
                tally = found.setdefault(named.get("key") or "", LineTally())
                tally.counts[kind.leaf] = tally.counts.get(kind.leaf, 0) + 1
                tally.last = _nameless(wording, match) if named.get("who") else wording
                break
    return found


def _nameless(wording: str, match: re.Match[str]) -> str:
    """Replace the process name in a line by an ellipsis: the name is private, as a user chose it."""
    return f"{wording[: match.start('who')]}…{wording[match.end('who') :]}"


def promised(item: str, kinds: Sequence[LinePattern]) -> dict[str, Kind]:
    """Return the types of an item's facts: one count for each `leaf` of these patterns, and the last counted line."""
    return counts(item, {kind.leaf: kind.help for kind in kinds if kind.help})


def counts(item: str, meanings: Mapping[str, str]) -> dict[str, Kind]:
    """Return the types of an item's facts: one count for each name in `meanings`, and the last counted line."""
    facts = {f"{item}.{leaf}": integer(meaning, Class.COUNTER) for leaf, meaning in meanings.items()}
    facts[f"{item}.last"] = text(
        "The last counted line, without its time and any process name; absent if no line was counted.",
        Class.MEASUREMENT,
    )
    return facts


def counted(item: str, kinds: Sequence[LinePattern], tally: LineTally) -> Facts:
    """Yield the facts of one item: the count of each kind of line, including zeros, and the last counted line."""
    for leaf in dict.fromkeys(kind.leaf for kind in kinds):
        yield f"{item}.{leaf}", tally.counts.get(leaf, 0)
    yield f"{item}.last", clean(tally.last) if tally.last else Absent("no such line")


def of_all(item: str, log: str, kinds: Sequence[LinePattern]) -> Facts:
    """Count the lines of each kind in the log that do not name a device; yield the counts as facts of one item."""
    yield from counted(item, kinds, tallies(log, kinds).get("", LineTally()))


def of_each(collection: str, log: str, kinds: Sequence[LinePattern]) -> Facts:
    """Yield the facts of one item for each device that the log names: the counts of the lines that name the device."""
    found = tallies(log, kinds)
    for key in sorted(found, key=natural):
        yield from counted(f"{collection}/{spell_key(key)}", kinds, found[key])
