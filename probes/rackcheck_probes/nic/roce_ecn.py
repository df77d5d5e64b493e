"""Which priorities of each RoCE interface take part in congestion control (DCQCN)."""

from rackcheck import Facts, Files, Read, integer, listing, probe, read, spell_key
from rackcheck.model.fact import Absent, Reading, Sourced, Unknown
from rackcheck.model.text.values import bit, natural

# Congestion control of RoCE (DCQCN), /sys/class/net/*/ecn: files that only NVIDIA's own driver package provides.
#
# It has two points: one answers marked packets with a notification, the other slows down on a notification.

FOLDER = "/sys/class/net/{}/ecn"
NOTIFICATION, REACTION = "roce_np", "roce_rp"

_ENABLED = FOLDER + "/{}/enable/{}"
ENABLED = tuple(_ENABLED.format("*", point, "*") for point in (NOTIFICATION, REACTION))
"""Globs of the files that enable DCQCN's notification point and reaction point, one file for each priority."""


def interfaces(files: Files) -> list[str]:
    """Return the interfaces for which congestion control (DCQCN) can be enabled, in natural order of their names."""
    return sorted({name for glob in ENABLED for name, _ in files.found(glob)}, key=natural)


def priorities(files: Files, interface: str, point: str) -> Sourced:
    """Return the priorities for which DCQCN is on; unknown or absent if any of the eight settings is."""
    switches = [files.read(_ENABLED.format(interface, point, number), bit).reading for number in range(8)]
    odd = next((reading for reading in switches if isinstance(reading, Absent | Unknown)), None)
    on: Reading = tuple(str(number) for number, reading in enumerate(switches) if reading is True)
    return Sourced(on if odd is None else odd, f"{FOLDER.format(interface)}/{point}/enable")


CNP = FOLDER + f"/{NOTIFICATION}/cnp_"


@probe(
    Read(*ENABLED, *(CNP.format("*") + name for name in ("dscp", "802p_prio"))),
    gives={
        "nic.interface/*.ecn.notification": listing(
            "Priorities whose marked packets are answered with a notification; only with NVIDIA's own driver package."
        ),
        "nic.interface/*.ecn.reaction": listing("Priorities that slow down on a notification."),
        "nic.interface/*.ecn.cnp_dscp": integer("The DSCP of congestion notifications."),
        "nic.interface/*.ecn.cnp_priority": integer("The 802.1p priority of congestion notifications."),
    },
)
def roce_ecn(files: Files) -> Facts:
    """Read each interface's settings of congestion control (DCQCN)."""
    for name in interfaces(files):
        item, cnp = f"nic.interface/{spell_key(name)}.ecn", CNP.format(name)
        yield f"{item}.notification", priorities(files, name, NOTIFICATION)
        yield f"{item}.reaction", priorities(files, name, REACTION)
        yield f"{item}.cnp_dscp", files.read(f"{cnp}dscp", read.whole)
        yield f"{item}.cnp_priority", files.read(f"{cnp}802p_prio", read.whole)
