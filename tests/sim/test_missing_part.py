"""A part missing from one node is one line of drift, diff and odd, and one group, with at most two lines beside it."""

import json
from dataclasses import dataclass
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


OTHER_PLANE = {"bmc.dimm/DevType2_DIMM5": "dimm/CPU0_DIMM_C2"}
"""The item of the OS for a part that the BMC alone lacks."""

ON = {part: f"n{number}" for number, part in enumerate(PARTS, start=2)}
"""The node that lacks a part: one of eight for each, so that the other seven have it, and three lack nothing."""


@dataclass(frozen=True)
class After:
    """A run in which each part is missing from a node of its own, and what the commands on all nodes say of it."""

    run: Path
    groups: dict[str, Any]
    drift: dict[str, Any]
    odd: dict[str, Any]


@pytest.fixture(scope="module")
def after(before: Path, tmp_path_factory: pytest.TempPathFactory) -> After:
    rows = "".join(f"  - {{ nodes: {ON[part]}, fault: {fault} }}\n" for part, (fault, _) in PARTS.items())
    run = audited(tmp_path_factory.mktemp("after"), "after", f"faults:\n{rows}")
    return After(
        run, document("groups", run), document("drift", run, "--against", before), document("odd", run)
    )  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_each_command_names_the_part_with_at_most_two_findings_beside_it(after: After, part: str) -> None:
    _, failing = PARTS[part]
    node, (collection, _, key) = ON[part], part.partition("/")

    groups = [group for group in after.groups["groups"] if group["nodes"] == [node]]
    (group,) = groups  # what follows from the missing part is in its group
    assert failing <= set(group["rules"]), group
    (named,) = group["parts"][node]
    assert named["missing"], named
    assert {part, OTHER_PLANE.get(part, part)} & set(named["items"]), named

    changes = [change for change in after.drift["changes"] if node in change["nodes"]]
    assert [(c["fact"], c["kind"], c["nodes"]) for c in changes if c["fact"] == part] == [(part, "gone", [node])]
    assert len(changes) <= 3, changes

    (role,) = after.odd["roles"]
    (one,) = (each for each in role["odd"] if each["node"] == node)
    assert (collection, f"lacks {key}") in [(each["folded"], each["value"]) for each in one["deviations"]]
    assert len(one["deviations"]) <= 3, one

    peers = document("diff", node, "peers", "--from", after.run)["differing"]
    assert len(peers) <= 3, peers
    assert part in json.dumps(peers)


def test_no_command_names_a_node_that_lacks_nothing(after: After) -> None:
    lacking = set(ON.values())
    assert {node for change in after.drift["changes"] for node in change["nodes"]} == lacking
    (role,) = after.odd["roles"]
    assert {each["node"] for each in role["odd"]} == lacking
    failing = [group for group in after.groups["groups"] if group["status"] == "fail"]
    assert {node for group in failing for node in group["nodes"]} == lacking
