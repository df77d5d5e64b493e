"""How many planes are asked at the same time: by their kind, by the limits of the inventory, and by open files."""

import resource
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from waiting import until

from rackcheck.inventory import AskLimit, BmcAccess, Node
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, NodeRequested
from rackcheck.run.job import Job
from rackcheck.run.turns import WIDTH, Turn, Turns
from rackcheck.session.registry_loading import known

SILENT = Unknown(Reason.TIMEOUT, "silent")


class Hall:
    """Nodes that return nothing until the hall is opened; it counts how many planes are asked at the same time."""

    def __init__(self) -> None:
        self.asked: Counter[Plane] = Counter()
        self.most: Counter[Plane] = Counter()
        self.open = threading.Event()
        self.lock = threading.Lock()

    def ask(self, node: Node, plane: Plane, job: Job, stop: threading.Event) -> Answered:
        with self.lock:
            self.asked[plane] += 1
            self.most[plane] = max(self.most[plane], self.asked[plane])
        while not (self.open.wait(0.1) or stop.is_set()):
            pass
        with self.lock:
            self.asked[plane] -= 1
        return Answered(node.name, plane, "2026-11-20T10:00:00Z", SILENT)


def nodes(count: int) -> tuple[Node, ...]:
    return tuple(
        Node(f"n{number:04}", host=f"10.0.{number >> 8}.{number & 255}", bmc=BmcAccess(f"https://b{number}"))
        for number in range(count)
    )


def job(count: int, limits: tuple[AskLimit, ...] = ()) -> Job:
    return Job(known().plan([parse("kernel.release"), parse("firmware.bmc")]), nodes(count), limits=limits)


def test_600_silent_nodes_are_waited_for_at_the_same_time() -> None:
    hall, stop = Hall(), threading.Event()
    events: list[object] = []

    def run() -> None:
        events.extend(audit(job(600), hall.ask, stop))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until(lambda: hall.asked == WIDTH, f"not all planes are asked: {hall.asked}")
    hall.open.set()
    until(lambda: not thread.is_alive(), "the run does not end")
    assert hall.most == WIDTH
    assert Counter(type(event) for event in events)[NodeRequested] == 1200
    assert {(event.node, event.plane) for event in events if isinstance(event, Answered)} == {
        (node.name, plane) for node in nodes(600) for plane in WIDTH
    }


def test_a_limit_of_the_inventory_bounds_its_nodes_and_no_others() -> None:
    behind = frozenset(node.name for node in nodes(20)[:12])
    hall, stop = Hall(), threading.Event()
    limits = (AskLimit("bastion", behind, {Plane.OS: 3}), AskLimit("all", behind, {Plane.BMC: 5}))
    thread = threading.Thread(target=lambda: list(audit(job(20, limits), hall.ask, stop)), daemon=True)
    thread.start()
    until(lambda: hall.asked == {Plane.OS: 8 + 3, Plane.BMC: 8 + 5}, f"asked: {hall.asked}")
    time.sleep(0.3)
    assert hall.asked == {Plane.OS: 8 + 3, Plane.BMC: 8 + 5}, "further planes were asked"
    hall.open.set()
    until(lambda: not thread.is_alive(), "the run does not end")


def test_turns_keep_their_order_and_a_second_reading_waits_for_its_time() -> None:
    a, b = nodes(2)
    turns = Turns([Turn(a, Plane.OS), Turn(b, Plane.OS)], (), threading.Event())
    first, second = turns.take(), turns.take()
    assert first is not None
    assert second is not None
    assert (first.node, second.node) == (a, b)
    due = time.monotonic() + 0.3
    turns.add(Turn(a, Plane.OS, due, (0.0, 1.0)))
    turns.done(first)
    third = turns.take()
    assert third is not None
    assert third.before == (0.0, 1.0)
    assert time.monotonic() >= due
    assert turns.take() is None


def test_an_interrupt_ends_the_wait_for_a_turn() -> None:
    stop = threading.Event()
    turns = Turns([Turn(nodes(1)[0], Plane.OS, 0.0)], (AskLimit("none", frozenset({"n0000"}), {Plane.OS: 1}),), stop)
    assert turns.take() is not None
    turns.add(Turn(nodes(1)[0], Plane.OS, time.monotonic()))
    ended: list[Turn | None] = []
    thread = threading.Thread(target=lambda: ended.append(turns.take()), daemon=True)
    thread.start()
    stop.set()
    until(lambda: ended == [None], "the wait does not end")


@pytest.mark.parametrize(("soft", "hard"), [(256, 256), (1024, 1024), (256, 100_000)])
def test_planes_are_asked_by_the_number_of_files_that_may_be_open(soft: int, hard: int) -> None:
    hard = min(hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))\n"
        "from rackcheck.run.turns import *\n"
        "found = widths()\n"
        "open_files = OTHER_FILES + sum(found[plane] * FILES[plane] for plane in found)\n"
        "print(open_files <= max(resource.getrlimit(resource.RLIMIT_NOFILE)[0], OTHER_FILES), dict(found) == dict(WIDTH))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", str(hard >= 10_000)]
