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
"""The flag in DevCtl for each kind of error, and the flag's name in lspci before 3.7."""


@dataclass(frozen=True)
class ErrorNames:
    """Names of errors: those that a function recorded, those that it masks, and those recorded but not masked."""

    raised: Reading
    masked: Reading
    unmasked: Reading


def uncorrectable(function: PciFunction) -> ErrorNames:
    """Return the names of the uncorrectable errors (DLP, CmpltTO)."""
    return _held(function, "UE")


def correctable(function: PciFunction) -> ErrorNames:
    """Return the names of the correctable errors (RxErr, BadTLP)."""
    return _held(function, "CE")


def fatal(function: PciFunction) -> Reading:
    """Return the unmasked uncorrectable errors that count as fatal."""
    return _but(uncorrectable(function).unmasked, function.raised(AER, "UESvrt"), among=True)


def reported(function: PciFunction) -> Reading:
    """Return the kinds of error that the function reports to its root port, such as correctable or fatal."""
    values = {kind: function.flag(EXPRESS, "DevCtl", *names) for kind, names in _REPORTED.items()}
    odd = next((value for value in values.values() if not isinstance(value, bool)), None)
    return odd if odd is not None else tuple(kind for kind, on in values.items() if on)


def _held(function: PciFunction, kind: str) -> ErrorNames:
    raised, masked = (function.raised(AER, f"{kind}{register}") for register in ("Sta", "Msk"))
    return ErrorNames(raised, masked, _but(raised, masked, among=False))


def _but(raised: Reading, others: Reading, *, among: bool) -> Reading:
    """Return the bits of `raised` that are also in `others`; if `among` is false, those that are not.

    If `raised` is empty, the result is empty even if `others` is unknown.
    """
    if not isinstance(raised, tuple) or not raised or not isinstance(others, tuple):
        return raised if not isinstance(raised, tuple) or not raised else others
    return tuple(name for name in raised if (name in others) is among)
