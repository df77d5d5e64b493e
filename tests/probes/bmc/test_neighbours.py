"""Chassis of other machines in one enclosure: their fans, supplies, sensors and health are not this node's."""

from collections.abc import Mapping
from typing import Any

import pytest
from one_probe import Found, ask, bodies, of
from trees import ALL, DELL, GB200, bmc_probes, read

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Body
from rackcheck.parse.bmc.chassis import others
from rackcheck.probe.collect import collect

CHASSIS, SYSTEMS = "/redfish/v1/Chassis", "/redfish/v1/Systems"
HOME, HOST = f"{CHASSIS}/System.Embedded.1", f"{SYSTEMS}/System.Embedded.1"
BACKPLANE = f"{CHASSIS}/Enclosure.Internal.0-1"
FAR, INNER, AROUND = f"{CHASSIS}/Far", f"{CHASSIS}/FarBoard", f"{CHASSIS}/Around"
FAR_SYSTEM = f"{SYSTEMS}/Far"
PROBES = bmc_probes()
GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
LOST = Unknown(Reason.TIMEOUT, "no answer")
Bodies = dict[str, Body | Unknown]


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def collection(*uris: str) -> dict[str, Any]:
    return {"Members": [link(uri) for uri in uris], "Members@odata.count": len(uris)}


def recorded(uri: str, probe: str = "bmc_chassis") -> dict[str, Any]:
    found = bodies(PROBES[probe], DELL)[uri]
    assert not isinstance(found, Unknown)
    return dict(found)


def chassis(kind: str, links: Mapping[str, object], uri: str = FAR) -> Bodies:
    """A chassis with a failed fan, a failed supply and a sensor that is too hot."""
    ill = {"State": "Enabled", "Health": "Critical"}
    name = uri.rpartition("/")[2]
    hot = {
        "Id": f"{name}.Hot",
        "Name": f"{name} hot",
        "ReadingType": "Temperature",
        "ReadingUnits": "Cel",
        "Reading": 99,
    }
    fan = {"MemberId": f"{name}.Fan", "Name": f"{name} fan", "Reading": 10, "ReadingUnits": "RPM", "Status": ill}
    return {
        uri: {
            "Id": name,
            "ChassisType": kind,
            "Links": links,
            "Status": ill,
            "Thermal": link(f"{uri}/Thermal"),
            "Power": link(f"{uri}/Power"),
            "Sensors": link(f"{uri}/Sensors"),
        },
        f"{uri}/Thermal": {"Id": "Thermal", "Fans": [{**fan, "LowerThresholdCritical": 500}], "Temperatures": []},
        f"{uri}/Power": {"Id": "Power", "PowerSupplies": [{"MemberId": f"{name}.PSU", "Status": ill}]},
        f"{uri}/Sensors": collection(f"{uri}/Sensors/Hot"),
        f"{uri}/Sensors/Hot": {**hot, "Status": ill, "Thresholds": {"UpperCritical": {"Reading": 90}}},
    }


def enclosure(far: Bodies, *, kind: str = "Blade", **home: object) -> Bodies:
    """The recorded machine as a blade in an enclosure, beside another chassis."""
    links = {**recorded(HOME)["Links"], "ContainedBy": link(AROUND), **home}
    around = {"Contains": [link(HOME), link(FAR)], "ComputerSystems": []}
    return {
        CHASSIS: collection(HOME, BACKPLANE, AROUND, *(uri for uri in far if uri.count("/") == 4 and CHASSIS in uri)),
        HOME: {**recorded(HOME), "ChassisType": kind, "Links": links},
        **chassis("Enclosure", around, AROUND),
        **far,
    }


LINKED = {"ComputerSystems": [link(FAR_SYSTEM)], "ContainedBy": link(AROUND)}
UNLINKED = {"ComputerSystems": [], "ContainedBy": link(AROUND)}
LISTS = {
    "bmc_cooling": "fan",
    "bmc_power": "psu",
    "bmc_sensors": "bmc.sensor",
    "bmc_chassis": "bmc.chassis",
    "bmc_unhealthy": "bmc.unhealthy",
    "bmc_beyond": "bmc.beyond",
}


def items(found: Found, area: str, word: str) -> list[str]:
    return [path for path in found if path.startswith(f"{area}/") and word in path]


def unknown(reading: object, part: str) -> bool:
    return isinstance(reading, Unknown) and part in reading.detail


