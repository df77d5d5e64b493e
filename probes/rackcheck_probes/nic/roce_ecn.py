"""Which priorities of each RoCE interface take part in congestion control (DCQCN)."""

from rackcheck import Facts, Files, Read, integer, listing, probe, spell_key
from rackcheck.model import text as read
from rackcheck.parse.host.nic import ecn

CNP = ecn.FOLDER + f"/{ecn.NOTIFICATION}/cnp_"


@probe(
    Read(*ecn.ENABLED, *(CNP.format("*") + name for name in ("dscp", "802p_prio"))),
    gives={
        "nic.interface/*.ecn.notification": listing(
            "Priorities whose marked packets are answered with a notification; only NVIDIA's own driver package tells."
        ),
        "nic.interface/*.ecn.reaction": listing("Priorities that slow down when a notification comes."),
        "nic.interface/*.ecn.cnp_dscp": integer("The DSCP of congestion notifications."),
        "nic.interface/*.ecn.cnp_priority": integer("The 802.1p priority of congestion notifications."),
    },
)
def roce_ecn(files: Files) -> Facts:
    """Read each interface's congestion control."""
    for name in ecn.interfaces(files):
        item, cnp = f"nic.interface/{spell_key(name)}.ecn", CNP.format(name)
        yield f"{item}.notification", ecn.priorities(files, name, ecn.NOTIFICATION)
        yield f"{item}.reaction", ecn.priorities(files, name, ecn.REACTION)
        yield f"{item}.cnp_dscp", files.read(f"{cnp}dscp", read.whole)
        yield f"{item}.cnp_priority", files.read(f"{cnp}802p_prio", read.whole)
