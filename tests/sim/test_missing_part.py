"""A part that is gone from one node is one line of drift, diff and odd, with at most two lines beside it."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from mockup_server import WatchedRack

from rackcheck.sim import scenario

SITE = ("--set", "bios_version=1.5.3", "--set", "bmc_firmware=24.09.17")


def audited(folder: Path, name: str, faults: str = "") -> Path:
    """Audit four simulated nodes by h100-dgx; return the folder of the run."""
    file, run = folder / f"{name}.yaml", folder / "runs" / name
    file.write_text(f"rackcheck: 1\nscenario: {name}\nnodes: {{ 'n[1-4]': {{ machine: dgx-h100 }} }}\n{faults}")
    (folder / name).mkdir()
    with WatchedRack(scenario.load(file), folder / name) as rack:
        done = rackcheck("audit", "-i", rack.inventory, "-p", "h100-dgx", "-q", "-o", run, *SITE)
    assert done.status in {0, 1}, done.err
    return run


def document(*words: object) -> dict[str, Any]:
    done = rackcheck(*words, "--json")
    assert done.status == 1, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.parametrize(
    ("fault", "part"), [("nic-missing, nic: mlx5_3", "nic/mlx5_3"), ("gpu-missing, gpu: 5", "gpu/module-3")]
)
def test_each_command_names_the_part_with_at_most_two_findings_beside_it(tmp_path: Path, fault: str, part: str) -> None:
    before = audited(tmp_path, "before")
    after = audited(tmp_path, "after", f"faults: [{{ nodes: n4, fault: {fault} }}]\n")
    collection, _, key = part.partition("/")

    drift = document("drift", after, "--against", before)
    assert [(c["fact"], c["kind"], c["nodes"]) for c in drift["changes"] if c["fact"] == part] == [
        (part, "gone", ["n4"])
    ]
    assert len(drift["changes"]) <= 3, drift["changes"]

    (role,) = document("odd", after)["roles"]
    (one,) = role["odd"]
    assert one["node"] == "n4"
    assert (collection, f"lacks {key}") in [(each["folded"], each["value"]) for each in one["deviations"]]
    assert len(one["deviations"]) <= 3, one

    peers = document("diff", "n4", "peers", "--from", after)["differing"]
    assert len(peers) <= 3, peers
    assert part in json.dumps(peers)
