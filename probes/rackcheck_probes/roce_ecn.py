"""Which priorities of each RoCE interface take part in congestion control (DCQCN)."""

from rackcheck import Absent, Facts, Files, Read, Sourced, integer, listing, probe, spell_key
from rackcheck.core import read
from rackcheck.core.fact import Reading, Unknown

FOLDER = "/sys/class/net/{}/ecn"
ENABLED = FOLDER + "/{}/enable/{}"
POINTS = {"notification": "roce_np", "reaction": "roce_rp"}


def priorities(files: Files, interface: str, folder: str) -> Reading:
    """Name the priorities that are switched on; unknown if one of the eight is."""
    on = []
    for number in map(str, range(8)):
        told = files.read(ENABLED.format(interface, folder, number), read.bit).reading
        if isinstance(told, Absent | Unknown):
            return told
        if told:
            on.append(number)
    return tuple(on)


@probe(
    Read(*(ENABLED.format("*", folder, "*") for folder in POINTS.values()),
         *(FOLDER.format("*") + f"/roce_np/{name}" for name in ("cnp_dscp", "cnp_802p_prio"))),
    gives={
        "nic.interface/*.ecn.notification": listing(
            "Priorities whose marked packets are answered with a notification; only NVIDIA's own driver package tells."
        ),
        "nic.interface/*.ecn.reaction": listing("Priorities that slow down when a notification comes."),
        "nic.interface/*.ecn.cnp_dscp": integer("The DSCP of congestion notifications."),
        "nic.interface/*.ecn.cnp_priority": integer("The 802.1p priority of congestion notifications."),
    },
)  # fmt: skip
def roce_ecn(files: Files) -> Facts:
    """Read each interface's congestion control."""
    names = {i for folder in POINTS.values() for i, _ in files.found(ENABLED.format("*", folder, "*"))}
    for name in sorted(names, key=read.natural):
        item, folder = f"nic.interface/{spell_key(name)}.ecn", FOLDER.format(name)
        for leaf, point in POINTS.items():
            yield f"{item}.{leaf}", Sourced(priorities(files, name, point), f"{folder}/{point}/enable")
        yield f"{item}.cnp_dscp", files.read(f"{folder}/roce_np/cnp_dscp", read.whole)
        yield f"{item}.cnp_priority", files.read(f"{folder}/roce_np/cnp_802p_prio", read.whole)
