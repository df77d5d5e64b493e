"""The version of the Fabric Manager that runs the NVSwitches."""

from rackcheck import Facts, Shell, Unreadable, probe, read, version
from rackcheck.model.regex import regex

START = regex(r".{0,80}\bFabric Manager version (?P<version>[0-9]{1,4}(?:\.[0-9]{1,6}){1,3}) is running\b.*")


# The log contains the version at every start; another version may have been installed since then.
@probe(
    Shell("grep 'Fabric Manager version .* is running' /var/log/fabricmanager.log", quick=True),
    gives={
        "driver.fabric_manager": version(
            "dotted", "The version at the last start in the Fabric Manager's log; unknown without a log."
        )
    },
)
def fabric_manager(answer: str) -> Facts:
    """Read the version from the log entry of the last start."""
    starts = [START.fullmatch(row) for row in read.rows(answer)]
    last = starts[-1] if starts else None
    if last is None:
        raise Unreadable(f"not a start message of the Fabric Manager: {answer[-80:]!r}")
    yield "driver.fabric_manager", last["version"]
