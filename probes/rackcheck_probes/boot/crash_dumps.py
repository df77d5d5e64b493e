"""Dumps and records that kernel crashes left on the disk."""

from rackcheck import Class, Facts, Shell, listing, probe
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows
from rackcheck_probes.os.hidden import THERE

# Kernel crashes leave two kinds of entries on the disk: dumps of kdump, and records kept by systemd-pstore.

KEPT, DUMPS = "/var/lib/systemd/pstore", "/var/crash"
END = "-- end --"
"""Last line of the output; without this line, the output was truncated."""

_DUMP = regex(rf"{DUMPS}/([0-9]{{12}}|\S{{1,60}}-[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}-[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}})")
"""Name of a kdump folder: 202411211030 on Debian and Ubuntu, 127.0.0.1-2024-11-21-10:30:00 on RHEL."""


def left(answer: str) -> tuple[str, ...]:
    """Return the sorted paths of the dumps and records of kernel crashes; raises Unreadable if the output is truncated.

    Files in /var/crash that are not kernel dumps (crash reports of programs, kdump's own files) are left out.
    """
    items = rows(answer)
    if not items or items[-1] != END:
        raise Unreadable("the output was truncated")
    return tuple(sorted(row for row in items[:-1] if row.startswith(f"{KEPT}/") or _DUMP.fullmatch(row)))


MOST = 100


@probe(
    Shell(
        f'{THERE}for d in {KEPT} {DUMPS}; do there "$d" || continue; l=$(ls -A "$d") || exit 1; '
        f'[ -z "$l" ] || printf "%s\\n" "$l" | head -n {MOST} | sed "s|^|$d/|"; done; echo "{END}"',
        quick=True,
    ),
    gives={
        "os.crash.dumps": listing(
            f"Dumps of kdump in {DUMPS} and records of systemd-pstore in {KEPT}: each is one kernel crash.",
            Class.COUNTER,
        )
    },
)
def crash_dumps(answer: str) -> Facts:
    """Read the paths of the dumps and records that kernel crashes left."""
    yield "os.crash.dumps", left(answer)