@pytest.mark.parametrize(("probe", "area"), LISTS.items())
def test_a_chassis_that_links_only_to_systems_of_another_bmc_gives_nothing_to_this_node(probe: str, area: str) -> None:
    found = ask(PROBES[probe], DELL, enclosure(chassis("Blade", LINKED)))
    assert items(found, area, "Far") == []
    assert items(found, area, "Around")
    assert not isinstance(found[area], Unknown) or found[area] == ask(PROBES[probe], DELL)[area]


@pytest.mark.parametrize(("probe", "area"), LISTS.items())
def test_a_chassis_without_links_is_this_nodes(probe: str, area: str) -> None:
    """Most BMCs leave links out: a storage enclosure, a baseboard, a zone."""
    for kind in ("StorageEnclosure", "RackMount", "Module", "Zone"):
        assert items(ask(PROBES[probe], DELL, enclosure(chassis(kind, UNLINKED), kind="RackMount")), area, "Far"), kind


@pytest.mark.parametrize(("probe", "area"), LISTS.items())
def test_a_blade_without_a_system_beside_the_hosts_blade_leaves_the_list_unknown(probe: str, area: str) -> None:
    found = ask(PROBES[probe], DELL, enclosure(chassis("Blade", UNLINKED)))
    assert items(found, area, "Far") == []
    assert unknown(found[area], "/Chassis/Far is of this node"), found[area]
    assert items(found, area, "Around")


def test_a_board_inside_another_machines_chassis_is_left_out_and_one_inside_the_hosts_is_kept() -> None:
    far = {**chassis("Blade", LINKED), **chassis("Component", {"ContainedBy": link(FAR)}, INNER)}
    assert items(ask(PROBES["bmc_cooling"], DELL, enclosure(dict(far))), "fan", "FarBoard") == []
    near = {**far, **chassis("Component", {"ContainedBy": link(HOME)}, INNER)}
    assert items(ask(PROBES["bmc_cooling"], DELL, enclosure(dict(near))), "fan", "FarBoard")
    held = {**chassis("Blade", {**LINKED, "Contains": [link(INNER)]}), **chassis("Component", {}, INNER)}
    assert items(ask(PROBES["bmc_cooling"], DELL, enclosure(dict(held))), "fan", "FarBoard") == []


def test_links_in_another_spelling_are_links_to_the_same_system() -> None:
    links = {"ComputerSystems": [link(HOST.lower() + "/")], "ContainedBy": link(AROUND)}
    assert items(ask(PROBES["bmc_cooling"], DELL, enclosure(chassis("Blade", links))), "fan", "Far")


@pytest.mark.parametrize("systems", [LOST, {**collection(HOST), "Members@odata.count": 2}])
def test_nothing_is_left_out_if_the_systems_are_not_all_known(systems: Body | Unknown) -> None:
    found = ask(PROBES["bmc_cooling"], DELL, {**enclosure(chassis("Blade", LINKED)), SYSTEMS: systems})
    assert items(found, "fan", "Far")


def test_nothing_is_left_out_of_a_capture_without_systems() -> None:
    held = {**bodies(PROBES["bmc_cooling"], DELL), **enclosure(chassis("Blade", LINKED))}
    assert SYSTEMS not in held
    assert items(of(PROBES["bmc_cooling"], held), "fan", "Far")


def test_nothing_is_left_out_if_no_chassis_is_linked_with_a_system_of_this_bmc() -> None:
    mute = {key: value for key, value in recorded(HOST).items() if key != "Links"}
    stale = {"ComputerSystems": [link(f"{SYSTEMS}/Self")]}
    changes = enclosure(chassis("Blade", LINKED), kind="RackMount", **stale)
    assert items(ask(PROBES["bmc_cooling"], DELL, {**changes, HOST: mute}), "fan", "Far")


# Several hosts


def two_hosts(links: Mapping[str, object]) -> Bodies:
    other = {**recorded(HOST), "Id": "Far", "UUID": "11112222-3333-4444-5555-666677778888", "SerialNumber": "CNF9"}
    other |= {"Links": {"Chassis": [link(FAR)]}, "Processors": None}
    return {**enclosure(chassis("Blade", links)), SYSTEMS: collection(HOST, FAR_SYSTEM), FAR_SYSTEM: other}


@pytest.mark.parametrize(("probe", "area"), LISTS.items())
def test_parts_in_the_chassis_of_one_of_several_hosts_are_unknown_and_those_of_the_enclosure_known(
    probe: str, area: str
) -> None:
    found = ask(PROBES[probe], DELL, two_hosts(LINKED))
    assert unknown(found[area], "manages 2 hosts"), found[area]
    assert items(found, area, "Far") == []
    assert items(found, area, "Around")
    own = {"bmc_cooling": "Fan.Embedded", "bmc_power": "PSU.Slot", "bmc_chassis": "System.Embedded"}
    assert probe not in own or items(found, area, own[probe]) == []


