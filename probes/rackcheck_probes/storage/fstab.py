"""Whether what should be mounted at boot is mounted."""

from rackcheck import Absent, Facts, Shell, listing, probe
from rackcheck.parse.host.storage.fstab import unmounted

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
