"""What each PCI Express link was told to be, and whether it became that, as the registers of both its ends tell it."""

from rackcheck import Class, Facts, flag, probe, quantity, spell_key, text
from rackcheck.parse.host.pcie import lspci, lspci_link
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck.parse.host.pcie.lspci_link import TRAINED
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.link.state.width": text("The link's width against what this end could have.", words=TRAINED),
        "pcie/*.link.state.speed": text(
            "The link's speed against what this end could have; idle GPUs lower theirs.", Class.MEASUREMENT, TRAINED
        ),
        "pcie/*.link.target_speed": quantity("GT/s", "The speed that this end was told to train at most."),
        "pcie/*.link.disabled": flag("Whether this end keeps the link off."),
    },
)
def pcie_link(answer: str) -> Facts:
    """Read the link registers of each function; absent where it has no link."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}.link"
        yield f"{item}.state.width", lspci_link.width(function)
        yield f"{item}.state.speed", lspci_link.speed(function)
        yield f"{item}.target_speed", lspci_link.target_speed(function)
        yield f"{item}.disabled", function.flag(EXPRESS, "LnkCtl", "Disabled", "LnkDisable")
