"""Which errors each PCI function holds in its error registers, and which it is told to hide."""

from rackcheck import Class, Facts, listing, probe, spell_key
from rackcheck.core.fact import Reading
from rackcheck.core.read import lspci
from rackcheck.core.read.lspci import AER, EXPRESS, Function
from rackcheck_probes.pcie_control import LSPCI

REPORTED = {
    "correctable": ("CorrErr", "Correctable"),
    "nonfatal": ("NonFatalErr", "Non-Fatal"),
    "fatal": ("FatalErr", "Fatal"),
    "unsupported": ("UnsupReq", "Unsupported"),
}
"""Each with what versions of lspci before 3.7 called it."""


def but(raised: Reading, others: Reading, *, among: bool) -> Reading:
    """Keep of the raised bits those among others, or those not among them."""
    if not isinstance(raised, tuple) or not raised or not isinstance(others, tuple):
        return raised if not isinstance(raised, tuple) or not raised else others
    return tuple(name for name in raised if (name in others) is among)


def reported(function: Function) -> Reading:
    """Name the kinds of error that the function tells the root port of."""
    told = {kind: function.flag(EXPRESS, "DevCtl", *names) for kind, names in REPORTED.items()}
    odd = next((value for value in told.values() if not isinstance(value, bool)), None)
    return odd if odd is not None else tuple(kind for kind, on in told.items() if on)


@probe(
    LSPCI,
    gives={
        "pcie/*.aer.uncorrectable": listing("Uncorrectable errors the function holds: DLP, CmpltTO.", Class.COUNTER),
        "pcie/*.aer.unmasked": listing("Of these, those that it is not told to hide.", Class.COUNTER),
        "pcie/*.aer.fatal": listing("Of the unmasked ones, those that count as fatal.", Class.COUNTER),
        "pcie/*.aer.correctable": listing("Correctable errors the function holds: RxErr, BadTLP.", Class.COUNTER),
        "pcie/*.aer.correctable_unmasked": listing("Of these, those that it is not told to hide.", Class.COUNTER),
        "pcie/*.aer.uncorrectable_masked": listing("Uncorrectable errors that the function is told to hide."),
        "pcie/*.aer.correctable_masked": listing("Correctable errors that the function is told to hide."),
        "pcie/*.aer.reported": listing("Kinds of error that the function reports; without them nobody counts any."),
    },
)
def pcie_aer(answer: str) -> Facts:
    """Read the error registers of each function; absent where it has none."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}.aer"
        raised, masked, severe = (function.raised(AER, name) for name in ("UESta", "UEMsk", "UESvrt"))
        unmasked = but(raised, masked, among=False)
        yield f"{item}.uncorrectable", raised
        yield f"{item}.uncorrectable_masked", masked
        yield f"{item}.unmasked", unmasked
        yield f"{item}.fatal", but(unmasked, severe, among=True)
        raised, masked = (function.raised(AER, name) for name in ("CESta", "CEMsk"))
        yield f"{item}.correctable", raised
        yield f"{item}.correctable_masked", masked
        yield f"{item}.correctable_unmasked", but(raised, masked, among=False)
        yield f"{item}.reported", reported(function)
