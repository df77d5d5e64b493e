"""Management controllers' open services, time sources, and running tasks."""

import pytest
from one_probe import altered, ask, bodies, of
from trees import (
    ALL,
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
)

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.resource import ROOT
from rackcheck.parse.bmc.service import port, servers
from rackcheck_probes.bmc.ntp import bmc_ntp
from rackcheck_probes.bmc.services import bmc_services
from rackcheck_probes.bmc.tasks import bmc_tasks, percent

NETWORK = "/redfish/v1/Managers/1/NetworkProtocol"
LOST = Unknown(Reason.TIMEOUT, "no answer")


@pytest.mark.parametrize(
    ("name", "manager", "enabled", "asked"),
    [
        (DGX, "BMC", True, ("pool.ntp.org", "216.239.35.4")),
        (SUPERMICRO, "1", False, ("localhost", "127.0.0.1")),
        (DELL, '"iDRAC.Embedded.1"', False, ()),
        (LENOVO, "1", False, ()),
        (GB200, "BMC_0", True, ()),
        (NVSWITCH, "BMC_0", True, ()),
        (BLUEFIELD, "Bluefield_BMC", True, ()),
    ],
)
def test_time_servers_are_listed_without_blanks_and_an_empty_list_is_one(
    name: str, manager: str, enabled: bool, asked: tuple[str, ...]
) -> None:
    found = ask(bmc_ntp, name)
    assert found[f"bmc.manager/{manager}.ntp.enabled"] is enabled
    assert found[f"bmc.manager/{manager}.ntp.servers"] == asked


@pytest.mark.parametrize(
    ("name", "manager"),
    [
        (HPE_INTEL, "1"),
        (HPE_AMD, "1"),
        (X10, "1"),
        (DMTF, "BMC"),
        (GB200, "HGX_BMC_0"),
        (DGX, "bmc"),
        (DGX, "HGX_FabricManager_0"),
    ],
)
def test_a_controller_without_time_server_settings_leaves_them_unknown(name: str, manager: str) -> None:
    found = ask(bmc_ntp, name)
    assert isinstance(found[f"bmc.manager/{manager}.ntp.enabled"], Unknown)
    assert isinstance(found[f"bmc.manager/{manager}.ntp.servers"], Unknown)


def test_a_time_zone_is_reported_by_name_and_by_offset() -> None:
    dell, supermicro, dmtf = (ask(bmc_ntp, name) for name in (DELL, SUPERMICRO, DMTF))
    assert dell['bmc.manager/"iDRAC.Embedded.1".timezone'] == "CST6CDT"
    assert dell['bmc.manager/"iDRAC.Embedded.1".utc_offset'] == "-05:00"
    assert supermicro["bmc.manager/1.timezone"] == "(UTC+00:00) Coordinated Universal Time"
    assert dmtf["bmc.manager/BMC.utc_offset"] == "+06:00"
    assert isinstance(dmtf["bmc.manager/BMC.timezone"], Unknown)


@pytest.mark.parametrize(
    "value", [None, "pool.ntp.org", {}, [{}], [7], ["a b"], ["a\ufffd"], ["x" * 300], ["a"] * 20_000]
)
def test_servers_that_are_no_names_are_unknown(value: object) -> None:
    with pytest.raises(Unreadable):
        servers(value)


def test_empty_places_of_a_list_of_servers_are_none() -> None:
    assert servers([" a.example ", "", None, "N/A", "b.example", "a.example"]) == ("a.example", "b.example")


@pytest.mark.parametrize(
    ("name", "manager", "listed"),
    [
        (DELL, '"iDRAC.Embedded.1"', "DHCP DHCPv6 HTTP HTTPS IPMI KVMIP RFB SNMP SSH Telnet VirtualMedia"),
        (DGX, "BMC", "HTTPS IPMI KVMIP SNMP SSDP SSH VirtualMedia"),
        (DGX, "bmc", "HTTP SSH"),
        (HPE_INTEL, "1", "HTTP HTTPS IPMI KVMIP SNMP SSDP SSH VirtualMedia"),
        (LENOVO, "1", "DHCP DHCPv6 HTTP HTTPS IPMI KVMIP SNMP SSDP SSH VirtualMedia"),
        (X10, "1", "HTTP HTTPS IPMI KVMIP SNMP SSH VirtualMedia"),
        (DMTF, "BMC", "HTTP HTTPS IPMI KVMIP SNMP SSDP SSH Telnet VirtualMedia"),
    ],
)
def test_every_service_is_listed_under_the_standard_name_and_no_setting_beside_them(
    name: str, manager: str, listed: str
) -> None:
    assert ask(bmc_services, name)[f"bmc.manager/{manager}.service"] == tuple(listed.split())


