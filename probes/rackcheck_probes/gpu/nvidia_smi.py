"""Whether nvidia-smi works, and how long it takes: nvidia-smi is slow or hangs if the driver has a problem."""

import re

from rackcheck import Class, Facts, Shell, Unreadable, integer, probe, quantity, read
from rackcheck_probes.gpu.nvml import GUARD, UNASKED

# The kernel's clock is read from a file, as not every `date` supports fractions of a second.
QUESTION = f"""\
command -v nvidia-smi >/dev/null || {{ echo 'nvidia-smi: not found' >&2; exit 127; }}
{GUARD}read -r a _ </proc/uptime
nvidia-smi >/dev/null 2>&1
s=$?
read -r b _ </proc/uptime
echo "$s $a $b\""""


@probe(
    Shell(QUESTION, seconds=30),
    gives={
        "driver.smi.status": integer(
            "The exit status of nvidia-smi: 0 for success, 14 for a broken infoROM, 15 for a lost GPU.",
            Class.MEASUREMENT,
        ),
        "driver.smi.seconds": quantity("s", "How long nvidia-smi takes to print its table.", Class.MEASUREMENT),
    },
)
def nvidia_smi(answer: str) -> Facts:
    """Read nvidia-smi's exit status, and the times before and after it ran; without a driver it is not run."""
    rows = read.rows(answer)
    if len(rows) == 1 and rows[0] in UNASKED:
        reason, why = UNASKED[rows[0]]
        raise Unreadable(why, reason)
    match = re.fullmatch(r"([0-9]{1,3}) ([0-9]{1,12}\.[0-9]{2}) ([0-9]{1,12}\.[0-9]{2})\n", answer)
    if match is None or float(match[3]) < float(match[2]):
        raise Unreadable(f"expected an exit status and two times, got: {rows[:1]!r:.80}")
    yield "driver.smi.status", int(match[1])
    yield "driver.smi.seconds", round(float(match[3]) - float(match[2]), 2)
