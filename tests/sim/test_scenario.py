"""Scenario files: every mistake is reported with its place, and no impossible rack is started."""

import json
from pathlib import Path

import pytest
from trees import tree

from rackcheck.base.user_error import UserError
from rackcheck.inventory import load as inventory
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.sim import machine, scenario
from rackcheck.sim.behaviour import Station
from rackcheck.sim.rack import SimRack

HEAD = "rackcheck: 1\nscenario: one\n"
ONE = HEAD + "nodes: { n1: { machine: dgx-h100 } }\nfaults:\n"
"""A scenario of one node, whose faults begin at line 5."""

HOST = NodeCapture(commands={"id -u": Output(0, "0\n")})


def written(folder: Path, text: str) -> Path:
    file = folder / "rack.yaml"
    file.write_text(text)
    return file


def mistake(folder: Path, text: str) -> str:
    """Load an invalid scenario; returns the error."""
    with pytest.raises(UserError) as caught:
        scenario.load(written(folder, text))
    return str(caught.value)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("gpu-mising, gpu: 1", "no fault gpu-mising; did you mean gpu-missing?"),
        ("frobnicate", "no fault frobnicate; rackcheck sim show --faults lists them"),
        ("gpu-missing", "gpu-missing lacks `gpu`"),
        ("gpu-missing, gpu: 9", "no GPU 9: the machine has 0 to 7"),
        ("gpu-missing, gpu: -1", "no GPU -1: the machine has 0 to 7"),
        ("gpu-missing, gpu: one", "`gpu` must be a whole number, not 'one'"),
        ("gpu-missing, gpu: 1, lanes: 8", "takes no `lanes`; it takes gpu"),
        ("gpu-missing, gpus: 1", "takes no `gpus`; did you mean gpu?"),
        ("gpu-width, gpu: 1, lane: 8", "takes no `lane`; did you mean lanes?"),
        ("gpu-width, gpu: 1, lanes: [8]", "`faults[1].lanes`"),
        ("gpu-width, gpu: 1, lane: [8]", "takes no `lane`; did you mean lanes?"),
        ("silent-node, fre: 1", "silent-node takes no `fre`"),
        ("bad-answers", "bad-answers lacks `how`"),
        ("bad-answers, how: htm", "`how` must be one of "),
        ("bad-answers, how: htm", "not 'htm'; did you mean html?"),
        ("bad-answers, how: html, uri: /redfish/v1/System", "did you mean /redfish/v1/Systems, /redfish/v1/Systems/DGX or "),
        ("nic-down, nic: mlx5_44", "/sys/class/infiniband/mlx5_44; did you mean mlx5_4?"),
        ("nic-down, nic: 3", "no /sys/class/infiniband/3; it has mlx5_[0-9],mlx5_[10-11]"),
        ("nic-down, nic: mlx5_0, port: 7", "no /sys/class/infiniband/mlx5_0/ports/7; it has 1"),
        ("drive-missing, drive: 3", "no /sys/class/nvme/3; it has nvme[0-9]"),
        ("bios-setting, attribute: SriovEnable, value: x", "has no attribute SriovEnable; did you mean SRIOVEnable?"),
        ("tool-missing, tool: frobnicate", "uses frobnicate"),
        ("old-firmware, component: Nope, version: 1", "no firmware Nope"),
        ("file, path: etc/fstab, text: x", "`path` must be an absolute path, not 'etc/fstab'"),
        ("unreadable-file, path: proc/cmdline", "`path` must be an absolute path, not 'proc/cmdline'"),
        ("unreadable-file, path: /proc/sys/kernel/taintd", "no file /proc/sys/kernel/taintd; did you mean /proc/sys/"),
        ("resource, uri: /redfish/v1/System/DGX, name: Model, value: x", "did you mean /redfish/v1/Systems/DGX?"),
        ("resource, uri: /redfish/v1/Systems/DGX, name: Modl, value: x", "no property Modl; did you mean Model?"),
        ("resource, uri: /redfish/v1/Systems/DGX, name: Status.Helth, value: x", "no property Helth; did you mean Health?"),
        ("resource, uri: /redfish/v1/Systems/DGX, name: Status, value: x", "the property Status is not a text; it has"),
        ("resource, uri: /redfish/v1/Systems/DGX, name: Model.x, value: x", "the property Model has no properties"),
    ],
)  # fmt: skip
def test_an_error_in_a_fault_is_reported_with_its_place_and_the_nearest_right_word(
    tmp_path: Path, fault: str, message: str
) -> None:
    text = mistake(tmp_path, ONE + f"  - {{ nodes: n1, fault: {fault} }}\n")
    assert message in text
    assert f"{tmp_path / 'rack.yaml'}:5:" in text
    assert len(text) < 400, "no list of all there is"


