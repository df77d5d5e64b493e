"""Power of each AMD GPU: drawn and allowed."""

from rackcheck import Class, Facts, Files, probe, quantity
from rackcheck.parse.host.gpu.amdgpu import watts
from rackcheck_probes.gpu.amd.hwmon import folders, question

POWER = {
    "power.average": ("power1_average", quantity("W", "The power that the GPU drew recently.", Class.MEASUREMENT)),
    "power.draw": ("power1_input", quantity("W", "The power that the GPU draws now.", Class.MEASUREMENT)),
    "power.limit": ("power1_cap", quantity("W", "The configured power limit.")),
    "power.default": ("power1_cap_default", quantity("W", "The default power limit of the GPU.")),
    "power.min": ("power1_cap_min", quantity("W", "The lowest power limit that can be set.")),
    "power.max": ("power1_cap_max", quantity("W", "The highest power limit that can be set.")),
}
NAMES = tuple(name for name, _ in POWER.values())


# Unverified on hardware: from the kernel's documentation of amdgpu's hwmon files.
@probe(question(NAMES), gives={f"gpu.amd/*.{leaf}": kind for leaf, (_, kind) in POWER.items()})
def amd_power(files: Files) -> Facts:
    """Read each GPU's power."""
    for item, folder in folders(files, NAMES):
        for leaf, (name, _) in POWER.items():
            yield f"{item}.{leaf}", files.read(f"{folder}/{name}", watts) if isinstance(folder, str) else folder
