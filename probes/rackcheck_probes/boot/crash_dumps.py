"""What crashes of the kernel have left on the disk."""

from rackcheck import Class, Facts, Shell, listing, probe
from rackcheck.parse.host.os.kdump import DUMPS, END, KEPT, left
from rackcheck_probes.os.hidden import THERE

MOST = 100


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
    """Read the names; what else lies there is no kernel's."""
    yield "os.crash.dumps", left(answer)
