"""An audit whose controller is killed three times and continued, beside the same audit without a kill.

200 simulated nodes, 20 of which are faulty in ten ways. Each kill is a SIGKILL when a quarter, a half and three
quarters of the planes have been stored. The verdicts with all their evidence, except for measured clock offsets, and
the number of answers of both runs must be the same.

    python benchmarks/chaos.py [--nodes 200]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

FAULTS = (
    "fault: silent-node", "fault: closed-node", "fault: refused-login", "fault: changed-host-key", "fault: silent-bmc",
    "fault: hanging-bmc", "fault: refused-bmc-login", "fault: gpu-missing, gpu: 5", "fault: nic-down, nic: mlx5_4",
    "fault: bios-setting, attribute: TurboMode, value: Disable",
)  # fmt: skip
SILENT = 7
"""The number of these faults of which a plane is unknown."""

POINTS = (0.25, 0.5, 0.75)


def scenario(count: int, faulty: int) -> str:
    """A rack of which the first `faulty` nodes have one of the faults each."""
    rows = "".join(f"  - {{ nodes: n{n + 1:04}, {FAULTS[n % len(FAULTS)]} }}\n" for n in range(faulty))
    return (
        "rackcheck: 1\nscenario: chaos\nbmc: { milliseconds: 2, workers: 4, sessions: 16 }\nnodes:\n"
        f'  "n[0001-{count:04}]": {{ machine: dgx-h100 }}\nfaults:\n{rows}'
    )


def events(folder: Path) -> list[dict[str, Any]]:
    """The events of a run."""
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def unknown(folder: Path) -> int:
    """The number of planes of a run that are unknown."""
    return sum("unknown" in doc for doc in events(folder) if doc["event"] == "answered")


def judged(folder: Path) -> tuple[list[str], Counter[str]]:
    """The lines of the verdicts of a run without measured clock offsets, and how often each plane was answered."""
    lines = events(folder)
    for evidence in (
        e for doc in lines if doc["event"] == "judged" for v in doc["verdicts"] for e in v.get("evidence", ())
    ):
        if evidence.get("item", "").endswith((".offset", ".ahead")):
            evidence.pop("observed", None)
            evidence.pop("exact", None)
    verdicts = sorted(json.dumps(doc, sort_keys=True) for doc in lines if doc["event"] == "judged")
    return verdicts, Counter(f"{doc['node']} {doc['plane']}" for doc in lines if doc["event"] == "answered")


def answered(folder: Path) -> int:
    """The number of answers that a run has stored."""
    path = folder / "events.jsonl"
    return path.read_bytes().count(b'{"event":"answered"') if path.exists() else 0


def started(home: Path, *words: str) -> "subprocess.Popen[bytes]":
    """Start a command of rackcheck."""
    return subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-m", "rackcheck", *words], env={**os.environ, "RACKCHECK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip


def main() -> int:
    """Print what was killed when, and compare the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    count = parser.parse_args().nodes
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "chaos.yaml").write_text(scenario(count, count // 10))
        home = place / "home"
        up = started(home, "sim", "up", str(place / "chaos.yaml"), "-o", str(place / "up"))
        inventory = place / "up" / "inventory.yaml"
        while not inventory.exists():
            time.sleep(0.5)
        time.sleep(5)
        try:
            given = ["-i", str(inventory), "-q"]
            began = time.monotonic()
            status = started(home, "audit", "-p", "h100-dgx", "-o", str(place / "whole"), *given).wait()
            print(f"undisturbed: exit {status}, {time.monotonic() - began:.0f} s", flush=True)
            folder, words = place / "run", ["audit", "-p", "h100-dgx", "-o", str(place / "run")]
            for point in POINTS:
                child = started(home, *words, *given)
                while child.poll() is None and answered(folder) < point * 2 * count:
                    time.sleep(0.05)
                child.send_signal(signal.SIGKILL)
                status = child.wait()
                print(f"killed: {answered(folder)} of {2 * count} planes answered, exit {status}", flush=True)
                words = ["audit", "--resume", str(folder)]
            print(f"continued: exit {started(home, *words, *given).wait()}", flush=True)
        finally:
            up.terminate()
            up.wait()
        (before, first), (after, second) = judged(place / "whole"), judged(folder)
        lost, gone = unknown(place / "whole"), unknown(folder)
        expected = sum(n % len(FAULTS) < SILENT for n in range(count // 10))
        differ = len(set(before) ^ set(after))
        print(
            f"verdicts: {len(before)} and {len(after)} lines, {differ} differ; planes answered: {len(first)} and "
            f"{len(second)}, more than once: {sum(n > 1 for n in second.values())}; unknown: {lost} and {gone} of "
            f"{expected} expected"
        )
        return 0 if not differ and first == second and lost == gone == expected else 1


if __name__ == "__main__":
    sys.exit(main())
