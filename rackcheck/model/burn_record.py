"""The records that a burn-in on a node wrote, checked for their types, since a node may print anything.

A record with an invalid field is dropped as a whole, and counted: its contents stay unknown. All numbers are SI; `t`
and `begun` are seconds of the node's own clock since the payload began.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rackcheck.model import burn_fields as fields
from rackcheck.model.fact import clean

WIRE = 1
"""The record format that this version reads."""

CPUS = 65536
"""Maximum number of processors of one node that are read."""

DID = ("work", "rate", "tested", "pieces")
"""Numbers that show how much work was done: if one of them is zero, nothing was tested."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record: when it was written, its subject, its numbers and its texts."""

    t: float
    of: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """Return a number; None if it is missing."""
        return self.numbers.get(name)

    def word(self, name: str) -> str:
        """Return a text; empty if it is missing."""
        return self.words.get(name, "")

    @property
    def kind(self) -> str:
        """The kind of the record's subject: `gpu` of `gpu/3`."""
        return self.of.partition("/")[0]

    @property
    def key(self) -> str:
        """The key of the record's subject: `3` of `gpu/3`."""
        return self.of.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Stage(Record):
    """A piece of work that ended, or that was not done; `why` is then the reason."""

    @property
    def stage(self) -> str:
        """The stage of the plan to which this work belongs: `memory`."""
        return self.word("stage")

    @property
    def test(self) -> str:
        """The test of the stage: `march`."""
        return self.word("test")

    @property
    def done(self) -> bool:
        """Whether the work was done."""
        return self.word("status") == "done"

    @property
    def why(self) -> str:
        """Why the work was not done."""
        return self.word("why") or "no reason reported"


