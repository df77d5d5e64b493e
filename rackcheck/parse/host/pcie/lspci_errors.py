"""Errors in the registers that lspci shows: which a function holds, hides, and tells its root port of."""

from dataclasses import dataclass

from rackcheck.model.fact import Reading
from rackcheck.parse.host.pcie.lspci import AER, EXPRESS, PciFunction

_REPORTED = {
    "correctable": ("CorrErr", "Correctable"),
    "nonfatal": ("NonFatalErr", "Non-Fatal"),
    "fatal": ("FatalErr", "Fatal"),
    "unsupported": ("UnsupReq", "Unsupported"),
}
"""Each with what versions of lspci before 3.7 called it."""


@dataclass(frozen=True)
class ErrorNames:
    """Names of errors: those that a function holds, those it is told to hide, and those of the first that it is not."""

    raised: Reading
    masked: Reading
    unmasked: Reading


def uncorrectable(function: PciFunction) -> ErrorNames:
    """Read the uncorrectable errors: DLP, CmpltTO."""
    return _held(function, "UE")


def correctable(function: PciFunction) -> ErrorNames:
    """Read the correctable errors: RxErr, BadTLP."""
    return _held(function, "CE")


def fatal(function: PciFunction) -> Reading:
    """Name those of the unmasked uncorrectable errors that count as fatal."""
    return _but(uncorrectable(function).unmasked, function.raised(AER, "UESvrt"), among=True)


def reported(function: PciFunction) -> Reading:
    """Name the kinds of error that the function tells the root port of: correctable, nonfatal, fatal, unsupported."""
    values = {kind: function.flag(EXPRESS, "DevCtl", *names) for kind, names in _REPORTED.items()}
    odd = next((value for value in values.values() if not isinstance(value, bool)), None)
    return odd if odd is not None else tuple(kind for kind, on in values.items() if on)


def _held(function: PciFunction, kind: str) -> ErrorNames:
    raised, masked = (function.raised(AER, f"{kind}{register}") for register in ("Sta", "Msk"))
    return ErrorNames(raised, masked, _but(raised, masked, among=False))


def _but(raised: Reading, others: Reading, *, among: bool) -> Reading:
    """Keep of the raised bits those among others, or those not among them; of none raised nothing is asked."""
    if not isinstance(raised, tuple) or not raised or not isinstance(others, tuple):
        return raised if not isinstance(raised, tuple) or not raised else others
    return tuple(name for name in raised if (name in others) is among)
