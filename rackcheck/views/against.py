"""Compares a node's facts with another reading: facts that differ, rules that read these facts, and verdicts. Pure.

The other reading may be an earlier reading of the same node, a reading of another node, or the majority values of the
node's peers. In the text of a difference, the value in the other reading is before the arrow, and the node's value
after it. A fact that is unknown in one of the readings is shown as unknown, never as different.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.change import STEADY, Change, ChangeKind, ComparedFacts, compare, gathered, moved_by, unknown_both
from rackcheck.model.fact import VOLATILE, Class, Reading, clean
from rackcheck.model.tree import Tree
from rackcheck.run.event import facts_json, reading_json
from rackcheck.run.index import words
from rackcheck.views.items import folded
from rackcheck.views.rule_coverage import Covering

NO_RULE = "no rule"
"""Shown for a differing fact that no rule reads: a hint to the author of the profile that a rule may be missing."""

WORDS = 4
"""Minimum number of words in a text for which only the removed and added words are shown instead of both texts."""

NO_VERDICTS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Differing:
    """A fact that differs, or the same fact of several items if it differs in the same way.

    `paths` contains the paths of the facts; `path` is their short form, such as `gpu/[0-7].vbios`. `change` is the
    difference at the first path in `paths`. `covered` contains the rules that read the fact, and `verdicts` the verdict
    of each of these rules on this node, if the rule was judged.
    """

    path: str
    paths: tuple[str, ...]
    change: Change
    covered: tuple[str, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> ChangeKind:
        """The kind of change from the other reading to this node."""
        return self.change.kind

    @property
    def cls(self) -> Class:
        """The class of the fact."""
        return self.change.cls

    @property
    def before(self) -> str:
        """The value in the other reading, formatted as text."""
        return words.spelt(self.change.before, self.change.unit)

    @property
    def after(self) -> str:
        """The value on this node, formatted as text."""
        return words.spelt(self.change.after, self.change.unit)

    @property
    def percent(self) -> float | None:
        """The change in percent of the other reading's value.

        The result is None unless the fact is a measurement or a counter, and both values are numbers.
        """
        return moved_by(self.change) if self.cls in VOLATILE else None

    @property
    def is_fact(self) -> bool:
        """Whether the difference is about a fact; a plane without a reply has the path `plane/NAME` instead."""
        return not self.path.startswith("plane/")


@dataclass(frozen=True, slots=True)
class Against:
    """All differences between a node and another reading.

    `own` is the number of identity facts (such as serial numbers) that differ and are not listed in `differing`.
    `unknown` is the number of facts that are unknown in both readings. `silent` contains the planes that returned
    nothing in both readings, such as `plane/os`.
    """

    differing: tuple[Differing, ...]
    own: int = 0
    unknown: int = 0
    silent: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether any fact is known in both readings and differs."""
        return any(not one.kind.uncertain for one in self.differing)

    @property
    def uncertain(self) -> bool:
        """Whether there is any difference, or any plane that returned nothing in both readings."""
        return bool(self.differing or self.silent)


def against(
    mine: ComparedFacts,
    other: ComparedFacts,
    covering: Covering | None = None,
    verdicts: Mapping[str, str] = NO_VERDICTS,
    classes: Sequence[Class] = STEADY,
    *,
    same: bool = False,
    keep: Callable[[Change], object] | None = None,
) -> Against:
    """Compare a node's facts with another reading; differences are sorted by class and path, with unknown facts last.

    `mine` and `other` must contain all facts of their reading. If `same` is false, identity facts that differ are only
    counted. Set `same` if both readings are of the same machine, or if identity facts are to be listed. Only
    differences for which `keep` returns true are included.
    """
    rows = gathered(filter(keep, compare(other, mine, classes)))
    own = [c for c in rows if c.cls is Class.IDENTITY and not same and not c.kind.uncertain]
    left = set(map(id, own))
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in rows:
        if id(change) not in left:
            groups.setdefault(_alike(change, covering), []).append(change)
    found = [_differing(some, covering, verdicts) for some in groups.values()]
    unknown, silent = unknown_both(other, mine, classes)
    return Against(tuple(sorted(found, key=lambda one: one.kind.uncertain)), len(own), unknown, silent)


