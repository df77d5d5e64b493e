"""GPUs whose settings differ from those of most GPUs of the same product."""

from rackcheck import Facts, Inputs, join
from rackcheck.probe.majority import facts_of, gives, of_functions, unlike

SETTINGS = (
    "accounting", "addressing", "bar1.total", "clock.application_graphics", "clock.application_memory",
    "clock.graphics_max", "clock.memory_max", "clock.sm_max", "clock.video_max", "compute_mode", "confidential.memory",
    "ecc.mode", "ecc.pending", "gsp.enabled", "gsp.version", "inforom.ecc", "inforom.image", "inforom.oem",
    "inforom.power", "link.device_max_generation", "link.max_generation", "link.max_width", "memory.total", "mig.mode",
    "mig.pending", "nvlinks_active", "part_number", "peers", "persistence", "power.default", "power.limit", "power.max",
    "power.min", "temperature_max_operating", "temperature_memory_max", "temperature_shutdown", "temperature_slowdown",
    "vbios", "virtualization",
)  # fmt: skip
"""Facts of a GPU that are the same on every GPU of a product, unless a setting was lost or changed on one of them."""
OF_THE_FUNCTION = ("max_payload", "max_payload_supported", "max_read_request")
"""Facts of a GPU's PCI function that are the same on every GPU of a product."""


@join(
    needs=("gpu", "gpu/*.name", "gpu/*.pci", *(f"gpu/*.{leaf}" for leaf in SETTINGS)),
    also=tuple(f"pcie/*.{leaf}" for leaf in OF_THE_FUNCTION),
    gives=gives(
        "gpu/*",
        "Settings in which this GPU differs from most GPUs of the same product, if the node has at least three of "
        "them.",
    ),
)
def gpu_unlike(inputs: Inputs) -> Facts:
    """Compare the settings of each GPU with those of the other GPUs of the node."""
    _, hidden = inputs.items("gpu")
    settings = {leaf: inputs.table("gpu", leaf) for leaf in SETTINGS}
    settings = {**settings, **of_functions(inputs, "gpu", OF_THE_FUNCTION)}
    yield from facts_of("gpu", unlike(inputs.table("gpu", "name"), settings, hidden))
