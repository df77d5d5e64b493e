"""Power of recorded machines: supplies, redundancy, power drawn, limits and settings; and malformed bodies."""

from collections.abc import Mapping
from functools import cache

import pytest
from mockup_server import Mockup
from trees import (
    ALL,
    ANY_CASE,
    BLUEFIELD,
    DELL,
    DELTA,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    X10,
    client,
    tree,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.redfish_value import amount
from rackcheck.model.resource import ROOT, Body
from rackcheck.parse.bmc.power import supplies
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish
from rackcheck_probes.bmc.controls import bmc_controls
from rackcheck_probes.bmc.power import bmc_power
from rackcheck_probes.bmc.power_chassis import bmc_power_chassis
from rackcheck_probes.bmc.power_draw import bmc_power_draw
from rackcheck_probes.bmc.power_redundancy import bmc_power_redundancy
from rackcheck_probes.bmc.power_supply import bmc_power_supply

PROBES = (bmc_power, bmc_power_supply, bmc_power_redundancy, bmc_power_draw, bmc_power_chassis, bmc_controls)

CHASSIS = f"{ROOT}/Chassis"


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def of(bodies: Mapping[str, Body | Unknown]) -> dict[str, Reading]:
    return {path: leaf.reading for path, leaf in collect(PROBES, BmcCapture(bodies)).items()}


@cache
def readings(name: str) -> dict[str, Reading]:
    links = sorted({each for probe in PROBES for each in probe.ask.links}, key=str)
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), links)
    assert trouble is None
    return of(capture.bodies)


def machine(power: object, *, chassis: int = 1, **more: object) -> dict[str, Body | Unknown]:
    """A BMC whose chassis each have this older Power resource, and more resources below the first chassis."""
    bodies: dict[str, object] = {ROOT: {"Chassis": link(CHASSIS)}}
    bodies[CHASSIS] = {"Members": [link(f"{CHASSIS}/{n}") for n in range(chassis)]}
    for n in range(chassis):
        place = f"{CHASSIS}/{n}"
        names = {name: link(f"{place}/{name}") for name in ({"Power": 1} | more if n == 0 else {"Power": 1})}
        bodies[place] = {"Id": f"c{n}", **names}
        bodies[f"{place}/Power"] = power
    bodies |= {f"{CHASSIS}/0/{name}": body for name, body in more.items()}
    return bodies  # type: ignore[return-value]  # odd bodies too


