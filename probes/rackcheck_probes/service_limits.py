"""How often each service was restarted, and what its processes may use."""

import math
from collections.abc import Iterator

from rackcheck import Absent, Class, Facts, Shell, Unreadable, integer, probe, quantity, spell_key
from rackcheck.core import read
from rackcheck_probes.services import OF_LOGINS
from rackcheck_probes.systemd import in_kib, limit

END = "-- end --"


def units(rows: list[str]) -> Iterator[dict[str, str]]:
    """Part `systemctl show` into its units."""
    block: dict[str, str] = {}
    for row in (*rows, ""):
        key, _, value = row.partition("=")
        if row:
            block[key] = value
        elif block:
            yield block
            block = {}


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
            "How often systemd started the service again by itself; absent before systemd 235.", Class.COUNTER
        ),
        "service/*.limits.memlock": quantity(
            "KiB", "Memory that the service's processes may pin: what slurmd's is, its jobs inherit.", unlimited=True
        ),
        "service/*.limits.nofile": integer("Files that the service's processes may have open.", unlimited=True),
    },
)
def service_limits(answer: str) -> Facts:
    """Read the services that systemd has loaded; one with a file only has no such facts."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    for unit in units(rows[:-1]):
        name = unit.get("Id", "")
        gone = unit.get("LoadState") == "not-found" and unit.get("ActiveState") == "inactive"
        if gone or not name.endswith(".service") or name.startswith(OF_LOGINS):
            continue
        item = f"service/{spell_key(name.removesuffix('.service'))}"
        restarts = limit(unit.get("NRestarts"))
        yield f"{item}.restarts", Absent("systemd does not tell") if restarts == math.inf else restarts
        yield f"{item}.limits.memlock", in_kib(limit(unit.get("LimitMEMLOCK")))
        yield f"{item}.limits.nofile", limit(unit.get("LimitNOFILE"))
