"""Whether what should be mounted at boot is mounted."""

import re

from rackcheck import Absent, Facts, Shell, listing, probe
from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows
from rackcheck.parse.host.storage.proc_mounts import unescaped

# Options may hold passwords: of them only `noauto` leaves the node.
COMMAND = (
    "if [ -e /etc/fstab ]; then while read -r s p t o rest || [ -n \"$s\" ]; do case $s in ''|'#'*) ;; *) "
    "case ,$o, in *,noauto,*) b=noauto ;; *) b=auto ;; esac; "
    'printf "fstab %s %s %s\\n" "$p" "$t" "$b" ;; esac; done </etc/fstab || exit; '
    "else echo 'no fstab'; fi; "
    'while read -r s p rest; do printf "mounted %s\\n" "$p"; done </proc/mounts && echo end'
)


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
    missing = unmounted(answer)
    yield "storage.fstab.unmounted", Absent("no /etc/fstab") if missing is None else missing


# The mount points of /etc/fstab held against those of the kernel.
#
# The node prints `no fstab`, or `fstab POINT TYPE auto|noauto` for each line of it; then `mounted POINT` for each
# mount, and `end`. Points are written as fstab(5) and the kernel escape them.


_ROW = re.compile(
    r"fstab (?P<point>\S{1,4096}) (?P<type>\S{1,64}) (?P<boot>auto|noauto)|mounted (?P<mounted>/\S{0,4096})"
)


def unmounted(answer: str) -> tuple[str, ...] | None:
    """Give the points that boot should mount and where nothing is mounted, in their order; none without the file.

    Swap has no point. Raises Unreadable on an answer that was cut, or holds another row.
    """
    items = rows(answer)
    none = items[:1] == ["no fstab"]
    matches = [_ROW.fullmatch(row) for row in items[none:-1]]
    if items[-1:] != ["end"] or None in matches:
        raise Unreadable(f"not the rows of fstab and of mounts: {answer[:80]!r}")
    found = [match for match in matches if match]
    mounted = {_place(match["mounted"]) for match in found if match["mounted"]}
    wanted = [_place(m["point"]) for m in found if m["boot"] == "auto" and m["type"] != "swap" and m["point"][0] == "/"]
    return None if none else tuple(sorted({point for point in wanted if point not in mounted}))


def _place(field: str) -> str:
    """Give a mount point without the slash at its end that people write."""
    return unescaped(field).rstrip("/") or "/"
