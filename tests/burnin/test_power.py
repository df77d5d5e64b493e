"""The power of a burn-in: what a node is assumed to draw, when a question is asked, and budgets on a simulated rack."""

import io
import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from command import rackcheck
from mockup_server import WatchedRack
from waiting import PATIENCE

from rackcheck.burnin.watts import ASSUMED, SHARE, estimate
from rackcheck.inventory import Node
from rackcheck.model.capture import BurnCapture
from rackcheck.model.profile import Profile
from rackcheck.parse.burnin.plan import START
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.session.registry_loading import known
from rackcheck.sim import scenario


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())  # no terminal, even if the tests have one


def nowhere(nodes: str, more: str = "") -> Path:
    """An inventory whose nodes cannot be reached."""
    path = Path("rack.yaml")
    path.write_text(f"rackcheck: 1\n{more}nodes:\n  '{nodes}': {{ host: '{{node}}.invalid', rack: a01 }}\n")
    return path


# ---- what a node draws -----------------------------------------------------------------------------------------------


def loaded(name: str, **given: str) -> Profile:
    return library.load(name, known().catalogue, given, ())


def watts(node: Node, profile: Profile | None = None) -> tuple[int, str]:
    found = estimate([node, Node("without-a-host")], profile)
    return found.loads[0].watts, found.words


def test_the_inventory_counts_before_the_profile_and_the_profile_before_the_assumption() -> None:
    profile = loaded("h100-dgx", driver="570.86.15")
    assert watts(Node("n", host="n")) == (ASSUMED, "14.3 kW per node, assumed")
    assert watts(Node("n", host="n"), loaded("burn-in"))[0] == ASSUMED
    drawn, words = watts(Node("n", host="n"), profile)
    assert drawn == round(8 * 700 * SHARE)
    assert words == "11.424 kW per node, estimated from the GPUs of h100-dgx"
    assert watts(Node("n", host="n", power=10_200), profile) == (10_200, "10.2 kW per node, by the inventory")


@pytest.mark.parametrize(("system", "gpu"), [(6_500, 400), (10_200, 700), (14_300, 1000)])
def test_no_published_system_draws_more_than_its_gpus_suggest(system: int, gpu: int) -> None:
    assert 8 * gpu * SHARE >= system


# ---- the question ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "more"), [("n[1-7]", ""), ("n[1-11]", "defaults: { power: 0.5 }\n")])
def test_a_large_load_is_not_started_without_a_terminal_or_yes(nodes: str, more: str) -> None:
    done = rackcheck("burnin", "-i", nowhere(nodes, more))
    assert done.status == 2
    assert "not started: this burn-in puts" in done.err
    assert "--yes" in done.err
    assert not store.ids()


@pytest.mark.parametrize(("nodes", "more", "words"), [
    ("n[1-6]", "", ()), ("n[1-10]", "defaults: { power: 10 }\n", ()), ("n[1-7]", "", ("--yes",)),
    ("n[1-7]", "", ("--power-budget", "90")), ("n[1-7]", "racks: { a01: { power-budget: 90 } }\n", ()),
])  # fmt: skip
def test_a_small_load_and_one_that_was_agreed_to_start_without_a_question(
    nodes: str, more: str, words: tuple[str, ...]
) -> None:
    done = rackcheck("burnin", "-i", nowhere(nodes, more), *words)
    assert done.status == 3, done.err
    assert "Power: " in done.err
    assert len(store.ids()) == 1


@pytest.mark.parametrize(("answer", "status", "runs"), [("n", 2, 0), ("y", 3, 1), ("", 2, 0)])
def test_on_a_terminal_the_question_names_nodes_and_power_and_only_a_yes_starts_it(
    answer: str, status: int, runs: int
) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "rackcheck", "burnin", "-i", str(nowhere("n[1-7]")), "-q"]
    process = subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    _, err = process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == status, err.decode()
    assert "7 nodes under load at the same time, up to 100.1 kW (14.3 kW per node, assumed)" in err.decode()
    assert len(store.ids()) == runs


@pytest.mark.parametrize(("words", "text"), [
    (("--power-budget", "8"), "n1 needs 14.3 kW, more than the power budget of 8 kW"),
    (("--power-ramp", "14"), "n1 needs 14.3 kW, more than the 14 kW that may be added per second"),
    (("--power-budget", "0"), "0"), (("--power-budget", "nan"), "nan"), (("--power-ramp", "-1"), "-1"),
    (("--in-step", "--power-budget", "20"), "the nodes need 28.6 kW together"),
])  # fmt: skip
def test_limits_that_cannot_be_kept_are_an_error_before_any_node_is_contacted(
    words: tuple[str, ...], text: str
) -> None:
    done = rackcheck("burnin", "-i", nowhere("n[1-2]"), "--yes", *words)
    assert done.status == 2
    assert text in done.err
    assert not store.ids()


# ---- on a simulated rack ---------------------------------------------------------------------------------------------


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[WatchedRack]:
    (tmp_path / "sim.yaml").write_text(
        "rackcheck: 1\nscenario: four\nload: { pace: 8, seed: 5 }\nnodes: { 'n[1-4]': { machine: dgx-h100 } }\nfaults: []\n"
    )
    with WatchedRack(scenario.load(tmp_path / "sim.yaml"), tmp_path) as up:
        yield up


def burnt(rack: WatchedRack, *words: str) -> tuple[int, list[float], float]:
    """Run a burn-in; return the most nodes that were under load together, the start of each node, and of the stages."""
    most, over = 0, threading.Event()

    def look() -> None:
        nonlocal most
        while not over.is_set():
            nodes = [up.node.load for up in rack.stations if up.node is not None and up.node.load is not None]
            most = max(most, sum(len(load.running) for load in nodes))
            time.sleep(0.005)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        done = rackcheck("burnin", "-i", rack.inventory, "-q", *words)
    finally:
        over.set()
        looker.join()
    assert done.status == 0, done.err
    captures = [answer.capture for answer in store.find(store.ids()[-1]).answers()]
    whole = [capture for capture in captures if isinstance(capture, BurnCapture)]
    begins = [stage.number("from") or 0.0 for capture in whole for stage in capture.burn.stages]
    return most, sorted(float(capture.records[0]["began"]) for capture in whole), min(begins)


def test_under_a_budget_only_as_many_nodes_are_loaded_as_it_allows_and_all_are_tested(rack: WatchedRack) -> None:
    most, began, _ = burnt(rack, "--power-budget", "30")
    assert most == 2
    assert len(began) == 4
    assert began[2] > 1.5, "the third node starts when the first has ended"


def test_nodes_start_half_a_second_apart_or_in_step(rack: WatchedRack) -> None:
    most, began, stages = burnt(rack, "--in-step")
    assert stages >= START, "a node does not begin before slow drivers are ready"
    assert began == [0.0] * 4
    assert most == 4
    _, began, stages = burnt(rack)
    assert stages < START
    assert all(round(1000 * (b - a)) >= 500 for a, b in pairwise(began)), began
