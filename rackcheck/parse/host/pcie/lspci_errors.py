"""PCIe errors in the registers that lspci shows: which errors a function recorded, and which it masks or reports."""

from dataclasses import dataclass

from rackcheck.model.fact import Reading
from rackcheck.parse.host.pcie.lspci import AER, EXPRESS, PciFunction

_REPORTED = {
    "correctable": ("CorrErr", "Correctable"),
    "nonfatal": ("NonFatalErr", "Non-Fatal"),
    "fatal": ("FatalErr", "Fatal"),
    "unsupported": ("UnsupReq", "Unsupported"),
}
"""For each kind of PCIe error: the flag in DevCtl, and the name of this flag in lspci before 3.7."""


@dataclass(frozen=True)
class ErrorNames:
    """Names of the errors that a PCI function recorded, that it masks, and that it recorded but does not mask."""

    raised: Reading
    masked: Reading
    unmasked: Reading


def uncorrectable(function: PciFunction) -> ErrorNames:
    """Return the names of the uncorrectable errors (such as DLP, CmpltTO) that a PCI function recorded or masks."""
    return _held(function, "UE")


def correctable(function: PciFunction) -> ErrorNames:
    """Return the names of the correctable errors (such as RxErr, BadTLP) that a PCI function recorded or masks."""
    return _held(function, "CE")


def fatal(function: PciFunction) -> Reading:
    """Return the recorded, unmasked, uncorrectable errors that the PCI function treats as fatal."""
    return _but(uncorrectable(function).unmasked, function.raised(AER, "UESvrt"), among=True)


def reported(function: PciFunction) -> Reading:
    """Return the kinds of error that a PCI function reports to its root port, such as correctable or fatal."""
    values = {kind: function.flag(EXPRESS, "DevCtl", *names) for kind, names in _REPORTED.items()}
    odd = next((value for value in values.values() if not isinstance(value, bool)), None)
    return odd if odd is not None else tuple(kind for kind, on in values.items() if on)


def _held(function: PciFunction, kind: str) -> ErrorNames:
    raised, masked = (function.raised(AER, f"{kind}{register}") for register in ("Sta", "Msk"))
    return ErrorNames(raised, masked, _but(raised, masked, among=False))


def _but(raised: Reading, others: Reading, *, among: bool) -> Reading:
    """Return the names in `raised` that are also in `others`; if `among` is false, the names that are not in `others`.

    If `raised` is empty, the result is empty even if `others` is unknown.
    """
    if not isinstance(raised, tuple) or not raised or not isinstance(others, tuple):
        return raised if not isinstance(raised, tuple) or not raised else others
    return tuple(name for name in raised if (name in others) is among)
