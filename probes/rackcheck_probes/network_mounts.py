"""Whether filesystems on the network answer, and how full they are."""

import re

from rackcheck import Class, Facts, Reason, Shell, Unknown, Unreadable, flag, probe, quantity, spell_key
from rackcheck.core import read
from rackcheck.core.fact import Reading, clean
from rackcheck_probes.mounts import OF_LOGINS, unescaped

# A process that asks a dead server cannot always be killed: each is asked by a shell of its own, whose end nobody
# but `timeout` waits for, and what cannot be killed holds none of our pipes.
TYPES = (
    "nfs|nfs4|lustre|gpfs|beegfs|beegfs_nodev|wekafs|ceph|cifs|smb3|panfs|orangefs|ocfs2|gfs2|virtiofs|9p|fuse|fuse.?*"
)
ASK = (
    'set -f; o=$(stat -f -c "%S %b %f %a %c %d" "$1" 2>&1) && r=ok || r=failed; '
    'set -- "$r" "$2" $o; printf "%s\\n" "$*"'
)
COMMAND = (
    f'while read -r s p t rest; do case $t in {TYPES}) printf "mount %s\\n" "$p"; '
    'd=$(printf %s. "$p" | sed \'s/\\\\\\([0-7][0-7][0-7]\\)/\\\\0\\1/g\'); d=$(printf %b "$d"); '
    f'timeout -s KILL 4 sh -c \'{ASK}\' sh "${{d%.}}" "$p" & ;; esac; done </proc/mounts; wait; echo end'
)
ROW = re.compile(r"(mount|ok|failed) (/\S{0,4095})(?: (.{0,4096}))?")
LEAVES = ("size", "free", "used_share", "inodes_used_share")


def share(total: int, free: int, left: int) -> Reading:
    """Give what is used of what ordinary users may fill, in percent, as df does."""
    used = total - free
    return round(100 * used / (used + left), 1) if used + left > 0 else Unknown(Reason.UNPARSABLE, "a size of nothing")


def filled(numbers: str) -> dict[str, Reading]:
    """Read `4096 BLOCKS FREE FREE-TO-USERS INODES FREE-INODES`."""
    if not re.fullmatch(r"[0-9]{1,20}(?: [0-9]{1,20}){5}", numbers):
        raise Unreadable(f"not the numbers of a filesystem: {numbers[:80]!r}")
    unit, blocks, free, left, inodes, rest = map(int, numbers.split())
    gib = unit / (1 << 30)
    return dict(
        zip(LEAVES, (blocks * gib, left * gib, share(blocks, free, left), share(inodes, rest, rest)), strict=True)
    )


@probe(
    Shell(COMMAND, seconds=15),
    gives={
        "mount/*.responds": flag(
            "Whether a filesystem on the network told its size within four seconds.", Class.MEASUREMENT
        ),
        "mount/*.remote.size": quantity("GiB", "The size of a filesystem on the network.", Class.MEASUREMENT),
        "mount/*.remote.free": quantity("GiB", "Space that ordinary users can still fill there.", Class.MEASUREMENT),
        "mount/*.remote.used_share": quantity("%", "Share of the space in use there.", Class.MEASUREMENT),
        "mount/*.remote.inodes_used_share": quantity("%", "Share of the inodes in use there.", Class.MEASUREMENT),
    },
)
def network_mounts(answer: str) -> Facts:
    """Read what each mount answered; one that is named and said nothing did not answer in time."""
    rows = read.rows(answer)
    matches = [ROW.fullmatch(row) for row in rows[:-1]]
    if rows[-1:] != ["end"] or None in matches:
        raise Unreadable(f"not the answers of mounts: {answer[-80:]!r}")
    told = {match[2]: match for match in matches if match and match[1] != "mount"}
    for point in dict.fromkeys(match[2] for match in matches if match and match[1] == "mount"):
        item, said = f"mount/{spell_key(unescaped(point))}", told.get(point)
        if not unescaped(point).startswith(OF_LOGINS):
            yield f"{item}.responds", responds(said)
            for leaf, reading in measured(said).items():
                yield f"{item}.remote.{leaf}", reading


def responds(said: re.Match[str] | None) -> Reading:
    """Judge an answer: a mount that we may not look into is not known to be well, nor to be ill."""
    if said is None:
        return False
    return refused(said) if said[1] == "failed" and refused(said).reason is Reason.DENIED else said[1] == "ok"


def measured(said: re.Match[str] | None) -> dict[str, Reading]:
    """Give the size and what is left of it."""
    if said is not None and said[1] == "ok":
        return filled(said[3] or "")
    why = Unknown(Reason.TIMEOUT, "it did not answer within 4 s") if said is None else refused(said)
    return dict.fromkeys(LEAVES, why)


def refused(said: re.Match[str]) -> Unknown:
    """Say why a mount told no size; the complaint names the mount, then the kernel's word."""
    word = clean((said[3] or "no word").rpartition(": ")[2])
    return Unknown(Reason.DENIED if "ermission denied" in word else Reason.NOT_COLLECTED, word)
