"""Make a stored run of simulated DGX H100 for benchmarks, without servers: the replies come from the machine's data.

Each node has its own serials, addresses and counters; 62 % of the nodes share one fault (a NIC port that is down), 30 %
have one of their own. With `--different`, all replies of a node differ from those of the other nodes, in blanks that
no parser reads and in a property of each BMC resource: the worst case for everything that keeps readings.

    python benchmarks/fleet_run.py FOLDER --nodes 64
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random

from rackcheck.evaluate.verdict import Outcome
from rackcheck.inventory import BmcAccess, Node
from rackcheck.model.capture import BmcCapture, Capture, NodeCapture, Output
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase
from rackcheck.model.question import Read
from rackcheck.model.resource import Body
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered, RunDone, RunStarted
from rackcheck.run.job import Job
from rackcheck.run.run_writer import RunWriter
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.sim import faults, machine
from rackcheck.sim.behaviour import Station

TIME = "2026-11-21T08:00:00Z"
SITE = {"bios_version": "1.5.3", "bmc_firmware": "24.09.17"}
OWN: tuple[tuple[str, dict[str, str]], ...] = (
    ("nic-missing", {"nic": "mlx5_0"}),
    ("gpu-missing", {"gpu": "3"}),
    ("xid", {"gpu": "2"}),
    ("bios-version", {"version": "1.0.9"}),
    ("drive-missing", {"drive": "nvme4"}),
)
"""Faults that one node in a group of nodes has."""

COUNTERS = re.compile(r"/counters/|/hw_counters/|/statistics/")
READINGS = {"Reading", "PowerConsumedWatts", "PowerOutputWatts", "PowerInputWatts", "ReadingVolts"}


def nodes(count: int) -> tuple[Node, ...]:
    """Return the nodes of the fleet, eight in each rack."""
    bmc = BmcAccess("https://bmc.invalid", user="root")
    return tuple(Node(f"n{n:05}", host="n.invalid", bmc=bmc, rack=f"r{n // 8:04}") for n in range(count))


def faulty(node: str, number: int, draw: Random) -> Station:
    """Return one node with its fault, if it has one."""
    station = Station(node, number + 1, machine.load(machine.shipped()["dgx-h100"], node, number + 1))
    if draw.random() < 0.62:
        return faults.lay(station, "nic-down", {"nic": "mlx5_4"})
    return faults.lay(station, *draw.choice(OWN)) if draw.random() < 0.3 / 0.38 else station


def captures(
    globs: dict[str, None], station: Station, number: int, draw: Random, *, different: bool = False
) -> Iterator[Capture]:
    """Yield the replies of one node: of its operating system, and of its BMC."""
    host, bmc = station.machine.host, station.machine.bmc
    files = {path: _counted(text, draw) if COUNTERS.search(path) else text for path, text in host.files.items()}
    clock = int(datetime.fromisoformat(TIME).timestamp())
    commands = {CLOCK: Output(0, f"{clock} {clock}.{draw.randrange(10**9):09}\n"), **host.commands}
    bodies = {uri: _moved(body, draw) if isinstance(body, dict) else body for uri, body in bmc.bodies.items()}
    if different:
        blank = " " * (number + 1)
        files = {path: _padded(text, blank) for path, text in files.items()}
        commands = {
            command: replace(output, out=_padded(output.out, blank)) if isinstance(output, Output) else output
            for command, output in commands.items()
        }
        bodies = {uri: {**body, "Number": number} if isinstance(body, dict) else body for uri, body in bodies.items()}
    yield NodeCapture(commands, globs, files, host.refused)
    yield BmcCapture(
        bodies, {uri: TIME for uri, body in bodies.items() if isinstance(body, dict) and "DateTime" in body}
    )


CLOCK = 'echo "$RACKCHECK_SENT $RACKCHECK_CLOCK"'


def _counted(text: str, draw: Random) -> str:
    """Return a counter that traffic has moved; a counter at 0 counts errors, and stays."""
    count = text.strip()
    return f"{int(count) + draw.randrange(1, 1 << 20)}\n" if count.isdigit() and int(count) else text


def _moved(body: Body, draw: Random) -> Body:
    """Return a resource whose sensors read up to 1 % more."""
    return {
        key: round(value * (1 + draw.random() / 100), 3)
        if key in READINGS and isinstance(value, float | int)
        else value
        for key, value in body.items()
    }


def _padded(text: str, blank: str) -> str:
    """Return a text with blanks at the end of its first line."""
    first, line, rest = text.partition("\n")
    return f"{first}{blank}{line}{rest}" if line else text


def write(folder: Path, count: int, *, different: bool = False) -> None:
    """Write a run of this many nodes to an empty folder, with its verdicts."""
    catalogue = registry().catalogue
    profile = library.load("h100-dgx", catalogue, SITE)
    plan = registry().planned(profile, {Phase.CONFIG})
    globs = {glob: None for probe in plan.probes if isinstance(probe.ask, Read) for glob in probe.ask.globs}
    job = Job(plan, nodes(count), profile, targets="all", time=TIME)
    made = Prepared(job, folder, SITE, (), (), {})
    with RunWriter(folder, head(made), profile.files) as writer:
        writer.write(job.started())
        for number, node in enumerate(job.nodes):
            draw = Random(number)  # noqa: S311  a model, no secret
            station = faulty(node.name, number, draw)
            found = captures(globs, station, number, draw, different=different)
            for plane, capture in zip((Plane.OS, Plane.BMC), found, strict=True):
                writer.write(Answered(node.name, plane, TIME, None, capture))
        # The replies are read back, because those of all nodes do not fit into memory.
        for event in replay(job, store.find(str(folder)).answers(), RunDone(TIME, Outcome.PASS)):
            if not isinstance(event, RunStarted | Answered):
                writer.write(event)


def main() -> None:
    """Write the run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--different", action="store_true")
    given = parser.parse_args()
    write(given.folder, given.nodes, different=given.different)


if __name__ == "__main__":
    main()
