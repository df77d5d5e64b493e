"""The power that each PCI Express slot provides, and the power limit set for each card."""

from rackcheck import Class, Facts, by_part, flag, integer, probe, quantity, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck_probes.pcie.control import LSPCI

WATTS = r"PowerLimit ([0-9]{1,4}(?:\.[0-9]{1,3})?)W"


@probe(
    LSPCI,
    gives={
        "pcie/*.slot.number": integer("The number of the slot below a port; absent if the port has no slot."),
        "pcie/*.slot.power_limit": quantity("W", "The power that the slot below a port provides."),
        "pcie/*.slot.present": flag("Whether the slot below a port is occupied.", Class.MEASUREMENT),
        "pcie/*.slot.power_fault": flag("Whether the slot below a port recorded a power fault.", Class.COUNTER),
        "pcie/*.power.granted": quantity("W", "The power limit that the port above set for a card; 0 W means not set."),
    },
)
def pcie_slot(answer: str) -> Facts:
    """Read the slot registers of each port, and the power limit of each card."""
    for function in lspci.functions(answer):
        yield _slot(function)


@by_part
def _slot(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}"
    yield f"{item}.slot.number", function.field(EXPRESS, "SltCap", r"\bSlot #([0-9]{1,5})\b", int)
    yield f"{item}.slot.power_limit", function.field(EXPRESS, "SltCap", rf"\b{WATTS}", float)
    yield f"{item}.slot.present", function.flag(EXPRESS, "SltSta", "PresDet")
    yield f"{item}.slot.power_fault", function.flag(EXPRESS, "SltSta", "PowerFlt")
    card = function.only(EXPRESS, (") Endpoint", "Upstream Port", "Bridge"))
    yield f"{item}.power.granted", card or function.field(EXPRESS, "DevCap", rf"\bSlot{WATTS}", float)
