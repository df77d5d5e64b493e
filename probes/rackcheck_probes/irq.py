"""Where the interrupts of each PCI device go."""

import re
from collections.abc import Iterator

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, integer, probe, spell_key, text
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck.core.read.cpu_ranges import Ranges, ranges, within

END, HIDDEN = "-- end --", "?"


def cpus(told: str) -> Ranges | None:
    """Read a list of CPUs; none of a file that could not be read."""
    return None if told == HIDDEN else ranges(told)


def devices(rows: list[str]) -> Iterator[tuple[str, Ranges | None, list[Ranges | None]]]:
    """Give each device's address, the CPUs near it, and for each of its vectors the CPUs that serve it."""
    seen: tuple[str, Ranges | None, list[Ranges | None]] | None = None
    for row in rows:
        head = re.fullmatch(r"device ([0-9a-f:.]{1,20}) (\?|[0-9,-]{0,4000})", row)
        vector = re.fullmatch(r"[0-9]{1,6} (\?|[0-9,-]{0,4000})", row)
        if head is not None:
            if seen is not None:
                yield seen
            seen = (head[1], cpus(head[2]), [])
        elif vector is not None and seen is not None:
            seen[2].append(cpus(vector[1]))
        else:
            raise Unreadable(f"neither a device nor a vector: {row[:80]!r}")
    if seen is not None:
        yield seen


def remote(near: Ranges | None, vectors: list[Ranges | None]) -> Reading:
    """Count the vectors that a CPU serves which is not near."""
    if near is None:
        return Unknown(Reason.NOT_COLLECTED, "local_cpulist could not be read")
    if not near:
        return Absent("near no CPU")
    if None in vectors:
        return Unknown(Reason.NOT_COLLECTED, f"{vectors.count(None)} of {len(vectors)} vectors do not tell their CPU")
    return sum(not within(served, near) for served in vectors if served is not None)


# The shell's own `read` and `echo` only: a large node has thousands of vectors, and must not start as many programs.
@probe(
    Shell(
        "for d in /sys/bus/pci/devices/*/msi_irqs; do\n"
        '[ -d "$d" ] || continue\n'
        "a=${d%/msi_irqs}; l='?'; read -r l <$a/local_cpulist\n"
        'echo "device ${a##*/} $l"\n'
        'for i in "$d"/[0-9]*; do\n'
        '[ -e "$i" ] || continue\n'
        "n=${i##*/}; c='?'\n"
        "read -r c </proc/irq/$n/effective_affinity_list || read -r c </proc/irq/$n/smp_affinity_list\n"
        'echo "$n $c"\n'
        "done; done 2>/dev/null\n"
        "m=; [ ! -e /proc/irq/default_smp_affinity ] || m='?'; read -r m </proc/irq/default_smp_affinity\n"
        f'echo "default $m"; echo "{END}"',
        quick=True,
    ),
    gives={
        "pcie/*.irq.vectors": integer("Message interrupts that the function has; absent here if it has none."),
        "pcie/*.irq.remote": integer(
            "Of these, how many go to a CPU that is not near the function, by its `local_cpulist`.", Class.MEASUREMENT
        ),
        "os.irq.default_affinity": text("The CPUs that new interrupts may go to, as the kernel's hexadecimal mask."),
    },
)
def irq(answer: str) -> Facts:
    """Read each function's vectors; one that no CPU serves yet (not started) counts, and is not remote."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END or not rows[-2].startswith("default "):
        raise Unreadable("the answer was cut")
    for address, near, vectors in devices(rows[:-2]):
        item = f"pcie/{spell_key(address)}"
        yield f"{item}.irq.vectors", len(vectors)
        yield f"{item}.irq.remote", remote(near, vectors)
    mask, hidden = rows[-2].removeprefix("default ").strip(), Unknown(Reason.NOT_COLLECTED, "it could not be read")
    yield "os.irq.default_affinity", hidden if mask == HIDDEN else mask or Absent("no default_smp_affinity")
