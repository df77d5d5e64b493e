"""Number of system starts, of recent starts, and of starts without a preceding shutdown."""

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
            f"Starts recorded in the newest {MOST} lines of wtmp; the file is usually rotated every month.",
            Class.COUNTER,
        ),
        "os.boot.unclean": integer(
            "Recorded starts without a preceding shutdown: power loss, reset or crash.",
            Class.COUNTER,
        ),
        **{
            f"os.boot.within.{leaf}": integer(
                f"Boots within the last {hours} hours by the node's clock; unknown if wtmp begins later than that.",
                Class.MEASUREMENT,
            )
            for leaf, hours in WINDOWS.items()
        },
    },
)
def boots(answer: str) -> Facts:
    """Read starts and shutdowns from wtmp, newest first; whether a shutdown preceded the oldest start is unknown."""
    wtmp = last.wtmp(answer)
    # The system is up, so it has started: a wtmp without any start is incomplete.
    none = Unknown(Reason.NOT_COLLECTED, "wtmp records no start") if "reboot" not in wtmp.kinds else None
    yield "os.boot.count", none or wtmp.kinds.count("reboot")
    yield "os.boot.unclean", none or wtmp.unclean
    for leaf, hours in WINDOWS.items():
        yield f"os.boot.within.{leaf}", wtmp.late(hours * 3600)