@pytest.mark.parametrize(
    ("name", "item", "enabled", "port_"),
    [
        (DELL, '"iDRAC.Embedded.1".service/IPMI', True, None),
        (DELL, '"iDRAC.Embedded.1".service/Telnet', False, 23),
        (DGX, "BMC.service/IPMI", True, 623),
        (HPE_INTEL, "1.service/IPMI", False, 623),
        (HPE_INTEL, "1.service/HTTP", True, 8083),
        (LENOVO, "1.service/SNMP", None, 161),
        (GB200, "BMC_0.service/HTTP", False, None),
        (GB200, "HGX_BMC_0.service/HTTP", True, 80),
    ],
)
def test_a_service_is_on_or_off_and_has_a_port(name: str, item: str, enabled: bool | None, port_: int | None) -> None:
    found = ask(bmc_services, name)
    for fact, expected in (("enabled", enabled), ("port", port_)):
        reading = found[f"bmc.manager/{item}.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected


def test_a_controller_without_the_resource_has_unknown_services() -> None:
    assert isinstance(ask(bmc_services, DGX)["bmc.manager/HGX_FabricManager_0.service"], Unknown)


@pytest.mark.parametrize("value", [None, [], "on", {}, 7])
def test_a_service_not_reported_off_is_not_off(value: object) -> None:
    found = altered(bmc_services, SUPERMICRO, NETWORK, IPMI=value)
    assert isinstance(found["bmc.manager/1.service/IPMI.enabled"], Unknown)
    assert found["bmc.manager/1.service/SSH.enabled"] is True


def test_a_service_of_an_odd_name_leaves_the_list_unknown() -> None:
    found = altered(bmc_services, SUPERMICRO, NETWORK, **{"*": {"ProtocolEnabled": True}})
    assert isinstance(found["bmc.manager/1.service"], Unknown)
    assert found["bmc.manager/1.service/SSH.enabled"] is True


@pytest.mark.parametrize("value", [None, 0, -1, 65536, 22.5, "ssh", True, 10**400])
def test_a_port_that_is_none_is_unknown(value: object) -> None:
    with pytest.raises(Unreadable):
        port(value)


def test_a_network_resource_that_did_not_come_leaves_services_and_time_servers_unknown() -> None:
    assert ask(bmc_services, SUPERMICRO, {NETWORK: LOST})["bmc.manager/1.service"] == LOST
    found = ask(bmc_ntp, SUPERMICRO, {NETWORK: LOST})
    assert (found["bmc.manager/1.ntp.enabled"], found["bmc.manager/1.ntp.servers"]) == (LOST, LOST)


# Tasks

TASKS = f"{ROOT}/TaskService/Tasks"


@pytest.mark.parametrize("name", [name for name in ALL if name not in {BLUEFIELD, DELTA}])
def test_finished_tasks_are_none(name: str) -> None:
    assert ask(bmc_tasks, name)["bmc.task"] == ()


def test_nine_finished_tasks_were_looked_at() -> None:
    assert len([uri for uri in bodies(bmc_tasks, DGX) if uri.startswith(f"{TASKS}/")]) == 9


def test_a_task_that_could_not_be_read_may_be_under_way() -> None:
    for name in (BLUEFIELD, DELTA):
        assert isinstance(ask(bmc_tasks, name)["bmc.task"], Unknown)
    assert isinstance(ask(bmc_tasks, DGX, {f"{TASKS}/3": LOST})["bmc.task"], Unknown)


def test_a_task_under_way_is_named_with_how_far_it_is() -> None:
    found = altered(bmc_tasks, DGX, f"{TASKS}/3", TaskState="Running", PercentComplete=40, Name="Firmware Update")
    assert found["bmc.task"] == ("3",)
    assert found["bmc.task/3.state"] == "Running"
    assert found["bmc.task/3.name"] == "Firmware Update"
    assert found["bmc.task/3.percent"] == 40
    silent = altered(bmc_tasks, DGX, f"{TASKS}/3", TaskState="Pending")
    assert silent["bmc.task/3.state"] == "Pending"
    assert isinstance(silent["bmc.task/3.percent"], Unknown)


@pytest.mark.parametrize("state", [None, "", "Perhaps", 7, [], {}, "x" * 5000])
def test_a_task_without_a_state_leaves_what_is_under_way_unknown(state: object) -> None:
    assert isinstance(altered(bmc_tasks, DGX, f"{TASKS}/3", TaskState=state)["bmc.task"], Unknown)


@pytest.mark.parametrize("value", [None, -1, 101, "half", True, []])
def test_a_share_of_a_task_is_between_none_and_all(value: object) -> None:
    with pytest.raises(Unreadable):
        percent(value)


def test_a_bmc_without_a_task_service_is_not_one_without_tasks() -> None:
    assert isinstance(of(bmc_tasks, {ROOT: {"Id": "root"}})["bmc.task"], Unknown)
