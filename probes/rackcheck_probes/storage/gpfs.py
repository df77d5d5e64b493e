"""State of this node in IBM Storage Scale (GPFS)."""

from urllib.parse import unquote

from rackcheck import Absent, Facts, Reason, Shell, Unknown, Unreadable, integer, probe, read, text
from rackcheck_probes.os.hidden import THERE

TOOL = "/usr/lpp/mmfs/bin/mmgetstate"
NONE = "no mmgetstate"


# The tool is outside sudo's path: a login that may not use it gets a refusal, whose text is unverified.
@probe(
    Shell(f"{THERE}there {TOOL} || {{ echo '{NONE}'; exit 0; }}\n{TOOL} -Y", seconds=20),
    gives={
        "storage.gpfs.state": text(
            "The node's state: active if the daemon works, else arbitrating, down; absent if not installed."
        ),
        "storage.gpfs.quorum": integer("Quorum nodes that must be up; absent if not installed."),
    },
)
def gpfs(answer: str) -> Facts:
    """Read this node's row by the column names in the header; values are percent-encoded."""
    rows = read.rows(answer)
    if rows == [NONE]:
        yield from ((f"storage.gpfs.{leaf}", Absent("not installed")) for leaf in ("state", "quorum"))
        return
    fields = [row.split(":") for row in rows if row.startswith("mmgetstate:")]
    if len(fields) != 2 or fields[0][2:3] != ["HEADER"] or len(fields[0]) != len(fields[1]):
        raise Unreadable(f"expected one header of mmgetstate and one row: {answer[:80]!r}")
    table = dict(zip(fields[0], map(unquote, fields[1]), strict=True))
    if "state" not in table or "quorum" not in table:
        raise Unreadable("the output of mmgetstate lacks the column state or quorum")
    lost = Unknown(Reason.NOT_COLLECTED, "GPFS reports this node's state as unknown")
    yield "storage.gpfs.state", lost if table["state"] == "unknown" else table["state"]
    yield "storage.gpfs.quorum", read.whole(table["quorum"])
