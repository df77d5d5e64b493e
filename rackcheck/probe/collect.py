"""From raw output to typed facts: each declared fact of a probe becomes a value, absent, or unknown with a reason."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import eq

from rackcheck.model import path as paths
from rackcheck.model import unit
from rackcheck.model.capture import PLANES, BmcCapture, BurnCapture, Capture, NodeCapture, Output, named
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.documents import Missing
from rackcheck.model.fact import (
    Absent,
    Class,
    Facts,
    Part,
    Reading,
    Reason,
    Unknown,
    Unreadable,
    Value,
    clean,
    same_reading,
)
from rackcheck.model.path import EVERY, Path
from rackcheck.model.question import Ask, Load, Read, Redfish, Shell
from rackcheck.model.refusal import refusal
from rackcheck.model.regex import regex
from rackcheck.model.text import Sourced, natural
from rackcheck.model.tree import Collected, Leaf
from rackcheck.probe.contract import AnyProbe, Places
from rackcheck.probe.kept_readings import Last, kept_readings

FACTS = 20_000
"""Maximum number of facts of one probe on one node."""

_TOO_MANY = Unknown(Reason.TOO_LARGE, f"more than {FACTS} facts")

PATH = 1000
"""Maximum number of characters of the path of one fact, since a node could return item names of any length."""


def collect(
    probes: Iterable[AnyProbe],
    capture: Capture,
    wanted: Iterable[Path] = (),
    failures: list[str] | None = None,
) -> dict[str, Leaf]:
    """Read a capture with every probe of its plane; return the leaves by path.

    The names of probes that raised an unexpected exception are appended to `failures`.
    """
    return collected(probes, capture, wanted, [] if failures is None else failures).leaves


def collected(probes: Iterable[AnyProbe], capture: Capture, wanted: Iterable[Path], failures: list[str]) -> Collected:
    """Read a capture as `collect` does; return the leaves with their items."""
    found = Collected()
    add_collected(found, probes, capture, wanted, failures)
    return found


def add_collected(
    found: Collected, probes: Iterable[AnyProbe], capture: Capture, wanted: Iterable[Path], failures: list[str]
) -> None:  # fmt: skip
    """Read a capture as `collect` does, and add the leaves with their items to those of other captures."""
    plane, names = PLANES[type(capture)], tuple(wanted)
    for probe in probes:
        if probe.plane is plane:
            found.add(_collected(probe, capture, names, failures))


def _collected(probe: AnyProbe, capture: Capture, wanted: tuple[Path, ...], failures: list[str]) -> Collected:
    """Return the facts of one probe; those from an answer of the OS plane are kept for the next equal answer."""
    ask = probe.ask.asking(wanted)
    answer: Hashable
    files: Mapping[str, str] = {}
    if isinstance(ask, Shell) and isinstance(capture, NodeCapture):
        answer = capture.output(ask)
    elif isinstance(ask, Read) and isinstance(probe.ask, Read) and isinstance(capture, NodeCapture):
        found, trouble = capture.files_of(ask)
        files = found.contents
        facts = wanted if probe.ask.family else ()
        answer = tuple(files.items()), tuple(found.refused.items()), trouble, facts
    else:
        answer = None

    def read() -> tuple[Collected, bool]:
        reading = _Reading(probe)
        found = reading.of(capture, wanted)
        failures.extend([probe.name] if reading.failed else ())
        return found, not reading.failed

    def size() -> int:
        if isinstance(answer, Output):
            return len(answer.out) + len(answer.err)
        return sum(len(path) + len(text) for path, text in files.items())

    return read()[0] if answer is None else kept_readings.facts(probe, answer, size, read)


@dataclass(frozen=True, slots=True)
class _Checked:
    """The facts of a part as leaves of one probe."""

    probe: AnyProbe
    leaves: Mapping[str, Leaf]


class _Reading:
    """Collects the facts of one probe on one node while the probe's output is read."""

    def __init__(self, probe: AnyProbe) -> None:
        self.probe, self.plane = probe, probe.plane
        self.catalogue = probe.catalogue
        self.leaves: dict[str, Leaf] = {}
        self.items: dict[str, dict[str, None]] = {}
        self._listed: set[tuple[tuple[str, str], ...]] = set()
        self._order: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, list[str]] = {}
        self._last = kept_readings.last(probe)
        self.source = named(str(probe.ask))
        self.failed = False
        self._whole = True  # whether each fact has its own leaf

    def of(self, capture: Capture, wanted: tuple[Path, ...]) -> Collected:
        ask = self.probe.ask.asking(wanted)
        trouble = self._take(ask, capture)
        if trouble is None and self._as_before():
            return Collected(self.leaves, self.items)
        given = len(self.leaves)
        for item in dict.fromkeys(map(paths.last_item, self.leaves)):
            if item:
                self._list(paths.parse(item).items)
        self._close(trouble)
        self._miss(trouble, wanted)
        lists = [text for text, leaf in self.leaves.items() if leaf.kind.type is Type.COLLECTION]
        for text in lists:
            reading = self.leaves[text].reading
            if isinstance(reading, tuple):
                self.items.setdefault(text, {}).update(dict.fromkeys(reading))
        found = Collected(self.leaves, self.items)
        if trouble is None and self._whole:
            kept_readings.keep_last(self.probe, Last(found, given, tuple(lists)))
        return found

    def _as_before(self) -> bool:
        """Add what the last answer did not contain either, if this one has the same facts in the same order.

        Its items are the same then, too, unless it returned another list of them.
        """
        last, facts = self._last, self._last.facts.leaves
        ask = self.probe.ask
        if isinstance(ask, Read) and ask.family is not None:
            return False
        if not facts or len(self.leaves) != last.given or not all(map(eq, self.leaves, facts)):
            return False
        if any(self.leaves.get(text, facts[text]) is not facts[text] for text in last.lists):
            return False
        self.leaves.update(islice(facts.items(), last.given, None))
        self.items = last.facts.items
        kept_readings.keep_last(self.probe, Last(Collected(self.leaves, self.items), last.given, last.lists))
        return True

    def _take(self, ask: Ask, capture: Capture) -> Unknown | None:
        """Run the parser; return why the output is incomplete, or None if it is complete."""
        whole: Unknown | None = None
        try:
            if isinstance(ask, Redfish):
                assert isinstance(capture, BmcCapture)
                self._keep(self.probe.parse(capture.documents))  # type: ignore[arg-type]  # depends on the question
                return None
            if isinstance(ask, Load):
                assert isinstance(capture, BurnCapture)
                self._keep(self.probe.parse(capture.burn))  # type: ignore[arg-type]
                return None
            assert isinstance(capture, NodeCapture)
            if isinstance(ask, Read):
                files, whole = capture.files_of(ask)
                if whole is not None and not files.contents and not files.refused:
                    return whole
                self._keep(self.probe.parse(files))  # type: ignore[arg-type]
                return whole
            output = capture.output(ask)
            refusal = _refusal(ask, output)
            if refusal is not None:
                return refusal
            assert isinstance(output, Output)
            self._keep(self.probe.parse(output.out))  # type: ignore[arg-type]
        except Unreadable as error:
            return whole or Unknown(error.reason, clean(str(error)))
        except Missing as error:
            return Unknown(Reason.NOT_COLLECTED, f"not fetched: {clean(str(error))}")
        except Exception as error:  # noqa: BLE001  third-party code is possible: errors affect only its own facts
            self.failed = True
            return Unknown(Reason.UNPARSABLE, f"probe {self.probe.name} failed: {clean(repr(error))}")
        return None

    def _keep(self, facts: Facts) -> None:
        leaves, kind_of, plane, before = self.leaves, self.catalogue.kind, self.plane, self._last.facts.leaves.get
        for fact in facts:
            if isinstance(fact, Part):
                self._keep_part(fact)
                continue
            if len(leaves) >= FACTS:
                raise Unreadable(_TOO_MANY.detail, _TOO_MANY.reason)
            text, value = fact
            reading, source = (value.reading, value.source) if isinstance(value, Sourced) else (value, self.source)
            known = before(text)
            if known is not None and known.source == source and same_reading(known.reading, reading):
                # Most facts of a node are equal to those of the node before, and have been checked there: what was not
                # valid is unknown, and an equal reading remains valid.
                leaves[text] = known
                continue
            if len(text) > PATH:
                raise Unreadable(
                    f"a fact path of {len(text)} characters; the maximum is {PATH}: {clean(text, 60)}", Reason.TOO_LARGE
                )
            kind = kind_of(text)
            if kind is None:
                raise self._undeclared(text)
            leaves[text] = Leaf(typed(reading, kind), kind, plane, source)

    def _keep_part(self, part: Part) -> None:
        """Keep the facts of a part; those that another node has returned before have been checked there."""
        checked = part.checked
        if isinstance(checked, _Checked) and checked.probe is self.probe and len(self.leaves) + len(part.facts) < FACTS:
            self.leaves.update(checked.leaves)
            return
        self._keep(iter(part))
        part.checked = _Checked(self.probe, {text: self.leaves[text] for text, _ in part.facts})

    def _undeclared(self, text: str) -> Unreadable:
        if paths.parse(text).starred:
            return Unreadable(f"an item with the name {EVERY}: {text}")
        return Unreadable(f"probe {self.probe.name} returns {text}, which it does not declare")

    def _put(self, path: Path, reading: Reading, kind: Kind, source: str) -> None:
        self.leaves[path.text] = Leaf(reading, kind, self.plane, source)
        self._list(path.items)

    def _list(self, items: tuple[tuple[str, str], ...]) -> None:
        if items not in self._listed:  # an item has many facts
            self._listed.add(items)
            for collection, key in items:
                self.items.setdefault(collection, {})[key] = None

    def _close(self, trouble: Unknown | None) -> None:
        """Set each declared fact without a reading to unknown, with the reason; list the items of each collection."""
        left = trouble or Unknown(Reason.NOT_COLLECTED, "the answer does not contain it")
        named_here: list[str] = []
        for each in self._incomplete():
            pattern, kind = each.pattern, each.kind
            places = [text for base in self._bases(each.item) if (text := base + each.rest) not in self.leaves]
            if len(self.leaves) + len(places) > FACTS and len(places) > 1:
                # Too many facts: one leaf, at the pattern itself, has the reason for all these items.
                self._whole = False
                self._put(pattern, _TOO_MANY, kind, self.source)
                continue
            if any(segment.key not in {None, EVERY} for segment in pattern.segments):
                named_here += places
            for text in places:
                reading: Reading = left
                if kind.type is Type.COLLECTION:
                    reading = trouble if trouble is not None else self._ordered(text)
                self.leaves[text] = Leaf(reading, kind, self.plane, self.source)
        for text in named_here:  # a declaration that names an item lists it, for itself only
            self._list(paths.parse(text).items)
        if trouble is not None:
            # Items that another probe lists are not known here: one leaf, at the pattern itself, has the reason.
            for pattern, kind in self.probe.patterns:
                if self._lists_elsewhere(pattern):
                    self._put(pattern, trouble, kind, self.source)

    def _incomplete(self) -> Sequence[Places]:
        """Return the patterns that may lack facts: if there are as many facts as places, those of collections alone.

        Every fact is at a place of one pattern, unless it belongs to a family.
        """
        places = self.probe.places
        listed = [each for each in places if each.kind.type is Type.COLLECTION]
        if self.probe.plain:
            own = sum(base + each.rest in self.leaves for each in listed for base in self._bases(each.item))
            total = sum(len(self._bases(each.item)) for each in places if each.kind.type is not Type.COLLECTION)
            if len(self.leaves) - own == total:
                return listed
        return places

    def _lists_elsewhere(self, pattern: Path) -> bool:
        first = next((i for i, s in enumerate(pattern.segments) if s.key == EVERY), None)
        if first is None:
            return False
        owner = Path((*pattern.segments[:first], paths.Segment(pattern.segments[first].word)))
        return str(owner) not in self.probe.gives

    def _miss(self, trouble: Unknown | None, wanted: tuple[Path, ...]) -> None:
        """Set requested facts of `Read.family` to absent if their file is missing; to unknown if this is uncertain."""
        ask = self.probe.ask
        if not isinstance(ask, Read) or ask.family is None:
            return
        for path in wanted:
            file = ask.member(path)
            entry = self.catalogue.find(path) if file is not None else None
            if file is not None and entry is not None and str(path) not in self.leaves:
                self._put(path, trouble or Absent(f"no {file}"), entry.kind, file)

    def _bases(self, pattern: Path) -> list[str]:
        """Return the path of each listed item that matches a pattern, once all items are listed."""
        known = self._found.get(pattern.text)
        if known is not None:
            return known
        found = [""]
        for segment in pattern.segments:
            if segment.key == EVERY:
                bases = [f"{above}.{segment.word}" if above else segment.word for above in found]
                found = [f"{base}/{paths.spell_key(key)}" for base in bases for key in self._ordered(base)]
            else:
                word = str(segment)
                found = [f"{above}.{word}" if above else word for above in found]
        self._found[pattern.text] = found
        return found

    def _ordered(self, collection: str) -> tuple[str, ...]:
        """Return the names of a collection's items in order; the list is cached, so all names must be known before."""
        if collection not in self._order:
            self._order[collection] = tuple(sorted(self.items.get(collection, ()), key=natural))
        return self._order[collection]


