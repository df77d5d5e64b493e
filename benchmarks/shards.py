"""Shards on each engine with processes killed, and results that are lost or damaged, beside an audit in one part.

200 simulated nodes in 12 racks, 20 of which are faulty in ten ways, are planned by rack. For each engine (the real
ones: processes, Slurm and Dask on loopback), a process that runs a shard, or a worker, is killed with SIGKILL when 20,
50 and 80 percent of the results are there. Then a result is delivered twice, one is cut off, one is lost, and one is of
another plan. The verdicts with all their evidence, except for measured clock offsets, must be those of the audit.

    python benchmarks/shards.py [--nodes 200] [--engines local slurm dask]
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from chaos import FAULTS, judged, started
from dask_cluster import cluster
from slurm_lab import lab

RACKS = 12
POINTS = (0.2, 0.5, 0.8)
SHOWN = 5
"""Maximum number of different verdicts that are printed."""

Victim = Callable[[int], int]


def scenario(count: int) -> str:
    """A hall of 12 racks, of whose nodes one in ten has one of the faults."""
    racks: dict[int, list[int]] = {}
    for number in range(count):
        racks.setdefault(number * RACKS // count + 1, []).append(number + 1)
    nodes = "".join(
        f'  "n[{members[0]:04}-{members[-1]:04}]": {{ machine: dgx-h100, rack: r{rack:02} }}\n'
        for rack, members in racks.items()
    )
    faulty = "".join(f"  - {{ nodes: n{n * 10 + 1:04}, {FAULTS[n % len(FAULTS)]} }}\n" for n in range(count // 10))
    return (
        "rackcheck: 1\nscenario: hall\nbmc: { milliseconds: 2, workers: 4, sessions: 16 }\n"
        f"nodes:\n{nodes}faults:\n{faulty}"
    )


def processes(word: str) -> list[int]:
    """The processes that run a shard and whose command line has a word."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (place / "cmdline").read_bytes()
            if b"\0run-shard\0" in line and word.encode() in line and b"\0-c\0" not in line:
                found.append(int(place.name))
    return found


def kill(results: Path, word: str, victim: Victim, ended: threading.Event, log: list[str]) -> None:
    """Kill a process each time that so many of the results are there."""
    for point in POINTS:
        done = 0
        while not ended.wait(0.02):
            done = sum(not path.name.endswith(".part") for path in results.iterdir())
            running = processes(word) if done >= point * RACKS else []
            if running:
                os.kill(victim(running[0]), signal.SIGKILL)
                log.append(f"{done} of {RACKS}")
                break


