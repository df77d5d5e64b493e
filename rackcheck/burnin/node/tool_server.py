"""Runs a tool on the node that measures against a server, which is the same command without its last argument."""

import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.tool_run import TOOL_STEP, tool_end, tool_run, tool_start

SERVER_SECONDS = 5
"""Seconds within which a server must listen."""


def tool_with_server(
    argv: List[str],
    clock: Callable[[], float],
    stop: Any,
    until: float,
    most: float,
    settings: Sequence[Tuple[str, str]] = (),
) -> Dict[str, Any]:
    """Start the command without its last argument as a server; then run the full command, which connects to it.

    `settings` are those of `tool_run`.
    """
    port, ready = int(argv[argv.index("-p") + 1]), min(until, clock() + SERVER_SECONDS)
    try:
        server = tool_start(argv[:-1], settings)
    except (OSError, subprocess.SubprocessError):
        return tool_run(
            argv, clock, stop, until, most, settings
        )  # the client is refused too, and its output has the reason
    try:
        while server.poll() is None and not _tool_listens(port) and clock() < ready and not stop.is_set():
            time.sleep(TOOL_STEP)
        return tool_run(argv, clock, stop, until, most, settings)
    finally:
        tool_end(server)
        for pipe in (server.stdout, server.stderr):
            if pipe is not None:
                pipe.close()


def tool_free_port() -> int:
    """Return a free TCP port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _tool_listens(port: int) -> bool:
    """Return whether a process listens on a TCP port; the port is looked up in /proc, without connecting to it.

    If rackcheck connected to the port, the tool's server would take it for the tool's client.
    """
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with Path(table).open() as file:
                rows = [row.split()[:4] for row in file]
        except OSError:
            continue
        if any(len(row) == 4 and row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows):
            return True
    return False
