"""Errors, losses and flow control in each network interface's own statistics."""

from rackcheck import Class, Facts, Shell, collection, integer, probe
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import ethtool_settings
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Shell("ethtool -S {}", each=HARDWARE, seconds=30, cap=16 << 20),
    gives={
        "nic.interface/*.statistic": collection(
            "The driver's statistics of problems, by the driver's names: rx_prio3_discards. "
            "Statistics per queue are added up: rx_n_dropped."
        ),
        "nic.interface/*.statistic/*.value": integer("The count since the driver was loaded.", Class.COUNTER),
    },
)
def ethtool_statistics(answer: str) -> Facts:
    """Read each interface's statistics."""
    yield from per_device.facts(answer, "nic.interface/*", ("statistic",), ethtool_settings.statistics)
