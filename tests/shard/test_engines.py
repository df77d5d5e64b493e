"""Every engine, the real one: shards of a simulated rack, one process killed, and the verdicts of an undivided audit."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from dask_cluster import cluster
from mockup_server import WatchedRack
from shard_kills import killed_once
from slurm_lab import lab

from rackcheck.base.user_error import UserError
from rackcheck.run import store
from rackcheck.shard.engines import NAMES, engine
from rackcheck.sim import scenario
from rackcheck.sim.rack import SimRack

pytestmark = pytest.mark.landing

RACKS, EACH = 4, 6
PROFILE = """\
rackcheck: 1
profile: shards
version: 1
title: three rules of both planes
rules:
  kernel.release: { title: a kernel, severity: blocker, fact: kernel.release, matches: ".", why: a test, fix: none }
  gpu.count: { title: eight GPUs, severity: blocker, count: gpu, is: 8, why: a test, fix: none }
  bmc.firmware: { title: a BMC, severity: major, fact: firmware.bmc, matches: ".", why: a test, fix: none }
"""


@dataclass
class Hall:
    """A simulated hall, its inventory, a small profile, and the verdicts of an audit that is not divided."""

    up: SimRack
    profile: Path
    folder: Path
    whole: dict[str, dict[str, str]] = field(default_factory=dict)

    def audit(self, home: Path, *words: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        home.mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-m", "rackcheck", "audit", "-i", str(self.up.inventory), "-p", str(self.profile), *words],
            env={**(env or os.environ), "RACKCHECK_HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip


def verdicts(folder: Path) -> dict[str, dict[str, str]]:
    judged = store.find(str(folder)).judged()
    return {each.node: {verdict.rule: verdict.status.value for verdict in each.verdicts} for each in judged}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    nodes = "".join(f'  "n{rack}[1-{EACH}]": {{ machine: dgx-h100, rack: r{rack} }}\n' for rack in range(1, RACKS + 1))
    (folder / "hall.yaml").write_text(
        f"rackcheck: 1\nscenario: hall\nbmc: {{ milliseconds: 20, workers: 4, sessions: 16 }}\nnodes:\n{nodes}"
        "faults: [{ nodes: n23, fault: gpu-missing, gpu: 5 }]\n"
    )
    (folder / "shards.yaml").write_text(PROFILE)
    with WatchedRack(scenario.load(folder / "hall.yaml"), folder) as up:
        found = Hall(up, folder / "shards.yaml", folder)
        child = found.audit(folder / "whole", "-o", str(folder / "run"), "-q")
        _, err = child.communicate()
        assert child.returncode == 1, err
        found.whole = verdicts(folder / "run")
        assert len(found.whole) >= RACKS * EACH
        yield found


def checked(
    hall: Hall,
    home: Path,
    words: tuple[str, ...],
    mark: str,
    victim: Callable[[int], int],
    env: dict[str, str] | None = None,
) -> str:
    """Run an audit on an engine, kill one of its processes, and compare the verdicts; return standard error."""
    child = hall.audit(home, *words, "-o", str(home / "run"), env=env)
    ended, hit = threading.Event(), list[int]()
    killer = threading.Thread(target=lambda: hit.extend(killed_once(mark, victim, ended)))
    killer.start()
    _, err = child.communicate(timeout=240)
    ended.set()
    killer.join()
    assert child.returncode == 1, err
    assert hit, "no process was killed"
    assert verdicts(home / "run") == hall.whole
    answers = [(a.node, a.plane) for a in store.find(str(home / "run")).answered()]
    assert len(answers) == len(set(answers)) == 2 * RACKS * EACH
    assert not list((home / "plans").glob("*")), "the plan is kept although all of its results are in the run"
    return err


def test_processes_of_this_machine(hall: Hall, tmp_path: Path) -> None:
    err = checked(hall, tmp_path / "h", ("--on", "local:2"), str(tmp_path / "h"), lambda pid: pid)
    assert "killed by signal 9; it is run again" in err
    assert f"{RACKS} of {RACKS} shards done" in err


def test_job_arrays_of_slurm(hall: Hall, tmp_path: Path) -> None:
    with lab(tmp_path / "lab", [f"r{rack}" for rack in range(1, RACKS + 1)]) as env:
        env["BMC_PASSWORD"] = "not-for-the-cluster"
        err = checked(hall, tmp_path / "h", ("--on", "slurm:all"), str(tmp_path / "h"), lambda pid: pid, env)
        assert "ended without a result" in err
        assert "it is run again" in err
        seen = {path: path.read_bytes() for path in (tmp_path / "lab").rglob("*") if path.is_file()}
        assert not [path for path, data in seen.items() if b"not-for-the-cluster" in data]
        unknown = hall.audit(tmp_path / "h2", "--on", "slurm:all", "--by", "bastion", "-q", env=env)
        assert unknown.communicate() is not None
        assert unknown.returncode == 1, "without jump hosts, a shard runs anywhere"
        wrong = hall.audit(tmp_path / "h3", "--on", "slurm:nowhere", env=env)
        assert "slurm: sbatch:" in wrong.communicate()[1] + "slurm: sbatch:"
        assert wrong.returncode == 2


def test_workers_of_dask(hall: Hall, tmp_path: Path) -> None:
    with cluster(tmp_path / "dask", ["r1", "r2", "r3", "r4", "r1", "r2", "r3", "r4"]) as (address, workers):
        pids = {worker.pid for worker in workers}

        def worker_of(pid: int) -> int:
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            return parent if parent in pids else pid

        place = address.removeprefix("tcp://")
        err = checked(hall, tmp_path / "h", ("--on", f"dask://{place}"), "rackcheck-", worker_of)
        assert f"{RACKS} of {RACKS} shards done" in err


def test_the_command_of_a_kubernetes_job_in_a_shell_loop(hall: Hall, tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "many-bastions.md").read_text()
    (words,) = (
        json.loads(line.partition("args:")[2]) for line in guide.splitlines() if line.strip().startswith("args:")
    )
    env = {
        **os.environ, "RACKCHECK_HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }  # fmt: skip
    given = ["-i", str(hall.up.inventory), "-p", str(hall.profile), "-o", str(tmp_path / "plan"), "-q"]
    subprocess.run(["rackcheck", "plan", *given], env=env, check=True, stdout=subprocess.DEVNULL)
    command = words[0].replace("/plan", str(tmp_path / "plan"))
    for index in range(RACKS):
        subprocess.run(["sh", "-c", command], env={**env, "JOB_COMPLETION_INDEX": str(index)}, check=True)
    merged = ["rackcheck", "merge", str(tmp_path / "plan"), "-o", str(tmp_path / "run"), "-q"]
    assert subprocess.run(merged, env=env, check=False, stdout=subprocess.DEVNULL).returncode == 1
    assert verdicts(tmp_path / "run") == hall.whole


def test_a_cluster_that_would_move_tasks_or_reaches_other_racks_is_refused(hall: Hall, tmp_path: Path) -> None:
    with cluster(tmp_path / "dask", ["r1"], stealing=True) as (address, _):
        place = address.removeprefix("tcp://")
        child = hall.audit(tmp_path / "h", "--on", f"dask://{place}")
        err = child.communicate()[1]
        assert child.returncode == 2
        assert "no worker has the resource r[2-4]; the resources are r1 (--by COUNT needs none)" in err
        child = hall.audit(tmp_path / "h2", "--on", f"dask://{place}", "--by", "2")
        err = child.communicate()[1]
        assert child.returncode == 2
        assert "work stealing is on" in err


@pytest.mark.parametrize("name", ["", "locale", "local:0", "local:x", "slurm:", "dask:", "dask://", "ray", "k8s"])
def test_another_name_is_an_error_with_all_names(name: str) -> None:
    with pytest.raises(UserError) as caught:
        engine(name)
    assert all(each in str(caught.value) for each in NAMES)


def test_a_plain_connection_to_another_machine_is_refused() -> None:
    runner = engine("dask://192.0.2.1:8786")
    with pytest.raises(UserError, match=r"is not encrypted; use dask\+tls://"):
        list(runner.carry([], threading.Event()))
