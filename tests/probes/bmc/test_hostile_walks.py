"""Hostile bodies while resources are requested: a reader that fails on one ends neither the visit nor other facts."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import depth
import pytest
from mockup_server import Mockup
from trees import BLUEFIELD, DMTF, GB200, X10, bmc_probes, client, links, read, tree

from rackcheck import Documents, Facts, Redfish, probe, text
from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import Walk, wanted
from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.resource import Body
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish

TREES = (DMTF, BLUEFIELD, X10, GB200)

HOSTILE: tuple[object, ...] = (
    None, [], {}, "", "\x00", 0, -1, 1e308, True, [None], [[]], [{}], {"": {}}, {"@odata.id": None},
    {"@odata.id": ["/redfish/v1"]}, {"@odata.id": "/redfish/v1"}, [{"@odata.id": {}}], [{"@odata.id": "/redfish/v1"}],
    {"Members": {"@odata.id": "/redfish/v1"}},
)  # fmt: skip

NAMES = (
    "Links", "Chassis", "ComputerSystems", "ContainedBy", "Contains", "Processors", "ProcessorType", "Members", "Status",
    "Systems", "SystemType", "ChassisType", "BiosVersion", "Bios", "Boot", "TrustedModules", "SerialNumber", "UUID",
    "Id", "Name", "DataSourceUri", "TemperatureReadingsCelsius", "PowerSupplies", "Entries", "MetricValues", "Ports",
    "RelatedItem", "Thermal", "ThermalSubsystem", "PCIeDevices", "Drives", "EnvironmentMetrics", "Attributes",
    "@odata.id", "@odata.type", "Members@odata.count", "Members@odata.nextLink", "AttributeRegistry", "Location",
)  # fmt: skip


@cache
def recorded(name: str) -> Mapping[str, Body | Unknown]:
    return read(name).bodies


def with_value(value: object, name: str, new: object) -> object:
    """A copy of a value in which each property of this name, at any depth, has the new value."""
    if isinstance(value, Mapping):
        return {key: new if key == name else with_value(each, name, new) for key, each in value.items()}
    return [with_value(each, name, new) for each in value] if isinstance(value, list) else value


def altered(tree_: str, name: str, new: object) -> dict[str, Body | Unknown]:
    """The bodies of a tree with the new value in all resources of Systems and Chassis and below."""
    held = recorded(tree_)
    return {uri: with_value(each, name, new) for uri, each in held.items()}  # type: ignore[misc]


WALKS = sorted({link for link in links() if isinstance(link, Walk)}, key=str)


@pytest.mark.parametrize("name", NAMES)
def test_each_walk_survives_a_hostile_value_and_requests_what_it_can(name: str) -> None:
    assert len(WALKS) > 10
    tree_ = TREES[NAMES.index(name) % 3]
    for new in HOSTILE:
        bodies = altered(tree_, name, new)
        for walk in WALKS:
            try:
                gone = walk.go(Documents(bodies, {}, {}))
                if isinstance(gone, Iterator):
                    list(gone)
            except Unreadable:
                continue
        wanted(links(), bodies)


@pytest.mark.parametrize("name", ["Links", "Members", "Processors", "ChassisType"])
@pytest.mark.parametrize("doubt", [True, False])
def test_a_hostile_value_on_a_machine_of_two_systems_makes_no_reader_fail(name: str, *, doubt: bool) -> None:
    # This machine is large: a usual run tries every third value, and `make full` all values of the property that decides.
    for new in HOSTILE[:: 1 if name == "ChassisType" and depth.DEEP else 3]:
        bodies = altered(GB200, name, new)
        if doubt:
            board = bodies["/redfish/v1/Systems/HGX_Baseboard_0"]
            assert isinstance(board, Mapping)
            bodies["/redfish/v1/Systems/HGX_Baseboard_0"] = {**board, "BiosVersion": None}
        wanted(links(), bodies)
        found = collect([bmc_probes()[each] for each in CHOOSING], BmcCapture(bodies))
        failed = {path: leaf.reading for path, leaf in found.items() if "failed" in str(leaf.reading)}
        assert failed == {}, new


CHOOSING = ("bmc_boot", "bmc_cpu", "bmc_memory", "bmc_tpm", "bmc_cooling", "bmc_power", "bmc_chassis", "bmc_gpu")


# A reader with a fault of its own


def failing(error: Exception) -> Callable[[Documents], object]:
    def go(docs: Documents) -> None:
        for chassis in docs.at("Chassis/*"):
            if chassis.body.get("ChassisType"):
                raise error

    return go


ERRORS = (KeyError("x"), AttributeError("x"), TypeError("x"), RecursionError(), ZeroDivisionError(), StopIteration())


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_walk_that_fails_does_not_end_the_requests_of_other_probes(error: Exception) -> None:
    walk = Walk("a walk that fails", failing(error))
    with Mockup(tree(DMTF)) as server:
        capture, trouble = redfish.read(client(server), (walk, *links("bmc_boot", "bmc_cpu")))
    assert trouble is None
    assert {"/redfish/v1/Chassis", "/redfish/v1/Chassis/1U"} <= set(capture.bodies)
    found = collect([bmc_probes()["bmc_cpu"]], capture)
    assert found["bmc.cpu.count"].reading == 1


def test_a_reader_that_fails_on_a_body_makes_its_own_facts_unknown() -> None:
    walk = Walk("a walk that fails", failing(KeyError("ChassisType")))

    @probe(Redfish("Chassis/*", walk), gives={"bmc.odd": text("a fact of a reader with a fault")})
    def odd(docs: Documents) -> Facts:
        """A reader with a fault."""
        walk.go(docs)
        yield "bmc.odd", "read"

    with Mockup(tree(DMTF)) as server:
        capture, trouble = redfish.read(client(server), (*odd.ask.every, *links("bmc_cpu")))
    assert trouble is None
    found = collect([odd, bmc_probes()["bmc_cpu"]], capture)
    assert found["bmc.odd"].reading == Unknown(Reason.UNPARSABLE, "probe odd failed: KeyError('ChassisType')")
    assert found["bmc.cpu.count"].reading == 1
    mute = {uri: each for uri, each in capture.bodies.items() if "Chassis/" not in uri}
    mute["/redfish/v1/Chassis/1U"] = {"Id": "1U"}
    assert collect([odd], BmcCapture(mute))["bmc.odd"].reading == "read"
