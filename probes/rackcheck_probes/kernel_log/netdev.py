"""Network interfaces whose link changed.

Not every driver logs link changes, and the kernel's log does not contain InfiniBand links. The counters of network
interfaces (`nic.interface/*.carrier_changes`) show link changes of more interfaces than the log.
"""

from rackcheck import Absent, Class, Facts, Reason, Unknown, collection, probe, quantity, spell_key
from rackcheck.model.fact import Reading
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
        "log.kernel.netdev/*.longest_outage": quantity(
            "s",
            "Longest time from a line that reports the link down to the next line that reports it up, or to the log's "
            "last line; absent if the link did not go down after it was up.",
            Class.MEASUREMENT,
        ),
    },
)
def log_netdev(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.netdev", answer, NETDEV)
    longest = outages(answer)
    for name in dmesg.tallies(answer, NETDEV):
        reading = longest.get(name, Absent("the log has no line that reports the link down after it was up"))
        yield f"log.kernel.netdev/{spell_key(name)}.longest_outage", reading


def outages(log: str) -> dict[str, Reading]:
    """Return each interface's longest time without a link in seconds; Unknown if its lines have no time.

    A link that was not up before is one that starts: that takes the longer the faster the link is. An outage that has
    not ended lasts at least until the log's last line.
    """
    changes = [kind for kind in NETDEV if kind.leaf in {"down", "up"}]
    began: dict[str, float | None] = {}
    found: dict[str, Reading] = {}

    def lasted(name: str, start: float | None, end: float | None) -> None:
        known = found.get(name, 0.0)
        if start is None or end is None or not isinstance(known, float):
            found[name] = Unknown(Reason.UNPARSABLE, "the log's lines have no time since boot")
        else:
            found[name] = max(known, end - start)

    was_up: set[str] = set()
    for row in dmesg.lines(log, *dict.fromkeys(kind.holds for kind in changes)):
        for kind in changes:
            match = kind.shape.match(dmesg.message(row))
            if match is None:
                continue
            name = match["key"]
            if kind.leaf == "up":
                was_up.add(name)
                if name in began:
                    lasted(name, began.pop(name), dmesg.seconds(row))
            elif name in was_up:
                began.setdefault(name, dmesg.seconds(row))
            break
    for name, start in began.items():
        lasted(name, start, dmesg.span(log)[1])
    return found
