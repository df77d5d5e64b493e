"""Records of earlier kernel crashes in the firmware's persistent storage (pstore)."""

from rackcheck import Absent, Class, Facts, Reason, Shell, Unreadable, listing, probe
from rackcheck.parse.host.os import find_types

PARENT, FOLDER, AFTER = "/sys/fs", "/sys/fs/pstore", "/proc/version"


# `%F` is the type of the file system of a path: it distinguishes an empty pstore from one that is not mounted. The
# parent shows whether the kernel has pstore; the path after it shows that the answer is complete. The cgroup folder is
# skipped because it changes during the search.
@probe(
    Shell(
        f"find {PARENT} {AFTER} -maxdepth 2 -path {PARENT}/cgroup -prune -o -printf %F -print", root=True, lane="root"
    ),
    gives={
        "os.crash.pstore": listing(
            "Panic records in the firmware's store that are not collected yet; absent without pstore.", Class.COUNTER
        )
    },
)
def pstore(answer: str) -> Facts:
    """Read the names of the files in /sys/fs/pstore, which systemd-pstore moves at boot (see `os.crash.dumps`)."""
    types = find_types.types(answer, (PARENT, AFTER))
    if FOLDER not in types:
        yield "os.crash.pstore", Absent("this kernel has no pstore")
        return
    if types[FOLDER] != "pstore":
        raise Unreadable(f"no pstore is mounted on {FOLDER}", Reason.NOT_COLLECTED)
    names = sorted(path.removeprefix(f"{FOLDER}/") for path in types if path.startswith(f"{FOLDER}/"))
    yield "os.crash.pstore", tuple(names[:100])
