"""Whether network filesystems respond, and how full they are."""

from rackcheck import Class, Facts, Shell, flag, probe, quantity, spell_key
from rackcheck.parse.host.storage import statfs
from rackcheck.parse.host.storage.proc_mounts import OF_LOGINS, unescaped

# A process that queries a dead server cannot always be killed. So each query runs in a separate shell, and only
# `timeout` waits for the shell's end. A shell that cannot be killed keeps none of our pipes open.
TYPES = (
    "nfs|nfs4|lustre|gpfs|beegfs|beegfs_nodev|wekafs|ceph|cifs|smb3|panfs|orangefs|ocfs2|gfs2|virtiofs|9p|fuse|fuse.?*"
)
SECONDS = 4
ASK = (
    'set -f; o=$(stat -f -c "%S %b %f %a %c %d" "$1" 2>&1) && r=ok || r=failed; '
    'set -- "$r" "$2" $o; printf "%s\\n" "$*"'
)
COMMAND = (
    f'while read -r s p t rest; do case $t in {TYPES}) printf "mount %s\\n" "$p"; '
    'd=$(printf %s. "$p" | sed \'s/\\\\\\([0-7][0-7][0-7]\\)/\\\\0\\1/g\'); d=$(printf %b "$d"); '
    f'timeout -s KILL {SECONDS} sh -c \'{ASK}\' sh "${{d%.}}" "$p" & ;; esac; done </proc/mounts; wait; echo end'
)


@probe(
    Shell(COMMAND, seconds=15),
    gives={
        "mount/*.responds": flag(
            "Whether a network filesystem returned its size within four seconds.", Class.MEASUREMENT
        ),
        "mount/*.remote.size": quantity("GiB", "The size of a network filesystem.", Class.MEASUREMENT),
        "mount/*.remote.free": quantity(
            "GiB", "Space on a network filesystem that is available to ordinary users.", Class.MEASUREMENT
        ),
        "mount/*.remote.used_share": quantity("%", "Share of a network filesystem's space in use.", Class.MEASUREMENT),
        "mount/*.remote.inodes_used_share": quantity(
            "%", "Share of a network filesystem's inodes in use.", Class.MEASUREMENT
        ),
    },
)
def network_mounts(answer: str) -> Facts:
    """Read the reply for each mount; a listed mount without a reply did not respond in time."""
    for reply in statfs.answers(answer):
        point = unescaped(reply.point)
        if not point.startswith(OF_LOGINS):
            yield f"mount/{spell_key(point)}.responds", reply.responds()
            for leaf, reading in reply.measured(SECONDS).items():
                yield f"mount/{spell_key(point)}.remote.{leaf}", reading
