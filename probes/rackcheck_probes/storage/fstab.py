"""Whether filesystems that should be mounted at boot are mounted."""

from rackcheck import Absent, Facts, Shell, listing, probe
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows
from rackcheck.parse.host.storage.proc_mounts import unescaped

# Options may contain passwords: of them, only `noauto` and `nofail` leave the node.
COMMAND = (
    "if [ -e /etc/fstab ]; then while read -r s p t o rest || [ -n \"$s\" ]; do case $s in ''|'#'*) ;; *) "
    "case ,$o, in *,noauto,*) b=noauto ;; *,nofail,*) b=nofail ;; *) b=auto ;; esac; "
    'printf "fstab %s %s %s\\n" "$p" "$t" "$b" ;; esac; done </etc/fstab || exit; '
    "else echo 'no fstab'; fi; "
    'while read -r s p rest; do printf "mounted %s\\n" "$p"; done </proc/mounts && echo end'
)


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "storage.fstab.unmounted": listing(
            "Mount points of /etc/fstab that should be mounted at boot but are not; absent without the file. "
            "A mount point whose path contains a symbolic link is listed even if it is mounted."
        ),
        "storage.fstab.unmounted_optional": listing(
            "Mount points of /etc/fstab with the option nofail that are not mounted: their device may be missing."
        ),
    },
)
def fstab(answer: str) -> Facts:
    """Compare the mount points in /etc/fstab with those that the kernel lists; swap has no mount point."""
    for leaf, boot in (("unmounted", "auto"), ("unmounted_optional", "nofail")):
        missing = unmounted(answer, boot)
        yield f"storage.fstab.{leaf}", Absent("no /etc/fstab") if missing is None else missing


# The mount points of /etc/fstab compared with the kernel's.
#
# The node prints `no fstab`, or `fstab POINT TYPE auto|noauto|nofail` for each line of the file; then `mounted POINT`
# for each mount, and `end`. Points are written as fstab(5) and the kernel escape them.


_ROW = regex(
    r"fstab (?P<point>\S{1,4096}) (?P<type>\S{1,64}) (?P<boot>auto|noauto|nofail)|mounted (?P<mounted>/\S{0,4096})"
)


def unmounted(answer: str, boot: str) -> tuple[str, ...] | None:
    """Return the sorted mount points of a kind (`auto`, `nofail`) that are not mounted; None without /etc/fstab.

    Swap areas in /etc/fstab are left out. Raises Unreadable on truncated output and on any unexpected row.
    """
    items = rows(answer)
    none = items[:1] == ["no fstab"]
    matches = [_ROW.fullmatch(row) for row in items[none:-1]]
    if items[-1:] != ["end"] or None in matches:
        raise Unreadable(f"the output is truncated or has an unexpected row: {answer[:80]!r}")
    found = [match for match in matches if match]
    mounted = {_place(match["mounted"]) for match in found if match["mounted"]}
    wanted = [_place(m["point"]) for m in found if m["boot"] == boot and m["type"] != "swap" and m["point"][0] == "/"]
    return None if none else tuple(sorted({point for point in wanted if point not in mounted}))


def _place(field: str) -> str:
    """Return a mount point without escapes and without a trailing slash."""
    return unescaped(field).rstrip("/") or "/"
