"""Runs of one small simulated rack, made once for each process: real answers for tests that need stored runs."""

import atexit
import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from command import Done, rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck.sim import scenario

SITE = ("--set", "bios_version=1.5.3", "--set", "bmc_firmware=24.09.17")
"""Site values of the profile, as on the healthy machine."""

DECLINED = ("--no-burn-in", "no load in this test")
"""Options of `accept new` for tests whose acceptance has no step but audits."""

RUNS = {"first": (), "os": ("--planes", "os"), "bmc": ("--planes", "bmc"), "one": ("n1",)}
"""Runs by the name of their folder, each with its options."""


@cache
def folder() -> Path:
    """A folder with RUNS and the rack's `pod.yaml`: three nodes, of which n1 has a slow port and n3 no BMC answer."""
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    place = Path(kept.name)
    (place / "rack.yaml").write_text(
        "rackcheck: 1\nscenario: three\nnodes: { 'n[1-3]': { machine: dgx-h100 } }\nfaults:\n"
        "  - { nodes: n1, fault: nic-down, nic: mlx5_4 }\n  - { nodes: n3, fault: closed-bmc }\n"
    )
    (place / "pod.yaml").write_text("rackcheck: 1\nnodes:\n  n[1-3]: { host: n.invalid }\n")
    with Rack(scenario.load(place / "rack.yaml"), place) as rack:
        for name, words in RUNS.items():
            done = rackcheck("audit", *words, "-i", rack.inventory, "-p", "h100-dgx", *SITE, "-q", "-o", place / name)
            assert done.status in {0, 1, 3}, done.err
    return place


def copied(name: str, target: Path) -> Path:
    """A copy of a run, to be changed."""
    return Path(shutil.copytree(folder() / name, target / name))


def accepted(name: str, *runs: str | Path) -> Done:
    """Begin an acceptance over the rack below RACKCHECK_HOME, and add runs to it."""
    done = rackcheck("accept", "new", name, "-p", "h100-dgx", "-i", folder() / "pod.yaml", *SITE, *DECLINED)
    if done.status == 0 and runs:
        done = rackcheck("accept", "add", name, *(folder() / run if isinstance(run, str) else run for run in runs))
    return done


def edited(run: Path, /, **words: object) -> None:
    """Replace words in a run's head."""
    file = run / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | words))
