"""The CPUs that serve each PCI device's interrupts."""

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, integer, probe, read, spell_key, text
from rackcheck.parse.host.cpu import irq_vectors
from rackcheck.parse.host.cpu.irq_vectors import HIDDEN

END = "-- end --"


# Only the shell's own `read` and `echo`: a large node has thousands of vectors, and must not start that many programs.
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
        "pcie/*.irq.vectors": integer("Message interrupts that the function has; absent if it has none."),
        "pcie/*.irq.remote": integer(
            "Message interrupts that go to a CPU that is not in the function's `local_cpulist`.", Class.MEASUREMENT
        ),
        "os.irq.default_affinity": text("The CPUs that new interrupts may go to, as the kernel's hexadecimal mask."),
    },
)
def irq(answer: str) -> Facts:
    """Count each PCI function's interrupt vectors; a vector that no CPU serves yet does not count as remote."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END or not rows[-2].startswith("default "):
        raise Unreadable("the output was truncated")
    for device in irq_vectors.devices(rows[:-2]):
        item = f"pcie/{spell_key(device.address)}"
        yield f"{item}.irq.vectors", len(device.vectors)
        yield f"{item}.irq.remote", device.remote()
    mask, hidden = rows[-2].removeprefix("default ").strip(), Unknown(Reason.NOT_COLLECTED, "not readable")
    yield "os.irq.default_affinity", hidden if mask == HIDDEN else mask or Absent("no default_smp_affinity")
