"""Whether what should be mounted at boot is mounted."""

import re

from rackcheck import Absent, Facts, Shell, Unreadable, listing, probe
from rackcheck.core import read
from rackcheck_probes.mounts import unescaped

# Options may hold passwords: of them only `noauto` leaves the node.
COMMAND = (
    "if [ -e /etc/fstab ]; then while read -r s p t o rest || [ -n \"$s\" ]; do case $s in ''|'#'*) ;; *) "
    "case ,$o, in *,noauto,*) b=noauto ;; *) b=auto ;; esac; "
    'printf "fstab %s %s %s\\n" "$p" "$t" "$b" ;; esac; done </etc/fstab || exit; '
    "else echo 'no fstab'; fi; "
    'while read -r s p rest; do printf "mounted %s\\n" "$p"; done </proc/mounts && echo end'
)
ROW = re.compile(
    r"fstab (?P<point>\S{1,4096}) (?P<type>\S{1,64}) (?P<boot>auto|noauto)|mounted (?P<mounted>/\S{0,4096})"
)


def place(field: str) -> str:
    """Give a mount point without the slash at its end that people write."""
    return unescaped(field).rstrip("/") or "/"


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "storage.fstab.unmounted": listing(
            "Mount points of /etc/fstab that boot should mount and where nothing is mounted; absent without the file. "
            "One that leads over a symbolic link is named though it is mounted."
        ),
    },
)
def fstab(answer: str) -> Facts:
    """Hold the mount points of /etc/fstab against those of the kernel; swap has none."""
    rows = read.rows(answer)
    none = rows[:1] == ["no fstab"]
    matches = [ROW.fullmatch(row) for row in rows[none:-1]]
    if rows[-1:] != ["end"] or None in matches:
        raise Unreadable(f"not the rows of fstab and of mounts: {answer[:80]!r}")
    found = [match for match in matches if match]
    mounted = {place(match["mounted"]) for match in found if match["mounted"]}
    wanted = [place(m["point"]) for m in found if m["boot"] == "auto" and m["type"] != "swap" and m["point"][0] == "/"]
    missing = tuple(sorted({point for point in wanted if point not in mounted}))
    yield "storage.fstab.unmounted", Absent("no /etc/fstab") if none else missing
