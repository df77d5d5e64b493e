"""What the journal kept of the kernel's warnings and errors since boot, and of its errors before.

The kernel's ring forgets; the journal may reach further. It is read for its newest lines only: a journal with more
lines than asked for was not read to its end, and one whose oldest line is of a later time than the boot was cut at its
beginning, by vacuuming it: then nobody knows that a GPU had no Xid. Unverified on hardware: no recording of a GPU
node's journal in this form was at hand.
"""

from rackcheck import Class, Facts, Reason, Shell, Unreadable, collection, integer, listing, probe, quantity, spell_key
from rackcheck.parse.host.kernel_log import journalctl
from rackcheck.parse.host.kernel_log.xid_lines import by_place, codes, every_sxid, every_xid

MOST = 5000
EARLY = 10
"""Seconds after boot by which a journal that has its beginning warns; ours, chosen to be before GPUs' drivers."""
# Xids are warnings (4), so errors (3) alone would not do. Without names of hosts, with seconds since boot.
BOOT = Shell(
    f"journalctl -k -b -p 4 -n {MOST} -o short-monotonic --no-hostname --no-pager", root=True, cap=4 << 20, seconds=20
)


@probe(
    BOOT,
    gives={
        "log.boot.begins": quantity(
            "s",
            "Time after boot of the oldest warning of the kernel that was read from the journal.",
            Class.MEASUREMENT,
        ),
        "log.boot.lines": integer(
            f"Warnings and errors of the kernel in this boot's journal; unknown from {MOST} on.", Class.COUNTER
        ),
        "log.boot.xid": collection("GPUs that an Xid in this boot's journal names, by PCI address as in `gpu/*.pci`."),
        "log.boot.xid/*.codes": listing("The Xids' numbers, each once, in order.", Class.COUNTER),
        "log.boot.xid/*.count": integer("Lines with an Xid of this GPU.", Class.COUNTER),
        "log.boot.sxid": collection("NVSwitches that an SXid in this boot's journal names, by PCI address."),
        "log.boot.sxid/*.codes": listing("The SXids' numbers, each once, in order.", Class.COUNTER),
        "log.boot.sxid/*.count": integer("Lines with an SXid of this NVSwitch.", Class.COUNTER),
    },
)
def journal(answer: str) -> Facts:
    """Gather the Xids and SXids of the newest lines; where the lines do not reach back, there may be others."""
    log = journalctl.of_this_boot(answer)
    begins = journalctl.oldest(log)
    yield "log.boot.begins", begins
    gpus, unread = every_xid(log)
    switches, unread_too = every_sxid(log)
    blobs = journalctl.hidden(log)
    for name, found, odd in (("xid", by_place(gpus), unread), ("sxid", by_place(switches), unread_too)):
        if why := odd or blobs:
            yield f"log.boot.{name}", why
        for place, errors in found.items():
            item = f"log.boot.{name}/{spell_key(place)}"
            yield f"{item}.codes", codes(errors)
            yield f"{item}.count", len(errors)
    if log.count("\n") >= MOST:
        raise Unreadable(f"only the newest {MOST} lines were read", Reason.NOT_READ_FURTHER)
    if begins > EARLY:
        raise Unreadable(f"the oldest line is later than {EARLY} s after boot", Reason.NOT_READ_FURTHER)
    yield "log.boot.lines", log.count("\n")
