"""Memory, load and bus errors of each AMD GPU."""

from rackcheck import Class, Facts, Files, integer, probe, quantity, read, text
from rackcheck.parse.host.gpu.amdgpu import gibibytes, percent
from rackcheck_probes.gpu.amd.amd import SysfsFact, gives, of_gpus, question

FACTS = {
    "memory.total": SysfsFact("mem_info_vram_total", gibibytes, quantity("GiB", "The GPU's memory.")),
    "memory.used": SysfsFact("mem_info_vram_used", gibibytes, quantity("GiB", "Memory in use now.", Class.MEASUREMENT)),
    "memory.visible": SysfsFact(
        "mem_info_vis_vram_total",
        gibibytes,
        quantity("GiB", "The part of the GPU's memory that the host can access through a PCI BAR."),
    ),
    "memory.vendor": SysfsFact("mem_info_vram_vendor", read.line, text("The memory's vendor: samsung, hynix, micron.")),
    "utilization.gpu": SysfsFact(
        "gpu_busy_percent", percent, quantity("%", "The share of time in which the GPU is busy now.", Class.MEASUREMENT)
    ),
    "utilization.memory": SysfsFact(
        "mem_busy_percent",
        percent,
        quantity("%", "The share of time in which the GPU's memory is busy.", Class.MEASUREMENT),
    ),
    "link.replays": SysfsFact(
        "pcie_replay_count", read.whole, integer("Packets that the PCIe link sent again.", Class.COUNTER)
    ),
}


# Unverified on hardware: from the kernel's documentation of amdgpu.
@probe(question(FACTS), gives=gives(FACTS))
def amd_memory(files: Files) -> Facts:
    """Read each GPU's memory."""
    yield from of_gpus(files, FACTS)
