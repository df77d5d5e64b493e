"""The air of a machine: of an enclosure with blades, and at how many requests."""

from collections.abc import Mapping

import pytest
from mockup_server import Mockup
from trees import DELL, DGX, LENOVO, client, links, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.resource import ROOT, Body
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish
from rackcheck_probes.bmc.sensors_air import bmc_sensors_air

CHASSIS, SYSTEMS = f"{ROOT}/Chassis", f"{ROOT}/Systems"


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def inlet(bodies: Mapping[str, Body | Unknown]) -> Reading:
    leaves = collect([bmc_sensors_air], BmcCapture(bodies))
    assert not [leaf for leaf in leaves.values() if "failed" in str(leaf.reading)]
    return leaves["bmc.thermal.inlet"].reading


def enclosure(*hosts: str, heat: Mapping[str, float], blades: int = 4) -> dict[str, Body | Unknown]:
    """A BMC of an enclosure with blades: the blades with a system, and the intake temperature of some chassis."""
    names = ("enclosure", *(f"blade{n}" for n in range(blades)), "fans")
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": link(CHASSIS), "Systems": link(SYSTEMS)},
        CHASSIS: {"Members": [link(f"{CHASSIS}/{name}") for name in names]},
        SYSTEMS: {"Members": [link(f"{SYSTEMS}/{name}") for name in hosts]},
    }
    for name in hosts:
        own = {"BiosVersion": "1.0", "UUID": "", "SerialNumber": f"S{name}7"}
        bodies[f"{SYSTEMS}/{name}"] = {"Id": name, **own, "Links": {"Chassis": [link(f"{CHASSIS}/{name}")]}}
        bodies[f"{SYSTEMS}/{name}"] |= {"Processors": link(f"{SYSTEMS}/{name}/P")}  # type: ignore[operator]
        bodies[f"{SYSTEMS}/{name}/P"] = {"Members": [link(f"{SYSTEMS}/{name}/P/0")]}
        bodies[f"{SYSTEMS}/{name}/P/0"] = {"Id": "0", "ProcessorType": "CPU", "SerialNumber": f"P{name}3"}
    for name in names:
        kind = "Blade" if name.startswith("blade") else "Enclosure" if name == "enclosure" else "Component"
        inside = {} if name == "enclosure" else {"Links": {"ContainedBy": link(f"{CHASSIS}/enclosure")}}
        bodies[f"{CHASSIS}/{name}"] = {"Id": name, "ChassisType": kind, **inside}
        if name in heat:
            thermal = {"Id": "T", "Temperatures": [{"PhysicalContext": "Intake", "ReadingCelsius": heat[name]}]}
            bodies[f"{CHASSIS}/{name}"] |= {"Thermal": link(f"{CHASSIS}/{name}/Thermal")}  # type: ignore[operator]
            bodies[f"{CHASSIS}/{name}/Thermal"] = thermal
    return bodies


BLADES = ("blade0", "blade1", "blade2", "blade3")


@pytest.mark.parametrize("hosts", [BLADES, BLADES[:2], ()])
def test_the_inlet_of_one_of_several_blades_is_not_that_of_the_enclosure(hosts: tuple[str, ...]) -> None:
    found = inlet(enclosure(*hosts, heat={"blade1": 31}))
    assert isinstance(found, Unknown)
    assert ("hosts" if hosts else "4 blades") in found.detail


@pytest.mark.parametrize("hosts", [BLADES, ("blade1",), ()])
@pytest.mark.parametrize("place", ["enclosure", "fans"])
def test_the_inlet_of_the_enclosure_is_that_of_all_its_blades(hosts: tuple[str, ...], place: str) -> None:
    assert inlet(enclosure(*hosts, heat={place: 22})) == 22
    assert inlet(enclosure(*hosts, heat={place: 22, "blade2": 31})) == 22


def test_the_blade_of_the_only_host_has_its_own_inlet() -> None:
    assert inlet(enclosure("blade1", heat={"blade1": 31})) == 31
    assert inlet(enclosure("blade1", heat={"blade1": 31, "blade2": 35})) == 31
    assert isinstance(inlet(enclosure("blade1", heat={"blade2": 35})), Unknown)
    assert isinstance(inlet(enclosure("blade1", heat={"blade1": 31, "enclosure": 22})), Unknown)
    assert inlet(enclosure("blade0", heat={"blade0": 31}, blades=1)) == 31


def test_a_part_inside_a_blade_belongs_to_this_blade() -> None:
    bodies = enclosure(*BLADES, heat={"fans": 31})
    fans = {"Id": "fans", "ChassisType": "Component", "Thermal": link(f"{CHASSIS}/fans/Thermal")}
    bodies[f"{CHASSIS}/fans"] = {**fans, "Links": {"ContainedBy": link(f"{CHASSIS}/blade2")}}
    assert isinstance(inlet(bodies), Unknown)


def test_a_system_that_was_not_read_may_be_another_host() -> None:
    bodies = enclosure("blade0", "blade1", heat={"enclosure": 22})
    lost = Unknown(Reason.TIMEOUT, "no answer")
    assert inlet(bodies | {f"{SYSTEMS}/blade1": lost}) == lost


def test_chassis_that_contain_each_other_end() -> None:
    bodies = enclosure(*BLADES, heat={"fans": 22})
    for name, other in (("fans", "enclosure"), ("enclosure", "fans")):
        body = bodies[f"{CHASSIS}/{name}"]
        assert not isinstance(body, Unknown)
        bodies[f"{CHASSIS}/{name}"] = {**body, "Links": {"ContainedBy": link(f"{CHASSIS}/{other}")}}
    assert inlet(bodies) == 22


@pytest.mark.parametrize(("name", "sensors"), [(DGX, 0), (DELL, 2), (LENOVO, 2)])
def test_only_sensors_that_give_the_air_are_fetched(name: str, sensors: int) -> None:
    """The recorded DGX H100 returns the context Intake for all sensors, so that none is the machine's."""
    with Mockup(tree(name)) as server:
        redfish.read(client(server), links("bmc_sensors_air"), redfish.Limits(expand=False))
    assert len([uri for uri in server.gets if "/Sensors/" in uri]) == sensors
