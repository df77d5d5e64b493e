"""The firmware of each block of an AMD GPU: mec, rlc, sdma, smc, vcn."""

from rackcheck import Facts, Files, Read, collection, probe, spell_key, version
from rackcheck.parse.host.gpu.amdgpu import hexadecimal
from rackcheck_probes.gpu.amd.amd import DEVICE, GPUS

BLOCKS = DEVICE.format("*") + "/fw_version/*_fw_version"


# The same table as amdgpu_firmware_info in debugfs, which only root reads. Unverified on hardware.
@probe(
    Read(*GPUS, BLOCKS),
    gives={
        "gpu.amd/*.firmware": collection(
            "The GPU's blocks that run firmware, by the driver's name: mec, smc, ta_xgmi."
        ),
        "gpu.amd/*.firmware/*.version": version("opaque", "The version of the block's firmware: 0x0000004b."),
    },
)
def amd_firmware(files: Files) -> Facts:
    """Read the firmware version of each block of each GPU."""
    for address, block in files.found(BLOCKS):
        place = f"{DEVICE.format(address)}/fw_version/{block}_fw_version"
        item = f"gpu.amd/{spell_key(address)}.firmware/{spell_key(block)}"
        yield f"{item}.version", files.read(place, hexadecimal)
