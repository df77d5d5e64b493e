"""What is behind each network interface: its driver and its place on PCI."""

from rackcheck import Absent, Facts, Files, Read, Sourced, flag, integer, probe, spell_key, text
from rackcheck.core import read
from rackcheck_probes.rdma_devices import BESIDE, numa_node

HERE = "/sys/class/net/{0}/device/net/{0}/mtu"
VIRTIO = "/sys/bus/pci/devices/*/virtio*/net/*/mtu"
NUMA = "/sys/class/net/{}/device/numa_node"
VIRTUAL = "/sys/class/net/{}/device/physfn/vendor"


@probe(
    Read(HERE.format("*"), BESIDE, VIRTIO, NUMA.format("*"), VIRTUAL.format("*"), cap=2 << 20),
    gives={
        "nic.interface/*.driver": text("Its driver: mlx5_core, ice, bnxt_en, ionic, virtio_net; absent if not on PCI."),
        "nic.interface/*.pci": text("The PCI function it is part of, as in pcie/*; absent if not on PCI."),
        "nic.interface/*.numa": integer("The NUMA node it hangs on; absent if the firmware does not say."),
        "nic.interface/*.virtual": flag("Whether it is a virtual function (SR-IOV)."),
    },
)
def interface_devices(files: Files) -> Facts:
    """Read each interface's place."""
    driven = {name: (driver, address) for driver, address, name in files.found(BESIDE)}
    driven |= {name: ("virtio_net", address) for address, _, name in files.found(VIRTIO)}
    none = Absent("not a PCI device")
    for one, other in files.found(HERE.replace("{0}", "*")):
        if one == other:
            item = f"nic.interface/{spell_key(one)}"
            driver, address = driven.get(one, ("", ""))
            yield f"{item}.driver", Sourced(driver or none, BESIDE)
            yield f"{item}.pci", Sourced(address or none, BESIDE)
            numa = files.read(NUMA.format(one), read.whole)
            yield f"{item}.numa", Sourced(numa_node(numa.reading), numa.source)
            yield f"{item}.virtual", Sourced(files.has(VIRTUAL.format(one)), VIRTUAL.format(one))
