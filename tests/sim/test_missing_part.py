"""A part missing from one node is one line of drift, diff and odd, and one group, with at most two lines beside it."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from mockup_server import WatchedRack

from rackcheck.sim import scenario

SITE = ("--set", "bios_version=1.5.3", "--set", "bmc_firmware=24.09.17")


def audited(folder: Path, name: str, faults: str = "") -> Path:
    """Audit eight simulated nodes by h100-dgx; return the folder of the run."""
    file, run = folder / f"{name}.yaml", folder / "runs" / name
    file.write_text(f"rackcheck: 1\nscenario: {name}\nnodes: {{ 'n[1-8]': {{ machine: dgx-h100 }} }}\n{faults}")
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


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited(tmp_path_factory.mktemp("before"), "before")


PARTS = {
    "gpu/module-3": ("gpu-missing, gpu: 5", {"gpu.count", "gpu.on_bus", "planes.gpus"}),
    "nic/mlx5_3": ("nic-missing, nic: mlx5_3", {"nic.count", "nic.in_place"}),
    "nvme/nvme3": ("drive-missing, drive: nvme3", {"nvme.on_bus"}),
    "psu/PSU2": (
        "resource-missing, uri: /redfish/v1/Chassis/DGX/PowerSubsystem/PowerSupplies/PSU2",
        {"psu.count"},
    ),
    "bmc.dimm/DevType2_DIMM5": (
        "resource-missing, uri: /redfish/v1/Systems/DGX/Memory/DevType2_DIMM5",
        {"planes.dimm_count", "planes.dimm_serials"},
    ),
}
"""A part, the fault that removes it, and the rules that fail."""


@pytest.mark.parametrize("part", PARTS)
def test_each_command_names_the_part_with_at_most_two_findings_beside_it(
    before: Path, tmp_path: Path, part: str
) -> None:
    fault, failing = PARTS[part]
    after = audited(tmp_path, "after", f"faults: [{{ nodes: n4, fault: {fault} }}]\n")
    collection, _, key = part.partition("/")

    groups = [group for group in document("groups", after)["groups"] if group["nodes"] == ["n4"]]
    assert {rule for group in groups if group["status"] == "fail" for rule in group["rules"]} == failing
    assert len(groups) <= 3, groups

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
