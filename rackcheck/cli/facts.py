"""`rackcheck facts`: the facts of one node."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.cli import filters, options
from rackcheck.cli.tables import table
from rackcheck.filter.where import COMPARED, TEXT, FilterRow, Where, left_out
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.capture import Capture
from rackcheck.model.catalogue import collection
from rackcheck.model.fact import Absent, Plane, Reading, Unknown
from rackcheck.model.path import EVERY
from rackcheck.model.path import Path as FactPath
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.named import named_plan
from rackcheck.probe.plan import Plan
from rackcheck.run import store
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, FactsRead, facts_json
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.run.kept_facts import kept_facts
from rackcheck.session import captures, cli_choices, last_run
from rackcheck.session.output import note, print_lines, progress, width
from rackcheck.session.raw import documents, lines, replies_of
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import secrets_of
from rackcheck.session.stored import stored_nodes
from rackcheck.views import machine
from rackcheck.views.evidence import NodeReplies
from rackcheck.views.simulation import NODE_MARK, bmc_is_simulated, is_simulated, of_targets
from rackcheck.views.summary import several
from rackcheck.views.terminal import simulation

KEYS = frozenset({"fact", "class", "plane", COMPARED, TEXT})
"""The filter keys that `rackcheck facts --where` accepts."""


@dataclass(frozen=True, slots=True)
class FactsOptions:
    """Arguments and options of `rackcheck facts`; `seconds` limits one plane of one node."""

    node: str
    words: tuple[str, ...]
    file: Path | None
    rack: str | None
    run: str | None
    unknown: bool
    source: bool
    raw: bool
    where: Where
    seconds: float | None
    as_json: bool


@click.command(epilog="Exit: 0 the node answered, 2 usage error, 3 a plane did not answer.")
@click.argument("node", required=False, default=inventory.LOCAL)
@click.argument("words", nargs=-1, metavar="[FACT]...", shell_complete=options.complete_facts)
@options.inventory_option
@options.rack_option
@options.from_option
@click.option("--source", is_flag=True, help="Also show the file, command or URI that each fact was read from.")
@click.option("--raw", is_flag=True, help="Also show the lines of the raw answer that each fact was read from.")
@click.option("--unknown", is_flag=True, help="Only unknown facts, with the reasons.")
@filters.where_option("Only these facts: 'class:version', '~nvme', 'gpu/*.temperature>80C'.", KEYS)
@options.timeout_option
@options.json_option
@options.collected(FactsOptions)
def facts(given: FactsOptions) -> int:
    """Read and show the facts of one node.

    FACT is the start of a path; only facts whose path begins with one of the FACTs are shown.

    \b
    rackcheck facts                          this machine
    rackcheck facts dgx03 -i pod7.yaml gpu   one node's GPUs
    rackcheck facts dgx03 --from last        as a stored run read them
    rackcheck facts dgx03 bios --from last --raw   and their raw lines
    rackcheck facts --where 'plane:bmc ~fan' what a filter selects
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    node, words = given.node, given.words
    if given.run is not None:
        came = _stored(node, last_run.named(given.run, _need(words)))
    else:
        came = _collect_now(node, given.file, given.rack, given.seconds, words)
    troubles = came.troubles
    tree = _with_silent(came.tree, words, troubles)
    chosen = [p for p in tree if not words or any(p.startswith(w) for w in words)]
    if words and not chosen:
        raise UserError(f"{node} has no fact {words[0]}{_hint(tree, words[0])}")
    if given.unknown:
        chosen = [p for p in chosen if isinstance(tree.leaves[p].reading, Unknown)]
    filters.note_unmatched(given.where, {"fact": tuple(tree)})
    answers = {path: given.where.holds(_subject(path, tree.leaves[path])) for path in chosen}
    chosen = [path for path in chosen if answers[path]]
    whole = replies_of(tree, came.captures) if given.raw else None
    made_up = is_simulated(tree) or of_targets(given.rack or "") or any(map(bmc_is_simulated, came.captures.values()))
    show_tree(node, tree, chosen, as_json=given.as_json, source=given.source, raw=whole, simulated=made_up)
    unsure = sum(answer is None for answer in answers.values())
    if unsure:
        note(f"{node}: {left_out(given.where, several(unsure, 'fact'))}")
    for plane, trouble in troubles.items():
        note(f"{node}: {plane.value} plane: {trouble}")
    return 3 if troubles or known().broken else 0


