"""Rules that an engineer would write for a GB200 compute tray, run on a recorded one: the GPU with another VBIOS and
the leak are found without a figure, and two different power limits of one processor are no finding."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from mockup_server import Mockup
from trees import GB200, client, facts, links, resource, tree, tree_leaves

from rackcheck.evaluate.verdict import judge
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.transport import redfish

PROFILE = """\
rackcheck: 1
profile: gb200
version: 1
rules:
  gpu.vbios_alike:
    title: All GPUs run one VBIOS
    each: firmware.component
    where: { fact: function, is: gpu }
    expect-count: 4
    fact: version
    equal: true
  gpu.vbios_alike_by_processor: { each: bmc.gpu, fact: vbios, equal: true }
  leak.none: { title: No leak detector reports a leak, severity: blocker, each: leak, fact: state, is: OK }
  leak.alike: { each: leak, fact: state, equal: true }
  cpu.tdp_alike:
    title: Every Grace has one limit of sustained power
    each: bmc.power.control
    where: { fact: purpose, is: TDP }
    expect-count: 4
    fact: set_point
    equal: true
  cpu.edpp_alike:
    title: Every Grace has one limit of peak power
    each: bmc.power.control
    where: { fact: purpose, is: EDPp }
    expect-count: 4
    fact: set_point
    equal: true
  cpu.uncapped: { each: bmc.power.control, fact: set_point, same-as: .highest }
  cpu.chassis_alike: { each: bmc.power.chassis, fact: limit, equal: true }
  node.limit: { fact: bmc.power.limit, at-least: 300 W }
"""
CONTROLS = "/redfish/v1/Chassis/HGX_CPU_{0}/Controls/ProcessorModule_{0}_CPU_0_{1}Power{2}_0"


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    (tmp_path / "gb200.yaml").write_text(PROFILE)
    return library.load(str(tmp_path / "gb200.yaml"), registry().catalogue)


def verdicts(profile: Profile, leaves: Mapping[str, Leaf] | None = None) -> dict[str, Verdict]:
    return {v.rule: v for v in judge(profile.own, Tree(tree_leaves(GB200) if leaves is None else leaves))}


def altered(uri: str, **properties: object) -> dict[str, Leaf]:
    """All facts of the tray with other properties on one resource, read over HTTPS."""
    with Mockup(tree(GB200), bodies={uri: {**resource(GB200, uri), **properties}}) as server:
        capture, trouble = redfish.read(client(server), links())
    assert trouble is None
    return facts(capture)


def test_the_one_gpu_of_another_vbios_is_found_among_its_siblings(profile: Profile) -> None:
    found = verdicts(profile)["gpu.vbios_alike"]
    assert found.status is Status.FAIL
    assert found.reason == "firmware.component/*.version is 97.00.6C.00.03, 97.00.72.00.00, must be the same"
    (evidence,) = found.evidence
    assert "firmware.component/HGX_FW_GPU_1 97.00.72.00.00" in evidence.exact
    assert evidence.exact.count("97.00.6C.00.03") == 3


def test_gpus_that_the_bmc_does_not_describe_are_unknown_and_not_alike(profile: Profile) -> None:
    assert verdicts(profile)["gpu.vbios_alike_by_processor"].status is Status.UNKNOWN


def test_siblings_of_one_vbios_pass(profile: Profile) -> None:
    uri = "/redfish/v1/UpdateService/FirmwareInventory/HGX_FW_GPU_1"
    found = verdicts(profile, altered(uri, Version="97.00.6C.00.03"))
    assert found["gpu.vbios_alike"].status is Status.PASS


def test_the_detector_that_is_critical_is_found_without_a_figure_and_no_other_one(profile: Profile) -> None:
    found = verdicts(profile)
    assert found["leak.none"].status is Status.FAIL
    assert found["leak.none"].reason == "leak/Chassis_0_LeakDetector_1_ColdPlate.state is Critical, must be OK"
    (evidence,) = found["leak.none"].evidence
    assert evidence.source.endswith("/LeakDetectors/Chassis_0_LeakDetector_1_ColdPlate#/DetectorState")
    assert found["leak.alike"].status is Status.FAIL


def test_two_limits_of_one_processor_that_mean_two_things_are_not_held_against_each_other(profile: Profile) -> None:
    found = verdicts(profile)
    limits = {leaf.reading for path, leaf in tree_leaves(GB200).items() if path.endswith(".set_point")}
    assert limits == {300.0, 420.0}
    for rule in ("cpu.tdp_alike", "cpu.edpp_alike", "cpu.uncapped"):
        assert found[rule].status is Status.PASS, found[rule].reason


def test_neither_of_the_two_is_taken_for_the_cap_of_the_tray_or_of_a_chassis(profile: Profile) -> None:
    found = verdicts(profile)
    assert {found[rule].status for rule in ("cpu.chassis_alike", "node.limit")} == {Status.UNKNOWN}


@pytest.mark.parametrize(("purpose", "rule"), [("TDP", "cpu.tdp_alike"), ("EDPp", "cpu.edpp_alike")])
def test_a_processor_of_another_limit_of_one_purpose_is_found_by_the_rule_for_that_purpose(
    purpose: str, rule: str, profile: Profile
) -> None:
    before, after = verdicts(profile), verdicts(profile, altered(CONTROLS.format(1, purpose, "Volatile"), SetPoint=250))
    assert {i for i, v in after.items() if v.status is not before[i].status} == {rule, "cpu.uncapped"}
    assert after[rule].status is Status.FAIL
    assert "250 W" in after[rule].reason


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile) -> Any:
    """Audits the tray over HTTPS, with some bodies changed, into a run."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BMC_PASSWORD", "calvin")

    def audit(name: str, bodies: Mapping[str, object] | None = None) -> Path:
        with Mockup(tree(GB200), bodies=bodies) as bmc:
            (tmp_path / "inventory.yaml").write_text(
                "rackcheck: 1\ndefaults:\n  bmc: { user: root, password: 'env:BMC_PASSWORD' }\n"
                f'nodes:\n  n1: {{ bmc: {{ url: "{bmc.url}", fingerprint: "{bmc.fingerprint}" }} }}\n'
            )
            words = ("-p", tmp_path / "gb200.yaml", "-i", tmp_path / "inventory.yaml", "--planes", "bmc", "-q")
            assert rackcheck("audit", *words, "-o", tmp_path / name).status == 1
        return tmp_path / name

    return audit


def test_two_readings_of_the_tray_show_no_drift_and_a_changed_limit_is_all_that_does(audited: Any) -> None:
    first, again = audited("first"), audited("again")
    uri = CONTROLS.format(1, "EDPp", "Volatile")
    lowered = audited("lowered", {uri: {**resource(GB200, uri), "SetPoint": 400}})
    same = json.loads(rackcheck("drift", again, "--against", first, "--json").out)
    other = rackcheck("drift", lowered, "--against", first, "--json")
    assert "set_point" not in json.dumps(same)
    assert other.status == 1
    moved = [line for line in json.dumps(json.loads(other.out), indent=1).splitlines() if "set_point" in line]
    assert len(moved) == 1
    assert "ProcessorModule_1_CPU_0_EDPpPowerVolatile_0" in moved[0]
    assert "TDP" not in other.out
