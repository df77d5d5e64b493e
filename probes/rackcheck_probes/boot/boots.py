"""How often the system has started, also of late, and how often without having been shut down."""

from rackcheck import Class, Facts, Reason, Shell, Unknown, integer, probe
from rackcheck.parse.host.os import last

MOST = 400
WINDOWS = {"two_hours": 2, "day": 24, "week": 168}


@probe(
    Shell(
        f't=$(TZ=UTC0 last -F -x reboot shutdown) && printf "%s\\n" "$t" | head -n {MOST} && read -r u _ </proc/uptime'
        f' && echo "now $(date +%s) ${{u%.*}}" && echo "{last.END}"',
        quick=True,
    ),
    gives={
        "os.boot.count": integer(
            f"Starts that wtmp has on record, of the newest {MOST} lines; its file is turned over, mostly monthly.",
            Class.COUNTER,
        ),
        "os.boot.unclean": integer(
            "Starts of these that came without a shutdown: the power went, somebody reset it, or it crashed.",
            Class.COUNTER,
        ),
        **{
            f"os.boot.within.{leaf}": integer(
                f"Starts within the last {hours} hours by the node's clock; unknown where wtmp is younger.",
                Class.MEASUREMENT,
            )
            for leaf, hours in WINDOWS.items()
        },
    },
)
def boots(answer: str) -> Facts:
    """Read the newest starts and shutdowns, newest first; of the oldest start nobody knows what was before."""
    wtmp = last.wtmp(answer)
    # The system is up, so it has started: a record without any start tells nothing of starts.
    none = Unknown(Reason.NOT_COLLECTED, "wtmp has no start on record") if "reboot" not in wtmp.kinds else None
    yield "os.boot.count", none or wtmp.kinds.count("reboot")
    yield "os.boot.unclean", none or wtmp.unclean
    for leaf, hours in WINDOWS.items():
        yield f"os.boot.within.{leaf}", wtmp.late(hours * 3600)