@dataclass(frozen=True, slots=True)
class Fault(Record):
    """A fault, by name: `mismatch`, `lost`, `xid`."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.word("name")


@dataclass(frozen=True)
class Burn:
    """A burn-in of one node, as read.

    `hello` contains what the node reports about itself, `unread` is the number of dropped records, and `odd` is the
    error in the first dropped record.
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
        """Read records in the order of their arrival; never raises."""
        found = _Found()
        for record in records:
            try:
                found.take(record)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                found.unread += 1
                found.odd = found.odd or clean(f"{error}: {_shown(record)}")
        samples = {of: tuple(rows) for of, rows in sorted(found.samples.items())}
        return cls(
            found.hello, tuple(found.stages), samples, tuple(found.faults), tuple(found.tools), found.ended, found.why,
            found.unread, found.odd,
        )  # fmt: skip

    @property
    def whole(self) -> bool:
        """Whether the burn-in ran to its end."""
        return self.ended == "whole"

    @property
    def troubles(self) -> tuple[tuple[str, str], ...]:
        """The subjects that could not be examined, with the reason: `gpu/3`, or `node` if subjects may be missing."""
        return tuple(self.hello.get("troubles", ()))

    @cached_property
    def gpus(self) -> Mapping[str, Mapping[str, Any]]:
        """The first report on each GPU, by index; GPUs that appear only in other records are not included."""
        found = self.hello.get("gpus")
        unseen = (of.removeprefix("gpu/") for of, _ in self.troubles if of.startswith("gpu/"))
        named = dict.fromkeys((*unseen, *self.things("gpu")))
        return {**{index: {} for index in named if index.isdecimal()}, **(found if isinstance(found, Mapping) else {})}

    def of_stage(self, stage: str, of: str = "", test: str = "") -> Iterator[Stage]:
        """Yield the work of one stage; with `of`, only of this subject; with `test`, only of this test."""
        for each in self._work.get(of, ()) if of else self.stages:
            if each.stage == stage and (not test or each.test == test):
                yield each

    @cached_property
    def _work(self) -> Mapping[str, Sequence[Stage]]:
        """The stages of each subject; indexed, since the stages of hundreds of processors are looked up one by one."""
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
        """The faults of one subject."""
        return tuple(self._wrong.get(of, ()))

    def things(self, kind: str) -> tuple[str, ...]:
        """The keys of all subjects of a kind that have any record, in natural order: `0`, `1` for GPUs."""
        return self._things.get(kind, ())

    @cached_property
    def _things(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for of in (*self._work, *self._wrong, *self.samples):
            kind, _, key = of.partition("/")
            if key:
                found.setdefault(kind, {})[key] = None
        return {kind: tuple(keys) for kind, keys in found.items()}

    @cached_property
    def peers(self) -> Mapping[str, tuple[str, ...]]:
        """The pairs of GPUs, by the GPU that each pair lists first: `peer/0-1` is listed for `0`."""
        found: dict[str, list[str]] = {}
        for key in self.things("peer"):
            found.setdefault(key.partition("-")[0], []).append(f"peer/{key}")
        return {index: tuple(pairs) for index, pairs in found.items()}

    def work_of(self, of: str) -> Sequence[Stage]:
        """All work of one subject."""
        return self._work.get(of, ())


class _Found:
    """The records read so far."""

    def __init__(self) -> None:
        self.hello: Mapping[str, Any] = {}
        self.stages: list[Stage] = []
        self.samples: dict[str, list[Record]] = {}
        self.faults: list[Fault] = []
        self.tools: list[Mapping[str, Any]] = []
        self.ended = self.why = self.odd = ""
        self.unread = 0

    def take(self, record: Mapping[str, Any]) -> None:
        if self.ended and record.get("k") != "verdict" and record.get("of") != "bmc":
            raise ValueError("a record follows the verdict")
        match record.get("k"):
            case "hello":
                self._greet(record)
            case "about":
                self._learn(record)
            case "stage":
                stage = Stage(*fields.fields(record))
                if stage.word("status") not in {"done", "not tested"} or not stage.stage:
                    raise ValueError("a stage needs a name, and the status done or not tested")
                idle = stage.done and next((name for name in DID if stage.number(name) == 0), "")
                self.stages.append(_undone(stage, idle) if idle else stage)
            case "sample":
                row = Record(*fields.fields(record))
                self.samples.setdefault(row.of, []).append(row)
            case "error":
                fault = Fault(*fields.fields(record))
                fields.name(fault.name)
                self.faults.append(fault)
            case "tool":
                fields.text(record["name"])
                self.tools.append(record)
            case "verdict":
                if self.ended:
                    self.ended = "twice"
                    raise ValueError("a second verdict")
                self.ended, self.why = fields.text(record.get("status", "")), fields.text(record.get("why", ""))
            case "beat":
                pass
            case _:
                raise ValueError("not a record of a burn-in")

    def _greet(self, record: Mapping[str, Any]) -> None:
        if record.get("wire") != WIRE:
            raise ValueError(f"only records of format {WIRE} are supported")
        if self.hello:
            raise ValueError("a second hello")
        self._learn(record)

    def _learn(self, record: Mapping[str, Any]) -> None:
        """Keep what a node reports about itself, from its first report."""
        values: dict[str, Any] = {key: v for key, v in record.items() if isinstance(v, str | int | float)}
        known = self.hello.get("gpus", {})
        if "gpus" in record:
            gpus = fields.gpus(record["gpus"])
            values["gpus"] = {**known, **{index: {**each, **known.get(index, {})} for index, each in gpus.items()}}
        if "cpus" in record:
            values["cpus"] = fields.numbers(record["cpus"], CPUS)
        if "numa" in record:
            values["numa"] = fields.numbers([int(index) for index in record["numa"]], CPUS)
        troubles = [*self.hello.get("troubles", ()), *fields.troubles(record.get("troubles", ()))]
        gpus_too = {"gpus": values["gpus"]} if "gpus" in values else {}
        self.hello = {**values, **self.hello, **gpus_too, "troubles": troubles}


def _undone(stage: Stage, name: str) -> Stage:
    """Return a stage reported as done that did no work, marked as not tested."""
    return replace(stage, words={**stage.words, "status": "not tested", "why": f"it did no work: {name} is 0"})


def _shown(record: object) -> str:
    return repr(record)[:120]
