"""How much a BMC is asked, counted by the BMC: no resource twice, none unasked, and no more GETs than planned."""

import threading
from typing import Any

import pytest
from mockup_server import Mockup
from trees import ANY_CASE, DELL, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, SUPERMICRO, bmc_probes, client, links, tree

from rackcheck.inventory.node import BmcAccess, Node
from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import HANDSHAKE, LinkPattern
from rackcheck.model.fact import Plane
from rackcheck.probe.plan import affordable, plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.engine import ask_plane
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.transport import redfish

PLAIN = redfish.Limits(expand=False)
WHOLE = redfish.Limits()


def asked_by(profile: str) -> tuple[LinkPattern, ...]:
    """What a profile asks of a BMC."""
    known = registry()
    return plan(library.load(profile, known.catalogue).facts(), known.probes, known.catalogue, known.joins).links


def read(server: Mockup, asked: tuple[LinkPattern, ...], limits: redfish.Limits = WHOLE) -> BmcCapture:
    capture, why = redfish.read(client(server), asked, limits)
    assert why is None
    return capture


def gets(name: str, asked: tuple[LinkPattern, ...], limits: redfish.Limits) -> int:
    """How many GETs of any kind a question costs; each path is fetched once, apart from whole collections."""
    with Mockup(tree(name), ignore_case=name in ANY_CASE, expand=True) as server:
        read(server, asked, limits)
    assert set(server.gets.values()) == {1}
    return sum(server.gets.values())


@pytest.mark.parametrize(
    ("name", "at_most"), [(DELL, 140), (DGX, 680), (SUPERMICRO, 290), (HPE_INTEL, 245), (HPE_AMD, 190), (DMTF, 75)]
)
def test_each_resource_is_fetched_once_and_nothing_else_is(name: str, at_most: int) -> None:
    everything = [probe.name for probe in affordable(bmc_probes().values())]
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture = read(server, links(*everything), PLAIN)
    assert set(server.gets.values()) == {1}
    stored = {uri.casefold() for uri in capture.bodies if uri != HANDSHAKE}
    assert {uri.rstrip("/").casefold() for uri in server.gets} == stored
    assert sum(server.gets.values()) <= at_most
    assert server.methods == {"GET", "POST", "DELETE"}
    assert not server.sessions


@pytest.mark.parametrize(("name", "at_most"), [(DELL, 75), (SUPERMICRO, 80), (HPE_INTEL, 80), (HPE_AMD, 70)])
def test_whole_collections_save_most_gets_of_everything_that_can_be_asked(name: str, at_most: int) -> None:
    assert gets(name, links(), WHOLE) <= at_most < gets(name, links(), PLAIN) / 2


def test_whole_collections_save_gets_where_most_lie_deep_and_are_small() -> None:
    assert gets(GB200, links(), WHOLE) <= 0.6 * gets(GB200, links(), PLAIN)


def test_bios_and_firmware_of_the_supermicro_take_at_most_130_gets_and_30_where_collections_come_whole() -> None:
    asked = links("bmc_bios", "bmc_firmware")
    assert 100 < gets(SUPERMICRO, asked, PLAIN) <= 130
    assert gets(SUPERMICRO, asked, WHOLE) <= 30


def test_what_a_profile_for_the_dgx_asks_of_its_bmc_takes_at_most_320_gets() -> None:
    with Mockup(tree(DGX)) as server:
        read(server, asked_by("h100-dgx"))
    assert 100 < sum(server.gets.values()) <= 320
    assert set(server.gets.values()) == {1}


def test_the_question_of_a_profile_takes_three_tenths_of_the_gets_where_collections_come_whole() -> None:
    asked = asked_by("h100-dgx")
    assert gets(SUPERMICRO, asked, WHOLE) <= 0.3 * gets(SUPERMICRO, asked, PLAIN)


def test_apart_from_the_devices_of_pcie_which_are_asked_one_by_one_it_takes_a_sixth() -> None:
    asked = asked_by("h100-dgx")
    counted = []
    for limits in (WHOLE, PLAIN):
        with Mockup(tree(SUPERMICRO), expand=True) as server:
            read(server, asked, limits)
        counted.append(sum(count for uri, count in server.gets.items() if "/PCIeDevices" not in uri))
    whole, plain = counted
    assert whole <= plain / 6


@pytest.mark.parametrize("profile", ["h100-dgx", "xeon-performance"])
def test_no_profile_costs_more_where_collections_come_whole(profile: str) -> None:
    for name in (SUPERMICRO, DELL, HPE_INTEL):
        assert gets(name, asked_by(profile), WHOLE) <= gets(name, asked_by(profile), PLAIN)


def test_a_bmc_that_announces_whole_collections_and_has_none_costs_a_few_gets_more_only() -> None:
    with Mockup(tree(SUPERMICRO)) as server:
        read(server, links("bmc_bios", "bmc_firmware"))
    wasted = [uri for uri in server.gets if "$expand" in uri]
    assert 0 < len(wasted) <= WHOLE.width
    assert set(server.gets.values()) == {1}


def inquired(server: Mockup, **value: Any) -> Answered:
    """What an audit brings home from a BMC of which the inventory says this."""
    spec = BmcAccess(server.url, "root", "env:BMC", server.fingerprint, **value)
    node, known = Node("n1", bmc=spec), registry()
    planned = plan(library.load("h100-dgx", known.catalogue).facts(), known.probes, known.catalogue, known.joins)
    return ask_plane(node, Plane.BMC, Job(planned, (node,), secrets={"env:BMC": "calvin"}), threading.Event())


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_as_much_is_asked_at_once_as_the_inventory_says_over_as_many_connections(width: int) -> None:
    with Mockup(tree(DELL), latency=0.02) as server:
        came = inquired(server, width=width, expand=False)
    assert came.trouble is None
    assert server.most_in_flight == width
    assert server.connections == width


@pytest.mark.parametrize("width", [0, 5, -1])
def test_no_more_than_four_things_are_asked_at_once(width: int) -> None:
    with pytest.raises(ValueError, match="1 to 4"):
        redfish.Limits(width=width)


def test_no_collection_is_asked_for_whole_where_the_inventory_says_so() -> None:
    with Mockup(tree(SUPERMICRO), expand=True) as server:
        inquired(server, expand=False)
    assert not [uri for uri in server.gets if "$expand" in uri]
