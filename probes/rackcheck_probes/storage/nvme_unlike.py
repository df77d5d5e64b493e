"""NVMe drives whose settings differ from those of most drives of the same model."""

from rackcheck import Class, Facts, Inputs, join, listing, spell_key
from rackcheck.probe.majority import of_functions, unlike

SETTINGS = ("firmware", "firmware_pending", "health.spare_threshold", "size", "transport", "type")
"""Facts of a drive that are the same on every drive of a model."""
OF_THE_FUNCTION = ("link.width", "link.max_width", "max_payload")
"""Facts of a drive's PCI function that are the same on every drive of a model."""


@join(
    needs=("nvme", "nvme/*.model", "nvme/*.pci", "nvme/*.firmware", "nvme/*.size"),
    also=(
        *(f"nvme/*.{leaf}" for leaf in SETTINGS if leaf not in {"firmware", "size"}),
        *(f"pcie/*.{leaf}" for leaf in OF_THE_FUNCTION),
    ),
    gives={
        "nvme/*.unlike": listing(
            "Settings whose value most drives of the same model have, but not this drive; none with fewer than three.",
            Class.MEASUREMENT,
        ),
    },
)
def nvme_unlike(inputs: Inputs) -> Facts:
    """Compare the firmware, the size and the link of each NVMe drive with those of the other drives of its model."""
    _, hidden = inputs.items("nvme")
    read = [leaf for leaf in SETTINGS if inputs.collected(f"nvme/*.{leaf}")]
    settings = {leaf: inputs.table("nvme", leaf) for leaf in read}
    settings = {**settings, **of_functions(inputs, "nvme", OF_THE_FUNCTION)}
    for name, odd in unlike(inputs.table("nvme", "model"), settings, hidden).items():
        yield f"nvme/{spell_key(name)}.unlike", odd
