"""Leak detectors of recorded trays, and of BMCs that do not report what they should."""

from collections.abc import Mapping
from functools import cache

import pytest
from mockup_server import Mockup
from trees import ALL, ANY_CASE, DGX, GB200, NVSWITCH, client, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.resource import ROOT, Body
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish
from rackcheck_probes.bmc.leaks import bmc_leaks

CHASSIS = f"{ROOT}/Chassis"
WET = "Chassis_0_LeakDetector_1_ColdPlate"


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def leaks(bodies: Mapping[str, Body | Unknown]) -> dict[str, Reading]:
    found = collect([bmc_leaks], BmcCapture(bodies))
    return {path: leaf.reading for path, leaf in found.items()}


@cache
def bodies_of(name: str) -> Mapping[str, Body | Unknown]:
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), bmc_leaks.ask.links)
    assert trouble is None
    return capture.bodies


def readings(name: str) -> dict[str, Reading]:
    return leaks(bodies_of(name))


def tray(*detectors: object, chassis: Mapping[str, object] | None = None) -> dict[str, Body | Unknown]:
    """A BMC of one chassis with these detectors."""
    place = f"{CHASSIS}/T/LeakDetectors"
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": link(CHASSIS)},
        CHASSIS: {"Members": [link(f"{CHASSIS}/T")]},
        f"{CHASSIS}/T": chassis if chassis is not None else {"Id": "T", "LeakDetectors": link(place)},
        place: {"Members": [link(f"{place}/{n}") for n in range(len(detectors))]},
    }
    for n, body in enumerate(detectors):
        bodies[f"{place}/{n}"] = body  # type: ignore[assignment]  # odd bodies too
    return bodies


def test_the_wet_detector_of_a_tray_is_distinguished_from_the_dry_ones() -> None:
    found = readings(GB200)
    listed = found["leak"]
    assert isinstance(listed, tuple)
    assert len(listed) == 4
    states = {key: found[f"leak/{spell_key(key)}.state"] for key in listed}
    assert states.pop(WET) == "Critical"
    assert set(states.values()) == {"OK"}
    assert (found[f"leak/{WET}.fitted"], found[f"leak/{WET}.type"]) == ("Degraded", "Moisture")


def test_a_switch_tray_has_seven_dry_detectors() -> None:
    found = readings(NVSWITCH)
    names = {*(f"leakage{n}" for n in range(1, 7)), "leakage_aggr"}
    assert set(found["leak"]) == names  # type: ignore[arg-type]  # a collection
    assert {found[f"leak/{name}.state"] for name in names} == {"OK"}


@pytest.mark.parametrize("name", [name for name in ALL if name not in {GB200, NVSWITCH}])
def test_a_machine_without_a_place_for_detectors_is_not_known_to_be_dry(name: str) -> None:
    assert isinstance(readings(name)["leak"], Unknown)
    assert not [path for path in readings(name) if path.startswith("leak/")]


def test_a_detector_that_did_not_answer_leaves_the_list_unknown() -> None:
    lost = Unknown(Reason.TIMEOUT, "no answer")
    bodies = {uri: lost if uri.endswith(f"/{WET}") else body for uri, body in bodies_of(GB200).items()}
    found = leaks(bodies)
    assert found["leak"] == lost
    assert f"leak/{WET}.state" not in found


def test_detectors_directly_below_the_chassis_are_found() -> None:
    found = leaks(tray({"Id": "LD1", "DetectorState": "Warning", "LeakDetectorType": "FloatSwitch"}))
    assert (found["leak"], found["leak/LD1.state"], found["leak/LD1.type"]) == (("LD1",), "Warning", "FloatSwitch")


@pytest.mark.parametrize("state", [None, "", "N/A", "Unavailable", "ok", 0, [], {"State": "OK"}, "OK" * 5000])
def test_a_state_that_is_none_is_unknown_never_dry(state: object) -> None:
    found = leaks(tray({"Id": "a", "DetectorState": state, "Status": {"Health": "OK"}}))
    assert isinstance(found["leak/a.state"], Unknown)


def test_an_unfitted_detector_is_absent_and_an_unreported_one_unknown() -> None:
    found = leaks(tray({"Id": "a", "DetectorState": "OK", "Status": {"State": "Absent"}}, {"Id": "b"}))
    assert isinstance(found["leak/a.state"], Absent)
    assert found["leak/a.fitted"] == "Absent"
    assert isinstance(found["leak/b.state"], Unknown)


@pytest.mark.parametrize("body", [{}, {"Members": None}, {"Members": "x"}, {"Members": [None]}, {"Members": [3]}])
def test_a_list_that_is_none_is_unknown(body: Body) -> None:
    assert isinstance(leaks(tray() | {f"{CHASSIS}/T/LeakDetectors": body})["leak"], Unknown)


def test_a_list_without_members_proves_that_there_are_none() -> None:
    assert leaks(tray())["leak"] == ()
    assert isinstance(leaks(tray(chassis={"Id": "T"}))["leak"], Unknown)


def test_no_other_machine_pays_for_the_question() -> None:
    asked = {uri for uri in bodies_of(DGX) if "Leak" in uri}
    assert not asked
