"""Network interfaces whose link came and went.

Not every driver says so, and InfiniBand's links are not in the kernel's log: the interfaces' own counters tell more.
"""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "down",
        "ink ",
        r"<driver> <pci> (?P<key>[^\s:()]{1,15}): (?:[\w-]{1,20}: (?P=key) )?(?:NIC )?[Ll]ink (?:is )?[Dd]own\b",
        "Lines of the driver that say that the link is down.",
    ),
    line(
        "up",
        "ink ",
        r"<driver> <pci> (?P<key>[^\s:()]{1,15}): (?:[\w-]{1,20}: (?P=key) )?(?:NIC )?[Ll]ink (?:is )?[Uu]p\b",
        "Lines of the driver that say that the link is up; one of them is of the boot.",
    ),
    line(
        "bond_down",
        "link status definitely down",
        r"\S{1,15}: \(slave (?P<key>[^\s:()]{1,15})\): link status definitely down",
        "Lines of a bond that say that this member's link is down.",
    ),
    line(
        "bond_down",
        "link status definitely down",
        r"\S{1,15}: link status definitely down for interface (?P<key>[^\s:(),]{1,15}),",
    ),
    line(
        "tx_timeouts",
        "NETDEV WATCHDOG: ",
        r"NETDEV WATCHDOG: (?P<key>[^\s:()]{1,15}) \([\w-]{1,40}\): transmit queue",
        "Transmit queues that stood still.",
    ),
    line(
        "tx_timeouts",
        "NETDEV WATCHDOG: ",
        r"<driver> <pci> (?P<key>[^\s:()]{1,15}): NETDEV WATCHDOG: .{0,60}transmit queue",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.netdev": collection("Network interfaces whose link the kernel's log speaks of, by name."),
        **dmesg.promised("log.kernel.netdev/*", KINDS),
    },
)
def log_netdev(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.netdev", answer, KINDS)
