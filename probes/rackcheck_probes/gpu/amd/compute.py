"""Compute devices of each AMD GPU."""

from rackcheck import Absent, Class, Facts, Files, Read, integer, probe, spell_key, text
from rackcheck_probes.gpu.amd.topology import FILES, parts


@probe(
    Read(*FILES),
    gives={
        "gpu.amd/*.compute_nodes": integer("Compute devices that programs see: several if the GPU is partitioned."),
        "gpu.amd/*.compute_units": integer("Compute units of the GPU."),
        "gpu.amd/*.architecture": text("The GPU's instruction set: gfx942; absent if the driver does not report it."),
        "gpu.amd/*.xgmi.hive": text("The group of GPUs joined by XGMI; absent outside a group.", Class.IDENTITY),
    },
)
def amd_compute(files: Files) -> Facts:
    """Read each GPU's compute nodes in KFD's topology; a GPU that KFD does not list has 0 compute nodes."""
    for address, found in parts(files).items():
        item, nodes = f"gpu.amd/{spell_key(address)}", list(found.values())
        gone = Absent("the compute driver does not list the GPU")
        hive = nodes[0].hive if nodes else 0
        yield f"{item}.compute_nodes", len(nodes)
        yield f"{item}.compute_units", sum(node.units for node in nodes) if nodes else gone
        yield f"{item}.architecture", (nodes[0].target or Absent("not reported")) if nodes else gone
        yield f"{item}.xgmi.hive", f"{hive:016x}" if hive else Absent("the driver reports no XGMI group")