NUMBERS = {
    "bmc-sessions, free": ("0", "16", "-1", "17"),
    "slow-bmc, milliseconds": ("0", "600000", "-1", "600001"),
    "node-clock, seconds": ("-1000000000", "1000000000", "-1000000001", "1000000001"),
    "bmc-clock, year": ("1970", "9999", "-5", "10000", "1969"),
    "gpu-missing, gpu": ("0", "7", "-1", "8"),
    "gpu-width, gpu: 0, lanes": ("1", "16", "0", "3", "32", "-8", "08", "x16"),
    "xid, number": ("1", "9999", "0", "10000", "-1"),
    "few-connections, most": ("1", "1000", "0", "1001", "-1"),
    "bad-answers, how: busy, times": ("1", "1000000", "0", "1000001", "-1"),
    "xid, gpu": ("0", "7", "-1", "8"),
}
"""Every number that a fault takes: two within its bounds, and those outside."""

ANYTHING = ("", "x", "1e3", "1.5", "٣", "999999999999999")


@pytest.mark.parametrize("word", NUMBERS)
def test_every_number_of_a_fault_has_bounds_and_is_reported_beyond_them(tmp_path: Path, word: str) -> None:
    low, high, *beyond = NUMBERS[word]
    for value in (low, high):
        station = scenario.load(written(tmp_path, ONE + f"  - {{ nodes: n1, fault: {word}: {value} }}\n")).stations[0]
        folder = tmp_path / f"up{value}"
        folder.mkdir()
        with SimRack(scenario.Scenario("one", "", (station,)), folder) as rack:
            bmc = rack.stations[0].bmc
            assert bmc is not None
            assert bmc.body("/redfish/v1/Managers/BMC")
    for value in (*beyond, *ANYTHING):
        assert ":5:" in mistake(tmp_path, ONE + f"  - {{ nodes: n1, fault: {word}: '{value}' }}\n"), value


def test_all_errors_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    faults = "  - { nodes: n1, fault: gpu-missing, gpu: 9 }\n  - { nodes: n2, fault: silent-node }\n"
    text = mistake(tmp_path, ONE + faults)
    assert [line.rpartition("rack.yaml:")[2][:2] for line in text.splitlines()] == ["5:", "6:"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  - { fault: silent-node }\n", "item 1 of `faults` lacks `nodes`"),
        ("  - { nodes: n1, fault: silent-node }\n  - { nodes: n1 }\n", "item 2 of `faults` lacks `fault`"),
        ("  - silent-node\n", "item 1 of `faults` "),
        ("  - { nodes: [n1], fault: silent-node }\n", "`faults[1].nodes` "),
    ],
)
def test_an_entry_of_a_list_is_named_by_its_number_from_1(tmp_path: Path, text: str, message: str) -> None:
    assert message in mistake(tmp_path, ONE + text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes: { n1: { machin: dgx-h100 } }", "3:16: no such key: `machin`; did you mean `machine`"),
        ("nodes: { n1: { machine: dgx-h10 } }", "3:10: no machine dgx-h10; did you mean dgx-h100"),
        ("nodes: { n1: { machine: ./nowhere } }", "3:10: no machine ./nowhere"),
        ("nodes: { 'n@{all}': { machine: dgx-h100 } }", "3:10: `count` must set the number of nodes in n@{all}"),
        ("count: 3\nnodes: { n1: { machine: dgx-h100 } }", "3:8: `count` is set, but no node set"),
        ("count: 0\nnodes: { 'n@{all}': { machine: dgx-h100 } }", "`count` must be a whole number from 1 to 5000, not '0'"),
        ("count: 5001\nnodes: { 'n@{all}': { machine: dgx-h100 } }", "3:8: `count` must be a whole number from 1 to 5000"),
        ("nodes: { 'n[1-5001]': { machine: dgx-h100 } }", "3:10: more than 5000 nodes"),
        ("nodes: { 'n[1-2]': { machine: dgx-h100 }, n2: { machine: dgx-h100 } }", "n2 is defined twice"),
        ("nodes: { 'a/b': { machine: dgx-h100 } }", "3:10: 'a/b' cannot be a node's name"),
        ("nodes: { 'a b;c': { machine: dgx-h100 } }", "cannot be a node's name"),
        ("nodes: { 'n[1': { machine: dgx-h100 } }", "3:10: not a node set"),
        ("nodes: { '..': { machine: dgx-h100 } }", "cannot be a node's name"),
        ("nodes: { n1: { machine: dgx-h100, rack: a, height: 0 } }", "`height` must be a whole number from 1 to 48, not '0'"),
        ("nodes: { 'n[1-7]': { machine: dgx-h100, rack: a, height: 8 } }", "n7 does not fit into rack a, which has 48 units"),
        ("bmc: { workers: 0 }\nnodes: { n1: { machine: dgx-h100 } }", "3:17: `workers` must be a whole number from 1 to 1000"),
        ("bmc: { sessions: 0 }\nnodes: { n1: { machine: dgx-h100 } }", "`sessions` must be a whole number from 1 to 1000"),
        ("bmc: { milliseconds: 600001 }\nnodes: { n1: { machine: dgx-h100 } }", "`milliseconds` must be a whole number from 0"),
    ],
)  # fmt: skip
def test_a_rack_that_could_not_start_is_reported_before_it_does(tmp_path: Path, text: str, message: str) -> None:
    assert message in mistake(tmp_path, HEAD + text + "\n")