@pytest.mark.parametrize(
    ("name", "supply", "voltage", "taken", "given"),
    [
        (DELL, "PSU.Slot.2", 240, 308, 275.5),
        (LENOVO, "PSU1", 220, 200, 180),
        (SUPERMICRO, "0", 240, 361, 329),
        (HPE_INTEL, "3", 208, None, 95),
        (HPE_AMD, "1", 238, None, 254),
        (DMTF, "Bay1", 230.2, 937.4, 937.4),
        (DGX, "PSU0", None, None, None),
        (DELTA, "1", None, None, None),
        (SUPERMICRO, "5", None, None, None),
    ],
)
def test_a_supply_reports_its_input_and_its_load(
    name: str, supply: str, voltage: float | None, taken: float | None, given: float | None
) -> None:
    found, item = readings(name), f"psu/{spell_key(supply)}"
    for fact, expected in (("input_voltage", voltage), ("input_power", taken), ("output_power", given)):
        reading = found[f"{item}.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected, fact


def test_an_empty_slot_has_no_load() -> None:
    assert isinstance(readings(HPE_INTEL)["psu/5.output_power"], Absent)
    assert isinstance(readings(DMTF)["psu/Bay2.input_voltage"], Absent)


@pytest.mark.parametrize(
    ("name", "kind", "needed", "supported", "members"),
    [
        (DGX, "NPlusM", 1, 6, 6),
        (LENOVO, "NPlusM", 2, 4, 4),
        (SUPERMICRO, "Failover", 1, 8, 8),
        (HPE_INTEL, "Failover", 2, 2, 2),
        (HPE_AMD, "Failover", 2, 2, 2),
        (DMTF, "Failover", 1, 2, 2),
        (X10, "Failover", 1, 4, 0),
    ],
)
def test_a_redundancy_group_is_reported_as_declared(
    name: str, kind: str, needed: int, supported: int, members: int
) -> None:
    found = readings(name)
    assert found["psu.redundancy"] == ("0",)
    rows = [found[f"psu.redundancy/0.{fact}"] for fact in ("type", "needed", "supported", "members", "health")]
    assert rows == [kind, needed, supported, members, "OK"]


@pytest.mark.parametrize("name", [DELL, GB200, NVSWITCH, BLUEFIELD])
def test_a_machine_without_groups_or_without_supplies_has_none(name: str) -> None:
    assert readings(name)["psu.redundancy"] == ()


def test_supplies_whose_chassis_is_silent_leave_redundancy_unknown() -> None:
    assert isinstance(readings(DELTA)["psu.redundancy"], Unknown)


@pytest.mark.parametrize(
    ("name", "consumed", "limit", "exception", "capacity"),
    [
        (DELL, 614, 1205, "HardPowerOff", 6720),
        (DGX, None, 500, "HardPowerOff", None),
        (SUPERMICRO, 2161, None, None, 18000),
        (HPE_INTEL, 968, None, None, 12000),
        (HPE_AMD, 531, None, None, 3200),
        (LENOVO, 708, None, "NoAction", 5760),
        (DMTF, 344, 500, "LogEventOnly", 800),
        (X10, None, None, None, None),
        (GB200, None, None, None, None),
        (BLUEFIELD, None, None, None, None),
        (DELTA, None, None, None, None),
    ],
)
def test_the_whole_machines_power_is_the_first_controls_value(
    name: str, consumed: float | None, limit: float | None, exception: str | None, capacity: float | None
) -> None:
    found = readings(name)
    expected = {"consumed": consumed, "limit": limit, "limit_exception": exception, "capacity": capacity}
    for fact, value in expected.items():
        reading = found[f"bmc.power.{fact}"]
        assert isinstance(reading, Unknown) if value is None else reading == value, fact


def test_parts_of_a_machine_report_their_power() -> None:
    assert readings(GB200)["bmc.power.chassis/Chassis_0.consumed"] == pytest.approx(1073.19, abs=0.01)
    assert readings(NVSWITCH)["bmc.power.chassis/MGX_NVSwitch_0.consumed"] == 193
    assert readings(DGX)["bmc.power.chassis/HGX_GPU_SXM_1.consumed"] == pytest.approx(71.706)
    assert readings(DMTF)["bmc.power.chassis/1U.limit"] == 500
    assert isinstance(readings(BLUEFIELD)["bmc.power.chassis/Card1.limit"], Unknown)
    assert isinstance(readings(DELTA)["bmc.power.chassis"], Unknown)


def test_tdp_of_one_processor_and_edpp_of_the_other_are_no_caps_of_a_pair() -> None:
    found = readings(GB200)
    for place in ("HGX_CPU_0", "HGX_CPU_1"):  # 300 and 420 stand there
        assert isinstance(found[f"bmc.power.chassis/{place}.limit"], Unknown)


def test_controls_of_different_purpose_are_distinguished() -> None:
    found = readings(GB200)
    listed = found["bmc.power.control"]
    assert isinstance(listed, tuple)
    names = {(found[f"bmc.power.control/{key}.purpose"], found[f"bmc.power.control/{key}.set_point"]) for key in listed}
    assert names == {("TDP", 300), ("EDPp", 420)}
    kept = [found[f"bmc.power.control/{key}.kept"] for key in listed]
    assert (kept.count("volatile"), kept.count("nonvolatile")) == (4, 4)


def test_a_control_is_read_with_its_bounds_mode_and_context() -> None:
    item, found = "bmc.power.control/TotalGPU_Power_0", readings(DGX)
    facts = ("purpose", "mode", "context", "set_point", "lowest", "highest")
    assert [found[f"{item}.{fact}"] for fact in facts] == ["total", "Automatic", "GPUSubsystem", 5600, 1600, 5600]


def test_a_frequency_is_no_power_control_and_a_per_cent_no_watt() -> None:
    assert readings(DMTF)["bmc.power.control"] == ("PowerLimit",)
    assert isinstance(readings(BLUEFIELD)["bmc.power.control/PowerLimit_0.highest"], Unknown)
    assert readings(LENOVO)["bmc.power.control/PowerLimit.highest"] == 5760
    assert isinstance(readings(LENOVO)["bmc.power.control/PowerLimit.set_point"], Unknown)


@pytest.mark.parametrize("name", [DELL, HPE_INTEL, HPE_AMD, SUPERMICRO, X10])
def test_a_bmc_without_controls_does_not_prove_that_nothing_is_set(name: str) -> None:
    assert isinstance(readings(name)["bmc.power.control"], Unknown)


@pytest.mark.parametrize("watts", [None, 0, 0.0, "0", -5, "N/A", "", True, [], {}, 10**400, "nan", "1e999"])
def test_a_power_that_is_none_is_unknown(watts: object) -> None:
    power = {"PowerControl": [{"PowerConsumedWatts": watts, "PowerLimit": {"LimitInWatts": watts}}]}
    found = of(machine(power))
    assert isinstance(found["bmc.power.consumed"], Unknown)
    assert isinstance(found["bmc.power.limit"], Unknown)


@pytest.mark.parametrize("control", [None, [], {}, "x", [None], [{}], [[]]])
def test_an_invalid_list_of_controls_gives_no_value(control: object) -> None:
    assert isinstance(of(machine({"PowerControl": control}))["bmc.power.consumed"], Unknown)


def test_subsystems_do_not_stand_for_the_whole_nor_one_of_two_chassis() -> None:
    parts = {"PowerControl": [{"PowerConsumedWatts": 700}, {"PowerConsumedWatts": 99}]}
    assert of(machine(parts))["bmc.power.consumed"] == 700
    assert isinstance(of(machine(parts, chassis=2))["bmc.power.consumed"], Unknown)


def test_a_chassis_that_did_not_answer_leaves_the_whole_unknown() -> None:
    lost = Unknown(Reason.TIMEOUT, "no answer")
    bodies = machine({"PowerControl": [{"PowerConsumedWatts": 700}]}, chassis=2) | {f"{CHASSIS}/1/Power": lost}
    assert isinstance(of(bodies)["bmc.power.consumed"], Unknown)
    assert isinstance(of(bodies)["psu.redundancy"], Unknown)


@pytest.mark.parametrize(
    ("group", "fact"),
    [
        ({"MinNumNeeded": 1.5}, "needed"),
        ({"MinNumNeeded": -1}, "needed"),
        ({"MinNumNeeded": "two"}, "needed"),
        ({"MaxNumSupported": None}, "supported"),
        ({"Mode": ""}, "type"),
        ({"RedundancySet": "x"}, "members"),
        ({"RedundancySet": [None]}, "members"),
        ({"RedundancySet": [{"@odata.id": 3}]}, "members"),
        ({"Status": {"Health": "Good"}}, "health"),
    ],
)
def test_a_group_with_a_malformed_value_is_unknown(group: Mapping[str, object], fact: str) -> None:
    found = of(machine({"PowerSupplies": [{"MemberId": "0"}], "Redundancy": [{"MemberId": "0", **group}]}))
    assert isinstance(found[f"psu.redundancy/0.{fact}"], Unknown)


def test_two_links_to_one_supply_are_one_member() -> None:
    group = {"MemberId": "0", "RedundancySet": [link("/a"), link("/a"), link("/b")]}
    assert of(machine({"PowerSupplies": [], "Redundancy": [group]}))["psu.redundancy/0.members"] == 2


@pytest.mark.parametrize("name", ["Accelerator_0", "TDP_and_EDPp", "cap", "GPU_Power_0"])
def test_a_control_whose_name_shows_no_purpose_has_none(name: str) -> None:
    controls = f"{CHASSIS}/0/Controls"
    control = {"Id": name, "ControlType": "Power", "SetPoint": 400, "SetPointUnits": "W"}
    bodies = machine({}, Controls={"Members": [link(f"{controls}/x")]}) | {f"{controls}/x": control}
    assert isinstance(of(bodies)[f"bmc.power.control/{name}.purpose"], Unknown)
    assert of(bodies)[f"bmc.power.control/{name}.set_point"] == 400


@pytest.mark.parametrize("kind", [None, "", "N/A", 3, []])
def test_a_control_without_a_type_may_be_one_of_power_and_is_not_counted(kind: object) -> None:
    controls = f"{CHASSIS}/0/Controls"
    bodies = machine({}, Controls={"Members": [link(f"{controls}/x"), link(f"{controls}/y")]})
    bodies |= {f"{controls}/x": {"Id": "x", "ControlType": "Power"}, f"{controls}/y": {"Id": "y", "ControlType": kind}}
    assert isinstance(of(bodies)["bmc.power.control"], Unknown)
    assert "bmc.power.control/x.mode" in of(bodies)
    assert "bmc.power.control/y.mode" not in of(bodies)


@pytest.mark.parametrize(("source", "known"), [("Controls/PowerLimit", True), ("Controls/CPU_0_TDPPower", False)])
def test_a_cap_of_a_chassis_names_what_it_is_of(source: str, known: bool) -> None:
    limit = {"SetPoint": 500, "DataSourceUri": f"{CHASSIS}/0/{source}"}
    found = of(machine({}, EnvironmentMetrics={"PowerLimitWatts": limit}))
    assert (found["bmc.power.chassis/c0.limit"] == 500) is known


@pytest.mark.parametrize("name", ALL)
def test_no_recorded_machine_reports_a_power_of_zero(name: str) -> None:
    ends = (".consumed", ".limit", ".input_power", ".output_power", ".set_point")
    assert not [path for path, value in readings(name).items() if path.endswith(ends) and value == 0]


SHELF = f"{ROOT}/PowerEquipment/PowerShelves/s"


def shelf(*supplies: object, chassis: Body | None = None) -> dict[str, Body | Unknown]:
    """A power shelf that lists its supplies below PowerEquipment, and has one chassis."""
    found = {
        ROOT: {"Chassis": link(CHASSIS), "PowerEquipment": link(f"{ROOT}/PowerEquipment")},
        CHASSIS: {"Members": [link(f"{CHASSIS}/c")]},
        f"{CHASSIS}/c": {"Id": "c", **(chassis or {})},
        f"{ROOT}/PowerEquipment": {"PowerShelves": link(f"{ROOT}/PowerEquipment/PowerShelves")},
        f"{ROOT}/PowerEquipment/PowerShelves": {"Members": [link(SHELF)]},
        SHELF: {"Id": "s", "PowerSupplies": link(f"{SHELF}/PowerSupplies")},
        f"{SHELF}/PowerSupplies": {"Members": [link(f"{SHELF}/PowerSupplies/{n}") for n in range(len(supplies))]},
    }
    return found | {f"{SHELF}/PowerSupplies/{n}": body for n, body in enumerate(supplies)}  # type: ignore[return-value]


def test_supplies_that_only_a_power_shelf_lists_are_found() -> None:
    found = of(shelf({"Id": "1", "PowerOutputWatts": 900}, {"Id": "2", "Status": {"State": "Absent"}}))
    assert found["psu/1.output_power"] == 900
    assert isinstance(found["psu/2.output_power"], Absent)


def test_the_list_of_a_shelf_stands_in_only_where_no_chassis_has_one() -> None:
    held = shelf({"Id": "1"}, chassis={"Power": link(f"{CHASSIS}/c/Power")})
    own = Documents(held | {f"{CHASSIS}/c/Power": {"PowerSupplies": [{"MemberId": "7"}]}})
    assert [supply.id for supply in supplies(own)[0]] == ["7"]
    assert supplies(Documents(shelf({"Id": "1"})))[1] is None
    for lost in (Unknown(Reason.TIMEOUT, "no answer"), {"PowerSupplies": None}):
        assert supplies(Documents(held | {f"{CHASSIS}/c/Power": lost}))[1] is not None


@pytest.mark.parametrize("place", ["PowerEquipment", "PowerEquipment/PowerShelves", "PowerEquipment/PowerShelves/s"])
def test_a_shelf_that_could_not_be_read_leaves_its_supplies_open(place: str) -> None:
    lost = Unknown(Reason.TIMEOUT, "no answer")
    assert supplies(Documents(shelf({"Id": "1"}) | {f"{ROOT}/{place}": lost}))[1] is not None


def test_supplies_whose_bodies_only_the_collection_holds_are_those_bodies() -> None:
    with Mockup(tree(DELTA)) as server:
        capture, _ = redfish.read(client(server), bmc_power_supply.ask.links)
    found, trouble = supplies(Documents(capture.bodies))
    assert trouble is None
    assert {supply.read("Model").reading for supply in found} == {"ECD17020047"}
    assert [supply.read("PowerCapacityWatts", amount).reading for supply in found] == [5504] * 6
    assert [supply.id for supply in found] == [str(n) for n in range(1, 7)]


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.DENIED, Reason.UNPARSABLE])
def test_an_embedded_body_does_not_stand_in_for_a_resource_that_is_there_and_did_not_come(reason: Reason) -> None:
    uri = f"{SHELF}/PowerSupplies/0"
    held = shelf({"Id": "1"}) | {f"{SHELF}/PowerSupplies": {"Members": [{**link(uri), "Model": "M"}]}}
    assert supplies(Documents(held | {uri: Unknown(reason, "lost")})) == ([], Unknown(reason, "lost"))
    gone = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
    assert [each.read("Model").reading for each in supplies(Documents(held | {uri: gone}))[0]] == ["M"]


