"""Restarts of each service, and the limits of its processes."""

import math

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, probe, quantity, read, spell_key
from rackcheck.parse.host.os import systemctl

END = "-- end --"


@probe(
    Shell(
        "systemctl --no-pager --all show -p Id,LoadState,ActiveState,NRestarts,LimitMEMLOCK,LimitNOFILE '*.service' "
        f"&& echo && echo '{END}'",
        seconds=20,
        lane="systemd",
        cap=4 << 20,
    ),
    gives={
        "service/*.restarts": integer(
            "How often systemd restarted the service automatically; absent before systemd 235.", Class.COUNTER
        ),
        "service/*.limits.memlock": quantity(
            "KiB", "Memory that the service's processes may pin; jobs inherit slurmd's limit.", unlimited=True
        ),
        "service/*.limits.nofile": integer("Files that the service's processes may have open.", unlimited=True),
    },
)
def service_limits(answer: str) -> Facts:
    """Read the services that systemd has loaded; a service that is not loaded has no facts on restarts and limits."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the output was truncated")
    for unit in systemctl.units(rows[:-1]):
        if (name := systemctl.service(unit)) is None:
            continue
        item = f"service/{spell_key(name)}"
        restarts = systemctl.limit(unit.get("NRestarts"))
        yield f"{item}.restarts", Absent("systemd does not report this value") if restarts == math.inf else restarts
        yield f"{item}.limits.memlock", systemctl.limit_in_kib(unit.get("LimitMEMLOCK"))
        yield f"{item}.limits.nofile", systemctl.limit(unit.get("LimitNOFILE"))
