"""A burn-in in shards: the verdicts of an undivided one, and a shard that was begun is never run again."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dask_cluster import cluster
from mockup_server import WatchedRack
from shard_kills import killed_once
from slurm_lab import lab

from rackcheck.run import store
from rackcheck.sim import scenario
from rackcheck.sim.rack import SimRack

RACK = """\
rackcheck: 1
scenario: burn
load: {{ pace: {pace}, seed: 5 }}
nodes:
  "n[1-2]": {{ machine: dgx-h100, rack: r1 }}
  "n[3-4]": {{ machine: dgx-h100, rack: r2 }}
faults: [{{ nodes: n3, fault: gpu-missing, gpu: 5 }}]
"""


def rack(folder: Path, pace: int) -> WatchedRack:
    file = folder / "rack.yaml"
    file.write_text(RACK.format(pace=pace))
    return WatchedRack(scenario.load(file), folder)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimRack]:
    with rack(tmp_path_factory.mktemp("fast"), 8) as up:
        yield up


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimRack]:
    with rack(tmp_path_factory.mktemp("slow"), 2) as up:
        yield up


def run(*words: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "rackcheck", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=240)


def planned(up: SimRack, folder: Path, *words: str) -> Path:
    given = ("-p", "burn-in", "-i", str(up.inventory), "--burnin", "smoke", "--seed", "7", "-o", str(folder), *words)
    done = run("plan", *given)
    assert done.returncode == 0, done.stderr
    assert "Power when the shards run: 4 nodes" in done.stderr
    return folder


def verdicts(folder: Path) -> list[str]:
    lines = (folder / "events.jsonl").read_text().splitlines()
    return sorted(line for line in lines if json.loads(line)["event"] == "judged")


def test_the_verdicts_are_those_of_one_burn_in(fast: SimRack, tmp_path: Path) -> None:
    plan = planned(fast, tmp_path / "plan")
    assert run("carry", str(plan), "--on", "local:2").returncode == 0
    merged = run("merge", str(plan), "-o", str(tmp_path / "run"))
    whole = run("burnin", "-i", str(fast.inventory), "--seed", "7", "-o", str(tmp_path / "whole"), "-q")
    assert merged.returncode == whole.returncode
    assert verdicts(tmp_path / "run") == verdicts(tmp_path / "whole")
    assert len(verdicts(tmp_path / "run")) >= 4
    again = run("carry", str(plan), "--on", "local:2")
    assert again.returncode == 0
    assert "shards to ask" not in again.stderr, "all results are there"


def test_a_shard_that_was_begun_is_refused_and_its_nodes_are_unknown(slow: SimRack, tmp_path: Path) -> None:
    plan = planned(slow, tmp_path / "plan")
    command = [sys.executable, "-m", "rackcheck", "run-shard"]
    words = [str(plan / "shards" / "1.json"), "-o", str(plan / "results" / "1")]
    child = subprocess.Popen([*command, *words], stderr=subprocess.DEVNULL)
    part = plan / "results" / "1.part"
    while not part.exists():
        assert child.poll() is None
    child.kill()
    child.wait()
    again = run("run-shard", *words)
    assert again.returncode == 2
    assert "was begun and did not end, and is not run again" in again.stderr
    assert part.exists(), "the mark of the first attempt must stay"
    assert run("run-shard", str(plan / "shards" / "2.json"), "-o", str(plan / "results" / "2")).returncode == 0
    merged = run("merge", str(plan), "-o", str(tmp_path / "run"))
    assert merged.returncode in {1, 3}
    assert "not asked, and so unknown: n[1-2]" in merged.stderr
    found = {each.node: each.outcome.value for each in store.find(str(tmp_path / "run")).judged()}
    assert found["n1"] == found["n2"] == "INCOMPLETE"


Engine = Callable[[Path], "Iterator[tuple[str, str, Callable[[int], int], dict[str, str]]]"]


def local(folder: Path) -> Iterator[tuple[str, str, Callable[[int], int], dict[str, str]]]:
    yield "local:1", str(folder), lambda pid: pid, dict(os.environ)


def slurm(folder: Path) -> Iterator[tuple[str, str, Callable[[int], int], dict[str, str]]]:
    with lab(folder / "lab", ["r1,r2", "r1,r2"]) as env:
        yield "slurm:all", str(folder), lambda pid: pid, env


def dask(folder: Path) -> Iterator[tuple[str, str, Callable[[int], int], dict[str, str]]]:
    with cluster(folder / "dask", ["r1=1,r2"] * 3) as (address, workers):
        pids = {worker.pid for worker in workers}

        def worker_of(pid: int) -> int:
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            return parent if parent in pids else pid

        yield f"dask://{address.removeprefix('tcp://')}", "rackcheck-", worker_of, dict(os.environ)


@pytest.mark.parametrize("start", [local, slurm, dask])
def test_no_engine_runs_a_lost_shard_again(slow: SimRack, tmp_path: Path, start: Engine) -> None:
    plan = planned(slow, tmp_path / "plan")
    for on, mark, victim, env in start(tmp_path):
        ended, hit = threading.Event(), list[int]()
        killer = threading.Thread(target=lambda: hit.extend(killed_once(mark, victim, ended)))  # noqa: B023
        killer.start()
        done = run("carry", str(plan), "--on", on, env=env)
        ended.set()
        killer.join()
        assert hit, "no process was killed"
        assert done.returncode == 3, done.stderr
        assert "it is run again" not in done.stderr
        assert "1 of 2 shards done" in done.stderr
        if start is dask:
            assert "a burn-in that was begun is not run again" in done.stderr
    results = [path.name for path in (plan / "results").iterdir() if ".part" not in path.name]
    assert len(results) == 1


def test_too_many_shards_or_no_consent_is_refused(fast: SimRack, tmp_path: Path) -> None:
    given = ("plan", "-p", "burn-in", "-i", str(fast.inventory), "-o", str(tmp_path / "plan"))
    few = run(*given, "--burnin", "smoke", "--by", "4", "--power-ramp", "40")
    assert few.returncode == 2
    assert "4 shards may each start a node in the same second" in few.stderr
    both = run(*given, "--burnin", "smoke", "--planes", "os")
    assert both.returncode == 2
    assert "--burnin cannot be combined with --planes" in both.stderr
    large = run(*given, "--burnin", "smoke", "--power-ramp", "400", "--power-budget", "20")
    assert large.returncode == 2
    assert "plan fewer shards" in large.stderr
    assert not (tmp_path / "plan").exists()
