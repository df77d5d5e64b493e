"""What crashes of the kernel have left on the disk."""

import re

from rackcheck import Class, Facts, Shell, Unreadable, listing, probe
from rackcheck.core import read
from rackcheck_probes.hidden import THERE

KEPT, DUMPS = "/var/lib/systemd/pstore", "/var/crash"
END = "-- end --"
MOST = 100
DUMP = re.compile(
    rf"{DUMPS}/([0-9]{{12}}|\S{{1,60}}-[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}-[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}})"
)
"""A folder of kdump: 202411211030 on Debian and Ubuntu, 127.0.0.1-2024-11-21-10:30:00 on RHEL."""


@probe(
    Shell(
        f'{THERE}for d in {KEPT} {DUMPS}; do there "$d" || continue; l=$(ls -A "$d") || exit 1; '
        f'[ -z "$l" ] || printf "%s\\n" "$l" | head -n {MOST} | sed "s|^|$d/|"; done; echo "{END}"',
        quick=True,
    ),
    gives={
        "os.crash.dumps": listing(
            f"Dumps of kdump in {DUMPS} and records of systemd-pstore in {KEPT}: each is a kernel that crashed.",
            Class.COUNTER,
        )
    },
)
def crash_dumps(answer: str) -> Facts:
    """Read the names; what else lies in /var/crash (reports of programs, kdump's own files) is no kernel's."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    yield "os.crash.dumps", tuple(sorted(r for r in rows[:-1] if r.startswith(f"{KEPT}/") or DUMP.fullmatch(r)))
