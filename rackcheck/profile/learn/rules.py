"""Turns the facts of known-good machines into rules that pass on all of them, and into questions where they differ.

Pure. If no rule about a fact would pass on all machines, the profile contains a question for a person to answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.catalogue import FAMILY, Catalogue, Entry, Type
from rackcheck.model.fact import VOLATILE, Absent, Class, Reading, Unknown, Value
from rackcheck.model.path import EVERY, Path
from rackcheck.model.text import natural
from rackcheck.model.tree import ItemSelection, Tree
from rackcheck.profile.learn.claim import LONGEST, Claim, Doubt, Why, claimed, counts_errors
from rackcheck.profile.learn.identity import telling
from rackcheck.profile.learn.words import family, folded, helped, small, values_by_count, words

CLAIMS = 2000
"""Maximum number of facts in all rules of a file, so that a person can read it and rackcheck can load it."""

QUESTIONS = 400
"""Maximum number of questions, and of unknown facts that are listed by name."""

MAPS = frozenset({"pcie.nics", "pcie.drives"})
"""Facts that list which model is at which PCI address, from which a rule is learned although they are measurements.

Their class is measurement so that a comparison of runs shows a missing device once, not also as a change of the list.
"""

NEVER = "this run did not "
"""Beginning of the `detail` of a fact that a stored run did not collect."""


@dataclass(frozen=True, slots=True)
class LearnedRun:
    """One known-good machine, as read in one run."""

    name: str
    tree: Tree = field(repr=False)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One learned rule: the claims by fact, all of which must be true.

    `look` is `each` or `count`, and `at` is the collection; both are empty if the rule has no selection.
    """

    id: str
    title: str
    claims: Mapping[str, Claim]
    look: str = ""
    at: str = ""

    @property
    def area(self) -> str:
        """The first path segment of the rule's collection; for a rule without a collection, of its first fact.

        The item key of the path segment is left out.
        """
        return re.split("[./]", self.at or next(iter(self.claims)))[0]


@dataclass(frozen=True, slots=True)
class LearnQuestion:
    """A question to the user, as one line of text; `path` is the path of a fact, or a pattern for facts of items."""

    path: str
    text: str

    @property
    def area(self) -> str:
        """The first path segment, without an item key."""
        return re.split("[./]", self.path)[0]


@dataclass(frozen=True)
class Learned:
    """The result of learning: the rules, the questions, and the facts that are unknown on some machine.

    `left` maps each reason why facts have no rule to the number of these facts.
    """

    lessons: tuple[Lesson, ...]
    questions: tuple[LearnQuestion, ...]
    unknown: tuple[str, ...]
    left: Mapping[Why, int]


def learn(samples: Sequence[LearnedRun], catalogue: Catalogue, *, at_least: bool = False) -> Learned:
    """Learn rules from known-good machines; with `at_least`, rules on ordered versions also accept later versions."""
    return _Learning(samples, catalogue, at_least).learned()


Sightings = Sequence[tuple[str, Reading]]
"""Readings of one fact, each with the name of the machine, or of the item of a machine, from which it was read."""


