"""`rackcheck diff NODE peers|before|RUN`: compare a node with its peers, or with itself in another run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from rackcheck.base.user_error import UserError
from rackcheck.model.change import STEADY, Change, ComparedFacts
from rackcheck.model.fact import Class
from rackcheck.run import store
from rackcheck.run.index import catching, file, pair, queries
from rackcheck.run.index.rows import Snap
from rackcheck.run.simulated_run import is_simulated
from rackcheck.session.output import note, print_lines, width
from rackcheck.session.stored import stored_job
from rackcheck.session.subject import readings
from rackcheck.views import against as board
from rackcheck.views import machine
from rackcheck.views.peers import PeerMajority, peers
from rackcheck.views.rule_coverage import Covering
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line, simulation

PEERS, BEFORE = "peers", "before"

ROLE = "compute"
"""The role of a node without a configured role."""

Keep = Callable[[Change], object]


@dataclass(frozen=True)
class Reference:
    """The reference of a comparison: its display name, its facts, and whether differing identities are listed.

    `peers` contains the majority values of a role; None if the node is compared with itself in another run.
    """

    name: str
    facts: ComparedFacts
    same: bool = False
    peers: PeerMajority | None = None


def held(
    node: str, word: str, source: pair.ComparedRun, nodes: Mapping[str, Snap], classes: Sequence[Class], keep: Keep, *,
    as_json: bool,
) -> int:  # fmt: skip
    """Compare a node of a run with `peers`, with `before`, or with another run, and print the differences.

    Returns the exit status: 0 if nothing differs, 1 if a fact differs, 3 if no fact differs but some are unknown.
    Raises UserError if the node has no facts, or if there is nothing to compare it with.
    """
    mine = pair.facts(nodes[node])
    if not mine:
        raise UserError(f"{node} has no facts in {source.name}")
    base = baseline(node, word, source, nodes, classes)
    by = base.peers
    covering = _covering(source.runs[-1])
    verdicts = pair.statuses(nodes[node])
    found = board.against(
        mine, base.facts, covering, verdicts, classes, same=base.same,
        keep=keep if by is None else lambda change: by.speaks_of(change) and keep(change),
    )  # fmt: skip
    made_up = is_simulated(source.runs)
    if as_json:
        doc = _document(node, source.name, base, found)
        click.echo(machine.text(doc | ({"simulated": True} if made_up else {})))
    else:
        print_lines(simulation(width(), simulated=made_up))
        print_lines(_lines(found, ruled=covering is not None))
        if not found.differing:
            note("no difference")
        note(f"{node} of {source.name} against {base.name}")
    return 1 if found.differs else 3 if found.uncertain or (by is not None and not by.enough) else 0


def baseline(
    node: str, word: str, source: pair.ComparedRun, nodes: Mapping[str, Snap], classes: Sequence[Class] = STEADY
) -> Reference:
    """Return the reference that `word` (`peers`, `before` or a run) means; raises UserError if there is none."""
    if word == PEERS:
        return _peers(node, source, nodes, classes)
    other = readings(_earlier(node, source)) if word == BEFORE else readings(word)
    itself = pair.merged(other, tuple(classes), (node,)).get(node)
    if itself is not None and itself.parts:
        return Reference(f"itself in {other.name}", pair.facts(itself), same=True)
    there = pair.merged(other, tuple(classes))
    return _peers(node, other, there, classes, pair.facts(nodes[node]), _roles(source).get(node, ROLE))


def _peers(
    node: str,
    source: pair.ComparedRun,
    nodes: Mapping[str, Snap],
    classes: Sequence[Class],
    mine: ComparedFacts | None = None,
    role: str = "",
) -> Reference:
    """Return the majority values of all nodes of a role except `node`.

    The number of nodes in the name of the reference includes `node`, if the run contains it.
    """
    roles = _roles(source)
    role = role or roles.get(node, ROLE)
    others = [name for name in nodes if name != node and roles.get(name, ROLE) == role]
    rows = [pair.facts(nodes[name]) for name in others if nodes[name].parts]
    expected = len(others) + (node in nodes)
    found = peers(pair.facts(nodes[node]) if mine is None else mine, rows, expected, classes)
    if not found.enough:
        some = several(len(rows), "other node") if node in nodes else several(len(rows), "node")
        note(
            f"rackcheck: {source.name} has facts of {some} of role {role}; a majority needs {found.needed} equal values"
        )
    name = (
        f"the values shared by at least {found.needed} of {several(expected, 'node')} of role {role} in {source.name}"
    )
    return Reference(name, found.facts, same=True, peers=found)


def _roles(source: pair.ComparedRun) -> dict[str, str]:
    """Read the nodes' roles from the `run.json` of runs; a node without a role in its run is left out."""
    found: dict[str, str] = {}
    for stored in source.runs:
        listed = stored.head.get("nodes", ())
        for doc in listed if isinstance(listed, list) else ():
            if isinstance(doc, dict) and isinstance(doc.get("name"), str) and isinstance(doc.get("role"), str):
                found[doc["name"]] = doc["role"]
    return found


