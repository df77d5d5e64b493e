"""Firmware of each NVIDIA GPU other than its VBIOS: the infoROM and the GPU System Processor (GSP)."""

from rackcheck import Class, Facts, flag, probe, version
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import no, unchanged, yes

VALID = "Whether the infoROM's checksums are valid."
FACTS = NvmlTable(
    {
        "inforom.image": NvmlFact("inforom_image", unchanged, version("opaque", "The infoROM's version as a whole.")),
        "inforom.oem": NvmlFact(
            "inforom_oem", unchanged, version("dotted", "The version of the infoROM's OEM object.")
        ),
        "inforom.ecc": NvmlFact(
            "inforom_ecc", unchanged, version("dotted", "The version of the infoROM's ECC object.")
        ),
        "inforom.power": NvmlFact(
            "inforom_power", unchanged, version("dotted", "The version of the infoROM's power object.")
        ),
        "inforom.valid": NvmlFact("inforom_checksum", no, flag(VALID, Class.MEASUREMENT)),
        "gsp.enabled": NvmlFact(
            "gsp_mode", yes, flag("Whether the GPU's system processor (GSP) runs part of the driver.")
        ),
        "gsp.default": NvmlFact(
            "gsp_default", yes, flag("Whether the GPU's system processor (GSP) runs part of the driver by default.")
        ),
        "gsp.version": NvmlFact(
            "gsp_version", unchanged, version("dotted", "The version of the system processor's firmware.")
        ),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_firmware(answer: str) -> Facts:
    """Read each GPU's firmware."""
    yield from of_gpus(answer, FACTS)
