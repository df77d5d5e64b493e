"""Whether all network namespaces share the RDMA devices."""

from rackcheck import Facts, Files, Read, flag, probe, read

PLACE = "/sys/module/ib_core/parameters/netns_mode"


@probe(
    Read(PLACE),
    gives={
        "nic.rdma_shared": flag(
            "Whether every network namespace sees every RDMA device; containers with their own devices require false. "
            "Absent without an RDMA driver."
        )
    },
)
def rdma_namespaces(files: Files) -> Facts:
    """Read whether the RDMA core shares devices among network namespaces."""
    yield "nic.rdma_shared", files.read(PLACE, lambda content: read.flag(content.strip(), yes="Y", no="N"))
