"""Replies in flight: on disk they stay the same, and a full disk costs facts, never a verdict that is wrong."""

import os
import threading
import time
from pathlib import Path

import depth
import pytest
from hostile_rack import Audited, audited, hostile

from rackcheck.model.capture import BmcCapture, BurnCapture, Capture, NodeCapture, Output
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run.event import Answered
from rackcheck.run.in_flight import RepliesInFlight
from rackcheck.run.parked import ParkingFile
from rackcheck.run.raw_reply import pieces, raw_bytes
from rackcheck.transport.memory import DEFAULT, INTERRUPTED, LARGE, LARGEST, LEAST, PATIENCE, Allowance, MemoryBudget

CAPTURES: dict[str, Capture] = {
    "an operating system": NodeCapture(
        {"a": Output(0, "x\udcff\U0001f4be" * 1_000_000), "b": Unknown(Reason.DENIED, "no")},
        {"/g*": None, "/h": Unknown(Reason.TIMEOUT, "late")}, {"/g1": "1", "/g0": "z" * 5_000_000}, {},
    ),
    "a BMC": BmcCapture(
        {"/redfish/v1": {"a": [1, 2.5, None, {"b": "y" * 6_000_000}]}, "/b": Unknown(Reason.TIMEOUT, "late")},
        {"/redfish/v1": "2026-01-01"},
    ),
    "a burn-in": BurnCapture(({"a": 1}, {"b": [1, 2]})),
    "nothing": NodeCapture(),
}  # fmt: skip


@pytest.mark.parametrize("name", CAPTURES)
def test_a_reply_on_disk_is_read_back_the_same(name: str, tmp_path: Path) -> None:
    with ParkingFile(tmp_path) as parking:
        first, second = parking.park(CAPTURES["a BMC"]), parking.park(CAPTURES[name])
        assert parking.read(second) == CAPTURES[name]
        parking.remove(first)
        assert parking.read(second) == CAPTURES[name]
        assert list(tmp_path.iterdir()) == [], "the file has no name"
        parking.remove(second)
        assert parking.park(CAPTURES[name]).at == 0, "the file is empty again"


@pytest.mark.parametrize("name", CAPTURES)
def test_a_large_reply_is_stored_in_pieces_to_the_same_bytes(name: str) -> None:
    parts = list(pieces(CAPTURES[name]))
    assert b"".join(parts) == raw_bytes(CAPTURES[name])
    assert (len(parts) > 1) == (len(raw_bytes(CAPTURES[name])) > 4 << 20)


def test_a_reply_on_disk_that_was_changed_is_lost_with_the_reason(tmp_path: Path) -> None:
    with ParkingFile(tmp_path) as parking:
        replies = RepliesInFlight(DEFAULT, parking)
        reply = replies.arrived(Answered("n1", Plane.BMC, "now", None, CAPTURES["a BMC"]), used(LARGE + 1))
        assert reply.answered.capture is None
        assert replies.whole(reply).capture == CAPTURES["a BMC"]
        assert parking._file is not None
        os.pwrite(parking._file, b"\0\0\0\0", 500)
        lost = replies.whole(reply)
    assert (lost.capture, lost.trouble and lost.trouble.reason) == (None, Reason.NOT_COLLECTED)


def test_a_large_reply_without_room_on_disk_is_lost_with_the_reason(tmp_path: Path) -> None:
    with ParkingFile(tmp_path / "missing") as parking:
        replies = RepliesInFlight(DEFAULT, parking)
        lost = replies.arrived(Answered("n1", Plane.OS, "now", None, NodeCapture()), used(LARGE + 1)).answered
        kept = replies.arrived(Answered("n1", Plane.OS, "now", None, NodeCapture()), used(1)).answered
    assert lost.capture is None
    assert lost.trouble is not None
    assert "could not be kept on disk until the node was judged" in lost.trouble.detail
    assert kept.capture is not None


def used(size: int) -> Allowance:
    allowance = Allowance(MemoryBudget())
    assert allowance.admit() is None
    assert allowance.add(size) is None
    return allowance


@pytest.mark.skipif(not depth.DEEP, reason=depth.REASON)
@pytest.mark.parametrize(("bmc", "login"), [("signs", "bytes"), ("signs", ""), ("", "signs"), ("objects", "letters")])
def test_32_hostile_nodes_take_less_than_1_gib(bmc: str, login: str, tmp_path: Path) -> None:
    done = audit_of_hostile_nodes(tmp_path, 32, bmc, login)
    assert done.peak < 1024


def test_a_smaller_budget_takes_less_memory(tmp_path: Path) -> None:
    """Without a budget, these five nodes take about 780 MiB."""
    done = audit_of_hostile_nodes(tmp_path, 5, "signs", "", "--memory", "256")
    assert done.peak < 640


def audit_of_hostile_nodes(folder: Path, nodes: int, bmc: str, login: str, *words: str) -> Audited:
    with hostile(folder, nodes, bmc=bmc, login=login) as inventory:
        done = audited(folder, inventory, "-p", "h100-dgx", "-o", str(folder / "run"), *words)
    assert "Verdict: PASS" not in done.out
    assert done.status in {1, 3}, done.err
    return done


def test_judging_waits_for_replies_that_are_being_read_and_for_no_others() -> None:
    budget = MemoryBudget(LEAST)
    growing, settled = Allowance(budget), Allowance(budget)
    assert (growing.admit(), settled.admit()) == (None, None)
    assert settled.add(LARGE) is None
    settled.settle()
    threading.Timer(0.3, growing.settle).start()
    assert growing.add(LEAST - LARGEST) is None
    began = time.monotonic()
    budget.keep_free(LARGEST)
    assert growing.granted == growing.used, "the reply was complete before judging began"
    assert time.monotonic() - began < PATIENCE, "the complete reply is not waited for: its node is judged later"
    assert Allowance(budget, stopped()).admit() == INTERRUPTED, "the memory for judging is kept free"


def stopped() -> threading.Event:
    event = threading.Event()
    event.set()
    return event
