"""Network interfaces whose link came and went.

Not every driver says so, and InfiniBand's links are not in the kernel's log: the interfaces' own counters tell more.
"""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_network import NETDEV
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.netdev": collection("Network interfaces whose link the kernel's log speaks of, by name."),
        **dmesg.counts(
            "log.kernel.netdev/*",
            {
                "down": "Lines of the driver that say that the link is down.",
                "up": "Lines of the driver that say that the link is up; one of them is of the boot.",
                "bond_down": "Lines of a bond that say that this member's link is down.",
                "tx_timeouts": "Transmit queues that stood still.",
            },
        ),
    },
)
def log_netdev(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.netdev", answer, NETDEV)
