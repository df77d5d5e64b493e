"""The gate between the schedule and the threads of nodes: who waits, who goes on, and who keeps its power."""

import threading
import time
from collections.abc import Iterator

import pytest
from waiting import PATIENCE, until

from rackcheck.burnin.gate import LINGER, StartGate
from rackcheck.burnin.ramp import NodeLoad, PowerLimits

PAIR = (NodeLoad("a", 10), NodeLoad("b", 10))


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def waiting(gate: StartGate, name: str) -> tuple[threading.Thread, list[float | None]]:
    """A thread that connects and starts; the list has its start once it may."""
    found: list[float | None] = []

    def run() -> None:
        found.append(gate.may_start(name) if gate.may_connect(name) else None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, found


@pytest.mark.parametrize("whole", [True, False])
def test_a_node_that_was_lost_under_load_keeps_its_power_until_its_load_must_have_ended(
    stop: threading.Event, whole: bool
) -> None:
    gate = StartGate(PAIR, PowerLimits(total=10), stop)
    gate.open()
    first, started = waiting(gate, "a")
    first.join(PATIENCE)
    assert started == [0.0]
    second, later = waiting(gate, "b")
    ended = time.monotonic()
    gate.over("a", whole=whole)
    second.join(PATIENCE)
    assert later[0] is not None
    assert whole or time.monotonic() - ended >= LINGER


def test_a_node_that_never_connected_releases_its_power_at_once(stop: threading.Event) -> None:
    gate = StartGate(PAIR, PowerLimits(total=10), stop)
    gate.open()
    assert gate.may_connect("a")
    second, later = waiting(gate, "b")
    gate.over("a", whole=False)
    second.join(PATIENCE)
    assert later == [0.0]


def test_a_stop_ends_every_wait_and_no_node_starts(stop: threading.Event) -> None:
    gate = StartGate(PAIR, PowerLimits(total=10), stop)
    gate.open()
    first, started = waiting(gate, "a")
    first.join(PATIENCE)
    second, later = waiting(gate, "b")
    stop.set()
    second.join(PATIENCE)
    assert (started, later) == ([0.0], [None])
    assert "b" not in gate.began
    until(lambda: not any(thread.name == "burn-gate" for thread in threading.enumerate()), "the gate's thread stays")


def test_what_can_never_start_is_an_error_and_not_an_endless_wait(stop: threading.Event) -> None:
    with pytest.raises(ValueError, match="a needs 0"):
        StartGate(PAIR, PowerLimits(total=9), stop)
