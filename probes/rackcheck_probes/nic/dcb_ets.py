"""How each network interface divides its bandwidth among classes of traffic (ETS)."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, flag, listing, probe
from rackcheck.model.fact import Reading
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import dcb
from rackcheck_probes.network.interfaces import HARDWARE

LEAVES = ("ets.classes", "ets.algorithms", "ets.shares", "ets.willing")


def ets(message: str) -> Mapping[str, Reading]:
    """Return the traffic classes, algorithms and bandwidth shares as texts `INDEX:VALUE`, eight of each.

    `ets.willing` is true if the other end of the cable may set the interface's ETS tables.
    """
    answer = dcb.ets(message)
    tables = (answer.classes, answer.algorithms, answer.shares)
    numbered = (tuple(f"{number}:{value}" for number, value in enumerate(table)) for table in tables)
    return dict(zip(LEAVES, (*numbered, answer.willing), strict=True))


@probe(
    Shell("dcb -j ets show dev {}", each=HARDWARE, seconds=30, lane="network"),
    gives={
        "nic.interface/*.ets.classes": listing("The traffic class of each priority: 3:1."),
        "nic.interface/*.ets.algorithms": listing(
            "The scheduling algorithm of each traffic class: 0:ets, 1:strict, 2:cbs, 3:vendor."
        ),
        "nic.interface/*.ets.shares": listing(
            "The bandwidth share of each traffic class with `ets`, in percent: 1:50."
        ),
        "nic.interface/*.ets.willing": flag(
            "Whether the interface accepts these settings from the other end of the cable."
        ),
    },
)
def dcb_ets(answer: str) -> Facts:
    """Read each interface's ETS tables. Unverified on hardware: written from the source of iproute2's dcb."""
    yield from per_device.facts(answer, "nic.interface/*", LEAVES, ets)