def _alike(change: Change, covering: Covering | None) -> tuple[object, ...]:
    """Return the values by which changes are grouped, such as the fact's pattern and its values in both readings."""
    pattern = str(paths.parse(change.path).pattern)
    covered = covering.of(change.path) if covering is not None else ()
    return pattern, change.cls, change.kind, repr(change.before), repr(change.after), change.unit, covered


def _differing(changes: Sequence[Change], covering: Covering | None, verdicts: Mapping[str, str]) -> Differing:
    names = tuple(change.path for change in changes)
    covered = covering.of(names[0]) if covering is not None else ()
    known = {rule: verdicts[rule] for rule in covered if rule in verdicts}
    name = ", ".join(folded(names)) if len(names) > 1 else names[0]
    also = tuple(path for change in changes for path in change.also)
    return Differing(name, names, replace(changes[0], also=also), covered, known)


def word_difference(before: Reading, after: Reading) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the removed and the added words of a text, or members of a list; None for short texts and other values."""
    old, new = _words(before), _words(after)
    if old is None or new is None:
        return None
    lost, got = Counter(old) - Counter(new), Counter(new) - Counter(old)
    return _in_order(old, lost), _in_order(new, got)


def _words(value: Reading) -> tuple[str, ...] | None:
    if isinstance(value, tuple):
        return value
    split = tuple(value.split()) if isinstance(value, str) else ()
    return split if len(split) >= WORDS else None


def _in_order(all_: Sequence[str], some: Counter[str]) -> tuple[str, ...]:
    left = Counter(some)
    found: list[str] = []
    for word in all_:
        if left[word] > 0:
            left[word] -= 1
            found.append(word)
    return tuple(found)


def difference_text(one: Differing) -> str:
    """Format one difference without its rules: `gpu/[0-7].vbios 96.00.89 -> 96.00.74`, `kernel.cmdline -a=1 +a=2`."""
    change = replace(one.change, path=one.path)
    split = word_difference(change.before, change.after) if change.kind is ChangeKind.CHANGED else None
    if split is not None:
        rows = [*(f"-{word}" for word in split[0]), *(f"+{word}" for word in split[1])]
        return f"{one.path} {clean(' '.join(rows), 4 * words.LETTERS)}" if rows else f"{one.path}: in another order"
    percent = f" ({one.percent:+.1f} %)" if one.percent is not None and change.cls is not Class.MEASUREMENT else ""
    return words.change_text(change) + percent


def rules(one: Differing) -> str:
    """Format the rules that read the fact, with their verdicts on this node: `gpu.vbios fail`.

    If no rule reads the fact, return NO_RULE. For a plane without a reply, return an empty text.
    """
    if not one.covered:
        return NO_RULE if one.is_fact else ""
    return ", ".join(f"{rule} {one.verdicts[rule]}" if rule in one.verdicts else rule for rule in one.covered)


def document(one: Differing) -> dict[str, Any]:
    """Return one difference as a JSON document."""
    split = word_difference(one.change.before, one.change.after) if one.kind is ChangeKind.CHANGED else None
    doc = words.one_doc(replace(one.change, path=one.path)) | {"facts": list(one.paths), "rules": list(one.covered)}
    doc |= {"verdicts": dict(one.verdicts)} if one.verdicts else {}
    doc |= {"percent": round(one.percent, 3)} if one.percent is not None and abs(one.percent) != float("inf") else {}
    return doc | ({"lost": list(split[0]), "got": list(split[1])} if split is not None else {})


def facts_of(tree: Tree) -> ComparedFacts:
    """Return the facts of a tree as JSON documents, by class and path; sources and times are left out.

    Each plane has an additional entry, such as `plane/os`: `answered`, or the reason why the plane returned nothing.
    """
    found: dict[Class, dict[str, Any]] = {cls: {} for cls in Class}
    for path, doc in facts_json(tree).items():
        found[Class(doc["class"])][path] = {key: doc[key] for key in doc if key not in {"class", "source", "time"}}
    for plane in {leaf.plane for leaf in tree.leaves.values()}:
        found[Class.CONFIG][f"plane/{plane.value}"] = {"value": "answered", "plane": plane.value}
    for plane, why in tree.silent.items():
        found[Class.CONFIG][f"plane/{plane.value}"] = {**reading_json(why), "plane": plane.value}
    return found
