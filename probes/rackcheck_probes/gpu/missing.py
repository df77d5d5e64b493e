"""NVIDIA GPUs on the PCI bus, and which of them the driver does not list."""

from rackcheck import Facts, Inputs, Unknown, integer, join, listing
from rackcheck.model.fact import Reading, Reason
from rackcheck.probe.join import settled

NVIDIA, DISPLAY = "0x10de", "0x03"
"""NVIDIA's PCI vendor id, and the beginning of the PCI class of display and 3D controllers."""


@join(
    needs=("pcie", "pcie/*.class", "pcie/*.vendor", "pcie/*.virtual", "gpu", "gpu/*.pci"),
    gives={
        "driver.gpus_on_bus": integer("NVIDIA GPUs on the PCI bus, without virtual functions."),
        "driver.gpus_missing": listing("Addresses of NVIDIA GPUs on the PCI bus that the driver does not list."),
    },
)
def gpu_missing(inputs: Inputs) -> Facts:
    """Compare the GPUs on the PCI bus with the driver's list; a GPU that has fallen off the bus is in neither."""
    kinds, makers, parts = (inputs.table("pcie", leaf) for leaf in ("class", "vendor", "virtual"))
    _, hidden = inputs.items("pcie")
    _, unlisted = inputs.items("gpu")
    found: list[str] = []
    doubt = hidden
    for address in kinds:
        rows = (kinds[address], makers[address], parts[address])
        is_gpu = _all(_is(rows[0], DISPLAY), _is(rows[1], NVIDIA), _not(rows[2]))
        if is_gpu is None:
            doubt = doubt or settled(rows) or Unknown(Reason.NOT_COLLECTED, f"{address}: unknown type of device")
        elif is_gpu:
            found.append(address)
    yield "driver.gpus_on_bus", doubt or len(found)
    listed = tuple(inputs.table("gpu", "pci").values())
    yield "driver.gpus_missing", doubt or unlisted or settled(listed) or tuple(a for a in found if a not in listed)


def _is(reading: Reading, begins: str) -> bool | None:
    return reading.startswith(begins) if isinstance(reading, str) else None


def _not(reading: Reading) -> bool | None:
    return not reading if isinstance(reading, bool) else None


def _all(*parts: bool | None) -> bool | None:
    """Whether all conditions are true: False if one is False, else None (unknown) if one is None."""
    return False if False in parts else None if None in parts else True
