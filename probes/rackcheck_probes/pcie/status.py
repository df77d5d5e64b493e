"""Which errors each PCI Express function has seen since somebody last cleared its status."""

from rackcheck import Class, Facts, flag, probe, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck_probes.pcie.control import LSPCI

BITS = {
    "correctable": ("CorrErr",),
    "nonfatal": ("NonFatalErr", "UncorrErr"),
    "fatal": ("FatalErr",),
    "unsupported": ("UnsupReq", "UnsuppReq"),
}
"""Each with what versions of lspci before 3.7 called it."""


@probe(
    LSPCI,
    gives={
        "pcie/*.status.correctable": flag(
            "A correctable error was seen; many healthy functions have one from starting.", Class.COUNTER
        ),
        "pcie/*.status.nonfatal": flag("An uncorrectable error that spared the link was seen.", Class.COUNTER),
        "pcie/*.status.fatal": flag("An uncorrectable error that broke the link was seen.", Class.COUNTER),
        "pcie/*.status.unsupported": flag(
            "A request was seen that the function does not support, as when buses are scanned.", Class.COUNTER
        ),
    },
)
def pcie_status(answer: str) -> Facts:
    """Read the device status register of each function."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}"
        for leaf, names in BITS.items():
            yield f"{item}.status.{leaf}", function.flag(EXPRESS, "DevSta", *names)
