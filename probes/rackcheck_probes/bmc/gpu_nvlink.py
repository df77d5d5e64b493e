"""NVLinks of GPUs as the BMC reports them."""

from rackcheck import Class, Documents, Facts, Redfish, Sourced, integer, probe, quantity, spell_key
from rackcheck.parse.bmc.gpu import gpus
from rackcheck.parse.bmc.nvlink import count, count_up, nvlinks, slowest
from rackcheck_probes.bmc.gpu import PLACES, PROCESSORS


@probe(
    Redfish(*PLACES, f"{PROCESSORS}/Ports/*", dear=True),
    gives={
        "bmc.gpu/*.nvlinks": integer("NVLinks of the GPU, up or down"),
        "bmc.gpu/*.nvlinks_up": integer("NVLinks that are up"),
        "bmc.gpu/*.nvlink_speed": quantity(
            "Gb/s", "lowest speed of the NVLinks that are up, per direction; absent if none is up", Class.MEASUREMENT
        ),
    },
)
def bmc_gpu_nvlink(docs: Documents) -> Facts:
    """The NVLinks of each GPU, and how many are up. Every port is a separate resource and takes one GET."""
    found, _ = gpus(docs)  # the probe that lists the GPUs reports what is missing
    for key, gpu in found:
        item = f"bmc.gpu/{spell_key(key)}"
        ports, trouble = nvlinks(docs, gpu)
        for leaf, reader in (("nvlinks", count), ("nvlinks_up", count_up), ("nvlink_speed", slowest)):
            yield f"{item}.{leaf}", gpu.there(Sourced(reader(ports, trouble), f"{gpu.resource.uri}#/Ports"))