def _refusal(ask: Shell, output: Output | Unknown) -> Unknown | None:
    """Return why a command's output cannot be used; None if it can be used."""
    if isinstance(output, Unknown):
        return output
    if output.status in ask.ok:
        return None
    return refusal(output.status, output.err, root=ask.root, seconds=ask.seconds)


def _is_text(reading: Value) -> bool:
    return isinstance(reading, str)


_FITS: Mapping[Type, Callable[[Value], bool]] = {
    Type.FLAG: lambda reading: isinstance(reading, bool),
    Type.INTEGER: lambda reading: isinstance(reading, int) and not isinstance(reading, bool),
    Type.QUANTITY: lambda reading: isinstance(reading, (int, float)) and not isinstance(reading, bool),
    Type.LIST: lambda reading: isinstance(reading, tuple),
    Type.COLLECTION: lambda reading: isinstance(reading, tuple),
}
"""The check of a value for each type of fact; a fact of a type that is not listed must be a text."""


def typed(reading: Reading, kind: Kind) -> Reading:
    """Check a reading against its kind; a reading of another type is unparsable."""
    if isinstance(reading, (Absent, Unknown)):
        return reading
    if isinstance(reading, float) and kind.type in {Type.INTEGER, Type.QUANTITY}:
        if math.isinf(reading) and reading > 0 and kind.unlimited:
            return reading
        if not math.isfinite(reading):
            return Unknown(Reason.UNPARSABLE, f"not a number: {reading}")
    if not _FITS.get(kind.type, _is_text)(reading):
        return Unknown(Reason.UNPARSABLE, f"{kind} expected, found {clean(repr(reading))}")
    if kind.words and reading not in kind.words:
        return Unknown(Reason.UNPARSABLE, f"{clean(str(reading))!r} is none of {', '.join(kind.words)}")
    if kind.cls is Class.MEASUREMENT and kind.unit in unit.PLAUSIBLE and isinstance(reading, (int, float)):
        least, most = unit.PLAUSIBLE[kind.unit]
        if not least <= reading <= most or reading == unit.ALL_ONES:
            return Unknown(Reason.UNPARSABLE, f"no plausible reading: {reading:g} {kind.unit}")
    return _bounded(reading)


_CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that no value may contain, as they could affect a terminal: controls, direction marks, broken bytes."""


def _bounded(reading: Value) -> Reading:
    if isinstance(reading, (str, tuple)):
        texts = (reading,) if isinstance(reading, str) else reading
        odd = next((text for text in texts if isinstance(text, str) and _CONTROL.search(text)), None)
        if odd is not None:
            return Unknown(Reason.UNPARSABLE, f"control characters in '{clean(odd, 80)}'")
        if isinstance(reading, str) and len(reading) > 4096:
            return Unknown(Reason.TOO_LARGE, f"{len(reading)} characters")
    elif isinstance(reading, int) and not isinstance(reading, bool) and abs(reading) >= 10**30:
        return Unknown(Reason.UNPARSABLE, "a number of more than 30 digits")
    return reading
