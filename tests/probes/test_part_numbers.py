"""Serial numbers and part numbers of parts: what machines store is read, and a placeholder is never a number."""

import json

import pytest
from recordings import answering, facts, os_probes, shared_text
from trees import DELL, HPE_AMD, read, readings, resource
from trees import facts as read_by

from rackcheck.model.fact import Absent, Reading, Reason, Unknown

PROBES = os_probes()
PORT = "/redfish/v1/Chassis/System.Embedded.1/NetworkAdapters/InfiniBand.Slot.7/NetworkPorts/InfiniBand.Slot.7-2"
MODULE = 'bmc.nic/"InfiniBand.Slot.7".port/"InfiniBand.Slot.7-2".module'


def returned(probe: str, text: str) -> dict[str, Reading]:
    return facts(PROBES[probe], answering(PROBES[probe], text))


@pytest.mark.parametrize(
    ("recording", "names", "number"),
    [
        ("supermicro-as-4124gs-tnr", ("PSU1", "PSU2", "PSU3", "PSU4"), "PWS-2K08A-1R"),
        ("dell-r7525-a", ("0x2700", "0x2701"), "01CW9GA04"),
        ("dell-c4140", ("0x2700", "0x2701"), "0J5WMGA02"),
    ],
)
def test_power_supplies_have_the_part_numbers_of_firmware(recording: str, names: tuple[str, ...], number: str) -> None:
    found = returned("power_supplies", shared_text(f"memory/dmidecode-{recording}.txt"))
    assert found["node.psu"] == names
    assert found[f"node.psu/{names[0]}.part_number"] == number
    serial = found[f"node.psu/{names[0]}.serial"]
    assert isinstance(serial, Unknown)  # the recordings' serial numbers are blanked
    assert serial.detail.endswith("Serial Number: --")


def test_a_board_that_filled_in_nothing_has_no_part_number() -> None:
    found = returned("power_supplies", shared_text("memory/dmidecode-asus-esc8000-g4.txt"))
    number = found['node.psu/"To Be Filled By O.E.M.".part_number']
    assert isinstance(number, Unknown)
    assert "placeholder 'To Be Filled By O.E.M.'" in number.detail


def test_the_numbers_of_processors_are_read_and_a_placeholder_is_none() -> None:
    text = shared_text("memory/dmidecode-dell-c4140.txt")
    item = "cpu.socket/CPU1"
    assert isinstance(returned("cpu_sockets", text)[f"{item}.serial"], Unknown)
    start, socket, rest = text.partition("Socket Designation: CPU1")
    numbered = rest.replace("Serial Number: --", "Serial Number: 6F1C2B9A0D11", 1)
    assert numbered != rest
    assert returned("cpu_sockets", start + socket + numbered)[f"{item}.serial"] == "6F1C2B9A0D11"


def test_a_line_that_lsblk_does_not_print_makes_no_serial_number() -> None:
    whole = 'KNAME="sda" TYPE="disk" SERIAL="S45PNA0M000001"\n'
    assert returned("block_serial", whole) == {"storage.device/sda.serial": "S45PNA0M000001"}
    for broken in ('KNAME="sda" TYPE="disk" SERIAL="S45PNA0M0\n', "sda S45PNA0M000001\n", whole.rstrip("\n")):
        assert all(isinstance(each, Unknown) for each in returned("block_serial", broken).values())


@pytest.mark.parametrize(
    ("fields", "serial"),
    [
        ("\t\t\t[SN] Serial number: MT2310X00001", "MT2310X00001"),
        ("\t\t\t[SN] Serial number:", Absent),
        ("\t\t\t[V1] Vendor specific: [SN", Absent),
        ("\t\t\t[PN] Part number: SN] Serial number: X1", Absent),
    ],
)
def test_the_serial_number_of_a_pci_device_is_its_own_field(fields: str, serial: object) -> None:
    text = (
        "0000:18:00.0 Ethernet controller [0200]: Maker Device [15b3:1021]\n\tCapabilities: [48] Vital Product Data\n"
        f"\t\tRead-only fields:\n{fields}\n\t\tEnd\n\n"
    )
    found = returned("pcie_vital", text)['pcie/"0000:18:00.0".serial']
    assert found == serial or (serial is Absent and isinstance(found, Absent))


def test_the_transceivers_of_a_port_are_read_from_a_bmc_that_returns_them() -> None:
    found = readings(DELL)
    assert {word: found[f"{MODULE}.{word}"] for word in ("vendor", "type", "part_number", "serial")} == {
        "vendor": "Mellanox", "type": "QSFP28OrLater", "part_number": "MFS1S00-H010E", "serial": "MT2146FT07703",
    }  # fmt: skip
    other = found['bmc.nic/"NIC.Slot.5".port/"NIC.Slot.5".module.serial']
    assert other == Unknown(Reason.NOT_COLLECTED, "the answer does not contain it")
    empty = readings(HPE_AMD)["bmc.nic/DE084000.port/0.module.serial"]
    assert isinstance(empty, Unknown)
    assert "SFP.SerialNumber is null or missing" in empty.detail


def test_a_transceiver_with_a_placeholder_has_no_serial_number() -> None:
    body = json.loads(json.dumps(resource(DELL, PORT)))
    body["Oem"]["Dell"]["DellNetworkTransceiver"]["SerialNumber"] = "N/A"
    capture = read(DELL, {PORT: body})
    assert read_by(capture)[f"{MODULE}.serial"].reading == Absent("the BMC returns the placeholder 'N/A'")
