"""Which chassis of a BMC are another machine's: by their links, also if a system or a chassis is missing."""

from typing import Any

import pytest

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import Body
from rackcheck.parse.bmc.air import air
from rackcheck.parse.bmc.chassis import at_own, foreign, others

ROOT, CHASSIS, SYSTEMS = "/redfish/v1", "/redfish/v1/Chassis", "/redfish/v1/Systems"
GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
Chassis = tuple[str, str, str]
"""The type of a chassis, the system that it links to, and the chassis around it; empty if there is none."""


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def served(chassis: dict[str, Chassis], *systems: str, **more: Body | Unknown) -> Documents:
    """A BMC with these chassis and listed systems; the first system is the host, the others are 404."""
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": link(CHASSIS), "Systems": link(SYSTEMS)},
        CHASSIS: {"Members": [link(f"{CHASSIS}/{name}") for name in chassis]},
        SYSTEMS: {"Members": [link(f"{SYSTEMS}/{name}") for name in systems]},
    }
    bodies |= {f"{SYSTEMS}/{name}": GONE for name in systems}
    bodies[f"{SYSTEMS}/{systems[0]}"] = {"Id": systems[0], "BiosVersion": "1.0"}
    for name, (kind, system, around) in chassis.items():
        links: dict[str, Any] = {"ComputerSystems": [link(f"{SYSTEMS}/{system}")]} if system else {}
        links |= {"ContainedBy": link(f"{CHASSIS}/{around}")} if around else {}
        bodies[f"{CHASSIS}/{name}"] = {"Id": name, "ChassisType": kind, "Links": links}
    return Documents({**bodies, **{f"{CHASSIS}/{name}": body for name, body in more.items()}})


def left(docs: Documents) -> set[str]:
    return {uri.rpartition("/")[2] for uri in others(docs)[0]}


def test_the_chassis_of_a_listed_system_that_is_404_is_this_nodes() -> None:
    board = {"Main": ("RackMount", "DGX", ""), "Board": ("Module", "HGX", "Main"), "Far": ("RackMount", "Far", "")}
    assert left(served(board, "DGX", "HGX")) == {"Far"}
    apart = {**board, "Board": ("Module", "HGX", "")}
    assert left(served(apart, "DGX", "HGX")) == {"Far"}, "a system that is listed is one of this BMC's"


@pytest.mark.parametrize(("kind", "expected"), [("Module", set()), ("Card", set()), ("Blade", {"Inner"})])
def test_a_part_inside_this_nodes_chassis_stays_whatever_it_links_to_and_a_blade_does_not(
    kind: str, expected: set[str]
) -> None:
    inner = {"Main": ("RackMount", "1", ""), "Inner": (kind, "NotListed", "Main")}
    assert left(served(inner, "1")) == expected


def test_a_sled_inside_the_hosts_own_sled_is_no_neighbour_and_one_beside_it_is() -> None:
    inside = {"Own": ("Sled", "1", "Rack"), "Inner": ("Sled", "", "Own"), "Rack": ("Enclosure", "", "")}
    assert others(served(inside, "1")) == (frozenset(), None)
    found, doubt = others(served({**inside, "Beside": ("Sled", "", "Rack")}, "1"))
    assert found == {f"{CHASSIS}/Beside"}
    assert doubt is not None


def test_the_air_of_another_machine_is_not_this_nodes_although_a_blade_is_in_doubt() -> None:
    intake = {"Temperatures": [{"PhysicalContext": "Intake", "ReadingCelsius": 33}]}
    shape = {"Own": ("Blade", "1", ""), "Blade2": ("Blade", "", ""), "Far": ("RackMount", "NotListed", "")}
    hot = {"Id": "Far", "ChassisType": "RackMount", "Links": {"ComputerSystems": [link(f"{SYSTEMS}/NotListed")]}}
    docs = served(shape, "1", Far={**hot, "Thermal": link(f"{CHASSIS}/Far/Thermal")})
    docs = Documents({**docs.bodies, f"{CHASSIS}/Far/Thermal": intake})
    assert foreign(docs) == {f"{CHASSIS}/Far"}
    assert isinstance(air(docs, "Intake"), Unknown)


@pytest.mark.parametrize("order", [("A", "B"), ("B", "A")])
def test_a_resource_that_another_machines_chassis_shares_is_found_whichever_is_listed_first(
    order: tuple[str, str],
) -> None:
    shape: dict[str, Chassis] = {"A": ("Sled", "NotListed", ""), "B": ("Sled", "1", "")}
    shared = {"Thermal": link(f"{CHASSIS}/E/Thermal")}
    docs = served({name: shape[name] for name in order}, "1")
    bodies = {**docs.bodies, f"{CHASSIS}/E/Thermal": {"Id": "Thermal"}}
    for name in order:
        bodies[f"{CHASSIS}/{name}"] = {**docs.bodies[f"{CHASSIS}/{name}"], **shared}  # type: ignore[dict-item]
    docs = Documents(bodies)
    found, trouble = at_own(docs, "Chassis/*/Thermal", others(docs)[0])
    assert ([each.uri for each in found], trouble) == ([f"{CHASSIS}/E/Thermal"], None)
    alone = Documents({**bodies, f"{CHASSIS}/B": docs.bodies[f"{CHASSIS}/B"] | {"Thermal": link("/redfish/v1/X")}})  # type: ignore[operator]
    alone = Documents({**alone.bodies, "/redfish/v1/X": {"Id": "X"}})
    assert [each.uri for each in at_own(alone, "Chassis/*/Thermal", others(alone)[0])[0]] == ["/redfish/v1/X"]
