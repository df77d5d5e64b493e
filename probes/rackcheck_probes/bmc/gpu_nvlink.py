"""NVLinks of GPUs as the BMC sees them."""

from rackcheck import Class, Documents, Facts, Redfish, Sourced, integer, probe, quantity, spell_key
from rackcheck.parse.bmc.gpu import gpus
from rackcheck.parse.bmc.nvlink import count, count_up, nvlinks, slowest
from rackcheck_probes.bmc.gpu import PLACES, PROCESSORS


@probe(
    Redfish(*PLACES, f"{PROCESSORS}/Ports/*", dear=True),
    gives={
        "bmc.gpu/*.nvlinks": integer("NVLinks it has, up or not"),
        "bmc.gpu/*.nvlinks_up": integer("NVLinks that are up"),
        "bmc.gpu/*.nvlink_speed": quantity(
            "Gb/s", "lowest speed of its NVLinks that are up, each direction; absent where none is", Class.MEASUREMENT
        ),
    },
)
def bmc_gpu_nvlink(docs: Documents) -> Facts:
    """Whether each GPU has all its NVLinks; every port is a resource of its own, and costs a GET."""
    found, _ = gpus(docs)  # what is missing among the GPUs is said by the probe that lists them
    for key, gpu in found:
        item = f"bmc.gpu/{spell_key(key)}"
        ports, trouble = nvlinks(docs, gpu)
        for leaf, reader in (("nvlinks", count), ("nvlinks_up", count_up), ("nvlink_speed", slowest)):
            yield f"{item}.{leaf}", gpu.there(Sourced(reader(ports, trouble), f"{gpu.resource.uri}#/Ports"))
