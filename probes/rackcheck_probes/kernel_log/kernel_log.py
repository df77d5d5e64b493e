"""Xids, NVSwitch errors and killed processes in the kernel's log.

The kernel keeps its log in a ring of fixed size: on a node with a long uptime, the oldest lines are lost. Of a ring of
more than 8 MiB, only the newest lines are read. Every fact here covers the part of the ring that was read, not the time
since boot. Therefore, the collections count as complete even if lines are lost. The fact `log.kernel.from_boot` shows
whether the ring reaches back to the boot: a profile that must cover the time since boot checks this fact too. If lost
lines made the collections unknown, the audit of every healthy node would be incomplete from the day its ring is full,
and users would ignore that outcome. An Xid that is still in the ring is always found.
"""

import re
from collections.abc import Iterator, Sequence

from rackcheck import Class, Facts, Shell, collection, flag, integer, listing, probe, spell_key, text
from rackcheck.model.fact import clean
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid import SXid, Xid
from rackcheck.parse.host.kernel_log.xid_lines import by_place, codes, every_sxid, every_xid

# Without options: util-linux and busybox both support it. Dates would be computed from the clock, which may be wrong.
DMESG = Shell("dmesg", root=True, cap=8 << 20, newest=True)
"""Command that prints the kernel's log, run once for all probes; of a longer log, the newest 8 MiB are read."""

KILLED = re.compile(r"(?:Memory cgroup out|Out) of memory(?: \([^)]{0,40}\))?: Kill(?:ed)? process [0-9]")
EARLY = 20
"""Number of first log lines that are searched for the kernel's version, which a boot prints at its start."""


def error_facts(item: str, errors: Sequence[Xid] | Sequence[SXid]) -> Iterator[tuple[str, tuple[str, ...] | int | str]]:
    """Yield the facts that Xids and SXids have in common: the codes, the number of lines, and the last line."""
    yield f"{item}.codes", codes(errors)
    yield f"{item}.count", len(errors)
    yield f"{item}.last", clean(errors[-1].text)


@probe(
    DMESG,
    gives={
        "log.kernel.from_boot": flag(
            "Whether the kernel's log begins with the boot; if not, older lines are gone, or were not read.",
            Class.MEASUREMENT,
        ),
        "log.kernel.oom_kills": integer("Processes that the kernel killed for lack of memory.", Class.COUNTER),
        "log.xid": collection("GPUs with an Xid in the kernel's log, by PCI address as in `gpu/*.pci`."),
        "log.xid/*.codes": listing("The Xids' numbers, each once, in order.", Class.COUNTER),
        "log.xid/*.count": integer("Lines with an Xid of this GPU.", Class.COUNTER),
        "log.xid/*.last": text(
            "The last line with an Xid of this GPU, without its time and the process' name.", Class.MEASUREMENT
        ),
        "log.sxid": collection("NVSwitches with an SXid in the kernel's log, by PCI address."),
        "log.sxid/*.codes": listing("The SXids' numbers, each once, in order.", Class.COUNTER),
        "log.sxid/*.count": integer("Lines with an SXid of this NVSwitch.", Class.COUNTER),
        "log.sxid/*.fatal": integer("Lines with an SXid of this NVSwitch that the driver marks Fatal.", Class.COUNTER),
        "log.sxid/*.last": text("The last line with an SXid of this NVSwitch, without its time.", Class.MEASUREMENT),
    },
)
def kernel_log(answer: str) -> Facts:
    """Read the output of dmesg; lines that are not about Xids, SXids or killed processes are ignored."""
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
