"""Which TCP ports somebody listens on: 6666 is the Fabric Manager's, 5555 that of DCGM, 50000 that of IMEX."""

from rackcheck import Class, Facts, Shell, flag, listing, probe
from rackcheck.parse.host.network import proc_tcp

FABRIC_MANAGER = "6666"
"""FM_CMD_PORT_NUMBER, as the Fabric Manager ships with it."""


# Of a busy node's connections only the listeners (state 0A) leave the node. A kernel without IPv6 has no tcp6.
@probe(
    Shell(
        "[ -r /proc/net/tcp ] || { echo '/proc/net/tcp: permission denied' >&2; exit 1; }\n"
        "for f in /proc/net/tcp /proc/net/tcp6; do [ -e $f ] || continue\n"
        "grep -E ' [0-9A-F]+:0000 0A ' $f || { s=$?; [ $s = 1 ] || exit $s; }\n"
        f"done; echo '{proc_tcp.END}'",
        quick=True,
    ),
    gives={
        "os.ports.listening": listing(
            "TCP ports that somebody listens on, of all addresses, in their order.", Class.MEASUREMENT
        ),
        "driver.fabric.listening": flag("Whether the Fabric Manager's port, 6666 as it ships, has a listener."),
    },
)
def listening(answer: str) -> Facts:
    """Read the ports of both families."""
    found = proc_tcp.ports(answer)
    yield "os.ports.listening", found
    yield "driver.fabric.listening", FABRIC_MANAGER in found
