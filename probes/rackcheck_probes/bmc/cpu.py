"""CPUs of the host as the BMC reports them."""

from rackcheck import Class, Documents, Facts, Redfish, collection, integer, probe, quantity, spell_key, text, version
from rackcheck.parse.bmc.host import BOARDS, machine
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.processors import count, cpus
from rackcheck.parse.bmc.systems import some, whole

TEXTS = {"model": "Model", "manufacturer": "Manufacturer"}
TEXTS |= {"architecture": "ProcessorArchitecture", "instructions": "InstructionSet", "version": "Version"}
TEXTS |= {"family": "ProcessorId.EffectiveFamily", "family_model": "ProcessorId.EffectiveModel"}
TEXTS |= {"stepping": "ProcessorId.Step", "firmware": "FirmwareVersion"}
TEXTS |= {"slot": "Location.PartLocation.ServiceLabel"}
COUNTS = {"cores": "TotalCores", "cores_enabled": "TotalEnabledCores", "threads": "TotalThreads"}


@probe(
    Redfish("Systems/*/Processors/*", BOARDS),
    gives={
        "bmc.cpu": collection("CPU sockets of the host, including empty ones; GPUs are not listed"),
        "bmc.cpu.count": integer("installed CPUs"),
        "bmc.cpu/*.state": text("Enabled, or Absent for an empty socket"),
        "bmc.cpu/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.cpu/*.model": text("model", Class.IDENTITY),
        "bmc.cpu/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.cpu/*.serial": text("serial number, if the CPU has a readable one", Class.IDENTITY),
        "bmc.cpu/*.part_number": text("part number, if the BMC reports it", Class.IDENTITY),
        "bmc.cpu/*.architecture": text("x86, ARM, ..."),
        "bmc.cpu/*.instructions": text("instruction set: x86-64, ARM-A64, ..."),
        "bmc.cpu/*.version": text("version as the BMC reports it; some BMCs report the model here", Class.IDENTITY),
        "bmc.cpu/*.family": text("family of the processor, as the BMC spells it", Class.IDENTITY),
        "bmc.cpu/*.family_model": text("model within the family, as the BMC spells it", Class.IDENTITY),
        "bmc.cpu/*.stepping": text("stepping, as the BMC spells it", Class.IDENTITY),
        "bmc.cpu/*.firmware": version("opaque", "firmware of the processor"),
        "bmc.cpu/*.slot": text("label on the board next to the socket"),
        "bmc.cpu/*.speed": quantity("MHz", "clock that the BMC reports; some BMCs report the nominal one"),
        "bmc.cpu/*.cores": integer("cores"),
        "bmc.cpu/*.cores_enabled": integer("cores that firmware left enabled"),
        "bmc.cpu/*.threads": integer("threads"),
        "bmc.cpu/*.max_speed": quantity("MHz", "highest clock; some BMCs report the highest clock of the socket"),
        "bmc.cpu/*.socket": text("the board's name for the socket"),
        "bmc.cpu/*.microcode": version("opaque", "microcode"),
    },
)
def bmc_cpu(docs: Documents) -> Facts:
    """Presence, health and model of every CPU."""
    found, trouble = cpus(docs, machine(docs))
    for key, cpu in keyed(found):
        item = f"bmc.cpu/{spell_key(key)}"
        yield f"{item}.state", state_of(cpu)
        yield f"{item}.health", health_of(cpu)
        for leaf, name in TEXTS.items():
            yield f"{item}.{leaf}", fitted(cpu, name)
        yield f"{item}.serial", identified(cpu, "SerialNumber")
        yield f"{item}.part_number", identified(cpu, "PartNumber")
        for leaf, name in COUNTS.items():
            yield f"{item}.{leaf}", fitted(cpu, name, whole)
        yield f"{item}.max_speed", fitted(cpu, "MaxSpeedMHz", some)
        yield f"{item}.speed", fitted(cpu, "OperatingSpeedMHz", some)
        yield f"{item}.socket", cpu.read("Socket")
        yield f"{item}.microcode", fitted(cpu, "ProcessorId.MicrocodeInfo")
    yield "bmc.cpu.count", count((cpu.read("Status.State").reading for cpu in found), trouble)
    if trouble is not None:
        yield "bmc.cpu", trouble
