"""Whether the memory outside of huge pages holds what the GPUs' memory holds."""

import math
from collections.abc import Sequence

from rackcheck import Facts, Inputs, join, quantity, spell_key
from rackcheck.model.fact import Absent, Reading


@join(
    needs=("memory.total", "memory.hugepages.reserved", "gpu", "gpu/*.memory.total"),
    gives={
        "memory.hugepages.gpu_shortfall": quantity(
            "GiB",
            "How much less than the memory of all GPUs is left outside of huge pages; 0 if no huge page is reserved, "
            "or if even all memory is less.",
        )
    },
)
def hugepages_shortfall(inputs: Inputs) -> Facts:
    """Compare the memory that huge pages leave with the memory of all GPUs."""
    names, hidden = inputs.items("gpu")
    gpus = [inputs.reading(f"gpu/{spell_key(name)}.memory.total") for name in names]
    total, reserved = inputs.reading("memory.total"), inputs.reading("memory.hugepages.reserved")
    yield "memory.hugepages.gpu_shortfall", shortfall(total, reserved, [*gpus, hidden] if hidden else gpus)


def shortfall(total: Reading, reserved: Reading, gpus: Sequence[Reading]) -> Reading:
    """Return by how many GiB the memory outside of huge pages is smaller than that of all GPUs, all sizes in GiB.

    0 if the GPUs have more memory than the node: such a node has no such memory without huge pages either.
    """
    if not gpus:
        return Absent("the node has no NVIDIA GPU")
    if reserved == 0:
        return 0.0
    for reading in (total, reserved, *gpus):
        if not isinstance(reading, int | float):
            return reading
    all_gpus = math.fsum(gpu for gpu in gpus if isinstance(gpu, int | float))
    assert isinstance(total, int | float)
    assert isinstance(reserved, int | float)
    return max(0.0, all_gpus - (total - reserved)) if total >= all_gpus else 0.0
