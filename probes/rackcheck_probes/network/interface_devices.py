"""What is behind each network interface: its driver and its place on PCI."""

from rackcheck import Facts, Files, Read, flag, integer, probe, spell_key, text
from rackcheck.parse.host.network import net_class, net_devices
from rackcheck.parse.host.pcie import pci
from rackcheck_probes.network.interfaces import HARDWARE

MARK = f"{HARDWARE}/mtu"
OF_DEVICE = (net_devices.NUMA.format("*"), net_devices.VIRTUAL.format("*"))


@probe(
    Read(MARK, net_devices.BESIDE, net_devices.VIRTIO, *OF_DEVICE, cap=2 << 20),
    gives={
        "nic.interface/*.driver": text("Its driver: mlx5_core, ice, bnxt_en, ionic, virtio_net; absent if not on PCI."),
        "nic.interface/*.pci": text("The PCI function it is part of, as in pcie/*; absent if not on PCI."),
        "nic.interface/*.numa": integer("The NUMA node it hangs on; absent if the firmware does not say."),
        "nic.interface/*.virtual": flag("Whether it is a virtual function (SR-IOV)."),
    },
)
def interface_devices(files: Files) -> Facts:
    """Read each interface's place."""
    found = net_devices.places(files)
    for name in net_class.names(files, MARK):
        item, place = f"nic.interface/{spell_key(name)}", net_devices.place(found, name)
        yield f"{item}.driver", place.driver
        yield f"{item}.pci", place.address
        yield f"{item}.numa", pci.numa(files, net_devices.DEVICE.format(name))
        yield f"{item}.virtual", net_devices.virtual(files, name)