def test_a_fault_may_wait_for_a_node_of_a_larger_rack_and_for_no_other(tmp_path: Path) -> None:
    grows = HEAD + "count: 3\nnodes: { 'n@{all}': { machine: dgx-h100 } }\nfaults: [{ nodes: n0009, fault: "
    assert scenario.load(written(tmp_path, grows + "silent-node }]\n")).faults[0].nodes == ()
    assert scenario.load(written(tmp_path, grows + "silent-node }]\n"), 9).faults[0].nodes == ("n0009",)
    assert "no node m0009" in mistake(tmp_path, grows.replace("n0009", "m0009") + "silent-node }]\n")
    assert "no fault silnt-node" in mistake(tmp_path, grows + "silnt-node }]\n")


# ---- how many --------------------------------------------------------------------------------------------------------


def test_a_rack_grows_as_requested_and_no_further() -> None:
    assert len(scenario.find("hall:10").stations) == 10
    for count in ("0", "5001", "x", "-3", ""):
        with pytest.raises(UserError, match="1 to 5000 nodes"):
            scenario.find(f"hall:{count}")


def test_a_number_of_nodes_for_a_rack_that_does_not_grow_is_reported_with_those_that_do(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + "nodes: { n1: { machine: dgx-h100 } }\n")
    for name, shown in (("clean:5", "sim:clean"), (f"{file}:3", str(file))):
        with pytest.raises(UserError) as caught:
            scenario.find(name)
        assert str(caught.value).startswith(f"{shown} has a fixed number of nodes")
        assert "racks of variable size: hall" in str(caught.value)


def test_a_stored_run_has_its_own_nodes_and_a_tree_as_many_as_requested(tmp_path: Path) -> None:
    assert len(scenario.find(f"{tree('nvidia-dgx-h100')}:3").stations) == 3
    run = stored(tmp_path, ["n1", "n2"])
    assert [station.name for station in scenario.find(str(run)).stations] == ["n1", "n2"]
    with pytest.raises(UserError, match="has a fixed number of nodes: remove the count"):
        scenario.find(f"{run}:3")


def stored(folder: Path, names: list[str]) -> Path:
    """Write a minimal stored run, of nodes that did not answer."""
    run = folder / "a run"
    run.mkdir()
    (run / "run.json").write_text('{"rackcheck": 1}')
    texts = dict.fromkeys(("run", "time", "version", "profile", "profile_version", "digest", "targets"), "x")
    events: list[dict[str, object]] = [{"event": "run started", **texts, "nodes": names, "planes": ["os"]}]
    trouble = {"reason": "timeout", "detail": "silent"}
    events += [{"event": "answered", "node": n, "plane": "os", "time": "x", "trouble": trouble} for n in names]
    (run / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return run


def test_a_stored_run_with_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be a node's name"):
        scenario.find(str(stored(tmp_path, ["n1", 'n2": { host: localhost }, "n3'])))


def test_names_with_marks_of_yaml_in_them_stay_what_they_are_in_the_inventory(tmp_path: Path) -> None:
    text = HEAD + "nodes: { n1: { machine: dgx-h100, rack: 'a: \"b\" #1 é😀' } }\n"
    place = tmp_path / "{a}: 'b' #"
    place.mkdir()
    with SimRack(scenario.load(written(tmp_path, text)), place) as rack:
        read = inventory(rack.inventory)
    assert read.nodes["n1"].rack == 'a: "b" #1 é😀'
    held = machine.SimMachine(HOST, BmcCapture({}))
    odd = scenario.Scenario("run: {", "", (Station("n1", 1, held),))
    with SimRack(odd, place) as rack:
        assert inventory(rack.inventory).name == "sim-run: {"


@pytest.mark.parametrize("name", ["no/such/place", "./dgx-h100", "/nowhere.yaml", "no/such:5"])
def test_a_path_that_leads_nowhere_is_no_such_file(name: str) -> None:
    with pytest.raises(UserError) as caught:
        scenario.find(name)
    assert str(caught.value).endswith(": no such file")
