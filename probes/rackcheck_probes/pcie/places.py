"""The map of a node's NICs and drives: which model is at which PCI address, also if no driver is bound to it."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, join, listing, spell_key
from rackcheck.model.fact import Reading

NIC, DRIVE = "0x02", "0x0108"
"""Beginnings of PCI classes: network controllers, and non-volatile memory controllers."""


@join(
    needs=("pcie", "pcie/*.class", "pcie/*.vendor", "pcie/*.device", "pcie/*.virtual"),
    gives={
        # Measurements, so that a part that is gone is one difference: the part itself.
        "pcie.nics": listing(
            "Network functions that are not virtual, by PCI address, vendor and device: 0000:18:00.0 15b3:1021.",
            Class.MEASUREMENT,
        ),
        "pcie.drives": listing(
            "NVMe drives, by PCI address, vendor and device: 0000:82:00.0 144d:a80a.", Class.MEASUREMENT
        ),
    },
)
def pcie_places(inputs: Inputs) -> Facts:
    """List the functions of two classes; a list is unknown if a function that may be in it has an unknown property."""
    yield "pcie.nics", _of_class(inputs, NIC)
    yield "pcie.drives", _of_class(inputs, DRIVE)


def _of_class(inputs: Inputs, beginning: str) -> Reading:
    addresses, hidden = inputs.items("pcie")
    rows: list[str] = []
    for address in addresses:
        item = f"pcie/{spell_key(address)}"
        code, virtual = inputs.reading(f"{item}.class"), inputs.reading(f"{item}.virtual")
        if virtual is True or isinstance(code, Absent) or (isinstance(code, str) and not code.startswith(beginning)):
            continue
        model = [inputs.reading(f"{item}.{leaf}") for leaf in ("vendor", "device")]
        lost = next((reading for reading in (code, virtual, *model) if isinstance(reading, Unknown)), None)
        if lost is not None:
            return lost
        rows.append(f"{address} {':'.join(str(reading).removeprefix('0x') for reading in model)}")
    return hidden if hidden is not None else tuple(sorted(rows))
