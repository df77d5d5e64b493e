"""Serial number and part number of PCI devices that store them (Vital Product Data)."""

from rackcheck import Class, Facts, by_part, probe, spell_key, text
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import Capability
from rackcheck_probes.pcie.control import LSPCI

VITAL = "Vital Product Data"
FIELDS = {"serial": "SN", "part_number": "PN"}


@probe(
    LSPCI,
    gives={
        "pcie/*.serial": text("The device's serial number; absent on devices that store none.", Class.IDENTITY),
        "pcie/*.part_number": text("The device's part number; absent on devices that store none.", Class.IDENTITY),
    },
)
def pcie_vital(answer: str) -> Facts:
    """Read each function's numbers. Unverified on hardware: no recorded device shows its numbers."""
    for function in lspci.functions(answer):
        yield _vital(function)


@by_part
def _vital(function: lspci.PciFunction) -> Facts:
    for leaf, key in FIELDS.items():
        yield f"pcie/{spell_key(function.address)}.{leaf}", _field(function.capability(VITAL), key)


def _field(found: Capability | Absent | Unknown, key: str) -> Reading:
    if not isinstance(found, Capability):
        return found
    text = found.registers.get("Read-only fields")
    if text is None:
        return Unknown(Reason.NOT_COLLECTED, "lspci decodes no read-only fields of the Vital Product Data")
    text = text.strip().removesuffix("End")  # the line that ends the Vital Product Data
    # lspci prints a field in a line `[SN] Serial number: MT2310X00001`; a value never contains a `[`.
    values = (part.partition("] ")[2].partition(": ")[2] for part in text.split("[") if part.startswith(f"{key}]"))
    value = next(values, "").strip()
    return value or Absent(f"no field {key} in the Vital Product Data")
