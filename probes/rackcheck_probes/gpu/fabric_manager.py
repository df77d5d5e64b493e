"""Which Fabric Manager runs the NVSwitches."""

import re

from rackcheck import Facts, Shell, Unreadable, probe, version
from rackcheck.model import text as read

START = re.compile(r".{0,80}\bFabric Manager version (?P<version>[0-9]{1,4}(?:\.[0-9]{1,6}){1,3}) is running\b.*")


# Its log says the version at every start; the installed package may be another one since.
@probe(
    Shell("grep 'Fabric Manager version .* is running' /var/log/fabricmanager.log", quick=True),
    gives={
        "driver.fabric_manager": version(
            "dotted", "The version that the Fabric Manager's log gives for its last start; unknown without a log."
        )
    },
)
def fabric_manager(answer: str) -> Facts:
    """Read the last start in the log."""
    starts = [START.fullmatch(row) for row in read.rows(answer)]
    last = starts[-1] if starts else None
    if last is None:
        raise Unreadable(f"not a start of the Fabric Manager: {answer[-80:]!r}")
    yield "driver.fabric_manager", last["version"]
