"""Rules about several nodes, from the command line on: run on a simulated rack over real SSH and HTTPS."""

import json
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from command import rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck.sim import scenario

PROFILE = """
rackcheck: 1
profile: together
version: 1
rules:
  bios.alike:
    title: All nodes have the same BIOS settings
    across: { facts: ['bios.*', firmware.bios] }
    agree: { quorum: 75 % }
  gpu.count: { title: Eight GPUs, count: gpu, is: 8 }
  rack.gpus: { title: The rack has all its GPUs, scope: rack, fact: rack.gpu_count, is: 32 }
  rack.bios: { title: One BIOS, scope: rack, fact: rack.alike.bios, is: true }
  fleet.gpus: { title: The hall has all its GPUs, scope: fleet, fact: fleet.gpu_count, is: 40 }
"""
RACK = """
rackcheck: 1
scenario: five
nodes:
  'n[1-4]': { machine: dgx-h100, rack: a01 }
  n5: { machine: dgx-h100, rack: a02 }
faults:
  - { nodes: n3, fault: bios-setting, attribute: ProcessorHyperThreadingDisable, value: Disabled }
  - { nodes: n5, fault: gpu-missing, gpu: '0' }
"""


@cache
def folder(tmp: Path) -> Path:
    """A folder with the runs `all` and `two` of five nodes in two racks."""
    (tmp / "rack.yaml").write_text(RACK)
    (tmp / "together.yaml").write_text(PROFILE)
    with Rack(scenario.load(tmp / "rack.yaml"), tmp) as rack:
        for name, words in {"all": (), "two": ("n1", "n2"), "one-rack": ("n[1-4]",)}.items():
            done = rackcheck("audit", *words, "-i", rack.inventory, "-p", tmp / "together.yaml", "-q", "-o", tmp / name)
            assert done.status in {0, 1, 3}, done.out + done.err
    return tmp


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("together"))


def document(run: Path) -> dict[str, dict[str, dict[str, object]]]:
    done = rackcheck("audit", "--from", run, "--json")
    found: dict[str, dict[str, dict[str, object]]] = json.loads(done.out)
    return found


def statuses(run: Path, rule: str) -> dict[str, str]:
    """How a rule was judged, by node or group."""
    values = document(run)
    everyone = {**values["nodes"], **values.get("groups", {})}
    return {
        name: verdict["status"]
        for name, each in everyone.items()
        for verdict in each["verdicts"]  # type: ignore[attr-defined]
        if verdict["rule"] == rule
    }


def test_the_odd_one_of_five_fails_and_the_others_pass(runs: Path) -> None:
    assert statuses(runs / "all", "bios.alike") == {f"n{i}": "fail" if i == 3 else "pass" for i in range(1, 6)}
    shown = " ".join(rackcheck("audit", "--from", runs / "all").out.split())
    assert "bios.attribute/ProcessorHyperThreadingDisable is Disabled, must be Enabled as on 4 of 5" in shown
    assert "1 of 5: n3" in shown


def test_racks_and_the_fleet_are_judged_as_a_whole_and_named(runs: Path) -> None:
    assert statuses(runs / "all", "rack.gpus") == {"@rack:a01": "pass", "@rack:a02": "fail"}
    assert statuses(runs / "all", "rack.bios") == {"@rack:a01": "pass", "@rack:a02": "pass"}
    assert statuses(runs / "all", "fleet.gpus") == {"@fleet": "fail"}
    shown = " ".join(rackcheck("audit", "--from", runs / "all").out.split())
    assert "rack.gpu_count is 7, must be 32" in shown
    assert "1 of 2 racks: a02" in shown


def test_rules_that_need_more_nodes_are_not_in_scope_and_listed(runs: Path) -> None:
    for rule in ("bios.alike", "rack.gpus", "fleet.gpus"):
        assert statuses(runs / "two", rule) == {}
    shown = rackcheck("audit", "--from", runs / "two")
    text = " ".join(shown.out.split())
    assert "1 rule across nodes not judged, because there are too few nodes: bios.alike" in text
    assert "2 rack rules not judged, no rack was read completely: rack.gpus, rack.bios" in text
    assert "1 fleet rule not judged, not all nodes were read: fleet.gpus" in text
    assert shown.status == 0


def test_one_whole_rack_is_judged_beside_a_quorum_of_all_that_are_expected(runs: Path) -> None:
    assert statuses(runs / "one-rack", "rack.gpus") == {"@rack:a01": "pass"}
    assert statuses(runs / "one-rack", "fleet.gpus") == {}
    # Three of four nodes read are three of five expected: less than three quarters.
    assert set(statuses(runs / "one-rack", "bios.alike").values()) == {"unknown"}


def test_a_stored_run_is_judged_the_same_again(runs: Path) -> None:
    first, second = (rackcheck("audit", "--from", runs / "all", "--json").out for _ in range(2))
    assert first == second


def test_the_document_states_the_outcome_of_racks(runs: Path) -> None:
    done = rackcheck("report", runs / "all", "--format", "markdown")
    assert "**A** `rack.gpus` on `1 of 2 racks: a02`: `rack.gpu_count is 7, must be 32`" in done.out
    assert "- ❌ FAIL: `1 of 2 racks: a02, the fleet`" in done.out
    value = json.loads(rackcheck("report", runs / "all", "--format", "json").out)["report"]
    assert [(group["name"], group["outcome"]) for group in value["groups"]] == [
        ("@rack:a01", "PASS"), ("@rack:a02", "FAIL"), ("@fleet", "FAIL"),
    ]  # fmt: skip
    assert ("rack.gpus", ["@rack:a02"]) in [(finding["rule"], finding["nodes"]) for finding in value["findings"]]


@pytest.mark.parametrize("form", ["html", "junit", "csv", "pdf"])
def test_every_form_of_the_document_can_be_made(runs: Path, form: str, tmp_path: Path) -> None:
    done = rackcheck("report", runs / "all", "--format", form, "-o", tmp_path / f"report.{form}")
    assert done.status == 0, done.err


def test_a_run_with_verdicts_of_racks_is_listed_and_its_nodes_are_compared(runs: Path) -> None:
    done = rackcheck("diff", "n1", "n3", "--from", runs / "all")
    assert done.status in {0, 1}, done.err
    assert "is not a node of the run" not in done.err


def test_what_is_wrong_with_the_fleet_is_waived_by_its_name(runs: Path, tmp_path: Path) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    words = ("--until", until, "--by", "Jo", "--ticket", "T-1", "--reason", "a GPU is on its way")
    file = tmp_path / "w.yaml"
    made = rackcheck("waive", "fleet.gpus", "--nodes", "@fleet", "--from", runs / "all", *words, "--file", file)
    assert made.status == 0, made.err
    done = json.loads(rackcheck("audit", "--from", runs / "all", "--waivers", file, "--json").out)
    (found,) = (each for each in done["findings"] if each["rule"] == "fleet.gpus")
    assert found["status"] == "waived"
