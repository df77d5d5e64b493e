"""The requests to a BMC, counted by the BMC: no resource twice, none unplanned, and no more GETs than planned."""

import re
import threading
from typing import Any

import pytest
from mockup_server import Mockup
from places import ROOT
from trees import ANY_CASE, DELL, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, SUPERMICRO, bmc_probes, client, links, tree

from rackcheck.inventory.node import BmcAccess, Node
from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import HANDSHAKE, LinkPattern
from rackcheck.model.fact import Plane
from rackcheck.probe.plan import Plan, affordable
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.asking import ask_plane
from rackcheck.run.event import Answered
from rackcheck.run.job import Job
from rackcheck.transport import redfish
from rackcheck.transport.redfish.visit import ONE_BY_ONE

PLAIN = redfish.Limits(expand=False)
WHOLE = redfish.Limits()


Asked = tuple[LinkPattern, ...]


def plan_of(profile: str) -> Plan:
    """What a profile reads."""
    return registry().planned(library.load(profile, registry().catalogue), ())


def asked_of(profile: str) -> tuple[Asked, Asked]:
    """What a profile reads from every BMC, and in addition from BMCs that return whole collections."""
    planned = plan_of(profile)
    return planned.links, planned.whole_links


def read(server: Mockup, asked: Asked, limits: redfish.Limits = WHOLE, whole: Asked = ()) -> BmcCapture:
    capture, why = redfish.read(client(server), asked, limits, whole=whole)
    assert why is None
    return capture


def gets(name: str, asked: Asked, limits: redfish.Limits, whole: Asked = ()) -> int:
    """Number of GETs for a plan; each path is fetched once, apart from whole collections."""
    with Mockup(tree(name), ignore_case=name in ANY_CASE, expand=True) as server:
        read(server, asked, limits, whole)
    assert set(server.gets.values()) == {1}
    return sum(server.gets.values())


@pytest.mark.parametrize(
    ("name", "at_most"), [(DELL, 140), (DGX, 690), (SUPERMICRO, 290), (HPE_INTEL, 300), (HPE_AMD, 200), (DMTF, 75)]
)
def test_each_resource_is_fetched_once_and_nothing_else_is(name: str, at_most: int) -> None:
    everything = Plan(affordable(bmc_probes().values())).links
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture = read(server, everything, PLAIN)
    assert set(server.gets.values()) == {1}
    stored = {uri.casefold() for uri in capture.bodies if uri != HANDSHAKE}
    assert {uri.rstrip("/").casefold() for uri in server.gets} == stored
    assert sum(server.gets.values()) <= at_most
    assert server.methods == {"GET", "POST", "DELETE"}
    assert not server.sessions


@pytest.mark.parametrize(("name", "at_most"), [(DELL, 75), (SUPERMICRO, 80), (HPE_INTEL, 80), (HPE_AMD, 70)])
def test_expanded_collections_save_most_gets_of_a_full_read(name: str, at_most: int) -> None:
    assert gets(name, links(), WHOLE) <= at_most < gets(name, links(), PLAIN) / 2


def test_whole_collections_save_gets_where_most_lie_deep_and_are_small() -> None:
    assert gets(GB200, links(), WHOLE) <= 0.6 * gets(GB200, links(), PLAIN)


def test_bios_and_firmware_of_the_supermicro_take_at_most_130_gets_and_30_where_collections_come_whole() -> None:
    asked = links("bmc_bios", "bmc_firmware")
    assert 100 < gets(SUPERMICRO, asked, PLAIN) <= 130
    assert gets(SUPERMICRO, asked, WHOLE) <= 30


def test_the_profile_for_the_dgx_needs_at_most_506_gets_of_its_bmc() -> None:
    """At the 0.53 s that a recorded DGX H100 takes for a GET, two at once: within the deadline of 180 s."""
    asked, whole = asked_of("h100-dgx")
    with Mockup(tree(DGX)) as server:
        capture = read(server, asked, whole=whole)
    assert 100 < sum(server.gets.values()) <= 506
    assert set(server.gets.values()) == {1}
    sensors = [uri for uri in server.gets if "/Sensors/" in uri]
    assert len(sensors) == 16
    assert all(re.search(r"/HGX_GPU_SXM_[1-8]_TEMP_[01]$", uri) for uri in sensors)
    assert capture.bodies["/redfish/v1/Chassis/DGX/Sensors"] == ONE_BY_ONE


