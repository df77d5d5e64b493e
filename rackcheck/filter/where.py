"""The filter of all commands and screens: one line of text that selects nodes, findings and facts. Pure.

    state:fail rack:r03 rule:bios.* os.kernel.release<6 !state:waived group:7 ~sriov dgx[01-08]

A row is selected if all terms of the filter are true for it. If an unknown fact decides whether a row is selected,
`holds` returns None. Rows for which `holds` returns None are not selected, and the caller shows their number.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rackcheck.filter.parse import LETTERS, TERMS, FilterError, KindOf, terms
from rackcheck.filter.terms import ComparisonTerm, FilterRow, Term, TriState, all_of
from rackcheck.filter.words import CLOSED, COMPARED, FINDING_KEYS, KEYS, NODE_KEYS, TEXT, WORDS
from rackcheck.model.fact import Plane, Reading
from rackcheck.model.path import EVERY, Path, Segment
from rackcheck.model.tree import Tree

__all__ = [
    "CLOSED",
    "COMPARED",
    "EVERYTHING",
    "FINDING_KEYS",
    "KEYS",
    "LETTERS",
    "NODE_KEYS",
    "TERMS",
    "TEXT",
    "WORDS",
    "FilterError",
    "FilterRow",
    "TriState",
    "Where",
    "left_out",
    "parse",
    "reader",
]


@dataclass(frozen=True, slots=True)
class Where:
    """A filter; without terms it selects everything. Filters with the same terms in the same order are equal."""

    terms: tuple[Term, ...] = ()
    text: str = field(default="", compare=False)
    """The text of the filter, as the user typed it."""

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the terms, a subset of `KEYS`."""
        return frozenset(term.body.key for term in self.terms)

    @property
    def facts(self) -> tuple[Path, ...]:
        """The patterns of the facts that the filter compares; the caller must read these facts of each node."""
        return tuple(dict.fromkeys(term.body.path for term in self.terms if isinstance(term.body, ComparisonTerm)))

    def about(self, keys: Iterable[str]) -> "Where":
        """Return a filter with only the terms that have these keys."""
        wanted = frozenset(keys)
        kept = tuple(term for term in self.terms if term.body.key in wanted)
        return self if kept == self.terms else Where(kept, " ".join(map(str, kept)))

    def holds(self, subject: FilterRow) -> TriState:
        """Whether a row is selected; None if that depends on a fact that is unknown or has the wrong type."""
        answer: TriState = True
        for term in self.terms:
            answer = all_of((answer, term.holds(subject)))
            if answer is False:
                return False
        return answer


EVERYTHING = Where()


def left_out(where: Where, rows: str) -> str:
    """Format the note that rows were left out because compared facts are unknown; `rows` is a count like `3 nodes`."""
    return f"{rows} left out: the facts in `{where.about({COMPARED})}` are unknown there"


def reader(tree: Tree, plane_of: Callable[[Path], Plane]) -> Callable[[Path], Iterator[Reading]]:
    """Return a function that reads the facts of a node by pattern; `plane_of` returns the plane of such a pattern."""

    def read(pattern: Path) -> Iterator[Reading]:
        plane = plane_of(pattern)
        starred = [depth for depth, segment in enumerate(pattern.segments) if segment.key == EVERY]
        if not starred:
            yield tree.reading(pattern, plane)
            return
        before, rest = pattern.segments[: starred[-1]], pattern.segments[starred[-1] + 1 :]
        chosen = tree.select(Path((*before, Segment(pattern.segments[starred[-1]].word))), plane)
        yield from (tree.reading(Path(item.segments + rest), plane) for item in chosen.items)
        if chosen.unknown is not None:
            yield chosen.unknown

    return read


def parse(text: str, kind_of: KindOf, keys: frozenset[str] = KEYS) -> Where:
    """Parse a filter; `kind_of` returns the type and unit of a fact, or None if no probe provides the fact.

    `keys` are the keys that are valid for the filtered rows. Raises FilterError for an invalid filter, and no other
    exception.
    """
    return Where(tuple(terms(text, kind_of, keys)), text)
