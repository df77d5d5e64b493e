"""Network adapters and ports as recorded BMCs report them, in older and newer schemas."""

import pytest
from one_probe import altered, ask, bodies
from trees import BLUEFIELD, DELL, DELTA, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO, X10

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.model.resource import Body
from rackcheck.parse.bmc.port import addresses, gbps, link, mbps
from rackcheck_probes.bmc.nic import bmc_nic

CARD = "/redfish/v1/Chassis/1/NetworkAdapters/1"
PORT = f"{CARD}/Ports/1"
LOST = Unknown(Reason.TIMEOUT, "no answer")
GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")


@pytest.mark.parametrize(
    ("name", "adapters", "ports"),
    [
        (DELL, 4, 6),
        (DGX, 12, 14),
        (SUPERMICRO, 10, 11),
        (HPE_INTEL, 5, 6),
        (HPE_AMD, 3, 4),
        (LENOVO, 2, 4),
        (GB200, 6, 1),
        (BLUEFIELD, 2, 6),
    ],
)
def test_every_adapter_and_every_port_is_counted_once(name: str, adapters: int, ports: int) -> None:
    found = ask(bmc_nic, name)
    cards = found["bmc.nic"]
    assert isinstance(cards, tuple)
    assert len(cards) == adapters
    assert len([path for path in found if path.endswith(".link")]) == ports
    assert not [path for path, reading in found.items() if path.endswith(".port") and isinstance(reading, Unknown)]


@pytest.mark.parametrize("name", [NVSWITCH, DMTF, X10, DELTA])
def test_a_bmc_without_adapters_leaves_them_unknown(name: str) -> None:
    assert isinstance(ask(bmc_nic, name)["bmc.nic"], Unknown)


