"""Errors in the error registers of each PCI function, and errors that the function masks."""

from rackcheck import Class, Facts, by_part, listing, probe, spell_key
from rackcheck.parse.host.pcie import lspci, lspci_errors
from rackcheck_probes.pcie.control import LSPCI


@probe(
    LSPCI,
    gives={
        "pcie/*.aer.uncorrectable": listing(
            "Uncorrectable errors in the error registers: DLP, CmpltTO.", Class.COUNTER
        ),
        "pcie/*.aer.unmasked": listing("Unmasked uncorrectable errors in the error registers.", Class.COUNTER),
        "pcie/*.aer.fatal": listing("Unmasked uncorrectable errors that count as fatal.", Class.COUNTER),
        "pcie/*.aer.correctable": listing("Correctable errors in the error registers: RxErr, BadTLP.", Class.COUNTER),
        "pcie/*.aer.correctable_unmasked": listing(
            "Unmasked correctable errors in the error registers.", Class.COUNTER
        ),
        "pcie/*.aer.uncorrectable_masked": listing("Uncorrectable errors that the function masks."),
        "pcie/*.aer.correctable_masked": listing("Correctable errors that the function masks."),
        "pcie/*.aer.reported": listing("Kinds of error that the function reports; others are not counted."),
    },
)
def pcie_aer(answer: str) -> Facts:
    """Read the error registers of each function; the facts of a function without error registers are absent."""
    for function in lspci.functions(answer):
        yield _aer(function)


@by_part
def _aer(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}.aer"
    worse, mended = lspci_errors.uncorrectable(function), lspci_errors.correctable(function)
    yield f"{item}.uncorrectable", worse.raised
    yield f"{item}.uncorrectable_masked", worse.masked
    yield f"{item}.unmasked", worse.unmasked
    yield f"{item}.fatal", lspci_errors.fatal(function)
    yield f"{item}.correctable", mended.raised
    yield f"{item}.correctable_masked", mended.masked
    yield f"{item}.correctable_unmasked", mended.unmasked
    yield f"{item}.reported", lspci_errors.reported(function)
