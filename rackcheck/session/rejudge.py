"""Evaluates a stored run or acceptance again, and counts its facts by node and plane in the same pass."""

from collections.abc import Collection, Mapping

from rackcheck.filter.where import NODE_KEYS, TriState, Where, reader
from rackcheck.filter.where import FilterRow as Row
from rackcheck.model.fact import Plane
from rackcheck.model.path import Path
from rackcheck.model.tree import Tree
from rackcheck.probe.group import FLEET
from rackcheck.report.run_data import gather
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.run.kept_facts import kept_facts
from rackcheck.session.registry_loading import known
from rackcheck.session.stored import stored_racks
from rackcheck.session.subject import RunSubject, summary
from rackcheck.views.census import Census
from rackcheck.views.finding_groups import counted
from rackcheck.views.locations import RACK
from rackcheck.views.summary import Summary, summarize

NodePlaces = Mapping[str, Mapping[str, str]]
"""The position of each node: its rack, row, role, slot, lowest unit and PDU, as far as they are known."""


def read(subject: RunSubject) -> tuple[Summary, Census]:
    """Evaluate a run or an acceptance again, and count the facts of each node's newest reading by plane."""
    census, where = Census(), places(subject)
    if subject.kind == "run":
        ((stored, job, _),) = subject.jobs
        events = counted(replay(job, stored.answers(), stored.done()), census, where)
        return summarize(events, subject.profile, subject.waivers), census
    readings = [
        gather(
            counted(replay(job, stored.answers(), stored.done()), census, where), subject.profile.rules,
            kind=kind, fingerprints=False,
        )
        for stored, job, kind in subject.jobs
    ]  # fmt: skip
    return summary(subject, readings), census


def places(subject: RunSubject) -> NodePlaces:
    """Return the rack position of each node."""
    racks = {name: rack for stored, _, _ in subject.jobs for name, rack in stored_racks(stored).items()}
    rows = {name: rack.row for name, rack in racks.items()}
    return {
        name: {
            "rack": p.rack, "row": rows.get(p.rack, ""), "role": p.role, "slot": p.slot, "u": str(p.u) if p.u else "",
            "pdu": p.pdu,
        }
        for name, p in subject.places.items()
    }  # fmt: skip


def names(subject: RunSubject) -> Mapping[str, Collection[str]]:
    """Return all names that a filter can select in a run or an acceptance, by key of the filter."""
    standing = places(subject)
    nodes = dict.fromkeys([*standing, *(node.name for _, job, _ in subject.jobs for node in job.nodes)])
    racks = {place["rack"] for place in standing.values() if place["rack"]}
    return {
        "node": (*nodes, *(f"{RACK}{rack}" for rack in sorted(racks)), FLEET),
        "rule": tuple(rule.id for rule in subject.profile.rules), "profile": (subject.profile.name,),
        **{key: tuple(sorted({place[key] for place in standing.values()})) for key in ("rack", "row", "role")},
    }  # fmt: skip


def chosen(subject: RunSubject, where: Where, names: tuple[str, ...]) -> Mapping[str, TriState]:
    """Return, by name, whether a node, a rack or the fleet matches the filter terms about nodes; None if unknown."""
    asked = where.about(NODE_KEYS)
    if not asked:
        return dict.fromkeys(names, True)
    trees, standing = _trees(subject, asked), places(subject)
    return {name: asked.holds(_row(name, standing.get(name, {}), trees.get(name))) for name in names}


def _row(name: str, place: Mapping[str, str], tree: Tree | None) -> Row:
    words = {"node": name, **place} | ({"rack": name.removeprefix(RACK)} if name.startswith(RACK) else {})
    return Row(
        {key: (word,) for key, word in words.items() if word},
        name,
        reader(tree, _plane_of) if tree is not None else None,
    )


def _trees(subject: RunSubject, where: Where) -> Mapping[str, Tree]:
    """Read the facts that a filter compares from the newest raw replies, even if no rule uses these facts."""
    if not where.facts:
        return {}
    plan = known().plan(where.facts)
    found: dict[str, Tree] = {}
    for stored, job, _ in subject.jobs:
        nodes = {node.name: node for node in job.nodes}
        came: dict[str, list[Answered]] = {}
        for answer in stored.answers():
            if answer.node in nodes and answer.reading == 1:
                came.setdefault(answer.node, []).append(answer)
        kept = kept_facts()
        found |= {name: tree_of(Job(plan, (nodes[name],), kept=kept), nodes[name], each) for name, each in came.items()}
    return found


def _plane_of(pattern: Path) -> Plane:
    entry = known().catalogue.find(pattern)
    return entry.plane if entry is not None else Plane.DERIVED
