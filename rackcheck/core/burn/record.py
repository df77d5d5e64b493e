"""What a burn-in on a node wrote, record by record, held against its shapes: a node may print anything.

A record of which one field is not what it must be is left out as a whole, and counted: what it would have told stays
unknown. All numbers are SI; `t` and `begun` are seconds of the node's own clock since the payload began.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rackcheck.core.fact import clean

WIRE = 1
"""The form of records that this version reads."""

HUGE = 2**64
"""No number of a part, a seed or an address is as large."""

TEXT = 200
"""Characters of a text that are kept; a tool's answer has its own bound."""


def _number(value: Any) -> float:
    """Read a number; a whole one stays whole, since seeds have 64 bits."""
    kind = type(value)
    if (kind is not float and kind is not int) or not -HUGE < value < HUGE:
        raise TypeError("a number is wanted")
    return value  # type: ignore[no-any-return]  # it is one of the two


def _count(value: Any) -> float:
    """Read a number that is never below zero."""
    if _number(value) < 0:
        raise ValueError("a number below zero")
    return value  # type: ignore[no-any-return]


def _flag(value: Any) -> float:
    """Read a number that may also be true or false."""
    return float(value) if type(value) is bool else _number(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("a text is wanted")
    return value if len(value) <= TEXT and value.isprintable() else clean(value, TEXT)


def _place(value: Any) -> str:
    """Read a place in memory, which may be written as a number."""
    return f"{int(_count(value)):#x}" if type(value) is int else _text(value)


def _code(value: Any) -> float | str:
    """Read the number of an error, or what did some work: machine code for a chip, or PTX."""
    return _text(value) if type(value) is str else _number(value)


_FIELDS: Mapping[Callable[[Any], float | str], str] = {
    _number: "t from until seconds temp memory_temp inlet limit load work rate clock memory_clock roof core_seconds "
    "share coverage power power_instant energy busy slowest",
    _count: "mismatches reasons remap_failed ecc_corrected ecc_uncorrected remap_pending replays gen width xids mce "
    "nvlink_errors throttles edac_corrected edac_uncorrected bits count sm cpu seed xid up symbol_error link_downed "
    "xmit_wait tested seeds pieces rounds array sms slowest_sm length found row column pstate",
    _flag: "blame held more",
    _text: "of stage test status why unit hash theirs name pattern said line want got",
    _place: "address other",
    _code: "code",
}
_READERS = {name: read for read, names in _FIELDS.items() for name in names.split()}
"""How each field is read. What no table names is left out, so that a newer node can tell more."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record: when it was written, what it is about, its numbers and its words."""

    t: float
    of: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """Give a number, if it was told."""
        return self.numbers.get(name)

    def word(self, name: str) -> str:
        """Give a text, empty where it was not told."""
        return self.words.get(name, "")

    @property
    def kind(self) -> str:
        """What it is about, without which one: `gpu` of `gpu/3`."""
        return self.of.partition("/")[0]

    @property
    def key(self) -> str:
        """Which one it is about: `3` of `gpu/3`."""
        return self.of.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Stage(Record):
    """A piece of work that ended, or that was not tested, and why."""

    @property
    def stage(self) -> str:
        """Which stage of the plan it belongs to: `memory`."""
        return self.word("stage")

    @property
    def test(self) -> str:
        """Which test of the stage: `march`."""
        return self.word("test")

    @property
    def done(self) -> bool:
        """Whether it was tested."""
        return self.word("status") == "done"

    @property
    def why(self) -> str:
        """Why it was not tested."""
        return self.word("why") or "it says no reason"


@dataclass(frozen=True, slots=True)
class Fault(Record):
    """Something that is wrong, by name: `mismatch`, `lost`, `xid`."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.word("name")


@dataclass(frozen=True)
class Burn:
    """A burn-in of one node, read.

    `hello` holds all that it said of itself, `unread` says of how many records nothing is taken, and `odd` what the
    first of them was.
    """

    hello: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    samples: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    ended: str = ""
    why: str = ""
    unread: int = 0
    odd: str = ""

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]]) -> "Burn":
        """Read records in the order in which they came; never raises."""
        found = _Found()
        for record in records:
            try:
                found.take(record)
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                found.unread += 1
                found.odd = found.odd or clean(f"{error}: {_shown(record)}")
        samples = {of: tuple(rows) for of, rows in sorted(found.samples.items())}
        return cls(
            found.hello, tuple(found.stages), samples, tuple(found.faults), tuple(found.tools), found.ended, found.why,
            found.unread, found.odd,
        )  # fmt: skip

    @property
    def whole(self) -> bool:
        """Whether it ran to its end."""
        return self.ended == "whole"

    @property
    def troubles(self) -> tuple[tuple[str, str], ...]:
        """What could not be looked at, and why: `gpu/3`, or `node` where some may not be told of at all."""
        return tuple(self.hello.get("troubles", ()))

    @cached_property
    def gpus(self) -> Mapping[str, Mapping[str, Any]]:
        """What it said of each GPU at first, by index; nothing of one of which other records tell alone."""
        found = self.hello.get("gpus")
        unseen = (of.removeprefix("gpu/") for of, _ in self.troubles if of.startswith("gpu/"))
        named = dict.fromkeys((*unseen, *self.things("gpu")))
        return {**{index: {} for index in named if index.isdecimal()}, **(found if isinstance(found, Mapping) else {})}

    def of_stage(self, stage: str, of: str = "", test: str = "") -> Iterator[Stage]:
        """The work of one stage, of one thing, of one test."""
        for each in self._work.get(of, ()) if of else self.stages:
            if each.stage == stage and (not test or each.test == test):
                yield each

    @cached_property
    def _work(self) -> Mapping[str, Sequence[Stage]]:
        """The stages of each thing: a node has hundreds of processors, and each is asked for its own."""
        found: dict[str, list[Stage]] = {}
        for stage in self.stages:
            found.setdefault(stage.of, []).append(stage)
        return found

    @cached_property
    def _wrong(self) -> Mapping[str, Sequence[Fault]]:
        found: dict[str, list[Fault]] = {}
        for fault in self.faults:
            found.setdefault(fault.of, []).append(fault)
        return found

    def of_thing(self, of: str) -> tuple[Fault, ...]:
        """What is wrong with one thing."""
        return tuple(self._wrong.get(of, ()))

    def things(self, kind: str) -> tuple[str, ...]:
        """The names of all things of a kind that anything was told of, in their order: `0`, `1` of GPUs."""
        told = [*self.stages, *self.faults, *(rows[0] for rows in self.samples.values())]
        return tuple(dict.fromkeys(record.key for record in told if record.kind == kind and record.key))


class _Found:
    """What has been read so far."""

    def __init__(self) -> None:
        self.hello: Mapping[str, Any] = {}
        self.stages: list[Stage] = []
        self.samples: dict[str, list[Record]] = {}
        self.faults: list[Fault] = []
        self.tools: list[Mapping[str, Any]] = []
        self.ended = self.why = self.odd = ""
        self.unread = 0

    def take(self, record: Mapping[str, Any]) -> None:
        match record.get("k"):
            case "hello":
                self._greet(record)
            case "about":
                self._learn(record)
            case "stage":
                stage = Stage(*_fields(record))
                if stage.word("status") not in {"done", "not tested"} or not stage.stage:
                    raise ValueError("a stage is done or not tested")
                self.stages.append(stage)
            case "sample":
                row = Record(*_fields(record))
                self.samples.setdefault(row.of, []).append(row)
            case "error":
                fault = Fault(*_fields(record))
                if not fault.name:
                    raise ValueError("an error has a name")
                self.faults.append(fault)
            case "tool":
                self.tools.append(record)
            case "verdict":
                self.ended, self.why = _text(record.get("status", "")), _text(record.get("why", ""))
            case "beat":
                pass
            case _:
                raise ValueError("not a record of a burn-in")

    def _greet(self, record: Mapping[str, Any]) -> None:
        if record.get("wire") != WIRE:
            raise ValueError(f"records of form {WIRE} are read")
        if self.hello:
            raise ValueError("it said hello twice")
        self._learn(record)

    def _learn(self, record: Mapping[str, Any]) -> None:
        gpus = record.get("gpus", {})
        if not isinstance(gpus, dict) or not all(isinstance(each, dict) for each in gpus.values()):
            raise TypeError("gpus are objects by index")
        troubles = [*self.hello.get("troubles", ()), *_troubles(record.get("troubles", ()))]
        known = self.hello.get("gpus", {})
        more = {"gpus": {**known, **{i: {**each, **known.get(i, {})} for i, each in gpus.items()}}} if gpus else {}
        self.hello = {**record, **self.hello, **more, "troubles": troubles}


def _troubles(told: Any) -> list[tuple[str, str]]:
    """Read what could not be looked at, and why."""
    return [(_text(each["of"]), _text(each["why"])) for each in told]


def _fields(record: Mapping[str, Any]) -> tuple[float, str, dict[str, float], dict[str, str]]:
    """Part a record into what it is about, its numbers and its words; raises at what has another type."""
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    for name, value in record.items():
        read = _READERS.get(name)
        if read is None:
            if name == "fans":
                numbers.update({f"fan {_text(fan)}": _number(speed) for fan, speed in value.items()})
            continue
        told = read(value)
        if isinstance(told, str):
            words[name] = told
        else:
            numbers[name] = told
    return numbers.pop("t"), words.pop("of"), numbers, words


def _shown(record: object) -> str:
    return repr(record)[:120]