@pytest.mark.parametrize(
    "odd", [None, 7, "x", {}, {"@odata.id": 7, "Model": "M"}, {"@odata.id": f"{SHELF}/Other", "a": 1}]
)
def test_an_odd_member_is_no_body_of_another(odd: object) -> None:
    uri = f"{SHELF}/PowerSupplies/0"
    held = shelf({"Id": "1"}) | {f"{SHELF}/PowerSupplies": {"Members": [odd, link(uri)]}}
    gone = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
    found, _ = supplies(Documents({**held, uri: gone, f"{SHELF}/Other": gone}))
    assert [each for each in found if each.uri == uri and each.unread is None] == []


def test_the_shelves_are_not_requested_where_a_chassis_lists_supplies() -> None:
    for name in (DGX, DELL, LENOVO, DMTF):
        with Mockup(tree(name)) as server:
            capture, _ = redfish.read(client(server), bmc_power_supply.ask.links)
        assert not [uri for uri in capture.bodies if "PowerEquipment" in uri]


@pytest.mark.parametrize("newer", [{}, {"InputNominalVoltageType": None}, {"LineInputVoltageType": None}])
def test_a_property_that_the_older_schema_names_differently_is_read_from_it(newer: dict[str, object]) -> None:
    place, held = f"{CHASSIS}/1", f"{CHASSIS}/1/PowerSubsystem/PowerSupplies"
    older = {"MemberId": "0", "Name": "PSU0", "LineInputVoltageType": "ACHighLine"}

    def voltage(*parts: object, **own: object) -> Reading:
        bodies: dict[str, Body | Unknown] = {
            ROOT: {"Chassis": link(CHASSIS)},
            CHASSIS: {"Members": [link(place)]},
            place: {"Id": "1", "Power": link(f"{place}/Power"), "PowerSubsystem": {"PowerSupplies": link(held)}},
            f"{place}/Power": {"Id": "Power", "PowerSupplies": list(parts)},
            held: {"Members": [link(f"{held}/0")]},
            f"{held}/0": {"Id": "0", "Name": "PSU0", **own},
        }
        return of(bodies)["psu/0.input_type"]

    assert voltage(older, **newer) == "ACHighLine"
    assert voltage(older, InputNominalVoltageType="AC240V") == "AC240V"
    assert isinstance(voltage(**newer), Unknown)
    assert isinstance(voltage({**older, "Name": "another", "MemberId": "7"}, **newer), Unknown)
