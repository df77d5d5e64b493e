"""GPUs under load for the fake driver, and pynvml as shipped to a node: only the names that a burn-in uses."""

import sys
from pathlib import Path
from types import ModuleType

import pynvml
from joined import TELEMETRY, source

from rackcheck.probe.tree_shaking import needed

H200 = """\
driver=580.95.05
*.name=NVIDIA H200
*.memory=150754820096
*.memory_used=0
*.memory_width=6144
*.capability_major=9
*.capability_minor=0
*.power_enforced=700000
*.power_default=700000
*.power_min=200000
*.power_max=700000
*.sm_max=1980
*.memory_max=3201
*.clock_sm=1980
*.clock_memory=3201
*.link_max_generation=5
*.link_generation=5
*.link_max_width=16
*.link_width=16
*.links=18
*.link.*.state=1
*.link.*.speed=26562
*.mig=0
*.mig_pending=0
*.ecc=1
*.ecc_pending=1
*.compute_mode=0
*.persistence=1
*.temperature=40
*.temperature_memory=45
*.temperature_slowdown=89
*.power_usage=110000
*.power_average=100000
*.energy=5000000
*.reasons=1
*.utilization=0
*.utilization_memory=0
*.processes=0
*.ecc_corrected=0
*.ecc_uncorrected=0
*.remap_corrected=0
*.remap_uncorrected=0
*.remap_pending=0
*.remap_failed=0
*.pcie_replay=0
*.crc_flit_total=0
*.crc_data_total=0
*.replay_total=0
*.recovery_total=0
*.ecc_data_total=0
"""


def uuid(number: int) -> str:
    """The UUID of a GPU, the same in both fake drivers."""
    two = f"{0xA0 + number:02x}"
    return f"GPU-{two * 4}-{two * 2}-{two * 2}-{two * 2}-{two * 6}"


def numbered(count: int) -> str:
    """A state of the fake driver with this many idle H200s, equal except for what identifies them."""
    return listed(*range(count))


def listed(*numbers: int) -> str:
    """A state of the fake driver that lists the GPUs with these numbers, in this order."""
    each = (
        f"{index}.uuid={uuid(n)}\n{index}.pci=00000000:{0x17 + 16 * n:02X}:00.0\n{index}.serial={1650000000000 + n}\n"
        f"{index}.module_id={n + 1}\n"
        for index, n in enumerate(numbers)
    )
    return f"count={len(numbers)}\n{''.join(each)}{H200}"


def travelling() -> ModuleType:
    """pynvml's module as a node has it, not bound to a library yet: its global `nvmlLib` may be set."""
    module = ModuleType("pynvml_as_it_travels")
    sys.modules[module.__name__] = module  # pynvml finds itself there, and our own pynvml stays unchanged
    exec(needed(Path(str(pynvml.__file__)).read_text(), source(*TELEMETRY)), vars(module))
    return module
