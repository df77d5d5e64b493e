"""Configured and actual state of each PCI Express link, from the registers of both its ends."""

from rackcheck import Class, Facts, by_part, flag, probe, quantity, spell_key, text
from rackcheck.parse.host.pcie import lspci, lspci_link
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck.parse.host.pcie.lspci_link import TRAINED
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.link.state.width": text("The link's width compared with this end's maximum.", words=TRAINED),
        "pcie/*.link.state.speed": text(
            "The link's speed compared with this end's maximum; idle GPUs lower their speed.",
            Class.MEASUREMENT,
            TRAINED,
        ),
        "pcie/*.link.target_speed": quantity("GT/s", "The highest speed that this end is set to train."),
        "pcie/*.link.disabled": flag("Whether this end disables the link."),
    },
)
def pcie_link(answer: str) -> Facts:
    """Read the link registers of each function; the facts of a function without a link are absent."""
    for function in lspci.functions(answer):
        yield _link(function)


@by_part
def _link(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}.link"
    yield f"{item}.state.width", lspci_link.width(function)
    yield f"{item}.state.speed", lspci_link.speed(function)
    yield f"{item}.target_speed", lspci_link.target_speed(function)
    yield f"{item}.disabled", function.flag(EXPRESS, "LnkCtl", "Disabled", "LnkDisable")
