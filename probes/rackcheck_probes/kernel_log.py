"""What the kernel's log holds of Xids, NVSwitch errors and killed processes.

The kernel keeps its log in a ring of fixed size: on a node that has been up for long, the oldest lines are gone. Every
fact here is of what the ring holds, which is read to its end; none is of the time since boot. So the collections are
whole, and `log.kernel.from_boot` says whether the ring reaches back to the boot: a profile that wants the time since
boot asks for that beside them. Were they unknown beyond the ring, every healthy node would be incomplete from the day
its ring is full, and nobody would read that word any more. An Xid that is in the ring is found either way.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from rackcheck import (
    Class,
    Facts,
    Shell,
    Unreadable,
    collection,
    flag,
    integer,
    listing,
    probe,
    spell_key,
    text,
)
from rackcheck.core import read
from rackcheck.core.fact import clean

BEFORE = (
    r"(?:<[0-9]{1,3}>)?(?:[a-z0-9]{1,8} *: *[a-z]{1,8} *: )?"
    r"(?:\[[^\]]{0,40}\] ?){0,2}(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T\S{1,30} )?"
)
"""What dmesg puts before a message: level, facility, seconds since boot or a date, the caller; or nothing at all."""

PLACE = r"\((?:PCI:)?(?P<domain>[0-9a-fA-F]{4,8}):(?P<device>[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.(?P<function>[0-7]))?\)"
XID = re.compile(rf"{BEFORE}(?P<said>NVRM: Xid {PLACE}: (?P<code>[0-9]{{1,5}})\b.*)")
SXID = re.compile(rf"{BEFORE}(?P<said>nvidia-nvswitch[0-9]{{1,3}}: SXid {PLACE}: (?P<code>[0-9]{{1,6}})\b(?P<rest>.*))")
FATAL = re.compile(r", Fatal,")
KILLED = re.compile(rf"{BEFORE}(?:Memory cgroup out|Out) of memory(?: \([^)]{{0,40}}\))?: Kill(?:ed)? process [0-9].*")
FIRST = re.compile(rf"{BEFORE}Linux version [0-9].*")
EARLY = 20
"""Lines among which a boot says the kernel's version; arm64 says another thing first."""


def address(match: re.Match[str]) -> str:
    """Spell a PCI address as the kernel and `gpu/*.pci` do; a GPU is function 0, which the driver leaves out."""
    return f"{int(match['domain'], 16):04x}:{match['device'].lower()}.{match['function'] or 0}"


def by_device(found: Iterable[re.Match[str] | None]) -> Mapping[str, list[re.Match[str]]]:
    """Gather the lines of each device."""
    devices: dict[str, list[re.Match[str]]] = {}
    for match in found:
        if match is not None:
            devices.setdefault(address(match), []).append(match)
    return devices


def told(item: str, lines: list[re.Match[str]]) -> Iterator[tuple[str, tuple[str, ...] | int | str]]:
    """Give what both kinds of error have: which codes, how many lines, the last of them."""
    yield f"{item}.codes", tuple(sorted({str(int(line["code"])) for line in lines}, key=int))
    yield f"{item}.count", len(lines)
    yield f"{item}.last", clean(lines[-1]["said"])


# Plain: what util-linux and busybox both know. Dates would be computed from the clock, which may be wrong.
@probe(
    Shell("dmesg", root=True, cap=8 << 20),
    gives={
        "log.kernel.from_boot": flag(
            "Whether the kernel's log still begins with the boot; if not, older lines are gone.", Class.MEASUREMENT
        ),
        "log.kernel.oom_kills": integer("Processes that the kernel says it killed for lack of memory.", Class.COUNTER),
        "log.xid": collection("GPUs that an Xid in the kernel's log names, by PCI address as in `gpu/*.pci`."),
        "log.xid/*.codes": listing("The Xids' numbers, each once, in order.", Class.COUNTER),
        "log.xid/*.count": integer("Lines with an Xid of this GPU.", Class.COUNTER),
        "log.xid/*.last": text("The last of these lines, without its time.", Class.MEASUREMENT),
        "log.sxid": collection("NVSwitches that an SXid in the kernel's log names, by PCI address."),
        "log.sxid/*.codes": listing("The SXids' numbers, each once, in order.", Class.COUNTER),
        "log.sxid/*.count": integer("Lines with an SXid of this NVSwitch.", Class.COUNTER),
        "log.sxid/*.fatal": integer("Of these lines, those that the driver itself calls Fatal.", Class.COUNTER),
        "log.sxid/*.last": text("The last of these lines, without its time.", Class.MEASUREMENT),
    },
)
def kernel_log(answer: str) -> Facts:
    """Read the lines of dmesg; one that is no error of these kinds says nothing here."""
    rows = read.rows(answer)
    if not any(map(str.strip, rows)):
        raise Unreadable("an empty log: even a kernel that has just started says something")
    yield "log.kernel.from_boot", any(FIRST.fullmatch(row) for row in rows[:EARLY])
    yield "log.kernel.oom_kills", sum(KILLED.fullmatch(row) is not None for row in rows)
    for place, lines in by_device(map(XID.fullmatch, rows)).items():
        yield from told(f"log.xid/{spell_key(place)}", lines)
    for place, lines in by_device(map(SXID.fullmatch, rows)).items():
        item = f"log.sxid/{spell_key(place)}"
        yield from told(item, lines)
        yield f"{item}.fatal", sum(FATAL.match(line["rest"]) is not None for line in lines)
