"""Network interfaces whose link changed.

Not every driver logs link changes, and the kernel's log does not contain InfiniBand links. The counters of network
interfaces (`nic.interface/*.carrier_changes`) show link changes of more interfaces than the log.
"""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_network import NETDEV
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.netdev": collection("Network interfaces with link changes in the kernel's log, by name."),
        **dmesg.counts(
            "log.kernel.netdev/*",
            {
                "down": "Lines of the driver that report the link down.",
                "up": "Lines of the driver that report the link up; the first link at boot also produces a line.",
                "bond_down": "Lines of a bond that report this member's link down.",
                "tx_timeouts": "Transmit queues that stalled.",
            },
        ),
    },
)
def log_netdev(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.netdev", answer, NETDEV)
