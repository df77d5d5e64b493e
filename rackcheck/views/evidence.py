"""Collects the evidence of a verdict: each fact, the fact's source, and the value on the other plane. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.capture import Capture
from rackcheck.model.catalogue import Type
from rackcheck.model.evidence import Evidence, Verdict
from rackcheck.model.fact import Absent, Plane, Unknown
from rackcheck.model.path import EVERY, BadPath, Path, Segment
from rackcheck.model.profile import Clause, Rule
from rackcheck.model.question import Ask
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.views.replies import LINES, replies
from rackcheck.views.reply import RawText

FACTS = 16
"""Default maximum number of facts shown for one verdict."""

INPUTS = 8
"""Maximum number of inputs shown for a derived fact."""

BMC = Segment("bmc")
DIFFERS = "bmc.differs."
"""Prefix of the facts that compare the two planes."""


@dataclass(frozen=True, slots=True)
class RelatedFact:
    """A fact about the same property as another fact; `why` names the rule or the fact that relates both.

    `agrees` is None if the values cannot be compared: one of them is unknown, a derived fact or a list of items, or
    their types differ.
    """

    path: str
    leaf: Leaf
    agrees: bool | None
    why: str
    replies: tuple[RawText, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofFact:
    """One fact that is shown as evidence, with its raw replies; `evidence` is None if the fact itself was not judged.

    `leaf` is None if the evidence is not a fact (such as `count of gpu`), or if the fact is missing. `inputs` are the
    facts from which a derived fact is computed, and `views` the related facts of the other plane. `cut` is the number
    of inputs that are not shown, and `time` the time at which the leaf was read.
    """

    path: str
    evidence: Evidence | None
    leaf: Leaf | None
    time: str = ""
    replies: tuple[RawText, ...] = ()
    inputs: tuple["ProofFact", ...] = ()
    views: tuple[RelatedFact, ...] = ()
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict of a rule on a node, with all evidence; `cut` is the number of facts that are not shown."""

    rule: Rule
    verdict: Verdict
    pieces: tuple[ProofFact, ...]
    cut: int = 0


@dataclass(frozen=True)
class NodeReplies:
    """The facts of one node, and the raw replies that these facts were read from.

    `rules` contains rules that compare two planes with `same-as`. `request_of` returns the probe's request for a fact.
    """

    tree: Tree
    captures: Mapping[Plane, Capture]
    rules: Sequence[Rule] = ()
    request_of: Callable[[str], Ask | None] = lambda _: None
    lines: int = LINES

    def replies(self, path: str, leaf: Leaf) -> tuple[RawText, ...]:
        """Find the raw replies of a fact."""
        capture, request = self.captures.get(leaf.plane), self.request_of(path)
        return replies(path, leaf, capture, request, self.lines, self.tree.numbered(path))

    def named(self, pattern: Path) -> list[str]:
        """Return the paths of all facts that a pattern matches, in natural order."""
        if not pattern.starred:
            return [str(pattern)] if str(pattern) in self.tree.leaves else []
        wanted = str(pattern.pattern)
        return sorted((p for p in self.tree.leaves if _fits(pattern, p, wanted)), key=natural)


def _fits(pattern: Path, path: str, wanted: str) -> bool:
    parsed = paths.parse(path)
    if str(parsed.pattern) != wanted:
        return False
    pairs = zip(pattern.segments, parsed.segments, strict=True)
    return not parsed.starred and all(p.key in {EVERY, s.key} for p, s in pairs)


def proof(rule: Rule, verdict: Verdict, node_replies: NodeReplies, most: int = FACTS) -> Proof:
    """Collect the evidence of a verdict: first the judged facts, then the other facts that the rule reads."""
    judged = {evidence.item: evidence for evidence in verdict.evidence}
    beside = [p for fact in sorted(rule.facts(), key=lambda f: natural(str(f))) for p in node_replies.named(fact)]
    every = [*judged, *(path for path in dict.fromkeys(beside) if path not in judged)]
    pieces = tuple(piece(path, node_replies, judged.get(path)) for path in every[:most])
    return Proof(rule, verdict, pieces, len(every) - len(pieces))


def piece(path: str, node_replies: NodeReplies, evidence: Evidence | None = None) -> ProofFact:
    """Collect the replies, inputs and related facts of one fact; if the path is not a fact, return only `evidence`."""
    leaf = node_replies.tree.leaves.get(path)
    if leaf is None:
        return ProofFact(path, evidence, None)
    inputs = list(_inputs(path, leaf, node_replies))
    return ProofFact(
        path,
        evidence,
        leaf,
        node_replies.tree.time(leaf),
        node_replies.replies(path, leaf),
        tuple(bare(name, node_replies) for name in inputs[:INPUTS]),
        tuple(views(path, leaf, node_replies)),
        max(0, len(inputs) - INPUTS),
    )


def bare(path: str, node_replies: NodeReplies) -> ProofFact:
    """Collect the replies of one fact, without its inputs; raises KeyError if there is no such fact."""
    leaf = node_replies.tree.leaves[path]
    return ProofFact(path, None, leaf, node_replies.tree.time(leaf), node_replies.replies(path, leaf))


