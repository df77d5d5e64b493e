"""A node runs one burn-in at a time: two would measure each other."""

import os
import signal
import socket
import subprocess
import sys

import pytest
from payloads import plan, start

BUSY = "another burn-in is running on this node"


def lease() -> socket.socket:
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    held.bind("\0" + os.environ["RACKCHECK_LEASE"])
    return held


def test_a_second_burn_in_does_not_start() -> None:
    first = start(plan(6.0))
    first.until({"k": "hello"})
    second = start(plan(0.3))
    second.end()
    assert [record["k"] for record in second.records] == ["busy"]
    assert second.process.returncode == 3
    os.killpg(first.process.pid, signal.SIGTERM)
    first.end()


def test_a_burn_in_that_was_killed_frees_the_node() -> None:
    first = start(plan(30.0))
    first.until({"k": "hello"})
    os.kill(first.process.pid, signal.SIGKILL)
    second = start(plan(0.3))
    second.end()
    assert second.kind("verdict")[0]["status"] == "whole"


def test_containers_with_gpus_of_their_own_have_leases_of_their_own() -> None:
    held = lease()
    with held:
        apart = start(plan(0.3), RACKCHECK_LEASE=os.environ["RACKCHECK_LEASE"] + "-other")
        apart.end()
    assert apart.kind("verdict")[0]["status"] == "whole"


@pytest.mark.parametrize("busy", [True, False])
def test_a_node_that_is_busy_is_unknown_with_the_reason(busy: bool) -> None:
    held = lease() if busy else None
    words = [sys.executable, "-m", "rackcheck", "burnin", "--no-gpu", "-q", "--all"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        if held is not None:
            held.close()
    if busy:
        assert done.returncode == 3, done.stdout
        assert BUSY in done.stdout
    else:
        assert BUSY not in done.stdout
