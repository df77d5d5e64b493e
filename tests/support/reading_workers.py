"""The worker processes that read replies, as the system lists them, and a fleet of nodes for them to read."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

MADE = Path(__file__).parents[2] / "benchmarks" / "fleet_run.py"


def workers(parent: int) -> list[int]:
    """Return the worker processes of a process."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            about = (place / "stat").read_text().rpartition(")")[2].split()
            words = (place / "cmdline").read_text()
            if int(about[1]) == parent and about[0] != "Z" and "reading_worker" in words:
                found.append(int(place.name))
    return found


def fleet_run(folder: Path, nodes: int) -> Path:
    """Make a stored run of nodes that differ in serial numbers, counters and faults; return its folder."""
    subprocess.run([sys.executable, MADE, folder, "--nodes", str(nodes)], check=True)
    return folder
