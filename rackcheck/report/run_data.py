"""The data of one run for a document: verdicts, identifying facts, fingerprints of the other facts, raw answers.

The data comes only from the run's events. Of each node's facts, only identities, versions, item names, facts that
list parts, and digests of all stable facts are kept, so that a thousand nodes fit into memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rackcheck.model.capture import BurnCapture
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Class, Plane
from rackcheck.model.part_kinds import is_part_fact
from rackcheck.model.profile import Rule
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.report import burn_read
from rackcheck.report.burn_read import Burnt
from rackcheck.report.counters import CounterReader, Counters
from rackcheck.report.fingerprints import Fingerprints, Key, Print
from rackcheck.report.report_model import RawReply
from rackcheck.run.event import Answered, Event, FactsRead, Judged, RunDone, RunStarted
from rackcheck.views.named_part import NamedPart
from rackcheck.views.part_names import Named, PartNames

KEPT = frozenset({Class.IDENTITY, Class.VERSION})


@dataclass(frozen=True)
class CollectedRun:
    """The data of one run for a document.

    `trees` contains each node's identity facts, versions and item names. `prints` contains fingerprints by node, then
    by plane and class, or is None, if the document has none. `burns` contains burn-ins by node. `named` has the parts
    that findings are about. `counters` contains each node's counters, if the run is an audit and they were asked for.
    """

    started: RunStarted
    done: RunDone
    judged: Mapping[str, Judged]
    trees: Mapping[str, Tree] = field(repr=False)
    prints: Mapping[str, Mapping[Key, Print]] | None = field(repr=False)
    answers: tuple[RawReply, ...] = field(repr=False)
    kind: str = "audit"
    operator: str = ""
    note: str = ""
    burns: Mapping[str, Burnt] = field(default_factory=dict, repr=False)
    named: Named = field(default_factory=dict, repr=False)
    counters: Mapping[str, Counters] = field(default_factory=dict, repr=False)


def gather(
    events: Iterable[Event],
    rules: Iterable[Rule] = (),
    *,
    kind: str = "audit",
    operator: str = "",
    note: str = "",
    fingerprints: bool = True,
    counting: Sequence[Rule] = (),
) -> CollectedRun:
    """Build the data of a run from all its events; fingerprints take time, and only a report has them.

    `rules` are those whose findings get the names of the parts that they are about; `counting` are the rules whose
    counters are kept.
    """
    started: RunStarted | None = None
    done: RunDone | None = None
    judged: dict[str, Judged] = {}
    trees: dict[str, Tree] = {}
    prints: dict[str, Mapping[Key, Print]] | None = {} if fingerprints else None
    identity, printer = _Names(), Fingerprints()
    answers: list[RawReply] = []
    burns: dict[str, Burnt] = {}
    run = ""
    names = PartNames(rules)
    counters: dict[str, Counters] = {}
    reader = CounterReader(counting)
    for event in names.watch(events):
        match event:
            case RunStarted():
                started, run = event, event.run
            case Answered(node, plane, time, trouble, capture, digest):
                answers.append(RawReply(run, node, plane.value, time, digest, str(trouble) if trouble else ""))
                if isinstance(capture, BurnCapture) and started is not None:
                    # All facts of the records, not only facts that rules read: figures are shown with their meaning.
                    leaves = collect(registry().probes, capture)
                    burns[node] = burn_read.read(node, capture.burn, leaves, len(started.nodes))
            case FactsRead(node, tree):
                trees[node] = identity.of(tree)
                if prints is not None:
                    prints[node] = printer.of(tree)
                if counting and started is not None and Plane.BURNIN.value not in started.planes:
                    counters[node] = reader.read(tree)
            case Judged():
                judged[event.node] = event
                if event.node in burns:
                    burns[event.node] = burn_read.with_verdicts(burns[event.node], event)
            case RunDone():
                done = event
    assert started is not None and done is not None  # noqa: PT018
    return CollectedRun(
        started, done, judged, trees, prints, tuple(answers), kind, operator, note, burns, names.found(),
        counters,
    )  # fmt: skip


PATHS = 200_000
"""Maximum number of paths that are remembered; a node has about 23,000, and nodes have mostly the same."""


class _Names:
    """Selects identity facts, versions and item names; the nodes of a run have mostly the same paths."""

    def __init__(self) -> None:
        self._chosen: dict[str, bool] = {}

    def of(self, tree: Tree) -> Tree:
        """Return these facts of a node."""
        if len(self._chosen) >= PATHS:
            self._chosen.clear()
        chosen, kept = self._chosen, dict[str, Leaf]()
        for path, leaf in tree.leaves.items():
            mine = chosen.get(path)
            if mine is None:
                kind = leaf.kind
                mine = kind.cls in KEPT or kind.type is Type.COLLECTION or is_part_fact(path)
                chosen[path] = mine
            if mine:
                kept[path] = leaf
        return Tree(kept, tree.silent, times=tree.times)


def machine_serial(tree: Tree) -> str:
    """Return the machine's serial: the fact `node.serial`, or else the first known `bmc.system/*.serial`."""
    line = fact_text(tree, "node.serial")
    if line:
        return line
    systems = [path for path in tree.leaves if path.startswith("bmc.system/") and path.endswith(".serial")]
    return next((text for path in sorted(systems, key=natural) if (text := fact_text(tree, path))), "")


def fact_text(tree: Tree, path: str) -> str:
    """Return a fact of a node that is a text; empty if it is unknown or missing."""
    leaf = tree.leaves.get(path)
    return leaf.reading if leaf is not None and isinstance(leaf.reading, str) else ""


def merged(readings: Iterable[CollectedRun]) -> Named:
    """Return the parts of the newest findings, of readings that are sorted from the oldest to the newest."""
    found: dict[str, dict[str, tuple[NamedPart, ...]]] = {}
    for run in readings:
        for node, judged in run.judged.items():
            mine = found.setdefault(node, {})
            for verdict in judged.verdicts:
                mine.pop(verdict.rule, None)
            mine |= run.named.get(node, {})
    return {node: rules for node, rules in found.items() if rules}
