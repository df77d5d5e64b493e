"""The state of this node's IMEX daemon."""

from rackcheck import Absent, Class, Facts, Shell, Unreadable, probe, read, text

WORDS = (
    "INITIALIZING",
    "STARTING_AUTH_SERVER",
    "WAITING_FOR_PEERS",
    "WAITING_FOR_RECOVERY",
    "INIT_GPU",
    "READY",
    "SHUTTING_DOWN",
    "UNAVAILABLE",
)


# Without the tool and the daemon, the node has no IMEX; a daemon in a container without the tool makes the fact
# unknown.
GUARD = """\
command -v nvidia-imex-ctl >/dev/null || {
[ -r /proc/1/comm ] || { echo 'process 1 is hidden: permission denied' >&2; exit 1; }
! grep -qsx nvidia-imex /proc/[0-9]*/comm ||
{ echo 'nvidia-imex-ctl: not found, though the daemon runs' >&2; exit 127; }
echo none; exit 0; }
"""
NONE, GONE = "none\n", Absent("no IMEX on this node")


# The words are those of NVIDIA's DCGM, which sends the same query. Unverified on hardware.
@probe(
    Shell(f"{GUARD}nvidia-imex-ctl -q", seconds=20, lane="imex"),
    gives={
        "driver.imex.state": text(
            "The state of the IMEX daemon: READY; absent without one.", Class.MEASUREMENT, words=WORDS
        )
    },
)
def imex_daemon(answer: str) -> Facts:
    """Read the state that the IMEX daemon reports."""
    if not answer.endswith("\n"):
        raise Unreadable("the output was truncated")
    yield "driver.imex.state", GONE if answer == NONE else read.line(answer)
