"""Processor time of the supervisor and the sampler of a burn-in on a simulated node with 224 or 768 CPUs.

    python benchmarks/many_cpus.py [--seconds 20]

Runs the payload as it is sent, with a simulated /sys and /proc (tests/support/many_cpus.py), and prints which share of
one core the supervisor and the sampler took while they wait for a stage. The load itself does not run, because the few
real CPUs would be so busy with it that the supervisor would do less than on a real node. The goal is less than a tenth
of a core for both together. tests/burnin/test_many_cpus.py counts the calls of both under load.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from many_cpus import large_node  # noqa: E402  the path to it is made above
from payloads import of_session, plan  # noqa: E402

from rackcheck.burnin import pack  # noqa: E402

GOAL = 0.1
"""Share of a core that supervisor and sampler together may take."""


def used(pid: int) -> float:
    """Return the processor time of all threads of a process, in seconds."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def measured(root: Path, seconds: float) -> tuple[float, float]:
    """Run the payload for this long; return the shares of a core of the supervisor and of the sampler."""
    made = plan(seconds, root=str(root), pulse=600)
    made["stages"] = [{"of": "cpu", "stage": "fma", "from": seconds + 60.0, "until": seconds + 61.0}]
    made["deadline"] = seconds + 70.0
    text = pack.payload(made).encode()
    process = subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-I", "-S", "-c", pack.LOADER.format(size=len(text))],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    try:
        time.sleep(3.0)  # until the processes are started
        sampler = min(pid for pid in of_session(process.pid) if pid != process.pid)
        before, began = (used(process.pid), used(sampler)), time.monotonic()
        time.sleep(seconds)
        after, passed = (used(process.pid), used(sampler)), time.monotonic() - began
    finally:
        process.stdin.close()  # this ends the burn-in
        process.wait(30)
    return (after[0] - before[0]) / passed, (after[1] - before[1]) / passed


def main() -> int:
    """Measure and print; the exit status is 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="how long to measure each node")
    given = parser.parse_args()
    worst = 0.0
    for cpus in (224, 768):
        with tempfile.TemporaryDirectory() as folder:
            supervisor, sampler = measured(large_node(Path(folder), cpus), given.seconds)
        worst = max(worst, supervisor + sampler)
        shares = f"supervisor {100 * supervisor:.2f} %, sampler {100 * sampler:.2f} % of a core"
        print(f"{cpus} CPUs: {shares}; {os.cpu_count()} real CPUs, load {os.getloadavg()[0]:.1f}")
    print(json.dumps({"goal": GOAL, "worst": round(worst, 4), "met": worst < GOAL}))
    return int(worst >= GOAL)


if __name__ == "__main__":
    sys.exit(main())
