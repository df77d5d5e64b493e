"""What is left of an audit that could not be stored or was killed: a table of exits, for the guide to runs.

    python benchmarks/cut_off.py [--points 20] [--kills 6] [--seed 1]

needs root, since it mounts small file systems. The audits are of this machine, by the profile linux-server. Rows:

    disk    an audit whose file system has room for this many KiB, at random; a whole run takes about 250
    killed  an audit whose process gets SIGKILL after a random share of the time that an audit takes
    worker  `runs show` of 16 simulated nodes with two worker processes, one of which gets SIGKILL

with the exit status, what the command prints about storing, the replies and events that are left, and the exit
status and the outcome of `runs show` on what is left.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RACKCHECK = [str(Path(sys.executable).with_name("rackcheck"))]
AUDIT = [*RACKCHECK, "audit", "localhost", "-p", "linux-server"]


def called(words: list[str], home: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a command with its state in a folder."""
    env = {**os.environ, "RACKCHECK_HOME": str(home), "NO_COLOR": "1", "RACKCHECK_KEPT_FACTS": "0", **more}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=env)  # noqa: S603  our own program


def row(name: str, status: int, told: str, home: Path) -> None:
    """Print one line of the table."""
    events = [line for file in home.rglob("events.jsonl") for line in file.read_text(errors="replace").splitlines()]
    raw = [*home.rglob("raw/*.json.gz")]
    shown = called([*RACKCHECK, "runs", "show", "last"], home)
    outcome = re.search(r"Verdict: (\w+)", shown.stdout)
    end = outcome[1] if outcome else (shown.stderr.strip().splitlines() or [""])[-1][:60]
    print(f"| {name} | {status} | {told or '-'} | {len(raw)} | {len(events)} | {shown.returncode}: {end} |", flush=True)


def disk(free: int, place: Path) -> None:
    """Audit this machine with a home on a file system of this size in KiB."""
    small = place / f"disk{free}"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={free}k", "tmpfs", str(small)]
    subprocess.run(mount, check=True)  # noqa: S603
    try:
        done = called(AUDIT, small)
        told = re.findall(r"Not stored[^:]*: .*? kept|cannot write a run", done.stderr)
        row(f"disk, {free} KiB", done.returncode, " ".join((told or [""])[-1].split()), small)
    finally:
        subprocess.run(["umount", str(small)], check=True)  # noqa: S603, S607


def killed(share: float, seconds: float, place: Path) -> None:
    """Kill an audit after a share of its usual time."""
    home = place / f"killed{share:.3f}"
    env = {**os.environ, "RACKCHECK_HOME": str(home), "NO_COLOR": "1"}
    with subprocess.Popen(AUDIT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env) as process:  # noqa: S603
        time.sleep(share * seconds)
        process.kill()
    row(f"killed after {100 * share:.0f} % of the time", process.returncode, "", home)


def _children(pid: int) -> list[str]:
    return [each for task in Path(f"/proc/{pid}/task").glob("*/children") for each in task.read_text().split()]


def worker(place: Path) -> None:
    """Kill one of two workers of `runs show`, and compare the output with that without workers."""
    run, home = place / "run", place / "worker"
    fleet = [sys.executable, str(Path(__file__).with_name("fleet_run.py")), str(run), "--nodes", "16"]
    subprocess.run(fleet, check=True)  # noqa: S603
    show = [*RACKCHECK, "runs", "show", str(run), "--json"]
    whole = called(show, home, RACKCHECK_WORKERS="0")
    env = {**os.environ, "RACKCHECK_HOME": str(home), "RACKCHECK_KEPT_FACTS": "0", "RACKCHECK_WORKERS": "2"}
    with subprocess.Popen(show, stdout=subprocess.PIPE, text=True, env=env) as process:  # noqa: S603
        while len(pids := _children(process.pid)) < 2 and process.poll() is None:
            time.sleep(0.05)
        time.sleep(2)
        os.kill(int(pids[0]), signal.SIGKILL)
        out, _ = process.communicate()
    same = "the same output as without workers" if out == whole.stdout else "ANOTHER OUTPUT"
    print(f"| worker of `runs show` killed | {process.returncode} | {same} | | | {whole.returncode} without workers |")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)  # noqa: S311  points of a measurement
    print("| what | exit | printed | replies left | events left | `runs show` of it |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for free in sorted(draw.sample(range(4, 250), given.points)):
            disk(free, place)
        began = time.monotonic()
        called(AUDIT, place / "whole")
        seconds = time.monotonic() - began
        for share in sorted(draw.random() for _ in range(given.kills)):
            killed(share, seconds, place)
        worker(place)


if __name__ == "__main__":
    main()