def test_a_chassis_of_all_hosts_is_this_nodes() -> None:
    shared = two_hosts({"ComputerSystems": [link(HOST), link(FAR_SYSTEM)]})
    host = {**recorded(HOST), "Links": {"Chassis": [link(FAR)]}}
    home = {**recorded(HOME), "Links": {"ComputerSystems": [link(HOST), link(FAR_SYSTEM)]}}
    found = ask(PROBES["bmc_power"], DELL, {**shared, HOST: host, HOME: home})
    assert items(found, "psu", "Far")
    assert not isinstance(found["psu"], Unknown)


# Recorded machines


@pytest.mark.parametrize("name", ALL)
def test_no_chassis_of_a_recorded_machine_is_left_out(name: str) -> None:
    assert others(read(name, None, "bmc_chassis", "bmc_kind").documents) == (frozenset(), None)


def test_chassis_of_a_board_are_the_hosts() -> None:
    held = bodies(PROBES["bmc_chassis"], GB200)
    found = of(PROBES["bmc_chassis"], held)
    assert items(found, "bmc.chassis", "HGX_GPU_0")


# A chassis that does not exist


GHOST = f"{CHASSIS}/Ghost"


LISTS_OF: dict[str, set[str]] = {"bmc_cooling": {"fan", "sensor"}, "bmc_power": {"psu"}, "bmc_nic": {"bmc.nic"}}
"""The lists of the parts of all chassis, which are unknown if one that its collection lists does not exist."""


@pytest.mark.parametrize("probe", ["bmc_boot", "bmc_host", "bmc_tpm", "bmc_cpu", *LISTS_OF])
@pytest.mark.parametrize("listed", [True, False])
def test_a_chassis_of_the_host_that_does_not_exist_costs_no_fact_of_another(probe: str, *, listed: bool) -> None:
    host = {**recorded(HOST), "Links": {**recorded(HOST)["Links"], "Chassis": [link(GHOST), link(HOME)]}}
    changes: Bodies = {HOST: host, GHOST: GONE}
    if listed:
        changes[CHASSIS] = collection(GHOST, HOME, BACKPLANE)
    before, after = ask(PROBES[probe], DELL), ask(PROBES[probe], DELL, changes)
    lost = LISTS_OF.get(probe, set()) if listed else set()
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} == lost
    assert all(unknown(after[path], GHOST) for path in lost)


def test_the_location_is_that_of_the_hosts_other_chassis() -> None:
    host = {**recorded(HOST), "Links": {**recorded(HOST)["Links"], "Chassis": [link(GHOST), link(HOME)]}}
    home = {**recorded(HOME), "Location": {"Placement": {"Rack": "R7"}}}
    assert ask(PROBES["bmc_chassis"], DELL, {HOST: host, GHOST: GONE, HOME: home})["bmc.location.rack"] == "R7"
    assert unknown(ask(PROBES["bmc_chassis"], DELL, {HOST: host, GHOST: LOST, HOME: home})["bmc.location.rack"], "no")


def test_a_chassis_of_a_board_that_does_not_exist_makes_no_second_host_of_the_board() -> None:
    """The board shows boot firmware of an unknown version, and lists no processor: only its chassis tells."""
    board: dict[str, Any] = {"Id": "2", "BiosVersion": None, "Links": {"Chassis": [link(GHOST), link(INNER)]}}
    changes: Bodies = {
        SYSTEMS: collection(HOST, f"{SYSTEMS}/2"),
        f"{SYSTEMS}/2": board,
        GHOST: GONE,
        INNER: {"Id": "FarBoard", "ChassisType": "Component", "Links": {"ContainedBy": link(HOME)}},
    }
    assert ask(PROBES["bmc_cpu"], DELL, changes)["bmc.cpu.count"] == 2
    assert unknown(ask(PROBES["bmc_cpu"], DELL, {**changes, INNER: GONE})["bmc.cpu.count"], "manages 2 hosts")


def test_a_capture_is_read_alike_twice() -> None:
    held = BmcCapture({**bodies(PROBES["bmc_cooling"], DELL), **enclosure(chassis("Blade", UNLINKED))})
    probes = [PROBES[name] for name in LISTS]
    assert collect(probes, held) == collect(probes, held)
