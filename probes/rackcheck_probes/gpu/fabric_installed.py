"""The installed Fabric Manager, running or not."""

from rackcheck import Absent, Facts, Shell, Unreadable, probe, version
from rackcheck.model.regex import regex

VERSION = regex(r"\s{0,20}Fabric Manager version is\s{0,4}:\s{0,4}([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\s{0,20}\n\s{0,20}")


@probe(
    Shell("if command -v nv-fabricmanager >/dev/null; then nv-fabricmanager --version; else echo none; fi"),
    gives={
        "driver.fabric.installed": version(
            "dotted", "The version of the installed Fabric Manager; absent if none is installed."
        )
    },
)
def fabric_installed(answer: str) -> Facts:
    """Read the version from output such as `Fabric Manager version is : 535.161.08`."""
    if answer == "none\n":
        yield "driver.fabric.installed", Absent("nv-fabricmanager is not installed")
        return
    match = VERSION.fullmatch(answer)
    if match is None:
        raise Unreadable(f"not a version of the Fabric Manager: {answer.strip()[:80]!r}")
    yield "driver.fabric.installed", match[1]
