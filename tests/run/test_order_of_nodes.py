"""The verdicts do not depend on the order in which nodes answer: an audit and its replay judge in different orders."""

from dataclasses import replace
from random import Random

import pytest
from reading_workers import fleet_run

from rackcheck.inventory import Node
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.tree import Tree
from rackcheck.run import store
from rackcheck.run.event import Answered, Judged, to_json
from rackcheck.run.job import Job
from rackcheck.run.judging import Judging, tree_of
from rackcheck.session.stored import stored_job

NODES = 16


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, list[tuple[Node, Tree]]]:
    """The nodes of a fleet, of which a quarter lack a plane."""
    stored = store.find(str(fleet_run(tmp_path_factory.mktemp("fleet") / "run", NODES)))
    job = replace(stored_job(stored), kept=None)
    came: dict[str, list[Answered]] = {}
    for answer in stored.answers():
        number = len(came)
        gone = number % 4 == 1 and answer.plane is (Plane.OS if number % 8 == 1 else Plane.BMC)
        why = Unknown(Reason.TIMEOUT, "no answer")
        held = replace(answer, capture=None, digest="", trouble=why) if gone else answer
        came.setdefault(answer.node, []).append(held)
    return job, [(node, tree_of(job, node, came[node.name])) for node in job.nodes]


def verdicts(job: Job, nodes: list[tuple[Node, Tree]]) -> dict[str, object]:
    judging = Judging(job)
    events = [event for node, tree in nodes for event in judging.take(node, tree)]
    events += judging.close()
    return {event.node: to_json(event) for event in events if isinstance(event, Judged)}


def test_the_verdicts_are_the_same_in_any_order(read: tuple[Job, list[tuple[Node, Tree]]]) -> None:
    job, nodes = read
    expected = verdicts(job, nodes)
    assert len(expected) > NODES, "nodes, and the fleet"
    for seed in range(2):
        order = Random(seed).sample(nodes, len(nodes))
        found = verdicts(job, order)
        for name, doc in found.items():
            assert doc == expected[name], f"{name}, seed {seed}"
        assert found.keys() == expected.keys()


def test_the_run_has_a_doubt_about_the_fleet(read: tuple[Job, list[tuple[Node, Tree]]]) -> None:
    """Else, the test above would compare little."""
    assert "no consensus" in str(verdicts(*read)["@fleet"])
