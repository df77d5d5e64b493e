"""Xids, NVSwitch errors and killed processes in the kernel's log.

The kernel keeps its log in a ring of fixed size: on a node with a long uptime, the oldest lines are lost. If the log is
larger than 8 MiB, only its newest 8 MiB are read. Every fact of this probe covers the part of the kernel's log that was
read, not the time since boot. The collections `log.xid` and `log.sxid` count as complete even if the kernel's log has
lost lines. The fact `log.kernel.from_boot` shows whether the kernel's log reaches back to the boot: a profile that must
cover the time since boot checks this fact too. If lost lines made `log.xid` and `log.sxid` unknown, every healthy node
whose log is full would have an incomplete audit, and users would ignore incomplete audits.
"""

import re
from collections.abc import Iterator, Sequence

from rackcheck import Class, Facts, Shell, collection, flag, integer, listing, probe, spell_key, text
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid import SXid, Xid
from rackcheck.parse.host.kernel_log.xid_lines import by_place, codes, every_sxid, every_xid

# Without options: util-linux and busybox both support it. Dates would be computed from the clock, which may be wrong.
DMESG = Shell("dmesg", root=True, cap=8 << 20, newest=True)
"""Command that prints the kernel's log, run once for all probes; at most the newest 8 MiB of the log are read."""

KILLED = regex(r"(?:Memory cgroup out|Out) of memory(?: \([^)]{0,40}\))?: Kill(?:ed)? process [0-9]")
EARLY = 20
"""Number of lines at the start of the log that are searched for the kernel's version, which it prints when it boots."""


def error_facts(item: str, errors: Sequence[Xid] | Sequence[SXid]) -> Iterator[tuple[str, tuple[str, ...] | int | str]]:
    """Yield the facts that exist for Xids and for SXids: the codes, the number of log lines, and the last log line."""
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