@dataclass(frozen=True)
class _Came:
    """What was read from a node: its facts, its raw answers by plane, and for each failed plane the reason."""

    tree: Tree
    captures: Mapping[Plane, Capture]
    troubles: dict[Plane, Unknown] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Tree, answers: Iterable[Answered]) -> "_Came":
        came = tuple(answers)
        captures = {a.plane: a.capture for a in came if a.capture is not None}
        return cls(tree, captures, {a.plane: a.trouble for a in came if a.trouble is not None})


def _subject(path: str, leaf: Leaf) -> FilterRow:
    """Return a fact in the form to which a filter is applied.

    A comparison in the filter applies only to the facts that the comparison names.
    """
    own = paths.parse(path)

    def read(pattern: FactPath) -> tuple[Reading, ...]:
        missing = isinstance(leaf.reading, Unknown) and any(_fits(bare, own) for bare in pattern.collections)
        return (leaf.reading,) if missing or _fits(pattern, own) else ()

    has = {"fact": (path,), "class": (leaf.kind.cls.value,), "plane": (leaf.plane.value,)}
    return FilterRow(has, f"{path} {_words(leaf)[0]}", read)


def _fits(pattern: FactPath, path: FactPath) -> bool:
    """Whether a path matches a pattern, in which the item key `*` matches any key."""
    pairs = zip(pattern.segments, path.segments, strict=False)
    same = all(p.word == s.word and (p.key == s.key or (p.key == EVERY and s.key)) for p, s in pairs)
    return same and len(pattern.segments) == len(path.segments)


def _with_silent(tree: Tree, words: tuple[str, ...], troubles: dict[Plane, Unknown]) -> Tree:
    """Add the facts of planes that did not answer, as unknown.

    If the user named facts (`words`), only the named facts are added; otherwise, all facts of the planes in `troubles`.
    """
    values = dict(tree.leaves)
    for entry in known().catalogue.entries.values():
        bare = entry.pattern.partition("/*")[0]
        why = tree.silent.get(entry.plane)
        named = any(bare.startswith(w) for w in words)
        if (
            why is None
            or bare.endswith("**")
            or bare in values
            or not (named or (not words and entry.plane in troubles))
        ):
            continue
        kind = collection(entry.kind.help) if bare != entry.pattern else entry.kind
        values[bare] = Leaf(why, kind, entry.plane, "")
    return Tree(values, tree.silent, times=tree.times)


def _collect_now(
    name: str, file: Path | None, rack: str | None, seconds: float | None, words: tuple[str, ...]
) -> _Came:
    nodes, _ = cli_choices.choose([name], file, rack)
    asked = _marked(named_plan(words, known().probes, known().catalogue, known().joins))
    job = Job(asked, nodes, seconds=seconds, secrets=secrets_of(nodes, asked.planes))
    tree, came = Tree({}), []
    with progress(len(nodes), quiet=False) as watch:
        for event in audit(job, ask_plane, threading.Event()):
            watch(event)
            if isinstance(event, FactsRead):
                tree = event.tree
            if isinstance(event, Answered):
                came.append(event)
    return _Came.of(tree, came)


def _marked(plan: Plan) -> Plan:
    """Add the mark of a simulated node to a plan that reads the node; every reading of a BMC has its mark."""
    entry = known().catalogue.entries.get(NODE_MARK)
    names = {entry.probe} if entry is not None and entry.plane in plan.planes else set()
    more = (probe for probe in known().probes if probe.name in names and probe not in plan.probes)
    return replace(plan, probes=(*plan.probes, *more))


def _need(words: tuple[str, ...]) -> last_run.Need:
    """Return the runs that contain the facts named by the user: burn-ins if all of them are measured in a burn-in."""
    entries = known().catalogue.entries
    planes = [[e.inputs or {e.plane} for pattern, e in entries.items() if pattern.startswith(word)] for word in words]
    measured = all(found and all(Plane.BURNIN in each for each in found) for found in planes)
    return last_run.BURN_IN if words and measured else last_run.AUDIT


