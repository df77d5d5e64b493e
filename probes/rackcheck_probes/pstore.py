"""What a crash of before left in the firmware's store."""

import re

from rackcheck import Absent, Class, Facts, Reason, Shell, Unreadable, listing, probe
from rackcheck.core import read

PARENT, FOLDER, AFTER = "/sys/fs", "/sys/fs/pstore", "/proc/version"
ROW = re.compile(r"([A-Za-z0-9_.-]{1,40})(/.{0,4000})")


# `%F` is the type of the file system that a path lies on: pstore's own tells an empty store from one that nobody has
# mounted. The parent tells a kernel without pstore, what comes after that nothing was cut; cgroups come and go.
@probe(
    Shell(
        f"find {PARENT} {AFTER} -maxdepth 2 -path {PARENT}/cgroup -prune -o -printf %F -print", root=True, lane="root"
    ),
    gives={
        "os.crash.pstore": listing(
            "Records of a panic that firmware kept and nobody has taken yet; absent without pstore.", Class.COUNTER
        )
    },
)
def pstore(answer: str) -> Facts:
    """Read the names in the folder; systemd-pstore moves them at boot, see `os.crash.dumps`."""
    matches = [ROW.fullmatch(row) for row in read.rows(answer)]
    types = {match[2]: match[1] for match in matches if match is not None}
    if None in matches or PARENT not in types or AFTER not in types:
        raise Unreadable("the answer was cut, or is not of types and places")
    if FOLDER not in types:
        yield "os.crash.pstore", Absent("this kernel has no pstore")
        return
    if types[FOLDER] != "pstore":
        raise Unreadable(f"no pstore is mounted on {FOLDER}", Reason.NOT_COLLECTED)
    names = sorted(path.removeprefix(f"{FOLDER}/") for path in types if path.startswith(f"{FOLDER}/"))
    yield "os.crash.pstore", tuple(names[:100])
