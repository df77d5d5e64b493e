"""What each network interface's own statistics tell of errors, losses and flow control."""

from rackcheck import Class, Facts, Shell, Unknown, Unreadable, collection, integer, probe, spell_key
from rackcheck.core.fact import clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE


@probe(
    Shell("ethtool -S {}", each=HARDWARE, seconds=30, cap=16 << 20),
    gives={
        "nic.interface/*.statistic": collection(
            "The driver's statistics that tell of trouble, by its names: rx_prio3_discards. "
            "Those that it keeps for each queue are added up: rx_n_dropped."
        ),
        "nic.interface/*.statistic/*.value": integer("What was counted since the driver was loaded.", Class.COUNTER),
    },
)
def ethtool_statistics(answer: str) -> Facts:
    """Read each interface's statistics."""
    for name, said in per_device.answers(answer):
        item = f"nic.interface/{spell_key(name)}.statistic"
        if not isinstance(said, str):
            yield item, said
            continue
        try:
            found = ethtool.statistics(said)
        except Unreadable as error:
            yield item, Unknown(error.reason, clean(str(error)))
            continue
        yield item, tuple(found)
        for statistic, value in found.items():
            yield f"{item}/{spell_key(statistic)}.value", value
