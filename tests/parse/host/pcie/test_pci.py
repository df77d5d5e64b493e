"""Files of /sys/bus/pci/devices: as kernels write them; similar text is refused."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import tree

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.pcie import pci

READERS = (pci.gigatransfers, pci.lanes, pci.code, pci.driver, pci.windows, pci.counters, pci.total, pci.seen)


def test_a_recorded_functions_files_are_read() -> None:
    found = tree("pcie/sysfs-pci-0045-node-exporter", "")
    files = {place.removeprefix("/"): content for place, content in found.items()}
    assert pci.gigatransfers(files["current_link_speed"]) == 5.0
    assert pci.lanes(files["current_link_width"]) == 4
    assert pci.driver(files["uevent"]) == "igb"
    assert [pci.code(files[name]) for name in ("vendor", "subsystem_vendor")] == ["0x8086", "0x8086"]
    assert len(pci.windows(files["resource"])) == pci.BARS


@pytest.mark.parametrize(("content", "speed"), [("2.5 GT/s\n", 2.5), ("8 GT/s\n", 8.0), ("32.0 GT/s PCIe\n", 32.0)])
def test_a_speed_is_read_as_old_and_new_kernels_write_it(content: str, speed: float) -> None:
    assert pci.gigatransfers(content) == speed


@pytest.mark.parametrize(
    "content",
    ["Unknown\n", "Unknown speed\n", "16.0\n", "16.0 GB/s\n", "-8 GT/s\n", "", "٢٣ GT/s\n", "8.٣ GT/s\n", "1_6 GT/s\n"],
)
def test_what_is_no_speed_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        pci.gigatransfers(content)


@pytest.mark.parametrize("content", ["63\n", "3\n", "0\n", "-1\n", "x16\n"])
def test_a_width_that_no_link_has_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        pci.lanes(content)


def test_a_function_without_a_driver_has_none_and_a_uevent_of_something_else_is_unreadable() -> None:
    assert pci.driver("PCI_CLASS=20000\nPCI_SLOT_NAME=0000:45:00.0\n") == ""
    with pytest.raises(Unreadable, match="no PCI_SLOT_NAME"):
        pci.driver("DRIVER=igb\n")


def test_errors_of_all_kinds_are_known_only_where_each_kind_is() -> None:
    lost, none = Unknown(Reason.DENIED, "no"), Absent("no aer_dev_fatal")
    known: dict[str, Reading] = {"correctable": ("BadTLP", "RxErr"), "fatal": ("DLP",)}
    assert pci.together(known) == ("correctable BadTLP", "correctable RxErr", "fatal DLP")
    assert pci.together(known | {"nonfatal": none}) == none
    assert pci.together(known | {"nonfatal": none, "x": lost}) == lost


@pytest.mark.parametrize("reader", READERS)
@given(content=st.text() | st.text(alphabet="0123456789abcdefx GT/s.=\n_TOAL"))
def test_nonsense_is_a_value_or_unreadable(reader: Callable[[str], object], content: str) -> None:
    try:
        assert reader(content) is not None
    except Unreadable as error:
        assert str(error)
