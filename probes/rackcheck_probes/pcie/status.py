"""Errors of each PCI Express function since its status was last cleared."""

from rackcheck import Class, Facts, Reason, Unknown, by_part, flag, probe, spell_key
from rackcheck.model.fact import Reading
from rackcheck.model.regex import regex
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck_probes.pcie.control import LSPCI

BITS = {
    "correctable": ("CorrErr",),
    "nonfatal": ("NonFatalErr", "UncorrErr"),
    "fatal": ("FatalErr",),
    "unsupported": ("UnsupReq", "UnsuppReq"),
}
"""Maps each fact to the names of its error in lspci's output; a second name is that of lspci before 3.7."""

_POISONED = regex(r"(?:\bParErr|<PERR)(?P<set>[+-])")
"""The bits Master Data Parity Error and Detected Parity Error of the Status register, as lspci prints them."""


@probe(
    LSPCI,
    gives={
        "pcie/*.status.correctable": flag(
            "A correctable error was detected; many healthy functions have one from startup.", Class.COUNTER
        ),
        "pcie/*.status.nonfatal": flag(
            "A non-fatal error was detected: an uncorrectable error after which the link is still reliable.",
            Class.COUNTER,
        ),
        "pcie/*.status.fatal": flag(
            "A fatal error was detected: an uncorrectable error after which the link is no longer reliable.",
            Class.COUNTER,
        ),
        "pcie/*.status.unsupported": flag(
            "An unsupported request was detected, as happens when buses are scanned.", Class.COUNTER
        ),
        "pcie/*.status.poisoned": flag(
            "The function received data that is marked as bad (poisoned), or detected a parity error.", Class.COUNTER
        ),
    },
)
def pcie_status(answer: str) -> Facts:
    """Read the device status register of each function."""
    for function in lspci.functions(answer):
        yield _status(function)


@by_part
def _status(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}"
    for leaf, names in BITS.items():
        yield f"{item}.status.{leaf}", function.flag(EXPRESS, "DevSta", *names)
    yield f"{item}.status.poisoned", _poisoned(function)


def _poisoned(function: lspci.PciFunction) -> Reading:
    found = _POISONED.findall(function.line("Status") or "")
    if len(found) == 2:
        return "+" in found
    return function.trouble or Unknown(Reason.NOT_COLLECTED, "lspci printed no Status register")
