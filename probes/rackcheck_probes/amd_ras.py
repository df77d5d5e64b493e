"""Errors that each block of an AMD GPU found.

To answer, the driver adds what the hardware counted to its own sums, and tells these: nothing is lost by reading. The
file `xgmi_error` beside them is not read: that one is cleared by who reads it.
"""

from rackcheck import (
    Absent,
    Class,
    Facts,
    Files,
    Read,
    Sourced,
    Unknown,
    Unreadable,
    collection,
    integer,
    probe,
    spell_key,
)
from rackcheck.core.fact import Reading
from rackcheck.core.read.ras import COUNTS, counts, total
from rackcheck_probes.amd import DEVICE, GPUS, NOT_RUN, gpus

BLOCKS = DEVICE.format("*") + "/ras/*_err_count"
BLOCK, ALL = "Errors of the block since the driver started: {}.", "Errors of all blocks together: {}."
LEAVES = ("ecc.block", *(f"ecc.{word}" for word in COUNTS.values()))


# Unverified on hardware: shapes of the kernel's documentation of amdgpu's RAS files.
@probe(
    Read(*GPUS, BLOCKS, cap=4 << 20),
    gives={
        "gpu.amd/*.ecc.block": collection("The GPU's blocks that count errors, by the driver's name: umc, gfx, sdma."),
        **{f"gpu.amd/*.ecc.block/*.{word}": integer(BLOCK.format(word), Class.COUNTER) for word in COUNTS.values()},
        **{f"gpu.amd/*.ecc.{word}": integer(ALL.format(word), Class.COUNTER) for word in COUNTS.values()},
    },
)
def amd_ras(files: Files) -> Facts:
    """Read each block's counts, and their sums."""
    blocks: dict[str, list[str]] = {}
    for address, block in files.found(BLOCKS):
        blocks.setdefault(DEVICE.format(address), []).append(block)
    for item, folder, running in gpus(files):
        if not running:
            yield from ((f"{item}.{leaf}", NOT_RUN) for leaf in LEAVES)
            continue
        sums: dict[str, list[Reading]] = {name: [] for name in COUNTS}
        for block in blocks.get(folder, ()):
            place = f"{folder}/ras/{block}_err_count"
            for name, word in COUNTS.items():
                told = _one(files, place, name)
                sums[name].append(told)
                yield f"{item}.ecc.block/{spell_key(block)}.{word}", Sourced(told, place)
        for name, word in COUNTS.items():
            yield f"{item}.ecc.{word}", Sourced(total(sums[name]), BLOCKS)


def _one(files: Files, place: str, name: str) -> Reading:
    try:
        found = counts(files.text(place))
    except Unreadable as error:
        return Unknown(error.reason, str(error))
    return found.get(name, Absent("this driver does not count them"))
