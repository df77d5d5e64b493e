"""Wall time of `runs show` with 0, 1 and 2 worker processes, beside what two cores of this machine can give.

    python benchmarks/workers.py CHECKOUT RUN... [--rounds 3] [--without 1]

CHECKOUT is a folder with `.venv/bin/rackcheck`; each RUN is the folder of a run of many nodes, such as `fleet_run.py`
makes. No facts are kept, so that each command reads all replies. Each round also runs two commands without workers at
the same time: half of their time, divided by the time of one, is what two processes with no work in common reach on
this machine. Cores that share caches, memory, or an execution unit do not halve it. Nothing else should run meanwhile.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

AT_ONCE = "two at once"


class Timed:
    """A command that has been started."""

    def __init__(self, checkout: Path, home: Path, run: Path, workers: int) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(  # noqa: S603  our own program
            [checkout / ".venv" / "bin" / "rackcheck", "runs", "show", run],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "RACKCHECK_HOME": str(home), "RACKCHECK_KEPT_FACTS": "0",
                 "RACKCHECK_WORKERS": str(workers)},
        )  # fmt: skip

    def wait(self) -> tuple[float, float]:
        """Return the wall time and the CPU time of the command in seconds, with its children, when it has ended."""
        _, status, used = os.wait4(self._process.pid, 0)
        wall = time.perf_counter() - self._began
        if os.waitstatus_to_exitcode(status) not in {0, 1, 3}:
            raise SystemExit(f"{self._process.args} ended with status {os.waitstatus_to_exitcode(status)}")
        return wall, used.ru_utime + used.ru_stime


def measured(checkout: Path, home: Path, run: Path, counts: Sequence[int], rounds: int) -> None:
    """Measure one run, and print its rows."""
    Timed(checkout, home, run, max(counts)).wait()  # what later commands find on disk, such as the parsed profile
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for count in counts:
            found.setdefault(str(count), []).append(Timed(checkout, home, run, count).wait())
        both = [Timed(checkout, home, run, 0) for _ in range(2)]
        times = [each.wait() for each in both]
        found.setdefault(AT_ONCE, []).append((max(wall for wall, _ in times) / 2, statistics.mean(c for _, c in times)))
    alone = [wall for wall, _ in found["0"]]
    for name, times in found.items():
        walls = [wall for wall, _ in times]
        wall, cpu = statistics.median(walls), statistics.median(cpu for _, cpu in times)
        parts = [mine / one for mine, one in zip(walls, alone, strict=True)]
        each = ", ".join(f"{part:.2f}" for part in sorted(parts))
        row = f"{run.name:16} {name:12} {wall:8.2f} {cpu:8.2f} {wall / statistics.median(alone):6.2f}"
        print(f"{row}  {each}", flush=True)


def main() -> None:
    """Measure the runs named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", type=int, choices=(1, 2), action="append", default=[])
    given = parser.parse_args()
    counts = [count for count in (0, 1, 2) if count not in given.without]
    print(f"{'run':16} {'workers':12} {'wall s':>8} {'CPU s':>8} {'of 0':>6}  of 0, each round")
    with tempfile.TemporaryDirectory() as home:
        for run in given.runs:
            measured(given.checkout.resolve(), Path(home), run.resolve(), counts, given.rounds)


if __name__ == "__main__":
    main()
