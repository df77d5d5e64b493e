"""Errors found by each block of an AMD GPU.

The driver adds the hardware's counts to its own totals and returns the totals, so reading a file loses no counts. The
driver's file `xgmi_error` is not read, because every read clears it.
"""

from rackcheck import Class, Facts, Files, Read, Sourced, collection, integer, probe, spell_key
from rackcheck.parse.host.cpu import ras
from rackcheck.parse.host.cpu.ras import COUNTS
from rackcheck_probes.gpu.amd.amd import DEVICE, GPUS, NOT_RUN, gpus

BLOCKS = DEVICE.format("*") + "/ras/*_err_count"
BLOCK, ALL = "Errors of the block since the driver started: {}.", "Errors of all blocks together: {}."
LEAVES = ("ecc.block", *(f"ecc.{word}" for word in COUNTS.values()))


# Unverified on hardware: formats of the kernel's documentation of amdgpu's RAS files.
@probe(
    Read(*GPUS, BLOCKS, cap=4 << 20),
    gives={
        "gpu.amd/*.ecc.block": collection("The GPU's blocks that count errors, by the driver's name: umc, gfx, sdma."),
        **{f"gpu.amd/*.ecc.block/*.{word}": integer(BLOCK.format(word), Class.COUNTER) for word in COUNTS.values()},
        **{f"gpu.amd/*.ecc.{word}": integer(ALL.format(word), Class.COUNTER) for word in COUNTS.values()},
    },
)
def amd_ras(files: Files) -> Facts:
    """Read the error counts of each block, and add them up."""
    blocks: dict[str, list[str]] = {}
    for address, block in files.found(BLOCKS):
        blocks.setdefault(DEVICE.format(address), []).append(block)
    for item, folder, running in gpus(files):
        if not running:
            yield from ((f"{item}.{leaf}", NOT_RUN) for leaf in LEAVES)
            continue
        places = {block: f"{folder}/ras/{block}_err_count" for block in blocks.get(folder, ())}
        values = {block: ras.block(files, place) for block, place in places.items()}
        for block, place in places.items():
            for name, word in COUNTS.items():
                yield f"{item}.ecc.block/{spell_key(block)}.{word}", Sourced(values[block][name], place)
        for name, word in COUNTS.items():
            yield f"{item}.ecc.{word}", Sourced(ras.total(one[name] for one in values.values()), BLOCKS)
