"""Items of different planes are one part if they have an identity in common, and only then."""

import pytest
from damaged import clean
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Class, Plane, Unknown
from rackcheck.model.fact import Reason as Why
from rackcheck.model.part_index import DEPTH, IDENTITIES, WORDS, PartIndex, pci_address
from rackcheck.model.tree import Leaf, Tree

TEXT = Kind(Type.TEXT, "an identity", cls=Class.IDENTITY)

ABOUT = {
    "gpu/module-7.link.width": "GPU module-7 (slot SXM1, PCI 0000:1b:00.0, serial 1650001000001)",
    'log.xid/"0000:1b:00.0".count': "GPU module-7 (slot SXM1, PCI 0000:1b:00.0, serial 1650001000001)",
    'log.kernel.iommu/"1b:00.0".faults': "GPU module-7 (slot SXM1, PCI 0000:1b:00.0, serial 1650001000001)",
    'bmc.unhealthy/"Systems/HGX_Baseboard_0/Processors/GPU_SXM_4".health': (
        "GPU module-8 (slot SXM4, PCI 0000:61:00.0, serial 1650001000004)"
    ),
    'pcie/"0000:51:00.0".link.width': "GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650001000003)",
    "nic/mlx5_4.port/1.active_rate": "NIC mlx5_4 (PCI 0000:4f:00.0, serial MT2319X10013)",
    "nic.interface/enp41s0f0np0.unlike/mtu.value": "NIC mlx5_1 (slot PCIE_SLOT0, PCI 0000:29:00.0, serial MT2319X20010)",
    "log.kernel.nvme/nvme2.timeouts": "drive nvme2 (PCI 0000:2c:00.0, serial S794NC0W00102)",
    "bmc.dimm/DevType2_DIMM4.health": "DIMM CPU0_DIMM_C1 (serial 4A000104)",
    "psu/PSU3.model": "power supply PSU3 (serial DTHTCT23070013)",
    "fan/SPD_FAN_SYS7_R.state": "fan SPD_FAN_SYS7_R",
    "bmc.cpu/DevType1_CPU1.health": "CPU CPU1",
}


@pytest.mark.parametrize("fact", ABOUT)
def test_a_fact_of_any_plane_is_about_the_part_with_its_place_and_serial(fact: str) -> None:
    assert str(PartIndex(clean().tree()).part(fact)) == ABOUT[fact]


@pytest.mark.parametrize(
    "fact", ["service/slurmd.enabled", "bios.turbo", "cpu.power/intel-rapl:1.lowered", "no path!", ""]
)
def test_what_is_no_part_has_none(fact: str) -> None:
    assert PartIndex(clean().tree()).part(fact) is None


def test_a_bridge_with_several_devices_below_it_is_a_part_of_its_own() -> None:
    part = PartIndex(clean().tree()).part('pcie/"0000:15:01.0".link.width')
    assert part is not None
    assert part.word == "PCIe device"


def tree(**facts: str) -> Tree:
    """A tree of identities: `gpu__0__serial="X"` stands for `gpu/0.serial`."""
    leaves = {}
    for name, value in facts.items():
        collection, key, word = name.split("__")
        path = f"{collection.replace('_', '.')}/{key}.{word}"
        leaves[path] = Leaf(value, TEXT, Plane.OS, "here")
    return Tree(leaves)


def chain(bridges: int, device: str = "0000:ff:00.0") -> Tree:
    """A device below so many bridges, one below the other."""
    names = [f"0000:{number >> 3:02x}:{number & 7:02x}.0" for number in range(bridges)]
    leaves = {}
    for above, name in zip(["", *names], [*names, device], strict=True):
        leaves[f'pcie/"{name}".class'] = Leaf("0x020000" if name == device else "0x060400", TEXT, Plane.OS, "here")
        leaves[f'pcie/"{name}".upstream'] = Leaf(above, TEXT, Plane.OS, "here")
    return Tree(leaves)