def run(env: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of rackcheck."""
    return subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-m", "rackcheck", *words], env=dict(env), capture_output=True, text=True, check=False
    )


@contextlib.contextmanager
def engine(name: str, place: Path) -> Iterator[tuple[str, str, Victim, dict[str, str]]]:
    """Start an engine; yield its name for `--on`, a word of its processes, which one to kill, and the environment."""
    env = dict(os.environ)
    racks = [f"r{number:02}" for number in range(1, RACKS + 1)]
    match name:
        case "slurm":
            with lab(place / "lab", [",".join(racks[n::4]) for n in range(4)]) as env:
                yield "slurm:all", str(place), lambda pid: pid, env
        case "dask":
            with cluster(place / "dask", [",".join(f"{rack}=1" for rack in racks)[:-2]] * 6) as (address, workers):
                pids = {worker.pid for worker in workers}

                def worker(pid: int) -> int:
                    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                    return parent if parent in pids else pid

                yield f"dask://{address.removeprefix('tcp://')}", "/rackcheck-", worker, env
        case _:
            yield "local:3", str(place), lambda pid: pid, env


def carried(name: str, place: Path, inventory: Path, whole: list[str]) -> tuple[Path, dict[str, str], bool]:
    """Plan, carry with three kills, and merge; print what happened, and return the plan and whether all is equal."""
    plan = place / "plan"
    with engine(name, place) as (on, word, victim, env):
        env["RACKCHECK_HOME"] = str(place / "home")
        made = run(env, "plan", "-p", "h100-dgx", "-i", str(inventory), "--by", "rack", "-o", str(plan), "-q")
        assert made.returncode == 0, made.stderr
        began, ended, kills = time.monotonic(), threading.Event(), list[str]()
        killer = threading.Thread(target=kill, args=(plan / "results", word, victim, ended, kills))
        killer.start()
        child = run(env, "carry", str(plan), "--on", on)
        ended.set()
        killer.join()
        print(f"{name}: carried in {time.monotonic() - began:.0f} s, exit {child.returncode}, killed at {kills}")
        print("".join(f"    {line}\n" for line in child.stderr.splitlines() if "again" in line), end="", flush=True)
    return plan, env, merged(f"{name}, merged", plan, place / "run", env, whole) and len(kills) == len(POINTS)


def merged(name: str, plan: Path, target: Path, env: Mapping[str, str], whole: list[str], *results: Path) -> bool:
    """Merge, print the figures, and return whether all verdicts are those of the undivided audit."""
    child = run(env, "merge", str(plan), *map(str, results), "-o", str(target))
    for line in child.stderr.splitlines():
        if line.startswith("rackcheck: "):
            print(f"    {line[:160]}")
    if not target.exists():
        print(f"{name}: exit {child.returncode}, no run", flush=True)
        return False
    found, answers = judged(target)
    differ = len(set(found) - set(whole))
    for line in differences(found, whole)[:SHOWN]:
        print(f"    differs: {line}")
    twice = sum(count > 1 for count in answers.values())
    print(
        f"{name}: exit {child.returncode}, {len(found)} verdict lines, {differ} differ, {len(answers)} planes, "
        f"{twice} twice",
        flush=True,
    )
    return not differ and len(found) == len(whole)


def differences(found: list[str], whole: list[str]) -> list[str]:
    """Return the verdicts that differ: the node, the rule, and both verdicts."""
    others = {doc["node"]: doc for doc in map(json.loads, whole)}
    lines: list[str] = []
    for line in sorted(set(found) - set(whole)):
        doc = json.loads(line)
        before = {verdict["rule"]: verdict for verdict in others[doc["node"]]["verdicts"]}
        lines += [
            f"{doc['node']} {verdict['rule']}: {str(verdict)[:300]} and {str(before.get(verdict['rule']))[:300]}"
            for verdict in doc["verdicts"]
            if verdict != before.get(verdict["rule"])
        ]
    return lines


def deliveries(plan: Path, other: Path, place: Path, env: Mapping[str, str], whole: list[str]) -> bool:
    """Deliver results twice, cut off, lost and of another plan; then ask again what is missing."""
    results = sorted(path for path in (plan / "results").iterdir() if ".part" not in path.name)
    copy = place / "copy"
    shutil.copy(results[0], copy)
    good = merged("one result twice", plan, place / "twice", env, whole, copy, *results)
    good &= (place / "twice" / "events.jsonl").read_bytes() == (place / "run" / "events.jsonl").read_bytes()
    print(f"    the same bytes as without the copy: {good}")
    merged("one result of another plan", plan, place / "foreign", env, whole, *results, other)
    data = results[1].read_bytes()
    cut, lost = place / "cut", results[2]
    cut.write_bytes(data[: len(data) // 2])
    merged("one cut off, one lost", plan, place / "less", env, whole, cut, *results[:1], *results[3:])
    for path in (results[1], lost):
        path.unlink()
    child = run(env, "carry", str(plan), "--on", "local:2")
    print(f"carried again: exit {child.returncode}: {child.stderr.splitlines()[0]}")
    return merged("merged again", plan, place / "again", env, whole) and good and not (place / "foreign").exists()


def main() -> int:
    """Print what was killed and delivered, and compare the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--engines", nargs="+", default=["local", "slurm", "dask"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "hall.yaml").write_text(scenario(given.nodes))
        up = started(place / "home", "sim", "up", str(place / "hall.yaml"), "-o", str(place / "up"))
        inventory = place / "up" / "inventory.yaml"
        while not inventory.exists():
            time.sleep(0.5)
        time.sleep(5)
        try:
            began = time.monotonic()
            words = ("audit", "-p", "h100-dgx", "-i", str(inventory), "-o", str(place / "whole"), "-q")
            status = started(place / "home", *words).wait()
            whole, _ = judged(place / "whole")
            print(
                f"in one part: {time.monotonic() - began:.0f} s, exit {status}, {len(whole)} verdict lines", flush=True
            )
            good, plans = True, list[tuple[Path, dict[str, str]]]()
            for number, each in enumerate(given.engines):
                (place / each).mkdir()
                plan, env, equal = carried(each, place / each, inventory, whole)
                good &= equal
                plans.append((plan, env))
                if number:
                    other = sorted((plans[0][0] / "results").iterdir())[0]
                    good &= deliveries(plan, other, place / each, env, whole)
        finally:
            up.terminate()
            up.wait()
    print("all equal" if good else "NOT EQUAL")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