def _earlier(node: str, source: pair.ComparedRun) -> str:
    """Return the id of the last run that read the node before `source` read it.

    Both are audits, or both are burn-ins. Raises UserError if no such run read the node.
    """
    burned_in = source.runs[-1].burned_in
    now = next((run for run in reversed(source.runs) if _read(run, node)), source.runs[-1]).folder.resolve().name
    try:
        with file.opened(file.place()) as db:
            for why in catching.catch_up(db):
                note(f"rackcheck: {why}")
            every = queries.history(db, node)
            read = (run.name for run, state in every if run.name < now and None not in state.parts)
            found = next((name for name in read if store.find(name).burned_in is burned_in), None)
    except file.Unusable as error:
        note(f"rackcheck: {error}; reading the runs themselves")
        runs = (store.find(name) for name in reversed(store.ids()) if name < now)
        found = next((run.folder.name for run in runs if run.burned_in is burned_in and _read(run, node)), None)
    if found is None:
        raise UserError(f"no {'burn-in' if burned_in else 'audit'} before {now} has read {node}")
    return found


def _read(stored: store.Stored, node: str) -> bool:
    return any(answer.node == node and answer.digest for answer in stored.answered())


def _covering(stored: store.Stored) -> Covering | None:
    """Return which rules of the run's own profile read which facts; None if the profile cannot be loaded."""
    try:
        job = stored_job(stored)
    except UserError as error:
        note(f"rackcheck: rules are not listed: {error}")
        return None
    assert job.profile is not None
    return Covering(job.profile.rules, (*job.plan.joins, *job.plan.gatherings))


def _lines(found: board.Against, *, ruled: bool) -> Iterator[Line]:
    for one in found.differing:
        by = board.rules(one) if ruled else ""
        style = "bold yellow" if by == board.NO_RULE else "dim"
        yield Line(((board.difference_text(one), ""), *(((f"  {by}", style),) if by else ())))
    if found.own:
        yield Line(((f"{found.own} identities differ, as expected of two machines; --all shows them", ""),))
    if found.silent:
        planes = ", ".join(plane.removeprefix("plane/") for plane in found.silent)
        yield Line(((f"{planes}: no answer on either side", ""),))


def _document(node: str, run: str, base: Reference, found: board.Against) -> dict[str, object]:
    doc: dict[str, object] = {
        "rackcheck": machine.FORMAT, "node": node, "run": run, "against": base.name, "same-node": base.peers is None,
        "differing": [board.document(one) for one in found.differing],
        "silent": list(found.silent), "unknown-in-both": found.unknown,
    }  # fmt: skip
    if base.peers is not None:
        by = base.peers
        doc["peers"] = {"asked": by.nodes, "needed": by.needed, "decided": len(by.decided), "split": by.split}
    return doc
