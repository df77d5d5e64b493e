"""The kernel's warnings and errors in the journal since boot.

The journal may reach further back than the kernel's own log, which is a ring that loses old lines. Only the newest 5000
warnings and errors in the journal are read. If the journal has 5000 or more warnings and errors, or if the oldest one
is much later than the boot (the journal was vacuumed), the number of Xids is unknown, because lines that were not read
may contain more Xids. Unverified on hardware: no recording of a GPU node's journal in the output format
`short-monotonic` was available.
"""

from rackcheck import Class, Facts, Reason, Shell, Unreadable, collection, integer, listing, probe, quantity, spell_key
from rackcheck.parse.host.kernel_log import journalctl
from rackcheck.parse.host.kernel_log.xid_lines import by_place, codes, every_sxid, every_xid

MOST = 5000
EARLY = 10
"""A journal counts as complete if its oldest warning is at most this many seconds after boot.

The limit of 10 s is rackcheck's own choice; GPU drivers load later than 10 s after boot.
"""
# Xids are warnings (4), so errors (3) alone do not suffice. Without host names, with seconds since boot.
BOOT = Shell(
    f"journalctl -k -b -p 4 -n {MOST} -o short-monotonic --no-hostname --no-pager", root=True, cap=4 << 20, seconds=20
)


@probe(
    BOOT,
    gives={
        "log.boot.begins": quantity(
            "s",
            "Time from boot to the oldest kernel warning that was read from the journal.",
            Class.MEASUREMENT,
        ),
        "log.boot.lines": integer(
            f"Warnings and errors of the kernel in this boot's journal; unknown if there are {MOST} lines or more.",
            Class.COUNTER,
        ),
        "log.boot.xid": collection("GPUs with an Xid in this boot's journal, by PCI address as in `gpu/*.pci`."),
        "log.boot.xid/*.codes": listing("The Xids' numbers, each once, in order.", Class.COUNTER),
        "log.boot.xid/*.count": integer("Lines with an Xid of this GPU.", Class.COUNTER),
        "log.boot.sxid": collection("NVSwitches with an SXid in this boot's journal, by PCI address."),
        "log.boot.sxid/*.codes": listing("The SXids' numbers, each once, in order.", Class.COUNTER),
        "log.boot.sxid/*.count": integer("Lines with an SXid of this NVSwitch.", Class.COUNTER),
    },
)
def journal(answer: str) -> Facts:
    """Collect Xids and SXids in the journal's newest lines; raises Unreadable if the lines begin after the boot."""
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
