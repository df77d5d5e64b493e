"""The network interface under each RoCE port, as the RDMA core knows it."""

from rackcheck import Facts, Shell, probe, spell_key, text
from rackcheck.parse.host.nic import rdma_link


# To open its way to the kernel is to load the RDMA core (its alias is net-pf-16-proto-20): only a loaded one is asked.
@probe(
    Shell(
        "if [ -d /sys/class/infiniband ]; then rdma -j link show; else echo '[]'; fi",
        lane="network",
    ),
    gives={
        "nic/*.port/*.interface": text(
            "The network interface that carries the port's RoCE; absent on InfiniBand, where IP only visits."
        )
    },
)
def rdma_links(answer: str) -> Facts:
    """Read each link's interface."""
    for link in rdma_link.links(answer):
        yield f"nic/{spell_key(link.device)}.port/{link.port}.interface", link.interface
