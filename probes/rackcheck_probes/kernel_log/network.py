"""Overflows of tables in the network stack: tracked connections and neighbours."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg import line
from rackcheck_probes.kernel_log.kernel_log import DMESG

KINDS = (
    line(
        "conntrack_full",
        "table full, dropping packet",
        r"(?:nf|ip)_conntrack: (?:nf_conntrack: )?table full, dropping packet",
        "Packets dropped because the connection table was full; the kernel suppresses most of these lines.",
    ),
    line(
        "neighbours_full",
        "neighbo",
        r"neighbou?r(?:: \w{1,20}|ing)?:? (?:neighbor )?table overflow",
        "Lines about an overflow of the neighbour table.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.network", KINDS),
)
def log_network(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.network", answer, KINDS)
