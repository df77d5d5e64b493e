"""NVMe controllers in sysfs: their names in order, and their parents, if any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Sourced, Unknown
from rackcheck.model.text import Files
from rackcheck.parse.host.pcie import pci
from rackcheck.parse.host.storage import nvme_controllers

AT = "/sys/class/nvme/nvme0"


def test_a_controller_that_has_any_of_the_files_is_one_in_the_order_of_numbers() -> None:
    files = Files(
        {f"/sys/class/nvme/nvme{n}/{name}": "x\n" for n, name in ((10, "model"), (2, "state"), (3, "other"))}, {}
    )
    assert nvme_controllers.controllers(files, ["model", "state"]) == ["nvme2", "nvme10"]


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("0000:e1:00.0", "0000:e1:00.0"),
        ("traddr=10.0.0.1,trsvcid=4420", Absent("not on PCIe")),
        ("10000:01:00.0", "10000:01:00.0"),
    ],
)
def test_a_controller_over_a_network_has_no_pci_address(address: str, value: Absent | str) -> None:
    found = nvme_controllers.pci(Files({f"{AT}/address": f"{address}\n"}, {}), "nvme0")
    assert found == Sourced(value, f"{AT}/address")


def test_the_kernels_minus_one_is_no_node_and_node_0_is_one() -> None:
    def numa(text: str) -> object:
        return pci.numa(Files({f"{AT}/numa_node": text}, {}), AT).reading

    assert numa("-1\n") == Absent("the firmware assigns no NUMA node")
    assert (numa("0\n"), numa("1\n")) == (0, 1)


def test_a_file_that_may_not_be_read_is_not_known() -> None:
    denied = Unknown(Reason.DENIED, "Permission denied")
    files = Files({}, {f"{AT}/address": denied, f"{AT}/numa_node": denied})
    assert nvme_controllers.pci(files, "nvme0").reading == pci.numa(files, AT).reading == denied


@given(st.text(), st.text())
def test_nonsense_gives_a_value_or_a_reason(address: str, node: str) -> None:
    files = Files({f"{AT}/address": address, f"{AT}/numa_node": node}, {})
    assert isinstance(nvme_controllers.pci(files, "nvme0").reading, str | Absent | Unknown)
    assert isinstance(pci.numa(files, AT).reading, int | Absent | Unknown)
