"""The records that a burn-in on a node wrote, checked for their types, since a node may print anything.

A record with an invalid field is dropped as a whole, and counted. All numbers in records are in SI units. `t` is the
time in seconds since the payload began, by the node's own clock.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rackcheck.model import burn_fields as fields
from rackcheck.model.fact import clean

WIRE = 1
"""The version of the record format that this module reads."""

CPUS = 65536
"""Maximum number of CPUs, and of NUMA nodes, in one node's report."""

DID = ("work", "rate", "tested", "pieces")
"""Fields with the amount of work of a test; a test with a zero in one of these fields has tested nothing."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record: when it was written, its subject, its numbers and its texts."""

    t: float
    of: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """Return the number in this field; None if the field is missing."""
        return self.numbers.get(name)

    def word(self, name: str) -> str:
        """Return the text in this field; empty if the field is missing."""
        return self.words.get(name, "")

    @property
    def kind(self) -> str:
        """The kind of the record's subject: `gpu` for `gpu/3`."""
        return self.of.partition("/")[0]

    @property
    def key(self) -> str:
        """The record's subject without its kind: `3` for `gpu/3`."""
        return self.of.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Stage(Record):
    """The record of one piece of work of a burn-in stage; if the work was not done, `why` is the reason."""

    @property
    def stage(self) -> str:
        """The name of the burn-in stage to which this work belongs, such as `memory`."""
        return self.word("stage")

    @property
    def test(self) -> str:
        """The name of the test within the stage, such as `march`."""
        return self.word("test")

    @property
    def done(self) -> bool:
        """Whether the work of this record was done."""
        return self.word("status") == "done"

    @property
    def why(self) -> str:
        """Why the work of this record was not done."""
        return self.word("why") or "no reason reported"


@dataclass(frozen=True, slots=True)
class Fault(Record):
    """The record of a fault; its name is one of `burn_fields.NAMES`, such as `mismatch`, `lost` or `xid`."""

    @property
    def name(self) -> str:
        """The name of the fault."""
        return self.word("name")


@dataclass(frozen=True)
class Burn:
    """The records of one node's burn-in, checked, and grouped by kind of record.

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
        """Read records in the order of their arrival; an invalid record is dropped and counted, without an error."""
        found = _Found()
        for record in records:
            try:
                found.take(record)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
                found.unread += 1
                found.odd = found.odd or clean(f"{error}: {_shown(record)}")
        samples = {of: tuple(rows) for of, rows in sorted(found.samples.items())}
        return cls(
            found.hello, _without_retried(found.stages), samples, tuple(found.faults), tuple(found.tools), found.ended,
            found.why, found.unread, found.odd,
        )  # fmt: skip

    @property
    def whole(self) -> bool:
        """Whether the burn-in ran to its end."""
        return self.ended == "whole"

    @property
    def troubles(self) -> tuple[tuple[str, str], ...]:
        """The subjects that could not be examined (`gpu/3`), with the reason; `node` if subjects may be missing."""
        return tuple(self.hello.get("troubles", ()))

    @cached_property
    def gpus(self) -> Mapping[str, Mapping[str, Any]]:
        """What the node reported about each GPU, by index; an empty mapping for a GPU that only other records name."""
        found = self.hello.get("gpus")
        unseen = (of.removeprefix("gpu/") for of, _ in self.troubles if of.startswith("gpu/"))
        named = dict.fromkeys((*unseen, *self.things("gpu")))
        return {**{index: {} for index in named if index.isdecimal()}, **(found if isinstance(found, Mapping) else {})}

    def of_stage(self, stage: str, of: str = "", test: str = "") -> Iterator[Stage]:
        """Yield the work records of one stage; `of` restricts the records to one subject, `test` to one test."""
        for each in self._work.get(of, ()) if of else self.stages:
            if each.stage == stage and (not test or each.test == test):
                yield each

    @cached_property
    def _work(self) -> Mapping[str, Sequence[Stage]]:
        """The work records by subject, so that the records of hundreds of processors are found quickly."""
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
        """The subjects of one kind that have work, a fault or a sample, without the kind: `0` and `1` for GPUs."""
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
        """The pairs of GPUs that have records, by the first GPU of the pair: `peer/0-1` is listed under `0`."""
        found: dict[str, list[str]] = {}
        for key in self.things("peer"):
            found.setdefault(key.partition("-")[0], []).append(f"peer/{key}")
        return {index: tuple(pairs) for index, pairs in found.items()}

    def work_of(self, of: str) -> Sequence[Stage]:
        """All work records of one subject."""
        return self._work.get(of, ())


def _without_retried(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Leave out the record of copies that were not quiet, if the same copies were done in a later stage `links`.

    Only one such record of a subject and test is left out: if it happened twice, the load on memory is no coincidence.
    Wrong results are never left out.
    """
    loud: dict[tuple[str, str], list[int]] = {}
    last: dict[tuple[str, str], int] = {}
    for number, stage in enumerate(stages):
        if stage.stage == "links" and stage.done:
            last[stage.of, stage.test] = last[stage.of, ""] = number
        elif stage.stage == "links" and stage.why.startswith("contended:") and not stage.number("mismatches"):
            loud.setdefault((stage.of, stage.test), []).append(number)
    retried = {numbers[0] for key, numbers in loud.items() if len(numbers) == 1 and last.get(key, -1) > numbers[0]}
    return tuple(stage for number, stage in enumerate(stages) if number not in retried)


class _Found:
    """Collects the valid records of one burn-in while the records are read."""

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
        """Merge a report of the node about itself into `hello`; earlier values are kept, troubles are appended."""
        values: dict[str, Any] = {key: v for key, v in record.items() if isinstance(v, str | int | float)}
        known = self.hello.get("gpus", {})
        if "gpus" in record:
            gpus = fields.gpus(record["gpus"])
            values["gpus"] = {**known, **{index: {**each, **known.get(index, {})} for index, each in gpus.items()}}
        if "cpus" in record:
            values["cpus"] = fields.numbers(record["cpus"], CPUS)
        if "accelerators" in record:
            values["accelerators"] = fields.accelerators(record["accelerators"])
        if "numa" in record:
            values["numa"] = fields.numbers([int(index) for index in record["numa"]], CPUS)
        troubles = [*self.hello.get("troubles", ()), *fields.troubles(record.get("troubles", ()))]
        gpus_too = {"gpus": values["gpus"]} if "gpus" in values else {}
        self.hello = {**values, **self.hello, **gpus_too, "troubles": troubles}


def _undone(stage: Stage, name: str) -> Stage:
    """Mark a stage as not tested: the node reported it as done, but the field `name`, its amount of work, is zero."""
    return replace(stage, words={**stage.words, "status": "not tested", "why": f"it did no work: {name} is 0"})


def _shown(record: object) -> str:
    return repr(record)[:120]
