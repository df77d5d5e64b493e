"""GPUs as the BMC sees them."""

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
from rackcheck.model.redfish_value import health, truth
from rackcheck.parse.bmc.gpu import gpus, limit, memory, uuid, walked
from rackcheck.parse.bmc.processors import count
from rackcheck.parse.bmc.systems import some, whole

PROCESSORS = "Systems/*/Processors/*"
ELSEWHERE = Walk("its GPUs' Links/PCIeDevice and Links/Memory/*; Chassis/*/PCIeDevices/* where it has none", walked)
PLACES = (PROCESSORS, ELSEWHERE)
TEXTS = {"state": "Status.State", "model": "Model", "name": "Name", "manufacturer": "Manufacturer"}
TEXTS |= {"serial": "SerialNumber", "part_number": "PartNumber", "vbios": "FirmwareVersion"}
LANES = {"pcie_width": "LanesInUse", "pcie_max_width": "MaxLanes"}
SWITCHES = {"ecc": "MemorySummary.ECCModeEnabled", "mig": "Oem.Nvidia.MIGModeEnabled", "speed_locked": "SpeedLocked"}


@probe(
    Redfish(*PLACES),
    gives={
        "bmc.gpu": collection(
            "GPUs by the BMC's Id; unknown where it lists none, as many do not look at GPUs",
            alike=("bmc.gpu/*.model",),
            vacant="bmc.gpu/*.state",
        ),
        "bmc.gpu.count": integer("GPUs that are there; unknown where the BMC lists none"),
        "bmc.gpu/*.state": text("Enabled, or Absent for an empty place"),
        "bmc.gpu/*.health": text("OK, Warning or Critical, as the BMC judges it"),
        "bmc.gpu/*.model": text("model; some BMCs say a part number", Class.IDENTITY),
        "bmc.gpu/*.name": text("what the BMC calls it; some say the model here", Class.IDENTITY),
        "bmc.gpu/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.gpu/*.serial": text("serial number", Class.IDENTITY),
        "bmc.gpu/*.part_number": text("part number", Class.IDENTITY),
        "bmc.gpu/*.uuid": text("unique id, without the GPU- that the driver puts before", Class.IDENTITY),
        "bmc.gpu/*.vbios": version("hex-dotted", "firmware"),
        "bmc.gpu/*.memory": quantity("GiB", "memory"),
        "bmc.gpu/*.pcie_width": integer("PCIe lanes in use"),
        "bmc.gpu/*.pcie_max_width": integer("PCIe lanes it has"),
        "bmc.gpu/*.ecc": flag("whether ECC is on for its memory"),
        "bmc.gpu/*.mig": flag("whether it is cut into parts (NVIDIA's MIG)"),
        "bmc.gpu/*.max_speed": quantity("MHz", "highest clock"),
        "bmc.gpu/*.speed_limit": quantity("MHz", "clock it may reach; unlimited where nobody set one", unlimited=True),
        "bmc.gpu/*.speed_locked": flag("whether its clock is held where it is"),
    },
)
def bmc_gpu(docs: Documents) -> Facts:
    """Every GPU: fitted, healthy, alike."""
    found, trouble = gpus(docs)
    for key, gpu in found:
        item = f"bmc.gpu/{spell_key(key)}"
        for leaf, name in TEXTS.items():
            yield f"{item}.{leaf}", gpu.read(name)
        yield f"{item}.health", gpu.read("Status.Health", health)
        yield f"{item}.uuid", gpu.read("UUID", uuid)
        yield f"{item}.memory", memory(docs, gpu)
        for leaf, name in LANES.items():
            yield f"{item}.{leaf}", gpu.read(f"{gpu.link}.{name}", whole)
        for leaf, name in SWITCHES.items():
            yield f"{item}.{leaf}", gpu.read(name, truth)
        yield f"{item}.max_speed", gpu.read("MaxSpeedMHz", some)
        yield f"{item}.speed_limit", gpu.read("SpeedLimitMHz", limit)
    yield "bmc.gpu.count", count((gpu.read("Status.State").reading for _, gpu in found), trouble)
    if trouble is not None:
        yield "bmc.gpu", trouble
