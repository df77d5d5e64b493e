"""AMD GPUs in the topology of the compute driver (KFD), where each partition of a GPU is a separate node."""

from rackcheck import Files
from rackcheck.parse.host.gpu import kfd
from rackcheck_probes.gpu.amd.amd import GPUS, bound

NODES = "/sys/class/kfd/kfd/topology/nodes/{}"
FILES = (*GPUS, NODES.format("*") + "/properties")

NodesByKind = dict[str, dict[int, kfd.KfdNode]]
"""Maps each GPU's PCI address to its KFD nodes by number; empty for a GPU that the compute driver does not list."""


def parts(files: Files) -> NodesByKind:
    """Group the KFD nodes by the GPU that each is a part of."""
    running = bound(files)
    found: NodesByKind = {address: {} for address in running}
    for (number,) in files.found(NODES.format("*") + "/properties"):
        node = kfd.node(files.text(NODES.format(number) + "/properties")) if number.isdecimal() else None
        if node is not None:
            whole = f"{node.address[:-1]}0"
            owner = whole if node.address not in running and whole in running else node.address
            found.setdefault(owner, {})[int(number)] = node
    return dict(sorted(found.items()))
