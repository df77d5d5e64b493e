"""GPUs as the BMC reports them."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Walk,
    collection,
    flag,
    integer,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc.gpu import gpus, limit, memory, remap, walked
from rackcheck.parse.bmc.pcie import generation
from rackcheck.parse.bmc.processors import count
from rackcheck.parse.bmc.systems import some, whole

PROCESSORS = "Systems/*/Processors/*"
ELSEWHERE = Walk(
    "Links/PCIeDevice and Links/Memory/* of its GPUs, or Chassis/*/PCIeDevices/* if no processor is a GPU", walked
)
PLACES = (PROCESSORS, ELSEWHERE)
TEXTS = {"model": "Model", "name": "Name", "manufacturer": "Manufacturer"}
TEXTS |= {"vbios": "FirmwareVersion"}
TEXTS |= {"slot": "Location.PartLocation.ServiceLabel"}
LABELS = {"serial": "SerialNumber", "part_number": "PartNumber", "uuid": "UUID"}
LANES = {"pcie_width": "LanesInUse", "pcie_max_width": "MaxLanes"}
GENERATIONS = {"pcie_generation": "PCIeType", "pcie_max_generation": "MaxPCIeType"}
SPEEDS = {"max_speed": "MaxSpeedMHz", "min_speed": "MinSpeedMHz", "speed": "OperatingSpeedMHz"}
REMAPS = {"remap_failed": "RowRemappingFailed", "remap_pending": "RowRemappingPending"}
SWITCHES = {"ecc": "MemorySummary.ECCModeEnabled", "mig": "Oem.Nvidia.MIGModeEnabled", "speed_locked": "SpeedLocked"}


@probe(
    Redfish(*PLACES),
    gives={
        "bmc.gpu": collection(
            "GPUs by the BMC's Id; unknown if the BMC lists none, because many BMCs do not monitor GPUs",
            alike=("bmc.gpu/*.model",),
            vacant="bmc.gpu/*.state",
        ),
        "bmc.gpu.count": integer("installed GPUs; unknown if the BMC lists none"),
        "bmc.gpu/*.state": text("Enabled, or Absent for an empty slot"),
        "bmc.gpu/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.gpu/*.model": text("model; some BMCs report a part number", Class.IDENTITY),
        "bmc.gpu/*.name": text("name in the BMC; some BMCs report the model here", Class.IDENTITY),
        "bmc.gpu/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.gpu/*.serial": text("serial number", Class.IDENTITY),
        "bmc.gpu/*.part_number": text("part number", Class.IDENTITY),
        "bmc.gpu/*.uuid": text("unique id, without the driver's GPU- prefix", Class.IDENTITY),
        "bmc.gpu/*.vbios": version("hex-dotted", "firmware"),
        "bmc.gpu/*.memory": quantity("GiB", "memory"),
        "bmc.gpu/*.pcie_width": integer("PCIe lanes in use"),
        "bmc.gpu/*.pcie_max_width": integer("PCIe lanes that the GPU supports"),
        "bmc.gpu/*.ecc": flag("whether ECC of the GPU's memory is on"),
        "bmc.gpu/*.remap_failed": flag("whether a remap of a memory row failed", Class.MEASUREMENT),
        "bmc.gpu/*.remap_pending": flag("whether a memory row is remapped at the next reset", Class.MEASUREMENT),
        "bmc.gpu/*.mig": flag("whether the GPU is partitioned (NVIDIA's MIG)"),
        "bmc.gpu/*.max_speed": quantity("MHz", "highest clock"),
        "bmc.gpu/*.min_speed": quantity("MHz", "lowest clock"),
        "bmc.gpu/*.speed": quantity("MHz", "clock at the time of reading", Class.MEASUREMENT),
        "bmc.gpu/*.slot": text("label on the board next to the GPU: SXM1"),
        "bmc.gpu/*.pcie_generation": integer("PCIe generation that the link runs at; an idle GPU may use a lower one"),
        "bmc.gpu/*.pcie_max_generation": integer("highest PCIe generation that the GPU supports"),
        "bmc.gpu/*.speed_limit": quantity("MHz", "clock limit; unlimited where none is set", unlimited=True),
        "bmc.gpu/*.speed_locked": flag("whether the GPU's clock is locked"),
    },
)
def bmc_gpu(docs: Documents) -> Facts:
    """Presence, health and model of every GPU."""
    found, trouble = gpus(docs)
    for key, gpu in found:
        item = f"bmc.gpu/{spell_key(key)}"
        for leaf, name in TEXTS.items():
            yield f"{item}.{leaf}", gpu.read(name)
        yield f"{item}.state", gpu.state()
        yield f"{item}.health", gpu.health()
        for leaf, name in LABELS.items():
            yield f"{item}.{leaf}", gpu.label(name)
        yield f"{item}.memory", memory(docs, gpu)
        for leaf, name in REMAPS.items():
            yield f"{item}.{leaf}", remap(docs, gpu, name)
        for leaf, name in LANES.items():
            yield f"{item}.{leaf}", gpu.read(f"{gpu.link}.{name}", whole)
        for leaf, name in SWITCHES.items():
            yield f"{item}.{leaf}", gpu.read(name, truth)
        for leaf, name in GENERATIONS.items():
            yield f"{item}.{leaf}", gpu.read(f"{gpu.link}.{name}", generation)
        for leaf, name in SPEEDS.items():
            yield f"{item}.{leaf}", gpu.read(name, some)
        yield f"{item}.speed_limit", gpu.read("SpeedLimitMHz", limit)
    yield "bmc.gpu.count", count((gpu.read("Status.State").reading for _, gpu in found), trouble)
    if trouble is not None:
        yield "bmc.gpu", trouble
