"""What the BMC reports about GPUs, their NVLinks and switches, on recorded machines and altered copies of them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from trees import (
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
    bmc_probes,
    completed,
    links,
    read,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.resource import Body, Resource
from rackcheck.parse.bmc.gpu import Gpu, limit
from rackcheck.probe.collect import collect

PROBES = ("bmc_gpu", "bmc_gpu_power", "bmc_gpu_temperature", "bmc_gpu_nvlink", "bmc_nvswitch")
LOST = Unknown(Reason.TIMEOUT, "no answer")
HGX = "/redfish/v1/Systems/HGX_Baseboard_0"
FIRST = f"{HGX}/Processors/GPU_SXM_1"


@cache
def capture(name: str) -> BmcCapture:
    return read(name, None, *PROBES)


def of(name: str, **bodies: Any) -> dict[str, Reading]:
    """What the probes under test read in a tree with some bodies replaced."""
    found = bmc_probes()
    held = BmcCapture(completed(name, links(*PROBES), {**capture(name).bodies, **bodies}))
    leaves = collect([found[probe] for probe in PROBES], held)
    return {path: leaf.reading for path, leaf in leaves.items()}


def body(name: str, uri: str) -> dict[str, Any]:
    held: Body | Unknown = capture(name).bodies[uri]
    assert not isinstance(held, Unknown)
    return dict(held)


def less(name: str, uri: str, *gone: str) -> dict[str, Any]:
    """A body without some of its properties."""
    return {key: value for key, value in body(name, uri).items() if key not in gone}


def unknown(reading: Reading, reason: Reason = Reason.NOT_COLLECTED) -> bool:
    return isinstance(reading, Unknown) and reading.reason is reason


# GPUs


@pytest.mark.parametrize(
    ("name", "keys", "serial", "model", "vbios"),
    [
        (DGX, [f"GPU_SXM_{n}" for n in range(1, 9)], "1652923003067", "H100 80GB HBM3", "96.00.89.00.01"),
        (SUPERMICRO, [f"GPU{n}" for n in range(1, 9)], "1652323019599", "H100 80GB HBM3", "96.00.61.00.01"),
        (LENOVO, [f"GPU{n}" for n in range(1, 9)], "1325322005680", None, "95.02.39.00.01"),
        (HPE_INTEL, ["3", "4", "5", "6"], "1325124064409", "900-21010-0040-000", None),
        (DELL, ['"Video.Slot.2-1"'], "1654422007043", "NVIDIA H100 PCIe", None),
        (GB200, [f"GPU_{n}" for n in range(4)], None, None, None),
    ],
)
def test_gpus_are_found_where_the_bmc_lists_them(
    name: str, keys: list[str], serial: str | None, model: str | None, vbios: str | None
) -> None:
    found = of(name)
    assert found["bmc.gpu"] == tuple(key.strip('"') for key in keys)
    assert found["bmc.gpu.count"] == len(keys)
    for leaf, expected in (("serial", serial), ("model", model), ("vbios", vbios)):
        reading = found[f"bmc.gpu/{keys[0]}.{leaf}"]
        assert unknown(reading) if expected is None else reading == expected
    for key in keys:
        assert (found[f"bmc.gpu/{key}.state"], found[f"bmc.gpu/{key}.health"]) == ("Enabled", "OK")


@pytest.mark.parametrize("name", [HPE_AMD, NVSWITCH, BLUEFIELD, DMTF, X10, DELTA])
def test_a_bmc_that_lists_no_gpu_does_not_prove_that_there_is_none(name: str) -> None:
    assert unknown(of(name)["bmc.gpu"])
    assert unknown(of(name)["bmc.gpu.count"])


def test_a_gpu_has_every_property_that_its_bmc_reports() -> None:
    found = {path.rpartition("bmc.gpu/GPU_SXM_1.")[2]: r for path, r in of(DGX).items() if "/GPU_SXM_1." in path}
    assert found["memory"] == 81559 / 1024
    assert (found["ecc"], found["mig"], found["speed_locked"]) == (True, False, True)
    assert (found["max_speed"], found["speed_limit"]) == (1980, float("inf"))
    assert (found["part_number"], found["uuid"]) == ("2330-885-A1", "9dad5bfd-a732-23fe-40ad-465d0cbe5f95")
    assert (found["power.limit"], found["power.limit_default"], found["power.limit_most"]) == (700, 700, 700)
    assert (found["power.draw"], found["temperature"], found["headroom"]) == (71.586, 26.75, 60)


def test_a_gpu_not_yet_inventoried_by_its_bmc_is_unknown_not_wrong() -> None:
    found = of(GB200)
    names = {"state", "health", "name", "slot"}
    for path, reading in found.items():
        if path.startswith("bmc.gpu/GPU_0.") and path.rpartition(".")[2] not in names:
            assert isinstance(reading, Unknown), path


def test_the_pcie_device_supplies_what_the_processor_lacks() -> None:
    place = "/redfish/v1/Systems/1/Processors/GPU1"
    assert "Status" not in body(LENOVO, place)
    assert of(LENOVO)["bmc.gpu/GPU1.health"] == "OK"


def test_the_pcie_device_does_not_replace_empty_values_of_the_processor() -> None:
    place = "/redfish/v1/Systems/1/Processors/GPU1"
    found = of(LENOVO, **{place: {**body(LENOVO, place), "Status": None, "SerialNumber": "N/A"}})
    for leaf in ("state", "health"):
        assert unknown(found[f"bmc.gpu/GPU1.{leaf}"])
    assert found["bmc.gpu/GPU1.serial"] == Absent("the BMC returns the placeholder 'N/A'")
    assert unknown(found["bmc.gpu.count"])


def test_a_place_without_its_gpu_is_listed_and_not_counted() -> None:
    gone = {**body(DGX, FIRST), "Status": {"State": "Absent", "Health": "OK"}}
    found = of(DGX, **{FIRST: gone})
    assert found["bmc.gpu.count"] == 7
    assert found["bmc.gpu/GPU_SXM_1.state"] == "Absent"
    for leaf in ("health", "serial", "vbios", "ecc", "max_speed", "memory", "power.limit", "nvlinks", "nvlinks_up"):
        assert isinstance(found[f"bmc.gpu/GPU_SXM_1.{leaf}"], Absent), leaf


def test_a_gpu_that_was_not_read_leaves_the_count_unknown_and_the_others_read() -> None:
    found = of(DGX, **{FIRST: LOST})
    assert (found["bmc.gpu"], found["bmc.gpu.count"]) == (LOST, LOST)
    assert found["bmc.gpu/GPU_SXM_2.serial"] == "1652923004435"
    assert "bmc.gpu/GPU_SXM_1.serial" not in found


def test_pcie_devices_do_not_stand_in_for_processors_that_were_not_read() -> None:
    found = of(DGX, **{f"{HGX}/Processors": LOST})
    assert isinstance(found["bmc.gpu"], Unknown)
    assert not [path for path in found if path.startswith("bmc.gpu/GPU")]


def test_a_system_without_processors_is_read_from_its_pcie_devices() -> None:
    found = of(DGX, **{HGX: less(DGX, HGX, "Processors")})
    assert found["bmc.gpu"] == tuple(f"GPU_SXM_{n}" for n in range(1, 9))
    assert found["bmc.gpu/GPU_SXM_1.serial"] == "1652923003067"


def test_a_processor_without_a_type_may_be_a_gpu() -> None:
    place = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/FPGA_0"
    assert unknown(of(DGX, **{place: {**body(DGX, place), "ProcessorType": None}})["bmc.gpu.count"])


@pytest.mark.parametrize(
    "words",
    ["ThinkSystem SR670 V2 Switched 4x x16 PCIe Gen4 DW/SW GPU", "GPU", "GPU1 riser", "NIC1", None, 7, ["GPU1"]],
)
def test_a_pcie_device_that_is_not_called_by_a_gpus_number_is_none(words: object) -> None:
    place = "/redfish/v1/Chassis/1/PCIeDevices/GPU1"
    found = of(SUPERMICRO, **{place: {**body(SUPERMICRO, place), "Id": "slot_1", "Name": words}})
    assert found["bmc.gpu.count"] == 7


@pytest.mark.parametrize(("value", "expected"), [(65535, float("inf")), (1980, 1980.0), ("1980", 1980.0)])
def test_a_limit_of_all_ones_is_none(value: object, expected: float) -> None:
    assert limit(value) == expected


@pytest.mark.parametrize("value", [None, 0, -1, "", {}, True, 10**400])
def test_a_limit_without_a_value_is_unreadable(value: object) -> None:
    with pytest.raises(Unreadable):
        limit(value)


@pytest.mark.parametrize("value", ["00000000-0000-0000-0000-000000000000", "", None, "0"])
def test_a_unique_id_of_zeros_is_nobodys(value: object) -> None:
    assert not isinstance(Gpu(Resource("/a", {"UUID": value})).label("UUID").reading, str)


@pytest.mark.parametrize("value", [None, {}, {"CapacityMiB": 0}, {"CapacityMiB": "N/A"}, LOST])
def test_memory_without_a_reported_size_is_unknown(value: object) -> None:
    found = of(DGX, **{f"{HGX}/Memory/GPU_SXM_1_DRAM_0": value or {"Id": "x"}})
    assert isinstance(found["bmc.gpu/GPU_SXM_1.memory"], Unknown)


@pytest.mark.parametrize("value", [None, {"SetPoint": None}, {"SetPoint": 0}, {"SetPoint": -1}, 700, []])
def test_a_power_limit_that_is_none_is_unknown(value: object) -> None:
    place = f"{FIRST}/EnvironmentMetrics"
    found = of(DGX, **{place: {**body(DGX, place), "PowerLimitWatts": value}})
    assert isinstance(found["bmc.gpu/GPU_SXM_1.power.limit"], Unknown)
    assert found["bmc.gpu/GPU_SXM_1.power.draw"] == 71.586


def test_metrics_that_were_not_read_state_why() -> None:
    assert of(DGX, **{f"{FIRST}/EnvironmentMetrics": LOST})["bmc.gpu/GPU_SXM_1.power.limit"] == Unknown(
        Reason.TIMEOUT, "PowerLimitWatts.SetPoint no answer"
    )


# NVLinks


def test_every_link_of_every_gpu_is_counted() -> None:
    found = of(DGX)
    for n in range(1, 9):
        item = f"bmc.gpu/GPU_SXM_{n}"
        assert (found[f"{item}.nvlinks"], found[f"{item}.nvlinks_up"]) == (18, 18)
        assert found[f"{item}.nvlink_speed"] == 212.496


@pytest.mark.parametrize(
    ("change", "links", "up", "speed"),
    [
        ({"LinkStatus": "LinkDown"}, 18, 17, 212.496),
        ({"CurrentSpeedGbps": 100}, 18, 18, 100),
        ({"CurrentSpeedGbps": None}, 18, 18, None),
        ({"CurrentSpeedGbps": 0}, 18, 18, None),
        ({"LinkStatus": None}, 18, None, None),
        ({"LinkStatus": "Perhaps"}, 18, None, None),
        ({"PortProtocol": "PCIe"}, 17, 17, 212.496),
        ({"PortProtocol": None}, None, None, None),
    ],
)
def test_one_link_that_differs_is_seen(
    change: dict[str, Any], links: int | None, up: int | None, speed: float | None
) -> None:
    place = f"{FIRST}/Ports/NVLink_0"
    found = of(DGX, **{place: {**body(DGX, place), **change}})
    for leaf, expected in (("nvlinks", links), ("nvlinks_up", up), ("nvlink_speed", speed)):
        reading = found[f"bmc.gpu/GPU_SXM_1.{leaf}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected
    assert found["bmc.gpu/GPU_SXM_2.nvlinks_up"] == 18


def test_a_port_that_was_not_read_leaves_its_gpus_links_unknown() -> None:
    assert of(DGX, **{f"{FIRST}/Ports/NVLink_0": LOST})["bmc.gpu/GPU_SXM_1.nvlinks"] == LOST


def test_a_gpu_without_a_link_up_has_no_speed() -> None:
    down = {
        uri: {**body(DGX, uri), "LinkStatus": "LinkDown"} for uri in capture(DGX).bodies if f"{FIRST}/Ports/" in uri
    }
    found = of(DGX, **down)
    assert found["bmc.gpu/GPU_SXM_1.nvlinks_up"] == 0
    assert isinstance(found["bmc.gpu/GPU_SXM_1.nvlink_speed"], Absent)


def test_a_gpu_that_is_not_ready_has_not_lost_its_links() -> None:
    assert unknown(of(GB200)["bmc.gpu/GPU_0.nvlinks"], Reason.NOT_READY)
    ports = {**body(DGX, f"{FIRST}/Ports"), "Members": [], "Members@odata.count": 0}
    assert of(DGX, **{f"{FIRST}/Ports": ports})["bmc.gpu/GPU_SXM_1.nvlinks"] == 0


@pytest.mark.parametrize(
    ("name", "key"), [(SUPERMICRO, "GPU1"), (HPE_INTEL, "3"), (DELL, '"Video.Slot.2-1"'), (LENOVO, "GPU1")]
)
def test_a_gpu_whose_ports_are_not_listed_leaves_its_links_unknown(name: str, key: str) -> None:
    assert unknown(of(name)[f"bmc.gpu/{key}.nvlinks"])
    assert unknown(of(name)[f"bmc.gpu/{key}.nvlinks_up"])


# Switches


def test_switches_are_distinguished_from_retimers() -> None:
    found = of(DGX)
    assert found["bmc.nvswitch"] == tuple(f"NVSwitch_{n}" for n in range(4))
    assert found["bmc.pcie_switch"] == ("PCIeSwitch_0",)
    assert found["bmc.retimer"] == tuple(f"PCIeRetimer_{n}" for n in range(8))
    assert (found["bmc.nvswitch/NVSwitch_0.firmware"], found["bmc.nvswitch/NVSwitch_0.bandwidth"]) == (
        "96.10.4A.00.01",
        6656,
    )
    assert found["bmc.retimer/PCIeRetimer_7.health"] == "OK"
    assert unknown(found["bmc.retimer/PCIeRetimer_7.firmware"])


def test_a_switch_tray_has_its_switches_and_no_model_for_them() -> None:
    found = of(NVSWITCH)
    assert found["bmc.nvswitch"] == ("NVSwitch_0", "NVSwitch_1")
    assert found["bmc.nvswitch/NVSwitch_1.firmware"] == "35_2014_4652"
    assert unknown(found["bmc.nvswitch/NVSwitch_1.model"])


@pytest.mark.parametrize("name", [HPE_INTEL, DELL, SUPERMICRO, HPE_AMD, LENOVO, GB200, BLUEFIELD, DMTF, X10, DELTA])
def test_a_bmc_that_lists_no_such_switch_leaves_it_unknown(name: str) -> None:
    for kind in ("nvswitch", "pcie_switch", "retimer"):
        assert unknown(of(name)[f"bmc.{kind}"])


def test_a_switch_without_a_type_may_be_of_any_kind() -> None:
    place = "/redfish/v1/Fabrics/HGX_NVLinkFabric_0/Switches/NVSwitch_0"
    found = of(DGX, **{place: {**body(DGX, place), "SwitchType": None}})
    for kind in ("nvswitch", "pcie_switch", "retimer"):
        assert unknown(found[f"bmc.{kind}"])
    assert found["bmc.nvswitch/NVSwitch_1.health"] == "OK"


def test_a_switch_that_was_not_read_leaves_the_collection_unknown() -> None:
    assert of(DGX, **{"/redfish/v1/Fabrics/HGX_NVLinkFabric_0/Switches/NVSwitch_0": LOST})["bmc.nvswitch"] == LOST


def test_gpus_among_the_pcie_devices_are_known_if_the_count_of_processors_is_above_their_list() -> None:
    place = "/redfish/v1/Systems/1/Processors"
    listed = capture(SUPERMICRO).bodies[place]
    assert isinstance(listed, Mapping)
    before, after = of(SUPERMICRO), of(SUPERMICRO, **{place: {**listed, "Members@odata.count": 8}})
    assert isinstance(after["bmc.gpu"], Unknown)
    assert isinstance(after["bmc.gpu.count"], Unknown)
    items = {path: reading for path, reading in before.items() if path.startswith("bmc.gpu/")}
    assert {path: after.get(path) for path in items} == items
    lost = of(SUPERMICRO, **{place: LOST})
    assert not [path for path in lost if path.startswith("bmc.gpu/GPU1")]  # they may be among the processors
