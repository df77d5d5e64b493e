"""Running NVIDIA daemons, whether started by systemd or in a container of the node."""

from rackcheck import Facts, Reason, Shell, Unknown, Unreadable, flag, listing, probe, read
from rackcheck_probes.os.hidden import THERE

# The kernel keeps fifteen characters of a name.
DAEMONS = {
    "nv-fabricmanage": "nv-fabricmanager",
    "nvlsm": "nvlsm",
    "nvidia-imex": "nvidia-imex",
    "nvidia-persiste": "nvidia-persistenced",
    "nv-hostengine": "nv-hostengine",
    "dcgm-exporter": "dcgm-exporter",
}
PLACE = "/run/nvidia-persistenced/socket"
SOCKET, HIDDEN, END = "socket", "hidden", "-- end --"


# Unverified on hardware: names of the programs in these packages; no node with them was available.
@probe(
    Shell(
        "[ -r /proc/1/comm ] || { echo 'process 1 is hidden: permission denied' >&2; exit 1; }\n"
        f"grep -hsxE '{'|'.join(DAEMONS)}' /proc/[0-9]*/comm\n"
        f"{THERE}(there {PLACE}); [ $? != 2 ] || echo {HIDDEN}\n"
        f"[ ! -S {PLACE} ] || echo {SOCKET}; echo '{END}'",
        quick=True,
    ),
    gives={
        "driver.daemons": listing("NVIDIA's running daemons: nv-fabricmanager, nvlsm, nvidia-imex, nv-hostengine."),
        "driver.persistence_socket": flag("Whether the socket of nvidia-persistenced exists."),
    },
)
def nvidia_daemons(answer: str) -> Facts:
    """Read the names of the processes, and whether the socket exists."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the output was truncated")
    strange = [row for row in rows[:-1] if row not in {*DAEMONS, SOCKET, HIDDEN}]
    if strange:
        raise Unreadable(f"not one of NVIDIA's daemons: {strange[0][:80]!r}")
    yield "driver.daemons", tuple(sorted({DAEMONS[row] for row in rows[:-1] if row in DAEMONS}))
    hidden = Unknown(Reason.DENIED, f"{PLACE}: its folder is not accessible")
    yield "driver.persistence_socket", hidden if HIDDEN in rows else SOCKET in rows