class _Learning:
    """Processes all facts once, and records the outcome of each."""

    def __init__(self, samples: Sequence[LearnedRun], catalogue: Catalogue, at_least: bool) -> None:
        self.samples, self.catalogue, self.at_least = samples, catalogue, at_least
        self.identifies = telling(sample.tree for sample in samples)
        self.lessons: list[Lesson] = []
        self.questions: list[LearnQuestion] = []
        self.unknown: dict[str, None] = {}
        self.left: Counter[Why] = Counter()
        self._claims = 0
        self._chosen: dict[str, list[ItemSelection]] = {}

    def learned(self) -> Learned:
        singles, items, collections = self._facts()
        for pattern in collections:
            self._count(pattern, collections[pattern])
        for pattern in items:
            self._each(pattern, items[pattern])
        self._singles(singles)
        lessons = tuple(_unlike(sorted(self.lessons, key=lambda lesson: natural(lesson.area))))
        asked = tuple(sorted(self.questions, key=lambda question: natural(question.path)))
        return Learned(lessons, asked, tuple(sorted(self.unknown, key=natural)), self.left)

    def _facts(self) -> tuple[dict[str, Entry], dict[str, Entry], dict[str, Entry]]:
        """Split the facts into facts of the node, facts of items by pattern, and collections by pattern."""
        singles: dict[str, Entry] = {}
        items: dict[str, Entry] = {}
        collections: dict[str, Entry] = {}
        for text in sorted({text for sample in self.samples for text in sample.tree.leaves}, key=natural):
            path = paths.parse(text)
            entry = self.catalogue.find(path)
            if entry is None:
                self.left[Why.STRANGE] += 1
            elif any(segment.key == EVERY for segment in path.segments):
                self._not_known(text, [leaf.reading for s in self.samples if (leaf := s.tree.leaf(path)) is not None])
            elif entry.kind.type is Type.COLLECTION:
                collections[str(path.pattern)] = entry
            elif entry.pattern.endswith(FAMILY) or path.segments[-1].key is not None or not path.items:
                singles[text] = entry
            else:
                items[str(path.pattern)] = entry
        return singles, items, collections

    def _select(self, pattern: str) -> list[ItemSelection] | None:
        """Return the items of a collection on each machine; None if they are unknown on any machine."""
        if pattern not in self._chosen:
            path = paths.parse(pattern)
            entry = self.catalogue.find(path)
            self._chosen[pattern] = (
                [s.tree.select(path, entry.plane) for s in self.samples] if entry is not None else []
            )
        chosen = self._chosen[pattern]
        return chosen if chosen and all(selection.unknown is None for selection in chosen) else None

    def _count(self, pattern: str, entry: Entry) -> None:
        chosen = self._select(pattern)
        if chosen is None:
            unknown = [selection.unknown for selection in self._chosen[pattern]]
            self._not_known(pattern, [reading for reading in unknown if reading is not None])
            return
        counts = [len(selection.items) for selection in chosen]
        errors = self._is_volatile(pattern)
        if not any(counts) and not (errors and counts_errors(pattern, entry.kind)):
            self.left[Why.EMPTY] += 1
        elif errors and any(counts):
            self.left[Why.COUNTER] += 1
        elif pattern.endswith(".pending") and any(counts):
            self._ask(pattern, f"{max(counts)} {Doubt.PENDING.value}")
        elif len(set(counts)) > 1:
            seen = [(sample.name, count) for sample, count in zip(self.samples, counts, strict=True)]
            self._ask(pattern, values_by_count([(name, f"{count} items") for name, count in seen]))
        else:
            claim = {"": Claim("is", str(counts[0]))}
            title = f"The number of items: {small(helped(entry))}"
            self._keep(Lesson(f"{words(pattern)}.count", title, claim, "count", pattern))

    def _is_volatile(self, pattern: str) -> bool:
        """Whether a collection lists events, not components: all facts of its items are volatile, except identities."""
        classes = {
            entry.kind.cls
            for name, entry in self.catalogue.entries.items()
            if name.startswith(f"{pattern}/{EVERY}") and entry.kind.type is not Type.COLLECTION
        }
        return bool(classes & VOLATILE) and classes <= VOLATILE | {Class.IDENTITY}

    def _each(self, pattern: str, entry: Entry) -> None:
        path = paths.parse(pattern)
        depth = max(i for i, segment in enumerate(path.segments) if segment.key is not None) + 1
        head = path.segments[depth - 1]
        at, fact = Path((*path.segments[: depth - 1], replace(head, key=None))), Path(path.segments[depth:])
        if entry.kind.cls is Class.IDENTITY:
            self.left[Why.IDENTITY] += 1
            return
        chosen = self._select(str(at))
        if chosen is None:  # the collection itself is reported as unknown
            self._not_known(pattern, [s.unknown for s in self._chosen[str(at)] if s.unknown is not None])
            return
        alone = len(self.samples) == 1
        seen = [
            (str(item) if alone else f"{sample.name} {item}", sample.tree.reading(item + fact, entry.plane))
            for sample, selection in zip(self.samples, chosen, strict=True)
            for item in selection.items
        ]
        claim = self._claim(pattern, entry, seen)
        if claim is None:
            return
        if not all(selection.items for selection in chosen):
            self._ask(pattern, "not every machine has an item of this collection")
            return
        title = f"Every {words(str(at))}: {small(helped(entry))}"
        self._keep(Lesson(words(pattern), title, {str(fact): claim}, "each", str(at)))

    def _singles(self, singles: Mapping[str, Entry]) -> None:
        """Combine facts with the same parent path into one rule, so that a person reads them together."""
        families: dict[str, dict[str, tuple[Claim, Entry]]] = {}
        for text, found in singles.items():
            entry = replace(found, kind=replace(found.kind, cls=Class.CONFIG)) if text in MAPS else found
            seen = [(s.name, s.tree.reading(paths.parse(text), entry.plane)) for s in self.samples]
            claim = self._claim(text, entry, seen)
            if claim is not None:
                families.setdefault(text if text in MAPS else family(text, entry), {})[text] = (claim, entry)
        for name, claims in families.items():
            claimed_of = {text: claim for text, (claim, _) in claims.items()}
            (_, entry), *more = claims.values()
            title = folded(name, len(claims), entry) if more else helped(entry)
            self._keep(Lesson(name, title, claimed_of))

    def _claim(self, path: str, entry: Entry, seen: Sightings) -> Claim | None:
        """Return the claim for a fact; if there is none, record the outcome and return None."""
        readings = [reading for _, reading in seen]
        known: list[Value] = [r for r in readings if not isinstance(r, (Absent, Unknown))]
        if entry.kind.cls is Class.IDENTITY:
            self.left[Why.IDENTITY] += 1
        elif any(isinstance(reading, Unknown) for reading in readings):
            self._not_known(path, readings)
        elif not known:
            self.left[Why.ABSENT] += 1
        elif len(path) > LONGEST:
            self.left[Why.LONG] += 1
        elif self.identifies(path):
            self.left[Why.IDENTITY] += 1
        elif entry.kind.cls not in VOLATILE and len(known) < len(readings):
            self._differ(path, entry, seen)
        else:
            machines = len(self.samples)
            claim = claimed(
                entry.kind, known, path, machines=machines, at_least=self.at_least, identifies=self.identifies
            )
            if isinstance(claim, Claim) and len(known) == len(readings):
                return claim
            if isinstance(claim, Doubt):
                self._differ(path, entry, seen, claim)
            else:
                self.left[claim if isinstance(claim, Why) else Why.ABSENT] += 1
        return None

    def _differ(self, path: str, entry: Entry, seen: Sightings, doubt: Doubt = Doubt.DIFFER) -> None:
        spelt = [
            (name, str(reading) if isinstance(reading, (Absent, Unknown)) else operator.spell(reading, entry.kind))
            for name, reading in seen
        ]
        if any(self.identifies(text) for _, text in spelt):
            self.left[Why.IDENTITY] += 1
            return
        self._ask(path, values_by_count(spelt) + ("" if doubt is Doubt.DIFFER else f"; {doubt.value}"))

    def _ask(self, path: str, text: str) -> None:
        self.questions.append(LearnQuestion(path, text))

    def _not_known(self, path: str, readings: Iterable[Reading]) -> None:
        unknown = [reading for reading in readings if isinstance(reading, Unknown)]
        if unknown and all(reading.detail.startswith(NEVER) for reading in unknown):
            self.left[Why.UNASKED] += 1
        elif unknown:
            self.unknown[str(paths.parse(path).pattern)] = None

    def _keep(self, lesson: Lesson) -> None:
        if self._claims + len(lesson.claims) > CLAIMS:
            self.left[Why.FULL] += len(lesson.claims)
            return
        self._claims += len(lesson.claims)
        self.lessons.append(lesson)


def _unlike(lessons: Iterable[Lesson]) -> Iterator[Lesson]:
    """Yield the rules, each with a unique id."""
    taken: set[str] = set()
    for lesson in lessons:
        name, number = lesson.id, 1
        while name in taken:
            number += 1
            name = f"{lesson.id}-{number}"
        taken.add(name)
        yield replace(lesson, id=name)
