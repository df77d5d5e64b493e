"""Cost of ten silent BMCs in an audit of a hundred BMCs, compared with an audit of the ninety healthy BMCs alone.

The simulated BMCs run in their own process and share this machine's cores with the client, so the seconds are an upper
bound. The silent BMCs must cost the time of one connection, independent of their number and of the other BMCs' time.
The audit calls the library, contacts all BMCs at once, and reads BIOS settings, firmware and clocks.

    python benchmarks/bmc_fleet.py
"""

import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.pop(0)  # this folder: one of its benchmarks has the name of the DMTF's library

from rackcheck import inventory
from rackcheck.model.fact import Plane
from rackcheck.model.path import parse
from rackcheck.probe.plan import plan
from rackcheck.probe.registry import registry
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.session.secrets import secrets_of
from rackcheck.sim import child
from rackcheck.transport.redfish import Limits

ROUNDS = 3
DEADLINE = 20.0
"""Time limit for one BMC in seconds."""

BAR = 1.3
"""Greatest permitted time for all BMCs: this multiple of the healthy BMCs' time, plus the time of one silent BMC."""

MILLISECONDS = 50
SETS = {"90 healthy": "n[01-90]", "90 healthy, 10 silent": "n[01-90],d[01-10]"}
FACTS = ("bios.smt", "bios.turbo", "firmware.bios", "firmware.bmc", "bmc.manager/*.offset", "bmc.system/*.health")


def measured(name: str, nodes: str, place: Path) -> tuple[float, Counter[str]]:
    """Audit one fleet; returns its seconds, and the number of BMCs by result: read completely, or why not."""
    file = place / f"{nodes.count(',')}.yaml"
    sets = "".join(f'  "{one}": {{ machine: dgx-h100 }}\n' for one in nodes.split(","))
    faults = 'faults: [{ nodes: "d[01-10]", fault: silent-bmc }]\n' if "d[" in nodes else ""
    head = f"rackcheck: 1\nscenario: fleet\nbmc: {{ milliseconds: {MILLISECONDS}, workers: 4, sessions: 16 }}\n"
    file.write_text(f"{head}nodes:\n{sets}{faults}")
    known = registry()
    planned = plan(map(parse, FACTS), known.probes, known.catalogue, known.joins)
    bmc = frozenset({Plane.BMC})
    with child.running(str(file)) as listed:
        asked = tuple(inventory.load(listed).nodes.values())
        job = Job(planned, asked, planes=bmc, secrets=secrets_of(asked, bmc), seconds=DEADLINE)
        began = time.monotonic()
        answers = [event for event in audit(job, ask_plane, threading.Event()) if isinstance(event, Answered)]
        took = time.monotonic() - began
    value = Counter("complete" if a.trouble is None else a.trouble.reason.value for a in answers)
    print(f"{name:<24} {took:6.2f} s   {', '.join(f'{n} {why}' for why, n in sorted(value.items()))}")
    return took, value


def main() -> None:
    """Measure, print medians, and whether the limit holds."""
    medians = {}
    with tempfile.TemporaryDirectory() as place:
        for name, nodes in SETS.items():
            rounds = [measured(name, nodes, Path(place)) for _ in range(ROUNDS)]
            if any(value["complete"] != 90 for _, value in rounds):
                sys.exit("a healthy BMC was not read completely")
            medians[name] = statistics.median(took for took, _ in rounds)
    alone, beside = medians.values()
    print(f"90 healthy               {alone:6.2f} s (median of {ROUNDS})")
    print(f"10 silent beside them    {beside:6.2f} s, {beside / alone:.2f} times as long")
    one = Limits().connect
    bar = BAR * alone + one
    print(f"bar                      {bar:6.2f} s ({BAR} times, and {one:g} s in which one silent BMC is given up)")
    sys.exit(beside > bar)


if __name__ == "__main__":
    main()
