"""Every resource that a recorded BMC reports as unhealthy is named, with its health and its state."""

import pytest
from one_probe import ask, bodies
from trees import BLUEFIELD, DELL, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO

from rackcheck.model.fact import Reason, Unknown
from rackcheck_probes.bmc.unhealthy import bmc_unhealthy

GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")


def unhealthy(name: str) -> dict[str, tuple[object, object]]:
    """Health and state of each resource, by path."""
    facts = ask(bmc_unhealthy, name)
    items = [path.removesuffix(".health") for path in facts if path.endswith(".health")]
    return {item.partition("/")[2].strip('"'): (facts[f"{item}.health"], facts[f"{item}.state"]) for item in items}


def test_the_fifteen_of_a_gb200_tray_are_named_two_of_them_by_their_conditions() -> None:
    found = unhealthy(GB200)
    assert len(found) == 15
    # The health of these processors is OK, and their `Status.Conditions` has a critical entry.
    assert {found[f"Systems/HGX_Baseboard_0/Processors/CPU_{n}"] for n in (0, 1)} == {("Critical", "Enabled")}
    assert found["Chassis/HGX_CPU_0"] == ("Critical", "Enabled")
    assert found["Managers/HGX_BMC_0"] == ("Critical", "Starting")
    assert {name for name in found if "FirmwareInventory" in name} == {
        f"UpdateService/FirmwareInventory/HGX_FW_GPU_{number}" for number in range(4)
    }
    assert sum("Sensors" in name for name in found) == 5
    assert sum("LeakDetectors" in name for name in found) == 1


def test_devices_in_empty_slots_of_an_ilo_are_named() -> None:
    found = unhealthy(HPE_INTEL)
    assert len(found) == 17
    assert found["Systems/1"] == ("Warning", "Enabled")
    assert sum(state == "Absent" for _, state in found.values()) == 15


def test_the_summary_of_an_ilo_names_the_kind_of_part_that_is_critical() -> None:
    assert set(unhealthy(HPE_AMD)) == {"Chassis/1", "Systems/1", "Systems/1#/Oem/Hpe/AggregateHealthStatus/Storage"}


@pytest.mark.parametrize("absent", [True, False])
def test_a_rollup_is_listed_unless_a_present_part_explains_it(*, absent: bool) -> None:
    uri, part = "/redfish/v1/Chassis/1", "/redfish/v1/Systems/1"
    critical = {"Status": {"Health": "OK", "HealthRollup": "Critical", "State": "Enabled"}}
    gone = {"Status": {"Health": "Critical", "State": "Absent" if absent else "Enabled"}}
    held = bodies(bmc_unhealthy, LENOVO)
    facts = ask(bmc_unhealthy, LENOVO, {u: {**dict(held[u]), **new} for u, new in ((uri, critical), (part, gone))})  # type: ignore[arg-type]
    assert facts['bmc.unhealthy/"Systems/1".health'] == "Critical"
    assert ('bmc.unhealthy/"Chassis/1".health' in facts) is absent


@pytest.mark.parametrize(("name", "count"), [(DELL, 0), (LENOVO, 0), (NVSWITCH, 0), (SUPERMICRO, 0)])
def test_a_healthy_tree_names_nothing(name: str, count: int) -> None:
    assert len(unhealthy(name)) == count


def test_a_device_that_only_its_vendor_lists_and_whose_status_is_null_leaves_the_list_unknown() -> None:
    assert isinstance(ask(bmc_unhealthy, HPE_INTEL)["bmc.unhealthy"], tuple)
    place = "/redfish/v1/Chassis/1/Devices/19"
    device = bodies(bmc_unhealthy, HPE_INTEL)[place]
    assert not isinstance(device, Unknown)
    lost = ask(bmc_unhealthy, HPE_INTEL, {place: {**device, "Status": None}})["bmc.unhealthy"]
    assert isinstance(lost, Unknown)
    assert place in lost.detail


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        (HPE_INTEL, "/redfish/v1/Chassis/1/Devices"),
        (HPE_INTEL, "/redfish/v1/Chassis/1/Devices/25"),
        (BLUEFIELD, "/redfish/v1/Chassis/Card1/Sensors"),
        (HPE_AMD, "/redfish/v1/Chassis/1/PCIeDevices"),
    ],
)
def test_a_list_or_a_device_that_is_linked_and_does_not_exist_leaves_the_list_unknown(name: str, uri: str) -> None:
    found = ask(bmc_unhealthy, name, {uri: GONE})
    assert isinstance(found["bmc.unhealthy"], Unknown)
    own = {path for path in ask(bmc_unhealthy, name) if path.endswith(".health") and uri not in f"/redfish/v1/{path}"}
    assert {path for path in own if "Devices" not in path and "Sensors" not in path} <= found.keys()


def test_a_service_of_the_root_that_does_not_exist_costs_nothing() -> None:
    gone = {"/redfish/v1/UpdateService": GONE}
    assert ask(bmc_unhealthy, LENOVO, gone)["bmc.unhealthy"] == ask(bmc_unhealthy, LENOVO)["bmc.unhealthy"]
    inventory = {"/redfish/v1/UpdateService/FirmwareInventory": GONE}
    assert isinstance(ask(bmc_unhealthy, LENOVO, inventory)["bmc.unhealthy"], Unknown)


@pytest.mark.parametrize("own", [None, {}, [], {"Hpe": None}, {"Hpe": {"Links": {}}}, {"Hpe": {"Links": "x"}}])
def test_what_another_vendor_has_in_place_of_a_list_of_devices_costs_nothing(own: object) -> None:
    chassis = "/redfish/v1/Chassis/1"
    body = bodies(bmc_unhealthy, LENOVO)[chassis]
    assert not isinstance(body, Unknown)
    found = ask(bmc_unhealthy, LENOVO, {chassis: {**body, "Oem": own}})
    assert found["bmc.unhealthy"] == ask(bmc_unhealthy, LENOVO)["bmc.unhealthy"]


@pytest.mark.parametrize("own", [None, {}, {"Hpe": {}}, {"Hpe": {"Links": {}}}])
def test_what_another_chassis_of_an_ilo_has_in_place_of_a_list_of_devices_costs_nothing(own: object) -> None:
    chassis = "/redfish/v1/Chassis/2"
    body = bodies(bmc_unhealthy, HPE_INTEL)[chassis]
    assert not isinstance(body, Unknown)
    found = ask(bmc_unhealthy, HPE_INTEL, {chassis: {**body, "Oem": own}})
    assert found["bmc.unhealthy"] == ask(bmc_unhealthy, HPE_INTEL)["bmc.unhealthy"]
    lost = ask(bmc_unhealthy, HPE_INTEL, {chassis: {**body, "Oem": {"Hpe": {"Links": {"Devices": None}}}}})
    assert isinstance(lost["bmc.unhealthy"], Unknown)
