"""Nodes over real SSH: the controller is stopped at random moments, and no node stays under load.

The usual run sends each signal once, with 12 nodes; `make full` twice, with 32 nodes.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import depth
import pytest
from waiting import PATIENCE, until

from rackcheck.run import store
from rackcheck.sim import scenario
from rackcheck.sim.rack import SimRack

NODES = 32 if depth.DEEP else 12
SEED = 24
"""The moments are drawn with this seed: the number of nodes that are under load when the controller is stopped."""

MOMENTS = random.Random(SEED).sample(range(1, NODES), 4)

SOON = 1.5
"""Seconds: one by the design, and half for a machine on which all nodes and the controller share two cores."""


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimRack]:
    folder = tmp_path_factory.mktemp("rack")
    file = folder / "rack.yaml"
    file.write_text(
        f"rackcheck: 1\nscenario: many\nload: {{ pace: 1, seed: 5 }}\n"
        f"nodes: {{ 'n[01-{NODES}]': {{ machine: dgx-h100 }} }}\nfaults: []\n"
    )
    with SimRack(scenario.load(file), folder) as up:
        yield up


def loaded(rack: SimRack) -> int:
    """How many nodes are under load now."""
    return sum(len(up.node.load.running) for up in rack.stations if up.node is not None and up.node.load is not None)


def started(rack: SimRack, folder: Path) -> "subprocess.Popen[bytes]":
    words = ["burnin", "-i", str(rack.inventory), "--tier", "validate", "--yes", "-q", "-o", str(folder / "run")]
    env = dict(os.environ, RACKCHECK_HOME=str(folder / "home"))
    return subprocess.Popen(
        [sys.executable, "-m", "rackcheck", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env
    )


@pytest.mark.parametrize(
    ("number", "moment"), depth.first(2, zip((signal.SIGINT, signal.SIGKILL) * 2, MOMENTS, strict=True))
)
def test_no_node_is_under_load_a_second_after_the_controller_was_stopped_and_none_follows(
    rack: SimRack, tmp_path: Path, number: int, moment: int
) -> None:
    process = started(rack, tmp_path)
    try:
        until(lambda: loaded(rack) >= moment, f"no {moment} nodes under load")
        assert process.poll() is None
        assert loaded(rack) >= moment, "without a signal, the load goes on"
        process.send_signal(number)
        gone = time.monotonic()
        while loaded(rack) and time.monotonic() < gone + 15:
            time.sleep(0.01)
        gone = time.monotonic() - gone
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert gone < SOON, f"{gone:.2f} s with {moment} nodes"
    assert loaded(rack) == 0, "a node that waited for its turn started after the controller was stopped"
    assert process.returncode == (130 if number == signal.SIGINT else -number), out.decode()
    if number == signal.SIGINT:
        done = store.find(str(tmp_path / "run")).done()
        assert done is not None
        assert done.interrupted
        assert b"INCOMPLETE" in out
