"""What a crash of before left in the firmware's store."""

from rackcheck import Absent, Class, Facts, Reason, Shell, Unreadable, listing, probe
from rackcheck.core import read

PARENT, FOLDER, AFTER = "/sys/fs", "/sys/fs/pstore", "/sys/kernel"


# The parent tells a kernel without pstore from a folder that would not open; what comes after, that nothing was cut.
@probe(
    Shell(f"ls -A {PARENT} {FOLDER} {AFTER}", root=True, ok=(0, 2), lane="root"),
    gives={
        "os.crash.pstore": listing(
            "Records of a panic that firmware kept and nobody has taken yet; absent without pstore.", Class.COUNTER
        )
    },
)
def pstore(answer: str) -> Facts:
    """Read the names in the folder; systemd-pstore moves them at boot, see `os.crash.dumps`."""
    rows = read.rows(answer)
    if f"{PARENT}:" not in rows or f"{AFTER}:" not in rows:
        raise Unreadable("the answer was cut")
    sections: dict[str, list[str]] = {}
    now: list[str] = []
    for row in rows:
        if row in {f"{PARENT}:", f"{FOLDER}:", f"{AFTER}:"}:
            now = sections.setdefault(row[:-1], [])
        elif row:
            now.append(row)
    if FOLDER in sections:
        yield "os.crash.pstore", tuple(sorted(sections[FOLDER])[:100])
    elif "pstore" in sections[PARENT]:
        raise Unreadable(f"{FOLDER} would not be listed", Reason.DENIED)
    else:
        yield "os.crash.pstore", Absent("this kernel has no pstore")
