"""Events: a run reads back exactly what it wrote, byte for byte, whatever a node printed."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.evaluate.verdict import Evidence, Outcome, Status, Verdict
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run.event import (
    Answered,
    FactsRead,
    Judged,
    NodeRequested,
    RunDone,
    RunStarted,
    facts_json,
    judged_from_json,
    reading_json,
    to_json,
    trouble_from_json,
)
from rackcheck.run.raw_reply import raw_bytes
from rackcheck.run.stored_facts import FactsWriter

# Whatever a node prints: any character, and halves of characters where its bytes are no UTF-8.
TEXTS = st.text(st.one_of(st.characters(), st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)), max_size=20)
UNKNOWNS = st.builds(Unknown, st.sampled_from(Reason), TEXTS)
EVIDENCE = st.builds(
    Evidence, st.sampled_from(Status), TEXTS, TEXTS, TEXTS, TEXTS, st.one_of(st.none(), UNKNOWNS)
)  # fmt: skip
VERDICTS = st.builds(Verdict, TEXTS, st.sampled_from(Status), TEXTS, st.lists(EVIDENCE, max_size=3).map(tuple))
JUDGED = st.builds(
    Judged, TEXTS, TEXTS, st.sampled_from(Outcome), st.lists(VERDICTS, max_size=3).map(tuple), st.integers(0), TEXTS
)


def written(event: object) -> dict[str, object]:
    """The content of a line of the store."""
    doc = to_json(event)  # type: ignore[arg-type]  # one of the union, by the tests below
    line = json.dumps(doc, ensure_ascii=True)
    assert len(line.splitlines()) == 1
    found = json.loads(line.encode("ascii"))
    assert isinstance(found, dict)
    return found


@given(JUDGED)
def test_a_judgement_is_read_back_unchanged(event: Judged) -> None:
    assert judged_from_json(written(event)) == event


@given(st.one_of(st.none(), UNKNOWNS))
def test_why_a_plane_did_not_answer_is_read_back(trouble: Unknown | None) -> None:
    doc = written(Answered("n1", Plane.BMC, "2026-01-01T00:00:00Z", trouble))
    assert trouble_from_json(doc) == trouble
    assert (doc["event"], doc["node"], doc["plane"]) == ("answered", "n1", "bmc")


OUTPUTS = st.one_of(UNKNOWNS, st.builds(Output, st.integers(0, 255), TEXTS, TEXTS))
NODES = st.builds(
    NodeCapture,
    st.dictionaries(TEXTS, OUTPUTS, max_size=3),
    st.dictionaries(TEXTS, st.one_of(st.none(), UNKNOWNS), max_size=3),
    st.dictionaries(TEXTS, TEXTS, max_size=3),
    st.dictionaries(TEXTS, UNKNOWNS, max_size=3),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
BMCS = st.builds(
    BmcCapture, st.dictionaries(TEXTS, st.one_of(UNKNOWNS, st.dictionaries(TEXTS, JSON, max_size=3)), max_size=3)
)


@given(NODES)
def test_what_a_node_answered_is_stored_and_read_back(capture: NodeCapture) -> None:
    assert NodeCapture.from_json(json.loads(raw_bytes(capture))) == capture


@given(BMCS)
def test_what_a_bmc_answered_is_stored_and_read_back(capture: BmcCapture) -> None:
    assert BmcCapture.from_json(json.loads(raw_bytes(capture))) == capture


@given(NODES, st.randoms(use_true_random=False))
def test_equal_answers_are_equal_bytes_in_whatever_order_they_came(capture: NodeCapture, chance: Random) -> None:
    def shuffled(items: dict[str, object]) -> dict[str, object]:
        order = list(items.items())
        chance.shuffle(order)
        return dict(order)

    parts = (capture.commands, capture.globs, capture.files, capture.refused)
    again = NodeCapture(*(shuffled(dict(part)) for part in parts))  # type: ignore[arg-type]
    assert raw_bytes(again) == raw_bytes(capture)


@pytest.mark.parametrize(
    ("reading", "doc"),
    [
        (True, {"value": True}), (8, {"value": 8}), (1.5, {"value": 1.5}), ("6.8.0", {"value": "6.8.0"}),
        (("a", "b"), {"value": ["a", "b"]}), ((), {"value": []}), (float("inf"), {"value": "unlimited"}),
        (Absent(), {"absent": True}), (Absent("no file"), {"absent": True, "detail": "no file"}),
        (Unknown(Reason.DENIED), {"unknown": "denied"}),
        (Unknown(Reason.TIMEOUT, "10 s"), {"unknown": "timeout", "detail": "10 s"}),
    ],
)  # fmt: skip
def test_a_reading_is_a_value_absent_or_unknown_with_its_reason(reading: Reading, doc: dict[str, object]) -> None:
    assert reading_json(reading) == doc
    assert json.loads(json.dumps(doc)) == doc


def test_a_fact_on_the_wire_has_plane_class_source_time_and_unit() -> None:
    kind = Kind(Type.QUANTITY, "Memory", unit="GiB", cls=Class.IDENTITY)
    leaf = Leaf(2048.0, kind, Plane.OS, "/proc/meminfo")
    tree = Tree({"memory.total": leaf}, times={Plane.OS: "2026-01-01T00:00:00Z"})
    assert facts_json(tree) == {
        "memory.total": {
            "value": 2048.0, "unit": "GiB", "plane": "os", "class": "identity", "source": "/proc/meminfo",
            "time": "2026-01-01T00:00:00Z",
        }
    }  # fmt: skip
    stored = facts_json(tree)["memory.total"].items() - {("source", "/proc/meminfo"), ("time", "2026-01-01T00:00:00Z")}
    assert FactsWriter().doc("n1", tree)["facts"] == {"memory.total": dict(stored)}
    assert to_json(FactsRead("n1", tree)) is None


def test_facts_stand_in_the_order_people_count() -> None:
    kind = Kind(Type.TEXT, "")
    paths = [f"gpu/{n}.name" for n in (10, 2, 1)]
    tree = Tree({path: Leaf("x", kind, Plane.OS, "") for path in paths})
    assert list(facts_json(tree)) == ["gpu/1.name", "gpu/2.name", "gpu/10.name"]


def test_the_beginning_and_the_end_hold_what_a_replay_needs() -> None:
    started = RunStarted("id", "t", "1", "p", "2", "d", ("n1", "n2"), ("bmc", "os"), "all 2 nodes of inv.yaml")
    doc = written(started)
    assert doc.pop("event") == "run started"
    assert RunStarted(**{k: tuple(v) if isinstance(v, list) else v for k, v in doc.items()}) == started  # type: ignore[arg-type]
    assert written(RunDone("t", Outcome.PASS)) == {"event": "run done", "time": "t", "outcome": "PASS"}
    assert written(RunDone("t", Outcome.FAIL, interrupted=True))["interrupted"] is True


def test_what_only_matters_while_it_happens_is_not_stored() -> None:
    assert to_json(NodeRequested("n1", Plane.OS)) is None
