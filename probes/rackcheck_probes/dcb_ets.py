"""How each network interface shares its bandwidth among classes of traffic (ETS)."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, Unreadable, flag, listing, probe, spell_key
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import per_device
from rackcheck_probes.dcb_pfc import document
from rackcheck_probes.interfaces import HARDWARE

NAMES = {"ets.classes": "prio_tc", "ets.algorithms": "tc_tsa", "ets.shares": "tc_bw"}
ALGORITHMS = ("strict", "cbs", "ets", "vendor")


def ets(said: str) -> Mapping[str, Reading]:
    """Read the three tables of eight, and whether the other end may set them."""
    told = document(said)
    found: dict[str, Reading] = {}
    for leaf, name in NAMES.items():
        table = told.get(name)
        known = isinstance(table, list) and all(
            value in ALGORITHMS if name == "tc_tsa" else type(value) is int and 0 <= value <= 100 for value in table
        )
        if not isinstance(table, list) or not known or len(table) != 8:
            raise Unreadable(f"no eight of {name}: {clean(said, 80)!r}")
        found[leaf] = tuple(f"{number}:{value}" for number, value in enumerate(table))
    if not isinstance(told.get("willing"), bool):
        raise Unreadable(f"no willing: {clean(said, 80)!r}")
    return {**found, "ets.willing": told["willing"] is True}


@probe(
    Shell("dcb -j ets show dev {}", each=HARDWARE, seconds=30, lane="network"),
    gives={
        "nic.interface/*.ets.classes": listing("The class of traffic that each priority belongs to: 3:1."),
        "nic.interface/*.ets.algorithms": listing("How each class is served: 0:ets, 1:strict, 2:cbs, 3:vendor."),
        "nic.interface/*.ets.shares": listing(
            "The percent of the bandwidth that each class has where it is `ets`: 1:50."
        ),
        "nic.interface/*.ets.willing": flag("Whether it takes these settings from the other end of the cable."),
    },
)
def dcb_ets(answer: str) -> Facts:
    """Read each interface's tables. Unverified on hardware: written to the source of iproute2's dcb."""
    for name, told in per_device.read(answer, (*NAMES, "ets.willing"), ets):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
