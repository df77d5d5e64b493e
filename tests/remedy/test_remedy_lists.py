"""`rackcheck remedy` writes the same work as text, as JSON and as files; no finding of the run is missing in it."""

import atexit
import csv
import io
import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import rackcheck
from mockup_server import WatchedRack as Rack
from rack_runs import DECLINED, SITE, accepted, folder
from work import bad, of_document

from rackcheck.session import subject
from rackcheck.sim import machine, scenario

RACK = """
rackcheck: 1
scenario: four
nodes: { 'n[1-5]': { machine: dgx-h100 } }
faults:
  - { nodes: n1, fault: nic-down, nic: mlx5_4 }
  - { nodes: n2, fault: gpu-missing, gpu: "5" }
  - { nodes: 'n[3-4]', fault: bios-setting, attribute: TurboMode, value: Disable }
  - { nodes: n4, fault: old-firmware, component: bmc, version: 24.01.01 }
  - { nodes: n4, fault: xid, gpu: "2" }
"""


@cache
def run() -> Path:
    """A stored run of five nodes, of which n5 is as it should be."""
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    place = Path(kept.name)
    (place / "rack.yaml").write_text(RACK)
    with Rack(scenario.load(place / "rack.yaml"), place) as rack:
        done = rackcheck("audit", "-i", rack.inventory, "-p", "h100-dgx", *SITE, "-q", "-o", place / "run")
        assert done.status == 1, done.err
    return place / "run"


@pytest.mark.parametrize("name", ["first", "os", "bmc", "one", "four"])
def test_the_groups_have_all_findings_of_the_run_and_no_other(name: str) -> None:
    place = run() if name == "four" else folder() / name
    summary = subject.shown(subject.find(str(place)))
    assert of_document(json.loads(rackcheck("remedy", place, "--json").out)) == bad(summary)
    assert bool(bad(summary)) is (name != "bmc")


def test_the_findings_of_an_acceptance_are_those_of_its_newest_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    assert accepted("pod", "first").status == 0, DECLINED
    summary = subject.shown(subject.find("pod"))
    assert of_document(json.loads(rackcheck("remedy", "pod", "--json").out)) == bad(summary)


def test_sections_come_in_the_order_of_the_work() -> None:
    text = rackcheck("remedy", run()).out
    heads = [line.removeprefix("# ---- ") for line in text.split("\n") if line.startswith("# ---- ")]
    kinds = [head for head in heads if not head.startswith("n[")]
    assert [kind.partition(":")[0] for kind in kinds] == [
        "BIOS",
        "Firmware to update",
        "Power cycle",
        "Cables",
        "Parts",
    ]
    assert "# n4: firmware.bmc: 24.01.01 -> 24.09.17 (firmware.bmc)" in text
    assert re.search(
        r"^# n1: NIC mlx5_4 port 1 \(PCI 0000:4f:00.0, serial MT\w+, interface ibp79s0\): state DOWN", text, re.M
    )
    assert "# n2: GPU module-3 (slot SXM6, PCI 0000:c3:00.0" in text
    assert "kernel log: Xid 79" in text


def test_each_node_is_in_the_list_of_power_cycles_once() -> None:
    doc = json.loads(rackcheck("remedy", run(), "--json").out)
    nodes = [node for each in doc["power_cycle"] for node in each["nodes"]]
    assert sorted(nodes) == ["n1", "n2", "n3", "n4", "n5"]
    (both,) = [each for each in doc["power_cycle"] if "n4" in each["nodes"]]
    assert both["restart"] == "power off and on"
    assert both["reasons"]["BIOS settings"] == ["bios.turbo"]
    assert both["reasons"]["firmware"] == ["firmware.bmc"]


def test_one_rule_and_one_node_leave_only_their_work() -> None:
    doc = json.loads(rackcheck("remedy", run(), "--nodes", "n2", "--rule", "gpu.count", "--json").out)
    assert of_document(doc) == {("n2", "gpu.count")}
    assert json.loads(rackcheck("remedy", run(), "--nodes", "n5", "--rule", "gpu.count", "--json").out)["cases"] == []


def test_a_folder_has_the_same_as_json(tmp_path: Path) -> None:
    place = tmp_path / "mend"
    doc = json.loads(rackcheck("remedy", run(), "--json", "-o", place).out)
    assert (place / "remedy.txt").read_text() == rackcheck("remedy", run()).out
    cables = list(csv.DictReader(io.StringIO((place / "cables.csv").read_text("utf-8-sig"))))
    assert [(row["node"], row["device"], row["port"]) for row in cables] == [
        (row["node"], row["device"], row["port"]) for row in doc["cables"]
    ]
    firmware = list(csv.DictReader(io.StringIO((place / "firmware.csv").read_text("utf-8-sig"))))
    assert [(row["from"], row["to"]) for row in firmware] == [(row["from"], row["to"]) for row in doc["firmware"]]
    names = sorted(path.name for path in (place / "cases").iterdir())
    assert names == ["n2-GPU-module-3.md", "n4-GPU-module-6.md"]
    assert len(names) == len(doc["cases"])
    case = (place / "cases" / "n4-GPU-module-6.md").read_text()
    for text in (
        "node: n4",
        "slot: SXM3",
        "serial number: ",
        "part number: ",
        "kernel log: Xid 79",
        "log.no_fatal_xid",
    ):
        assert text in case
    power = (place / "power-cycle.txt").read_text()
    assert "n4: power off and on" in power
    assert all(each["folded"] in power for each in doc["power_cycle"])


def test_a_run_without_such_work_writes_no_such_files(tmp_path: Path) -> None:
    rackcheck("remedy", run(), "--nodes", "n5", "-o", tmp_path / "mend")
    assert sorted(path.name for path in (tmp_path / "mend").iterdir()) == ["power-cycle.txt", "remedy.txt", "set-1.sh"]


ERRORS = "/sys/class/net/enp41s0f0np0/device/net/enp41s0f0np0/statistics/rx_crc_errors"
BOND = "/proc/net/bonding/bond0"


def test_a_cable_is_listed_with_its_switch_port_and_a_bond_with_the_member_that_is_down(tmp_path: Path) -> None:
    bond = machine.load(machine.shipped()["dgx-h100"], "n2", 2).host.files[BOND]
    head, member, rest = bond.partition("Slave Interface: ")
    (tmp_path / "rack.yaml").write_text(
        json.dumps({
            "rackcheck": 1, "scenario": "cables", "nodes": {"n[1-2]": {"machine": "dgx-h100"}},
            "faults": [
                {"nodes": "n1", "fault": "file", "path": ERRORS, "text": "123456\n"},
                {"nodes": "n2", "fault": "file", "path": BOND,
                 "text": head + member + rest.replace("MII Status: up", "MII Status: down", 1)},
            ],
        })
    )  # fmt: skip
    with Rack(scenario.load(tmp_path / "rack.yaml"), tmp_path) as rack:
        rackcheck("audit", "-i", rack.inventory, "-p", "h100-dgx", *SITE, "-q", "-o", tmp_path / "run")
    cables = json.loads(rackcheck("remedy", tmp_path / "run", "--json").out)["cables"]
    assert [
        (row["node"], row["interface"], row["switch"], row["switch_port"], [each["rule"] for each in row["findings"]])
        for row in cables
    ] == [
        ("n1", "enp41s0f0np0", "leaf-11", "swp1s1", ["links.few_crc_errors"]),
        ("n2", "enp41s0f1np1", "leaf-11", "swp2s2", ["bond.members_up"]),
    ]
    assert "switch leaf-11 port swp1s1" in rackcheck("remedy", tmp_path / "run").out
