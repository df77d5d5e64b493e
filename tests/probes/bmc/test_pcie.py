"""PCIe devices: identity, health and link as recorded BMCs report them, and odd bodies."""

from collections import Counter

import pytest
from one_probe import altered, ask, bodies
from trees import ALL, BLUEFIELD, DELL, DELTA, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO, X10

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.model.resource import ROOT, Body
from rackcheck.parse.bmc.pcie import generation
from rackcheck_probes.bmc.pcie import bmc_pcie

LOST = Unknown(Reason.TIMEOUT, "no answer")
CARD = f"{ROOT}/Chassis/1/PCIeDevices/GPU3"


@pytest.mark.parametrize(("name", "count"), [(DELL, 13), (DGX, 147), (SUPERMICRO, 26), (HPE_AMD, 6), (LENOVO, 16)])
def test_every_device_is_listed_once(name: str, count: int) -> None:
    items = ask(bmc_pcie, name)["bmc.pcie"]
    assert isinstance(items, tuple)
    assert len(items) == len(set(items)) == count


@pytest.mark.parametrize("name", [HPE_INTEL, GB200, NVSWITCH, BLUEFIELD, DMTF, X10, DELTA])
def test_a_bmc_that_lists_no_device_has_not_heard_of_them(name: str) -> None:
    found = ask(bmc_pcie, name)
    assert list(found) == ["bmc.pcie"]
    assert isinstance(found["bmc.pcie"], Unknown)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (DGX, "GPU_SXM_1.model", "H100 80GB HBM3"),
        (DGX, "GPU_SXM_1.serial", "1652923003067"),
        (DGX, "GPU_SXM_1.generation", 5),
        (DGX, "GPU_SXM_1.width", 16),
        (SUPERMICRO, "GPU3.firmware", "96.00.61.00.01"),
        (SUPERMICRO, "GPU3.max_width", 16),
        (SUPERMICRO, "NIC1.part_number", "MCX75310AAS-NEAT"),
        (LENOVO, "slot_25.model", "M.2 NVMe 2-Bay RAID Kit"),
        (LENOVO, "slot_25.slot", "PCIe 25"),
        (LENOVO, "slot_25.width", 2),
        (LENOVO, "slot_25.max_width", 8),
        (LENOVO, "slot_25.max_generation", 3),
        (HPE_AMD, "224.part_number", "830824-B21"),
        (DELL, "177-0.firmware", "24.40.10.00"),
        (DELL, "177-0.serial", "MT2242XZ00QA"),
    ],
)
def test_a_device_reports_its_identity_and_negotiated_link(name: str, path: str, value: object) -> None:
    assert ask(bmc_pcie, name)[f"bmc.pcie/{path}"] == value


def test_links_below_what_they_could_be_are_seen() -> None:
    found = ask(bmc_pcie, DGX)
    keys = found["bmc.pcie"]
    assert isinstance(keys, tuple)
    values = Counter(
        (found[f"bmc.pcie/{key}.generation"] == found[f"bmc.pcie/{key}.max_generation"])
        for key in keys
        if isinstance(found[f"bmc.pcie/{key}.generation"], int)
    )
    assert values[True] > 100
    assert values[False] > 0


def test_all_of_an_empty_place_is_absent() -> None:
    found = ask(bmc_pcie, DGX)
    assert found["bmc.pcie/00_00_00.state"] == "Absent"
    assert isinstance(found["bmc.pcie/00_00_00.width"], Absent)


@pytest.mark.parametrize("lanes", [0, None, "", -1, 2.5, "x16", True, [], {}, 1e300])
def test_lanes_that_are_none_are_unknown(lanes: object) -> None:
    link = {"PCIeType": "Gen5", "LanesInUse": lanes, "MaxLanes": lanes}
    found = altered(bmc_pcie, SUPERMICRO, CARD, PCIeInterface=link)
    assert isinstance(found["bmc.pcie/GPU3.width"], Unknown)
    assert isinstance(found["bmc.pcie/GPU3.max_width"], Unknown)
    assert found["bmc.pcie/GPU3.generation"] == 5


@pytest.mark.parametrize("odd", [None, 5, [], "Gen5"])
def test_a_link_that_is_no_link_is_unknown(odd: object) -> None:
    found = altered(bmc_pcie, SUPERMICRO, CARD, PCIeInterface=odd)
    assert isinstance(found["bmc.pcie/GPU3.generation"], Unknown)
    assert found["bmc.pcie/GPU3.model"] == "H100 80GB HBM3"


@pytest.mark.parametrize("word", [None, "", "N/A", "Gen", "Gen0", "Gen10", "5", 5, "PCIe Gen5", "Gen5\ufffd"])
def test_a_generation_is_a_number_behind_gen_and_nothing_else(word: object) -> None:
    assert (generation("Gen5"), generation("GEN4")) == (5, 4)
    with pytest.raises(Unreadable):
        generation(word)


@pytest.mark.parametrize("place", ["Chassis", "Chassis/1", "Chassis/1/PCIeDevices", "Chassis/1/PCIeDevices/GPU3"])
def test_what_could_not_be_read_leaves_the_collection_open(place: str) -> None:
    assert isinstance(ask(bmc_pcie, SUPERMICRO, {f"{ROOT}/{place}": LOST})["bmc.pcie"], Unknown)


def test_the_systems_list_stands_in_where_no_chassis_has_one() -> None:
    held = bodies(bmc_pcie, LENOVO)
    for uri, body in held.items():
        if uri.startswith(f"{ROOT}/Chassis/") and not isinstance(body, Unknown):
            held[uri] = {name: value for name, value in body.items() if name != "PCIeDevices"}
    uri = f"{ROOT}/Chassis/1/PCIeDevices/slot_25"
    system = {"Id": "1", "PCIeDevices": [{"@odata.id": uri}]}
    collections: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": {"@odata.id": f"{ROOT}/Chassis"}, "Systems": {"@odata.id": f"{ROOT}/Systems"}},
        f"{ROOT}/Systems": {"Members": [{"@odata.id": f"{ROOT}/Systems/1"}]},
        f"{ROOT}/Systems/1": system,
    }
    found = ask(bmc_pcie, LENOVO, {**held, **collections})
    assert found["bmc.pcie"] == ("slot_25",)
    assert found["bmc.pcie/slot_25.slot"] == "PCIe 25"


@pytest.mark.parametrize("name", ALL)
def test_the_systems_list_is_not_requested_where_the_chassis_have_one(name: str) -> None:
    asked = bodies(bmc_pcie, name)
    if any("/Chassis/" in uri and "/PCIeDevices/" in uri for uri in asked):
        assert not [uri for uri in asked if uri.startswith(f"{ROOT}/Systems/") and "/PCIeDevices" in uri]