@pytest.mark.parametrize(("bridges", "items"), [(3, ("0000:ff:00.0",)), (DEPTH + 2, ("0000:00:00.0",))])
def test_a_chain_of_bridges_is_followed_so_far_and_no_further(bridges: int, items: tuple[str, ...]) -> None:
    part = PartIndex(chain(bridges)).part('pcie/"0000:00:00.0".link.width')
    assert part is not None
    assert part.items == tuple(f'pcie/"{name}"' for name in items)


def test_bridges_that_are_above_each_other_are_parts_of_their_own() -> None:
    leaves = dict(chain(2).leaves)
    leaves['pcie/"0000:00:00.0".upstream'] = Leaf("0000:00:01.0", TEXT, Plane.OS, "here")
    part = PartIndex(Tree(leaves)).part('pcie/"0000:00:00.0".link.width')
    assert part is not None


def test_the_same_serial_on_two_planes_is_one_part() -> None:
    index = PartIndex(tree(gpu__a__serial="16500010", bmc_gpu__b__serial="16500010"))
    part = index.part("gpu/a")
    assert part is not None
    assert part.items == ("gpu/a", "bmc.gpu/b")


@pytest.mark.parametrize("serial", ["", "N/A", "0000000000", "To Be Filled By O.E.M.", "Not Specified"])
def test_a_placeholder_makes_no_two_items_one_part(serial: str) -> None:
    index = PartIndex(tree(gpu__a__serial=serial, bmc_gpu__b__serial=serial))
    part = index.part("gpu/a")
    assert part is not None
    assert part.items == ("gpu/a",)
    assert part.serial == ""


def test_a_serial_that_two_items_of_a_collection_have_identifies_neither() -> None:
    index = PartIndex(tree(gpu__a__serial="16500010", gpu__b__serial="16500010", bmc_gpu__c__serial="16500010"))
    for name in ("gpu/a", "gpu/b", "bmc.gpu/c"):
        part = index.part(name)
        assert part is not None
        assert part.items == (name,)


def test_an_unknown_serial_is_no_text_of_a_part() -> None:
    leaves = {"gpu/a.serial": Leaf(Unknown(Why.DENIED, "no"), TEXT, Plane.OS, "here")}
    part = PartIndex(Tree(leaves)).part("gpu/a")
    assert part is not None
    assert str(part) == "GPU a"


KEYS = st.sampled_from(["0", "a b", "0000:1b:00.0", "1b:00.1", 'x"y', "é", "\x1b[31m"])
VALUES = st.sampled_from(
    ["0000:1b:00.0", "S1234567", "GPU-5a1c0001-00a5-4d00-8000-000000000001", "b8:ce:f6:00:00:01", "A1"]
)
FACTS = [(collection, fact) for pairs in IDENTITIES.values() for collection, fact in pairs if fact and "/" not in fact]


@given(st.dictionaries(st.tuples(st.sampled_from(FACTS), KEYS), VALUES, max_size=12))
def test_parts_share_no_item_whatever_a_node_reports(facts: dict[tuple[tuple[str, str], str], str]) -> None:

    leaves = {
        f"{collection}/{paths.spell_key(key)}.{fact}": Leaf(value, TEXT, Plane.OS, "here")
        for ((collection, fact), key), value in facts.items()
    }
    index = PartIndex(Tree(leaves))
    found = {part.items for collection in WORDS for part in index.parts(collection)}
    every = [item for items in found for item in items]
    assert len(every) == len(set(every))
    for items in found:
        for item in items:
            part = index.part(item)
            assert part is not None
            assert part.items == items


@pytest.mark.parametrize(
    ("text", "address"),
    [("0000:1B:00.0", "0000:1b:00.0"), ("1b:00.0", "0000:1b:00.0"), ("0001:01:00.1", "0001:01:00.1"), ("1b:00", ""),
     ("0000:1b:00.8", ""), ("x0000:1b:00.0", ""), ("", "")],
)  # fmt: skip
def test_a_pci_address_is_one_with_or_without_its_domain(text: str, address: str) -> None:
    assert pci_address(text) == address
