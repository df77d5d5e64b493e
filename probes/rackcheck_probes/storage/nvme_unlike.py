"""NVMe drives whose settings differ from those of most drives of the same model."""

from rackcheck import Facts, Inputs, join
from rackcheck.probe.majority import facts_of, gives, of_functions, unlike
from rackcheck_probes.pcie.path import ENDS
from rackcheck_probes.pcie.unlike import of_links

SETTINGS = ("firmware", "firmware_pending", "health.spare_threshold", "size", "transport", "type")
"""Facts of a drive that are the same on every drive of a model."""
OF_THE_FUNCTION = ("link.max_speed", "link.max_width", "max_payload", "max_payload_supported")
"""Facts of a drive's PCI function that are the same on every drive of a model."""
OF_THE_LINK = ("upstream", *(f"link.{end}" for end in ENDS))
"""Facts of a drive's link; a slot with fewer lanes than the drive does not count as a difference."""


@join(
    needs=("nvme", "nvme/*.model", "nvme/*.pci", "nvme/*.firmware", "nvme/*.size"),
    also=(
        *(f"nvme/*.{leaf}" for leaf in SETTINGS if leaf not in {"firmware", "size"}),
        *(f"pcie/*.{leaf}" for leaf in dict.fromkeys((*OF_THE_FUNCTION, *OF_THE_LINK))),
        "pcie",
    ),
    gives=gives(
        "nvme/*",
        "Settings in which this drive differs from most drives of the same model, if the node has at least three of "
        "them.",
    ),
)
def nvme_unlike(inputs: Inputs) -> Facts:
    """Compare the firmware, the size and the link of each NVMe drive with those of the other drives of its model."""
    _, hidden = inputs.items("nvme")
    read = [leaf for leaf in SETTINGS if inputs.collected(f"nvme/*.{leaf}")]
    settings = {leaf: inputs.table("nvme", leaf) for leaf in read}
    settings = {**settings, **of_functions(inputs, "nvme", OF_THE_FUNCTION)}
    if all(inputs.collected(f"pcie/*.{leaf}") for leaf in OF_THE_LINK):
        settings |= of_links(inputs, inputs.table("nvme", "pci"))
    yield from facts_of("nvme", unlike(inputs.table("nvme", "model"), settings, hidden))