TREES = {"Supermicro SYS-821GE": SUPERMICRO, "HPE DL380a Gen12": HPE_INTEL, "Dell R750": DELL, "DGX H100": DGX}


def test_the_page_about_the_bmc_has_the_numbers_of_gets() -> None:
    page = (ROOT / "docs" / "reference" / "bmc.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for question, machine, single, whole in rows:
        name = TREES[machine.partition(" (")[0]]
        profile = question.strip("`")
        asked, more = (links("bmc_bios", "bmc_firmware"), ()) if " " in question else asked_of(profile)
        with Mockup(tree(name), ignore_case=name in ANY_CASE, expand=name != DGX) as server:
            read(server, asked, whole=more)
        assert (question, machine, sum(server.gets.values())) == (question, machine, int(whole))
        assert (question, machine, gets(name, asked, PLAIN)) == (question, machine, int(single))


def test_where_collections_come_whole_sensors_and_pcie_devices_are_read_too_at_few_gets() -> None:
    asked, whole = asked_of("h100-dgx")
    for name in (SUPERMICRO, HPE_INTEL, DELL):
        with Mockup(tree(name), ignore_case=name in ANY_CASE, expand=True) as server:
            capture = read(server, asked, whole=whole)
        assert ONE_BY_ONE not in capture.bodies.values()
        assert sum(server.gets.values()) <= 75


def test_the_question_of_a_profile_takes_three_tenths_of_the_gets_where_collections_come_whole() -> None:
    asked = sum(asked_of("h100-dgx"), ())
    assert gets(SUPERMICRO, asked, WHOLE) <= 0.3 * gets(SUPERMICRO, asked, PLAIN)


@pytest.mark.parametrize("profile", ["h100-dgx", "xeon-performance"])
def test_no_profile_costs_more_where_collections_come_whole(profile: str) -> None:
    asked = sum(asked_of(profile), ())
    for name in (SUPERMICRO, DELL, HPE_INTEL):
        assert gets(name, asked, WHOLE) <= gets(name, asked, PLAIN)


def test_a_bmc_that_announces_whole_collections_and_has_none_costs_a_few_gets_more_only() -> None:
    with Mockup(tree(SUPERMICRO)) as server:
        read(server, links("bmc_bios", "bmc_firmware"))
    wasted = [uri for uri in server.gets if "$expand" in uri]
    assert 0 < len(wasted) <= WHOLE.width
    assert set(server.gets.values()) == {1}


def inquired(server: Mockup, **value: Any) -> Answered:
    """The answer that an audit collects from a BMC with this inventory entry."""
    spec = BmcAccess(server.url, "root", "env:BMC", server.fingerprint, **value)
    node = Node("n1", bmc=spec)
    return ask_plane(
        node, Plane.BMC, Job(plan_of("h100-dgx"), (node,), secrets={"env:BMC": "calvin"}), threading.Event()
    )


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_the_inventory_sets_how_many_requests_run_at_once_and_over_as_many_connections(width: int) -> None:
    with Mockup(tree(DELL), latency=0.02) as server:
        came = inquired(server, width=width, expand=False)
    assert came.trouble is None
    assert server.most_in_flight == width
    assert server.connections == width


@pytest.mark.parametrize("width", [0, 5, -1])
def test_no_more_than_four_requests_run_at_once(width: int) -> None:
    with pytest.raises(ValueError, match="1 to 4"):
        redfish.Limits(width=width)


def test_no_collection_is_expanded_where_the_inventory_disables_it() -> None:
    with Mockup(tree(SUPERMICRO), expand=True) as server:
        inquired(server, expand=False)
    assert not [uri for uri in server.gets if "$expand" in uri]