@pytest.mark.parametrize(
    ("name", "adapter", "model", "serial", "part", "firmware"),
    [
        (DELL, '"NIC.Slot.5"', "BlueField-2 SmartNIC Main Card", "MT2242XZ00QA", "MBF2H5", "24.40.10.00"),
        (DELL, '"InfiniBand.Slot.7"', None, None, None, "20.31.10.14"),
        (SUPERMICRO, "9", "AOC-STGS-i2T", "VA236S008824", "AOC-STGS-i2T", "3.50 0x800016DC"),
        (LENOVO, "slot-15", "BlueField-2 DPU 100GbE Dual-Port", "MT2341XZ0A9M", "MBF2H536C-CECOT", "24.41.1000"),
        (GB200, "IO_Board_0_CX7_0", "P4768-B01", "1583124760427", "699-24768-0000-TS3", None),
        (DGX, "DevType7_NIC1", None, None, None, "2.50"),
        (DGX, "DevType7_NIC3", None, None, None, None),
        (DGX, "DevType7_NIC10", None, None, None, None),
    ],
)
def test_an_adapter_has_the_values_of_its_label(
    name: str, adapter: str, model: str | None, serial: str | None, part: str | None, firmware: str | None
) -> None:
    found = ask(bmc_nic, name)
    facts = {"model": model, "serial": serial, "part": part, "firmware": firmware}
    for fact, expected in facts.items():
        reading = found[f"bmc.nic/{adapter}.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected, fact


@pytest.mark.parametrize(
    ("name", "port", "state", "speed", "technology", "first"),
    [
        (DELL, '"NIC.Integrated.1".port/"NIC.Integrated.1-1"', "down", None, "Ethernet", "e4:3d:1a:13:27:f0"),
        (DELL, '"InfiniBand.Slot.7".port/"InfiniBand.Slot.7-2"', "up", None, "InfiniBand", "b8:3f:d2:a4:1b:d3"),
        (DELL, '"NIC.Slot.5".port/"NIC.Slot.5"', None, None, "Ethernet", "b8:3f:d2:90:97:c4"),
        (HPE_INTEL, "DE042000.port/1", "up", 100.0, "Ethernet", "58:a2:e1:03:a8:e3"),
        (HPE_INTEL, "DE046000.port/0", None, 100.0, "Ethernet", "88:e9:a4:45:45:f2"),
        (HPE_AMD, "DE080000.port/0", "down", None, "InfiniBand", "88e9:a4ff:ff87:42c8"),
        (HPE_AMD, "DE084000.port/0", "up", 100.0, "Ethernet", "b8:3f:d2:d7:f7:4a"),
        (LENOVO, "slot-27.port/4", "down", None, "Ethernet", "00:62:0b:4c:28:51"),
        (SUPERMICRO, "1.port/1", "down", None, "Ethernet", "94:6d:ae:91:fb:22"),
        (DGX, "DevType7_NIC10.port/DevTypeE_SlotA_Instance18_PORT0", None, None, "InfiniBand", None),
        (DGX, "DevType7_NIC8.port/DevTypeE_Slot0_Instance16_PORT0", "up", None, "Ethernet", None),
        (GB200, "IO_Board_0_CX7_0.port/IO_Board_0_CX7_0_Port_0_State", "down", None, "Ethernet", None),
        (BLUEFIELD, "Card1:NvidiaNetworkAdapter.port/oob0", "up", 1.0, "Ethernet", None),
    ],
)
def test_a_port_reports_its_link_in_one_set_of_words_and_units(
    name: str, port: str, state: str | None, speed: float | None, technology: str, first: str | None
) -> None:
    found = ask(bmc_nic, name)
    for fact, expected in {"link": state, "speed": speed, "technology": technology}.items():
        reading = found[f"bmc.nic/{port}.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected, fact
    value = found[f"bmc.nic/{port}.addresses"]
    assert isinstance(value, Unknown) if first is None else isinstance(value, tuple) and value[0] == first


def test_what_a_port_can_do_at_most_is_not_what_it_does() -> None:
    assert ask(bmc_nic, HPE_INTEL)["bmc.nic/DE042000.port/0.max_speed"] == 200
    assert ask(bmc_nic, LENOVO)["bmc.nic/slot-27.port/1.max_speed"] == 1


def test_an_adapter_may_have_no_ports() -> None:
    assert ask(bmc_nic, LENOVO)["bmc.nic/slot-15.port"] == ()


@pytest.mark.parametrize("end", [PORT, f"{CARD}/Ports"])
def test_the_older_port_does_not_stand_in_for_a_newer_one_that_did_not_come(end: str) -> None:
    found = ask(bmc_nic, SUPERMICRO, {end: LOST})
    assert isinstance(found["bmc.nic/1.port"], Unknown)
    assert "bmc.nic/1.port/1.link" not in found
    assert found["bmc.nic/2.port"] == ("1",)


def test_the_older_port_stands_in_for_newer_ones_that_the_bmc_calls_not_found() -> None:
    gone = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
    assert ask(bmc_nic, SUPERMICRO, {f"{CARD}/Ports": gone})["bmc.nic/1.port/1.link"] == "down"


def test_a_missing_adapter_leaves_the_list_unknown_and_the_others_known() -> None:
    found = ask(bmc_nic, SUPERMICRO, {CARD: LOST})
    assert found["bmc.nic"] == LOST
    assert found["bmc.nic/2.model"] == "MCX75310AAS-NEAT"
    assert "bmc.nic/1.model" not in found


def test_an_empty_slot_has_no_model_and_an_unseen_one_is_unknown() -> None:
    found = altered(bmc_nic, SUPERMICRO, CARD, Status={"State": "Absent"}, Model=None)
    assert isinstance(found["bmc.nic/1.model"], Absent)
    assert isinstance(found["bmc.nic/1.firmware"], Absent)
    assert isinstance(altered(bmc_nic, SUPERMICRO, CARD, Model=None)["bmc.nic/1.model"], Unknown)


@pytest.mark.parametrize(
    "controllers",
    [
        None,
        [],
        {},
        [None],
        [{"FirmwarePackageVersion": "1"}, {"FirmwarePackageVersion": "2"}],
        [{"FirmwarePackageVersion": "1"}, {"FirmwarePackageVersion": None}],
        [{"FirmwarePackageVersion": ["1"]}],
    ],
)
def test_controllers_that_do_not_speak_with_one_voice_leave_the_firmware_unknown(controllers: object) -> None:
    assert isinstance(altered(bmc_nic, SUPERMICRO, CARD, Controllers=controllers)["bmc.nic/1.firmware"], Unknown)


@pytest.mark.parametrize(
    ("text", "word"),
    [("LinkUp", "up"), ("Up", "up"), ("LinkDown", "down"), ("NoLink", "down"), ("Training", "training")],
)
def test_both_schemas_words_of_a_link_are_known(text: str, word: str) -> None:
    assert link(text) == word


@pytest.mark.parametrize("value", [None, "", "Enabled", True, 1, [], "x" * 5000])
def test_another_word_is_no_state_of_a_link(value: object) -> None:
    with pytest.raises(Unreadable):
        link(value)


def test_a_speed_is_in_gigabits_and_zero_is_none() -> None:
    assert gbps(400) == mbps(400_000) == 400
    for value in (0, None, -1, "fast", True, 10**400, float("inf"), float("nan")):
        with pytest.raises(Unreadable):
            gbps(value)


def test_addresses_are_spelled_as_linux_spells_them() -> None:
    rows = ["00620B4C284E", "B8-3F-D2-90-97-C4", "b8:3f:d2:90:97:c4", "88E9:A4FF:FF87:42C8", "00:00:00:00:00:00"]
    assert addresses(rows) == ("00:62:0b:4c:28:4e", "b8:3f:d2:90:97:c4", "88e9:a4ff:ff87:42c8")


@pytest.mark.parametrize("value", [None, {}, "00620B4C284E", [], [None], ["x"], ["00:00:00:00:00:00"], ["00"] * 20_000])
def test_a_list_without_an_address_is_unknown(value: object) -> None:
    with pytest.raises(Unreadable):
        addresses(value)


def test_two_adapters_of_one_name_are_distinguished_by_their_chassis() -> None:
    assert ask(bmc_nic, BLUEFIELD)["bmc.nic"] == (
        "Bluefield_BMC:NvidiaNetworkAdapter",
        "Card1:NvidiaNetworkAdapter",
    )


def test_ports_are_requested_only_where_an_adapter_links_to_them() -> None:
    uris = [uri for uri in bodies(bmc_nic, HPE_INTEL) if uri.endswith(("/Ports/0", "/NetworkPorts/0"))]
    assert len(uris) == 5


# Ports and chassis that do not exist


def test_the_only_port_of_an_adapter_that_does_not_exist_has_no_name() -> None:
    port = "/redfish/v1/Chassis/System.Embedded.1/NetworkAdapters/NIC.Slot.5/NetworkPorts/NIC.Slot.5-1"
    before, after = ask(bmc_nic, DELL), ask(bmc_nic, DELL, {port: GONE})
    item = 'bmc.nic/"NIC.Slot.5".port'
    assert before[item] == ("NIC.Slot.5",)  # the Id of the port, which its URI does not contain
    assert after[item] == Unknown(Reason.NOT_COLLECTED, f"{port}: HTTP 404")
    assert not [path for path in after if path.startswith(f"{item}/")]
    rest = {path: reading for path, reading in before.items() if not path.startswith(item)}
    assert {path: after[path] for path in rest} == rest


def test_a_port_that_does_not_exist_beside_one_whose_id_is_in_its_uri_has_the_name_in_its_uri() -> None:
    place = "/redfish/v1/Chassis/System.Embedded.1/NetworkAdapters/NIC.Integrated.1/NetworkPorts"
    item = 'bmc.nic/"NIC.Integrated.1".port'
    after = ask(bmc_nic, DELL, {f"{place}/NIC.Integrated.1-2": GONE})
    assert after[item] == ask(bmc_nic, DELL)[item]
    assert isinstance(after[f'{item}/"NIC.Integrated.1-2".link'], Unknown)
    renamed = bodies(bmc_nic, DELL)[f"{place}/NIC.Integrated.1-1"]
    assert not isinstance(renamed, Unknown)
    other: dict[str, Body | Unknown] = {
        f"{place}/NIC.Integrated.1-1": {**renamed, "Id": "1"},
        f"{place}/NIC.Integrated.1-2": GONE,
    }
    assert isinstance(ask(bmc_nic, DELL, other)[item], Unknown)


def test_an_adapter_beside_one_in_a_chassis_that_does_not_exist_is_known_in_an_unknown_list() -> None:
    before, after = ask(bmc_nic, BLUEFIELD), ask(bmc_nic, BLUEFIELD, {"/redfish/v1/Chassis/Bluefield_BMC": GONE})
    assert before["bmc.nic"] == ("Bluefield_BMC:NvidiaNetworkAdapter", "Card1:NvidiaNetworkAdapter")
    assert isinstance(after["bmc.nic"], Unknown)
    assert after["bmc.nic/NvidiaNetworkAdapter.manufacturer"] == "Nvidia"