def _inputs(path: str, leaf: Leaf, node_replies: NodeReplies) -> Iterator[str]:
    """Yield the inputs of a derived fact.

    If the path of the fact contains an item, inputs of this item are first, and inputs of other items of the same
    collection are not included.
    """
    if leaf.plane is not Plane.DERIVED:
        return
    own = paths.parse(path)
    items = dict(own.items)
    filled = [_filled(need, items) for need in _needs(leaf)]
    # Facts of the item itself are first, then facts with the same last word: `bmc.differs.gpu.vbios` is about VBIOSes.
    filled.sort(key=lambda p: (-_named_items(p), p.segments[-1].word != own.segments[-1].word))
    for pattern in filled:
        yield from node_replies.named(pattern)


def _named_items(pattern: Path) -> int:
    """Return how many segments of a path have the name of an item."""
    return sum(segment.key not in {None, EVERY} for segment in pattern.segments)


def _needs(leaf: Leaf) -> Iterator[Path]:
    for name in leaf.source.removeprefix("from ").split(", "):
        try:
            yield paths.parse(name)
        except BadPath:
            continue


def _filled(pattern: Path, items: Mapping[str, str]) -> Path:
    """Replace each star in a pattern by the item name in `items`, from left to right, up to the first missing name."""
    found: tuple[Segment, ...] = ()
    for segment in pattern.segments:
        bare = str(Path((*found, Segment(segment.word))))
        key = items.get(bare, EVERY) if segment.key == EVERY else segment.key
        found = (*found, Segment(segment.word, key))
    return Path(found)


def views(path: str, leaf: Leaf, node_replies: NodeReplies) -> Iterator[RelatedFact]:
    """Yield the facts of the other plane about the same property."""
    seen = {path}
    parsed = paths.parse(path)
    for other, why in (
        *_same_as(parsed, node_replies.rules),
        *_mirrored(parsed, node_replies.tree),
        *_differing(parsed, node_replies.tree),
    ):
        text = str(other)
        found = node_replies.tree.leaves.get(text)
        if found is not None and text not in seen and found.plane is not leaf.plane:
            seen.add(text)
            derived = found.plane is Plane.DERIVED
            yield RelatedFact(
                text, found, None if derived else _agrees(leaf, found), why, node_replies.replies(text, found)
            )


def _agrees(one: Leaf, other: Leaf) -> bool | None:
    here, there = one.reading, other.reading
    if isinstance(here, Unknown) or isinstance(there, Unknown):
        return None
    if isinstance(here, Absent) or isinstance(there, Absent):
        return isinstance(here, Absent) and isinstance(there, Absent)
    if one.kind.type is Type.COLLECTION:
        return None  # each plane names these differently
    alike = (one.kind.type, one.kind.unit, one.kind.scheme) == (other.kind.type, other.kind.unit, other.kind.scheme)
    return operator.equal(here, there, one.kind) if alike else None


def _same_as(path: Path, rules: Iterable[Rule]) -> Iterator[tuple[Path, str]]:
    """Pair the facts of two planes that a rule compares for equality; each pair is returned in both directions."""
    items = dict(path.items)
    for rule in rules:
        for clause in rule.parts():
            if clause.other is None or clause.plane is clause.other_plane:
                continue
            here, there = _whole(rule, clause, clause.fact), clause.other
            there = _whole(rule, clause, there) if clause.other_at_item else there
            for one, other in ((here, there), (there, here)):
                if _filled(one, items) == path:
                    yield _filled(other, items), rule.id


def _whole(rule: Rule, clause: Clause, fact: Path) -> Path:
    """Return the full path of the fact in a clause; a star stands for the items that the rule selects."""
    return fact if rule.look is None or clause is rule.when else rule.look.collection.item(EVERY) + fact


def _mirrored(path: Path, tree: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the same fact on the other plane; BMC facts are below `bmc`, and a BMC may have another name for a GPU."""
    first, *rest = path.segments
    if first == BMC and rest:
        yield Path(tuple(rest)), "the same fact"
        for text, leaf in tree.leaves.items():
            if rest[0].key is not None and text.endswith(".bmc_id") and leaf.reading == rest[0].key:
                item = paths.parse(text).segments[:-1]
                if item[-1].word == rest[0].word:
                    yield Path((*item, *rest[1:])), text
        return
    yield Path((BMC, *path.segments)), "the same fact"
    known = tree.leaves.get(f"{first}.bmc_id") if first.key is not None else None
    if known is not None and isinstance(known.reading, str):
        yield Path((BMC, Segment(first.word, known.reading), *rest)), f"{first}.bmc_id"


def _differing(path: Path, tree: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the derived facts that compare both planes and use this fact as input."""
    pattern = str(path.pattern)
    for text, leaf in tree.leaves.items():
        if text.startswith(DIFFERS) and pattern in {str(need) for need in _needs(leaf)}:
            yield paths.parse(text), "both planes compared"
