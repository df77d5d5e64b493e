"""The driver and the PCI function of each network interface."""

from rackcheck import Facts, Files, Read, flag, integer, probe, spell_key, text
from rackcheck.parse.host.network import net_class, net_devices
from rackcheck.parse.host.pcie import pci
from rackcheck_probes.network.interfaces import HARDWARE

MARK = f"{HARDWARE}/mtu"
OF_DEVICE = (net_devices.NUMA.format("*"), net_devices.VIRTUAL.format("*"))


@probe(
    Read(MARK, net_devices.BESIDE, net_devices.VIRTIO, *OF_DEVICE, cap=2 << 20),
    gives={
        "nic.interface/*.driver": text(
            "The interface's driver: mlx5_core, ice, bnxt_en, ionic, virtio_net; absent if not on PCI."
        ),
        "nic.interface/*.pci": text("The interface's PCI function, as in pcie/*; absent if not on PCI."),
        "nic.interface/*.numa": integer("The interface's NUMA node; absent if firmware does not report it."),
        "nic.interface/*.virtual": flag("Whether the interface is a virtual function (SR-IOV)."),
    },
)
def interface_devices(files: Files) -> Facts:
    """Read each interface's driver, PCI function and NUMA node."""
    found = net_devices.places(files)
    for name in net_class.names(files, MARK):
        item, place = f"nic.interface/{spell_key(name)}", net_devices.place(found, name)
        yield f"{item}.driver", place.driver
        yield f"{item}.pci", place.address
        yield f"{item}.numa", pci.numa(files, net_devices.DEVICE.format(name))
        yield f"{item}.virtual", net_devices.virtual(files, name)
