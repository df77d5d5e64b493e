"""AMD GPUs in the topology of the compute driver (KFD), whose nodes are parts of GPUs where these are divided."""

from rackcheck import Files
from rackcheck.parse.host.gpu import kfd
from rackcheck_probes.gpu.amd.amd import GPUS, bound

NODES = "/sys/class/kfd/kfd/topology/nodes/{}"
FILES = (*GPUS, NODES.format("*") + "/properties")

NodesByKind = dict[str, dict[int, kfd.KfdNode]]
"""The nodes of each GPU by their numbers, by its PCI address; none of a GPU that the compute driver does not know."""


def parts(files: Files) -> NodesByKind:
    """Gather the nodes that compute by the GPU that they are a part of."""
    running = bound(files)
    found: NodesByKind = {address: {} for address in running}
    for (number,) in files.found(NODES.format("*") + "/properties"):
        node = kfd.node(files.text(NODES.format(number) + "/properties")) if number.isdecimal() else None
        if node is not None:
            whole = f"{node.address[:-1]}0"
            owner = whole if node.address not in running and whole in running else node.address
            found.setdefault(owner, {})[int(number)] = node
    return dict(sorted(found.items()))
