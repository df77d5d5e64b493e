"""Retired memory pages of each AMD GPU."""

from rackcheck import Class, Facts, Files, Read, Sourced, integer, probe
from rackcheck.parse.host.gpu.amdgpu import bad_pages
from rackcheck_probes.gpu.amd.amd import DEVICE, GPUS, NOT_RUN, gpus

FLAGS = {"R": "retired", "P": "pending", "F": "failed"}


# Unverified on hardware: the format of the kernel's documentation. A GPU without bad pages has an empty file.
@probe(
    Read(*GPUS, DEVICE.format("*") + "/ras/gpu_vram_bad_pages", cap=4 << 20),
    gives={
        "gpu.amd/*.bad_pages.retired": integer("Pages of the GPU's memory that are retired.", Class.COUNTER),
        "gpu.amd/*.bad_pages.pending": integer("Bad pages that wait to be retired.", Class.COUNTER),
        "gpu.amd/*.bad_pages.failed": integer("Bad pages that could not be retired.", Class.COUNTER),
    },
)
def amd_bad_pages(files: Files) -> Facts:
    """Count each GPU's bad memory pages by state: retired, pending or failed."""
    for item, folder, running in gpus(files):
        found = files.read(f"{folder}/ras/gpu_vram_bad_pages", bad_pages) if running else Sourced(NOT_RUN, folder)
        for letter, word in FLAGS.items():
            known = found.reading.count(letter) if isinstance(found.reading, str) else found.reading
            yield f"{item}.bad_pages.{word}", Sourced(known, found.source)
