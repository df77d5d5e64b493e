"""Whether the Fabric Manager's interface listens: TCP port 6666, on the loopback unless it was told otherwise."""

import re

from rackcheck import Facts, Files, Read, Reason, Sourced, Unreadable, flag, probe
from rackcheck.core import read

PLACES = ("/proc/net/tcp", "/proc/net/tcp6")
LISTENING = re.compile(r" *[0-9]{1,9}: [0-9A-F]{8,32}:1A0A [0-9A-F]{8,32}:0000 0A .{0,200}")


@probe(
    Read(*PLACES),
    gives={"driver.fabric_manager_listens": flag("Whether something listens on the Fabric Manager's port 6666.")},
)
def fabric_manager_port(files: Files) -> Facts:
    """Look for the port, 1A0A, in state 0A."""
    if not files.has(PLACES[0]):
        raise Unreadable(f"no {PLACES[0]}", Reason.NOT_COLLECTED)
    rows = [row for place in PLACES if files.has(place) for row in read.rows(files.text(place))[1:]]
    yield "driver.fabric_manager_listens", Sourced(any(LISTENING.fullmatch(row) for row in rows), PLACES[0])
