"""Memory modules of the host as the BMC reports them."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Resource,
    by_part,
    collection,
    integer,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.parse.bmc.host import BOARDS, machine
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.memory import health_of_all, is_cxl, locator, modules, rated, total
from rackcheck.parse.bmc.part import identified, unnumbered
from rackcheck.parse.bmc.systems import gibibytes, some, whole

TEXTS = {"ecc": "ErrorCorrection", "manufacturer": "Manufacturer"}
COUNTS = {"bus_width": "BusWidthBits", "data_width": "DataWidthBits", "rank": "RankCount"}
TEXTS |= {"module": "BaseModuleType", "class": "MemoryType", "firmware": "FirmwareRevision"}
TEXTS |= {"slot": "Location.PartLocation.ServiceLabel"}
CXL = {"firmware": "FirmwareRevision", "manufacturer": "Manufacturer"}


@probe(
    Redfish("Systems/*/Memory/*", BOARDS),
    gives={
        "bmc.memory.total": quantity(
            "GiB", "total memory of the host, as its Redfish system reports it, or else the sum of its modules"
        ),
        "bmc.memory.health": text("OK, Warning or Critical, for all memory together"),
        "bmc.dimm": collection(
            "slots for memory modules, including empty ones; GPU memory and CXL memory are not listed",
            alike=("bmc.dimm/*.type",),
            vacant="bmc.dimm/*.state",
        ),
        "bmc.dimm/*.state": text("Enabled, or Absent for an empty slot"),
        "bmc.dimm/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.dimm/*.size": quantity("GiB", "size"),
        "bmc.dimm/*.speed.configured": quantity("MT/s", "configured data rate"),
        "bmc.dimm/*.speed.rated": quantity("MT/s", "highest data rate that the module supports, if the BMC reports it"),
        "bmc.dimm/*.rank": integer("ranks"),
        "bmc.dimm/*.locator": text("the board's name for the slot"),
        "bmc.dimm/*.type": text("DDR4, DDR5, LPDDR5_SDRAM, ...; DRAM, ... if the BMC reports only that"),
        "bmc.dimm/*.ecc": text("MultiBitECC, SingleBitECC, AddressParity or NoECC, as the BMC reports it"),
        "bmc.dimm/*.module": text("RDIMM, LRDIMM, SO_DIMM, ..."),
        "bmc.dimm/*.class": text("DRAM, NVDIMM_N, ..., as the BMC reports it"),
        "bmc.dimm/*.firmware": version("opaque", "firmware of the module, if it has any"),
        "bmc.dimm/*.slot": text("label on the board next to the slot"),
        "bmc.dimm/*.bus_width": integer("bits of the bus, with those for error correction"),
        "bmc.dimm/*.data_width": integer("bits of the bus that carry data"),
        "bmc.dimm/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.dimm/*.part_number": text("part number", Class.IDENTITY),
        "bmc.dimm/*.serial": text("serial number", Class.IDENTITY),
        "bmc.cxl_memory": collection("memory modules on CXL, which extend the memory of the DIMMs"),
        "bmc.cxl_memory/*.state": text("Enabled, or Absent for an empty slot"),
        "bmc.cxl_memory/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.cxl_memory/*.size": quantity("GiB", "size"),
        "bmc.cxl_memory/*.locator": text("the board's name for the slot"),
        "bmc.cxl_memory/*.firmware": version("opaque", "firmware of the module"),
        "bmc.cxl_memory/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.cxl_memory/*.part_number": text("part number", Class.IDENTITY),
        "bmc.cxl_memory/*.serial": text("serial number", Class.IDENTITY),
    },
)
def bmc_memory(docs: Documents) -> Facts:
    """Presence, health, type and speed of every memory module."""
    host = machine(docs)
    found, trouble = modules(docs, host)
    yield "bmc.memory.total", total(host, (found, trouble))
    yield "bmc.memory.health", health_of_all(host, (found, trouble))
    for key, module in keyed([each for each in found if is_cxl(each)]):
        item = f"bmc.cxl_memory/{spell_key(key)}"
        yield _cxl(item, unnumbered(module))
        yield f"{item}.serial", identified(module, "SerialNumber")
    for key, module in keyed([each for each in found if not is_cxl(each)]):
        item = f"bmc.dimm/{spell_key(key)}"
        yield _dimm(item, unnumbered(module))
        yield f"{item}.serial", identified(module, "SerialNumber")
    if trouble is not None:
        yield "bmc.dimm", trouble
        yield "bmc.cxl_memory", trouble


@by_part
def _cxl(item: str, module: Resource) -> Facts:
    yield f"{item}.state", state_of(module)
    yield f"{item}.health", health_of(module)
    yield f"{item}.size", fitted(module, "CapacityMiB", gibibytes)
    yield f"{item}.locator", locator(module)
    for leaf, name in CXL.items():
        yield f"{item}.{leaf}", fitted(module, name)
    yield f"{item}.part_number", identified(module, "PartNumber")


@by_part
def _dimm(item: str, module: Resource) -> Facts:
    yield f"{item}.state", state_of(module)
    yield f"{item}.health", health_of(module)
    yield f"{item}.size", fitted(module, "CapacityMiB", gibibytes)
    yield f"{item}.speed.configured", fitted(module, "OperatingSpeedMhz", some)
    yield f"{item}.speed.rated", rated(module)
    for leaf, name in COUNTS.items():
        yield f"{item}.{leaf}", fitted(module, name, whole)
    yield f"{item}.locator", locator(module)
    # The recorded DGX H100 reports only the medium of its DIMMs.
    yield f"{item}.type", fitted(module, "MemoryDeviceType" if "MemoryDeviceType" in module.body else "MemoryType")
    for leaf, name in TEXTS.items():
        yield f"{item}.{leaf}", fitted(module, name)
    yield f"{item}.part_number", identified(module, "PartNumber")
