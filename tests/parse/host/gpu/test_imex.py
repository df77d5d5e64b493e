"""The IMEX domain: nodes count as ready and connected only where all of them report it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.gpu import imex


def node(state: str, *ends: object) -> dict[str, object]:
    """A node as nvidia-imex-ctl prints it, and the state of its connection with each node of the domain."""
    links = {str(n): {"host": f"10.0.0.{n + 1}", "status": end, "changed": True} for n, end in enumerate(ends)}
    return {"status": state, "host": "10.0.0.1", "connections": links, "hostName": "N/A"}


def domain(state: str, *nodes: object) -> imex.Domain:
    values = {"nodes": {str(n): one for n, one in enumerate(nodes)}, "timestamp": "9/4/2026 00:00:00.000"}
    return imex.domain(f"{json.dumps({**values, 'status': state})}\n")


def test_a_domain_that_is_up_has_all_its_nodes_ready_and_connected() -> None:
    whole = node("READY", "CONNECTED", "CONNECTED")
    assert domain("UP", whole, whole) == imex.Domain("UP", nodes=2, ready=2, connected=2)


def test_a_node_that_misses_one_other_is_not_connected() -> None:
    down = node("UNAVAILABLE", "INVALID", "INVALID")
    assert domain("DOWN", down, node("READY", "INVALID", "CONNECTED")) == imex.Domain("DOWN", 2, ready=1, connected=0)


def test_a_node_that_does_not_name_every_other_is_not_connected() -> None:
    assert domain("UP", node("READY", "CONNECTED"), node("READY", "CONNECTED", "CONNECTED")).connected == 1
    assert domain("UP", node("READY")).connected == 0


@pytest.mark.parametrize("end", [None, 7, [], {}, ["CONNECTED"]])
def test_a_connection_without_a_word_is_none(end: object) -> None:
    assert domain("UP", node("READY", end)).connected == 0


@pytest.mark.parametrize("wrong", [{}, {"status": "READY"}, {"status": 1, "connections": {}}, {"connections": []}])
def test_a_node_that_does_not_report_its_state_is_unreadable(wrong: object) -> None:
    with pytest.raises(Unreadable, match="a node has no status, or no connections"):
        domain("UP", wrong)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["READY", "CONNECTED", "UP"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["status", "nodes", "connections", "0", "1"]), inner, max_size=4)
    ),
    max_leaves=16,
)
LINKED = st.dictionaries(st.sampled_from("012"), st.dictionaries(st.just("status"), ANYTHING), max_size=3)
NODES = st.dictionaries(st.sampled_from("012"), st.fixed_dictionaries({"status": ANYTHING, "connections": LINKED}))


@given(st.text() | ANYTHING | st.fixed_dictionaries({"status": st.just("UP"), "nodes": NODES | ANYTHING}))
def test_nonsense_is_a_domain_or_unreadable(found: Any) -> None:
    try:
        value = imex.domain(found if isinstance(found, str) else json.dumps(found))
    except Unreadable as error:
        assert str(error)
    else:
        assert 0 <= value.ready <= value.nodes
        assert 0 <= value.connected <= value.nodes