def _stored(name: str, run: str) -> _Came:
    kept = captures.find(run)
    if kept is not None:
        node, answers = kept.node(name), tuple(kept.answers(name))
        tree = tree_of(captures.job(kept, captures.everything()), node, answers)
        return _Came.of(_collected(tree), answers)
    stored = store.find(run)
    nodes = {node.name: node for node in stored_nodes(stored)}
    if name not in nodes:
        raise UserError(f"no node {name} in run {run}; its nodes are {', '.join(list(nodes)[:8])}")
    came = [_whole(stored, answer) for answer in stored.answered() if answer.node == name and answer.reading == 1]
    job = Job(Plan(known().probes, joins=known().joins), (nodes[name],), kept=kept_facts())
    tree = tree_of(job, nodes[name], came)
    return _Came.of(_collected(tree), came)


def _whole(stored: store.Stored, answer: Answered) -> Answered:
    """Return an answer with its raw contents, which are loaded from the stored run."""
    return replace(answer, capture=stored.capture(answer.digest, answer.plane)) if answer.digest else answer


def _collected(tree: Tree) -> Tree:
    """Return the tree without the facts that the stored run did not collect."""
    return Tree({p: leaf for p, leaf in tree.leaves.items() if not _not_collected(leaf)}, tree.silent, times=tree.times)


def _not_collected(leaf: Leaf) -> bool:
    """Whether a stored run did not collect a fact because the run's profile does not use it."""
    return isinstance(leaf.reading, Unknown) and leaf.reading.detail.startswith("this run did not ")


def show_tree(
    name: str,
    tree: Tree,
    chosen: list[str],
    *,
    as_json: bool,
    source: bool = False,
    raw: NodeReplies | None = None,
    simulated: bool = False,
) -> None:
    """Print the facts of a tree at the paths `chosen`, as a table or as JSON; with `raw`, each with its raw answer.

    The output is marked if the node is `simulated`.
    """
    if as_json:
        every: dict[str, Any] = facts_json(tree)
        beside = {path: documents(path, raw) for path in chosen} if raw is not None else {}
        made_up = {"simulated": True} if simulated else {}
        doc = {"node": name, **made_up, "facts": {p: every[p] | beside.get(p, {}) for p in chosen}}
        click.echo(machine.text(doc))
        return
    print_lines(simulation(width(), simulated=simulated))
    if raw is not None:
        print_lines(line for path in chosen for line in lines(path, raw))
        return
    rows = [(path, *_words(tree.leaves[path])) for path in chosen]
    columns = 3 if source else 2
    head, styles = ("fact", "value", "read from")[:columns], ("", "bold", "dim")[:columns]
    print_lines(table(head, [row[:columns] for row in rows], width=width(), styles=styles))
    leaves = [tree.leaves[path].reading for path in chosen]
    unknown = sum(isinstance(r, Unknown) for r in leaves)
    absent = sum(isinstance(r, Absent) for r in leaves)
    note(f"{name}: {len(leaves) - unknown - absent} known, {absent} absent, {unknown} unknown")


def _words(leaf: Leaf) -> tuple[str, str]:
    """Return the value and the source of a fact as texts on one line."""
    match leaf.reading:
        case Unknown(reason, detail):
            return f"unknown: {reason.value}" + (f" ({detail})" if detail else ""), leaf.source
        case Absent():
            return "absent", leaf.source
        case value:
            return operator.spell(value, leaf.kind), leaf.source


def _hint(tree: Tree, word: str) -> str:
    """Format a hint for an unknown fact: the item with this index (`gpu/module-7` for `gpu/0`), else similar facts."""
    collection, _, number = word.partition(".")[0].partition("/")
    named = (f"{collection}/{paths.spell_key(key)}" for key in tree.keys(collection))
    item = next((name for name in named if number and tree.numbered(name) == f"{collection}/{number}"), None)
    if item is not None:
        return f"; the driver's {collection} {number} is {item}"
    near = [name for name in known().catalogue.near(word) if name != word]
    return f"; did you mean {' or '.join(near)}?" if near else ""
