"""Names the parts of failing verdicts from what the index keeps of a run: reasons and facts, no evidence. Pure."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from rackcheck.evaluate.verdict import Status
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.change import ComparedFacts, Turn, reading
from rackcheck.model.fact import Plane, clean
from rackcheck.model.part_index import WORDS, PartIndex
from rackcheck.model.regex import regex
from rackcheck.model.tree import Leaf, Tree
from rackcheck.views.missing_parts import alone, lone
from rackcheck.views.named_part import NamedPart, distinct

BAD = frozenset({Status.FAIL.value, Status.WARN.value})
"""Verdicts of which the reason and the parts are shown."""

LETTERS = 200
"""Maximum number of characters of a reason in a line; `--json` has all that the index keeps."""

_KEY = r"/(?:\"[^\"]{1,256}\"|[^\s\",;.]{1,256})"
ITEM = regex(rf"\b[a-z][a-z0-9_.]{{0,255}}{_KEY}(?:\.[a-z0-9_]{{1,64}}(?:{_KEY})?){{0,16}}")
"""Matches the path of an item, or of one of its facts, in the reason of a verdict."""

COUNT = regex(r"\bcount of ([a-z][a-z0-9_.]{0,255}) is ")
"""Matches the collection that a rule without further conditions counted, in the reason of its verdict."""

_TEXT = Kind(Type.TEXT, "")


class IndexedParts:
    """The parts of one node, from its indexed facts of the classes identity, version and config."""

    def __init__(self, facts: ComparedFacts) -> None:
        self._facts = facts

    @cached_property
    def _index(self) -> PartIndex:
        leaves = {
            path: Leaf(reading(doc), _TEXT, Plane.OS, "")  # parts need neither the kind nor the plane of a fact
            for docs in self._facts.values()
            for path, doc in docs.items()
        }
        return PartIndex(Tree(leaves))

    def of(self, reason: str) -> tuple[NamedPart, ...]:
        """Return the parts that the reason of a verdict names, and those that a count in it lacks on one plane."""
        return distinct([*self._named(reason), *self._uncounted(reason)])

    def _named(self, reason: str) -> Iterator[NamedPart]:
        for found in ITEM.finditer(reason):
            part = self._index.part(found[0])
            if part is not None:
                yield NamedPart(part)

    def _uncounted(self, reason: str) -> Iterator[NamedPart]:
        for found in COUNT.finditer(reason):
            if found[1] in WORDS:
                path = paths.parse(found[1])
                here = {str(path.item(key)) for key in self._index.tree.keys(found[1])}
                yield from (lone(part, path) for part in alone(self._index, path, here))


def turn_reason(turn: Turn, reasons: Mapping[str, str], parts: IndexedParts) -> tuple[str, tuple[NamedPart, ...]]:
    """Return the reason and the parts of a verdict that is a failure or a warning now; else an empty text and none."""
    reason = reasons.get(turn.rule, "") if turn.after in BAD else ""
    return reason, parts.of(reason) if reason else ()


def reason_text(reason: str, parts: tuple[NamedPart, ...]) -> str:
    """Format the parts and the reason of a verdict: `GPU module-6 (slot SXM3): gpu/module-6.link.width is 8`."""
    return ": ".join(filter(None, ("; ".join(map(str, parts)), clean(reason, LETTERS))))
