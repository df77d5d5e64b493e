"""Causes planted in a whole run of simulated DGX H100, and the causes that `groups` names.

    python benchmarks/planted_fleet.py FOLDER --nodes 1024
    python benchmarks/planted_fleet.py FOLDER --nodes 1024 --healthy

The nodes are in racks of eight, two racks on a PDU, 32 nodes on a switch that LLDP names. The causes are a rack, a PDU,
a switch, a slot, a train of BIOS versions, a batch of transceivers and an image (another kernel); each makes all of its
nodes fail one rule, and one more rule fails for a rack and for a BIOS train together. In addition 2 % of all nodes have
each of these faults by chance. With `--healthy`, only these 2 % have them. The replies of the nodes are read and judged
as those of an audit, and `rackcheck groups --json` is compared with what was planted. The exit status is 1 if a planted
cause is not named, or if a finding without one has a cause.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random

import fleet_run
from fleet_run import SITE, TIME

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.capture import Output
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase
from rackcheck.model.question import Read
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered, RunDone, RunStarted
from rackcheck.run.job import Job
from rackcheck.run.run_writer import RunWriter
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.sim import edit, faults, machine
from rackcheck.sim.behaviour import Station

NOISE = 0.02
"""The share of all nodes that have each fault by chance."""

SWITCH = 32
"""Number of nodes on a switch."""

Members = Callable[[int], bool]
"""Whether the node with this number has a trait."""

Change = Callable[[Station], Station]


@dataclass(frozen=True)
class Cause:
    """A fault, and the nodes that have it, by the word by which a hint names what they share.

    `trait` changes the nodes in what they share, for example their BIOS version.
    """

    fault: str
    words: Mapping[str, str]
    members: Mapping[str, Members]
    trait: Mapping[str, Change] = field(default_factory=dict)


def causes(count: int) -> tuple[Cause, ...]:
    """Return what is planted in a fleet of this many nodes."""
    train, image, batch, other = (_some(size, count) for size in (24, 40, 12, 9))
    return (
        Cause("bios-setting", {"attribute": "TurboMode", "value": "Disable"}, {"r0007": lambda n: n // 8 == 7}),
        Cause("gpu-width", {"gpu": "2"}, {"pdu03": lambda n: n // 16 == 3}),
        Cause("nic-down", {"nic": "mlx5_4"}, {"leaf-02": lambda n: n // SWITCH == 2}),
        Cause("drive-missing", {"drive": "nvme4"}, {"slot s6": lambda n: n % 8 == 6}),
        Cause("bios-setting", {"attribute": "SRIOVEnable", "value": "Disable"}, {"1.0.9": train},
              {"1.0.9": _bios("1.0.9")}),
        Cause("file", {"path": "/proc/sys/vm/swappiness", "text": "60\n"}, {IMAGE: image},
              {IMAGE: partial(_texts, before="5.15.0-1053", after=IMAGE)}),
        Cause("nic-missing", {"nic": "mlx5_0"}, {BATCH: batch}, {BATCH: partial(_texts, before=CABLE, after=BATCH)}),
        Cause("xid", {"gpu": "2"}, {"r0012": lambda n: n // 8 == 12, "1.0.8": other}, {"1.0.8": _bios("1.0.8")}),
    )  # fmt: skip


CABLE, BATCH = "MMA4Z00-NS400", "MMA4Z00-NS4XX"
IMAGE = "5.15.0-1046"


def _some(size: int, count: int) -> Members:
    """Return a test for some scattered nodes."""
    return frozenset(Random(size).sample(range(count), size)).__contains__  # noqa: S311  a model, no secret


def _bios(version: str) -> Change:
    return lambda station: faults.lay(station, "bios-version", {"version": version})


def _texts(station: Station, before: str, after: str) -> Station:
    """Replace a text in all replies of a node, of both planes."""
    host = station.machine.host
    commands = {
        name: replace(output, out=output.out.replace(before, after)) if isinstance(output, Output) else output
        for name, output in host.commands.items()
    }
    files = {path: text.replace(before, after) for path, text in host.files.items()}
    bodies = {
        uri: json.loads(json.dumps(body).replace(before, after))
        for uri, body in station.machine.bmc.bodies.items()
        if isinstance(body, dict)
    }
    return edit.bodies(edit.host(station, commands=commands, files=files), bodies)


def station(node: str, number: int, planted: Sequence[Cause], *, healthy: bool) -> Station:
    """Return one node of the fleet, with its faults."""
    draw = Random(number)  # noqa: S311  a model, no secret
    made = Station(node, number + 1, machine.load(machine.shipped()["dgx-h100"], node, number + 1))
    made = _texts(made, "leaf-11", f"leaf-{number // SWITCH:02}")
    for cause in planted:
        for word, holds in cause.members.items():
            if holds(number) and word in cause.trait:
                made = cause.trait[word](made)
        if draw.random() < NOISE or (not healthy and any(holds(number) for holds in cause.members.values())):
            made = faults.lay(made, cause.fault, dict(cause.words))
    return made


def write(folder: Path, count: int, *, healthy: bool) -> None:
    """Write a run of this many nodes to an empty folder, with its verdicts."""
    profile = library.load("h100-dgx", registry().catalogue, SITE)
    plan = registry().planned(profile, {Phase.CONFIG})
    globs = {glob: None for probe in plan.probes if isinstance(probe.ask, Read) for glob in probe.ask.globs}
    nodes = tuple(
        replace(node, slot=f"s{number % 8}", pdu=f"pdu{number // 16:02}")
        for number, node in enumerate(fleet_run.nodes(count))
    )
    job = Job(plan, nodes, profile, targets="all", time=TIME)
    planted = causes(count)
    with RunWriter(folder, head(Prepared(job, folder, SITE, (), (), {})), profile.files) as writer:
        writer.write(job.started())
        for number, node in enumerate(nodes):
            made = station(node.name, number, planted, healthy=healthy)
            found = fleet_run.captures(globs, made, number, Random(number))  # noqa: S311  a model, no secret
            for plane, capture in zip((Plane.OS, Plane.BMC), found, strict=True):
                writer.write(Answered(node.name, plane, TIME, None, capture))
        for event in replay(job, store.find(str(folder)).answers(), RunDone(TIME, Outcome.PASS)):
            if not isinstance(event, RunStarted | Answered):
                writer.write(event)


def compared(folder: Path, count: int, *, healthy: bool) -> bool:
    """Print the causes that `groups` names, beside what was planted; return whether they agree."""
    command = [sys.executable, "-m", "rackcheck", "groups", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own program
    groups = json.loads(done.stdout)["groups"]
    hints = [(group["rule"], group["hint"]) for group in groups if group.get("hint", {}).get("about") not in QUIET]
    words = {} if healthy else {word: cause.fault for cause in causes(count) for word in cause.members}
    named = {word for word in words for _, hint in hints if word in hint["sentence"]}
    false = [(rule, hint) for rule, hint in hints if not any(word in hint["sentence"] for word in words)]
    for rule, hint in hints:
        print(f"{'FALSE ' if (rule, hint) in false else ''}{rule}: {hint['sentence']}")
    for word in words.keys() - named:
        print(f"NOT NAMED {word}: {words[word]}")
    print(f"{count} nodes, {len(groups)} findings: {len(named)} of {len(words)} causes named, {len(false)} false")
    return not false and len(named) == len(words)


QUIET = frozenset({None, "alone", "profile"})
"""Hints that name no cause: of a finding on one node, and of a finding on the whole fleet."""


def main() -> int:
    """Write the run, and compare what is named with what was planted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=1024)
    parser.add_argument("--healthy", action="store_true")
    given = parser.parse_args()
    write(given.folder, given.nodes, healthy=given.healthy)
    return 0 if compared(given.folder, given.nodes, healthy=given.healthy) else 1


if __name__ == "__main__":
    sys.exit(main())
