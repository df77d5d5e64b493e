"""What the kernel's log holds of Xids, NVSwitch errors and killed processes.

The kernel keeps its log in a ring of fixed size: on a node that has been up for long, the oldest lines are gone. Every
fact here is of what the ring holds, which is read to its end; none is of the time since boot. So the collections are
whole, and `log.kernel.from_boot` says whether the ring reaches back to the boot: a profile that wants the time since
boot asks for that beside them. Were they unknown beyond the ring, every healthy node would be incomplete from the day
its ring is full, and nobody would read that word any more. An Xid that is in the ring is found either way.
"""

import re
from collections.abc import Iterator, Sequence

from rackcheck import Class, Facts, Shell, collection, flag, integer, listing, probe, spell_key, text
from rackcheck.model.fact import clean
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid import SXid, Xid
from rackcheck.parse.host.kernel_log.xid_lines import by_place, codes, every_sxid, every_xid

# Plain: what util-linux and busybox both know. Dates would be computed from the clock, which may be wrong.
DMESG = Shell("dmesg", root=True, cap=8 << 20)
"""Asked once, read by every probe of the kernel's log."""

KILLED = re.compile(r"(?:Memory cgroup out|Out) of memory(?: \([^)]{0,40}\))?: Kill(?:ed)? process [0-9]")
EARLY = 20
"""Lines among which a boot says the kernel's version; arm64 says another thing first."""


def error_facts(item: str, errors: Sequence[Xid] | Sequence[SXid]) -> Iterator[tuple[str, tuple[str, ...] | int | str]]:
    """Give what both kinds of error have: which codes, how many lines, the last of them."""
    yield f"{item}.codes", codes(errors)
    yield f"{item}.count", len(errors)
    yield f"{item}.last", clean(errors[-1].said)


@probe(
    DMESG,
    gives={
        "log.kernel.from_boot": flag(
            "Whether the kernel's log still begins with the boot; if not, older lines are gone.", Class.MEASUREMENT
        ),
        "log.kernel.oom_kills": integer("Processes that the kernel says it killed for lack of memory.", Class.COUNTER),
        "log.xid": collection("GPUs that an Xid in the kernel's log names, by PCI address as in `gpu/*.pci`."),
        "log.xid/*.codes": listing("The Xids' numbers, each once, in order.", Class.COUNTER),
        "log.xid/*.count": integer("Lines with an Xid of this GPU.", Class.COUNTER),
        "log.xid/*.last": text("The last of these lines, without its time and the process' name.", Class.MEASUREMENT),
        "log.sxid": collection("NVSwitches that an SXid in the kernel's log names, by PCI address."),
        "log.sxid/*.codes": listing("The SXids' numbers, each once, in order.", Class.COUNTER),
        "log.sxid/*.count": integer("Lines with an SXid of this NVSwitch.", Class.COUNTER),
        "log.sxid/*.fatal": integer("Of these lines, those that the driver itself calls Fatal.", Class.COUNTER),
        "log.sxid/*.last": text("The last of these lines, without its time.", Class.MEASUREMENT),
    },
)
def kernel_log(answer: str) -> Facts:
    """Read the lines of dmesg; one that is no error of these kinds says nothing here."""
    dmesg.whole(answer)
    first = (dmesg.message(row[: dmesg.LONGEST]) for row in answer.split("\n", EARLY)[:EARLY])
    yield "log.kernel.from_boot", any(re.match("Linux version [0-9]", row) for row in first)
    kills = (dmesg.message(line) for line in dmesg.lines(answer, " of memory"))
    yield "log.kernel.oom_kills", sum(KILLED.match(message) is not None for message in kills)
    gpus, unread = every_xid(answer)
    if unread is not None:
        yield "log.xid", unread
    for place, lines in by_place(gpus).items():
        yield from error_facts(f"log.xid/{spell_key(place)}", lines)
    switches, unread = every_sxid(answer)
    if unread is not None:
        yield "log.sxid", unread
    for place, errors in by_place(switches).items():
        item = f"log.sxid/{spell_key(place)}"
        yield from error_facts(item, errors)
        yield f"{item}.fatal", sum(error.fatal is True for error in errors)
