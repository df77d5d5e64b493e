"""Replies in flight: on disk they stay the same, and a full disk costs facts, never a verdict that is wrong."""

import os
import threading
from pathlib import Path

import depth
import pytest
from hostile_rack import audited, hostile

from rackcheck.model.capture import BmcCapture, BurnCapture, Capture, NodeCapture, Output
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run.event import Answered
from rackcheck.run.in_flight import RepliesInFlight
from rackcheck.run.parked import ParkingFile
from rackcheck.run.store import pieces, raw_bytes
from rackcheck.transport.memory import DEFAULT, LARGE, Allowance, MemoryBudget

NODES = 32 if depth.DEEP else 6

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
    allowance = MemoryBudget().admit(threading.Event())
    assert allowance is not None
    assert allowance.add(size) is None
    return allowance


@pytest.mark.parametrize(
    ("bmc", "login"), depth.first(1, [("signs", "bytes"), ("signs", ""), ("", "signs"), ("objects", "letters")])
)
def test_hostile_nodes_take_less_than_1_gib(bmc: str, login: str, tmp_path: Path) -> None:
    with hostile(tmp_path, NODES, bmc=bmc, login=login) as inventory:
        done = audited(tmp_path, inventory, "-p", "h100-dgx", "-o", str(tmp_path / "run"))
    assert "Verdict: PASS" not in done.out
    assert done.status in {1, 3}, done.err
    assert done.peak < 1024
