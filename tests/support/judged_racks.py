"""Racks of made-up nodes, judged."""

from collections.abc import Callable, Iterable, Mapping

from hypothesis import strategies as st
from nvl72 import PLANES, Leaves

from rackcheck.inventory import Node
from rackcheck.model.evidence import Verdict
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.group import Seat
from rackcheck.probe.registry import registry
from rackcheck.run.event import Event, Judged
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging

GONE = Unknown(Reason.UNREACHABLE, "connection refused")


ROW = "2026-01-01T00:00:00Z"


def judged(
    profile: Profile,
    nodes: Mapping[Node, Leaves | Tree],
    expected: Iterable[Node] = (),
    planes: frozenset[Plane] = PLANES,
) -> dict[str, dict[str, Verdict]]:
    """All verdicts of an audit of these nodes, by the node's or the group's name and the rule."""
    seats = tuple(Seat(node.name, node.role, node.rack) for node in (*nodes, *expected))
    job = Job(registry().plan(profile.facts()), tuple(nodes), profile, planes, expected=seats, time=ROW)
    judging = Judging(job)
    events: list[Event] = []
    for node, leaves in nodes.items():
        events += judging.take(node, leaves if isinstance(leaves, Tree) else Tree(leaves))
    events += judging.close()
    return {e.node: {v.rule: v for v in e.verdicts} for e in events if isinstance(e, Judged)}


WORDS: Mapping[str, st.SearchStrategy[Reading]] = {
    "fabric.cluster": st.sampled_from(["00000000-0000", "00000001-0000", Absent("no fabric")]),
    "fabric.clique": st.sampled_from([0, 1, Absent("no fabric")]),
    "vbios": st.sampled_from(["97.00.01", "97.00.02", Absent("none")]),
    "state": st.sampled_from(["OK", "Warning", Absent("none")]),
    "fitted": st.sampled_from(["Enabled", "Absent", Absent("not reported")]),
    "firmware.bmc": st.sampled_from(["1", "2", Absent("none")]),
    "firmware.bios": st.sampled_from(["1", "2", Absent("none")]),
    "node.serial": st.sampled_from(["one", "two", Absent("none")]),
}


@st.composite
def nodes(draw: Callable[[st.SearchStrategy[object]], object]) -> dict[str, Leaf]:
    """Facts of one node that facts of the rack or the fleet are computed from, some of them unknown."""
    found: dict[str, Reading] = {}
    for collection, leaves in (("gpu", ("fabric.cluster", "fabric.clique", "vbios")), ("leak", ("state", "fitted"))):
        count = draw(st.integers(0, 2))
        assert isinstance(count, int)
        found[collection] = tuple(map(str, range(count)))
        for number in range(count):
            found |= {f"{collection}/{number}.{leaf}": draw(WORDS[leaf]) for leaf in leaves}  # type: ignore[misc]
    found |= {path: draw(WORDS[path]) for path in ("firmware.bmc", "firmware.bios", "node.serial")}  # type: ignore[misc]
    hidden = draw(st.sets(st.sampled_from(sorted(found)), max_size=2))
    assert isinstance(hidden, set)
    return {path: _leaf(path, GONE if path in hidden else reading) for path, reading in found.items()}


def _leaf(path: str, reading: Reading) -> Leaf:
    entry = registry().catalogue.find(parse(path))
    assert entry is not None
    return Leaf(reading, entry.kind, entry.plane, "test")
