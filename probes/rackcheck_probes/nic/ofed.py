"""Which OFED is installed in place of the distribution's own InfiniBand drivers."""

from rackcheck import Absent, Facts, Shell, Unreadable, probe, text, version
from rackcheck.model import text as read
from rackcheck.parse.host.nic import ofed_info

NONE = "none"


# OFED always comes with this tool: where it is not, the drivers are the distribution's.
@probe(
    Shell(f"if command -v ofed_info >/dev/null; then ofed_info -s; else echo {NONE}; fi"),
    gives={
        "os.ofed.name": text("Which OFED it is: MLNX_OFED_LINUX, OFED-internal (that of DOCA); absent without one."),
        "os.ofed.version": version("dotted", "Its version, written with points: 23.10.1.1.9.0; absent without one."),
    },
)
def ofed(answer: str) -> Facts:
    """Read `MLNX_OFED_LINUX-23.10-1.1.9.0:`."""
    said = read.line(answer)
    if not answer.endswith("\n"):
        raise Unreadable("the answer was cut")
    if said == NONE:
        yield from ((f"os.ofed.{leaf}", Absent("no ofed_info")) for leaf in ("name", "version"))
        return
    found = ofed_info.package(said)
    yield "os.ofed.name", found.name
    yield "os.ofed.version", found.version
