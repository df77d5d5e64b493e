"""Configuration of the Fabric Manager."""

from rackcheck import Absent, Facts, Files, Read, collection, probe, setting
from rackcheck.model.regex import regex

PLACE = "/usr/share/nvidia/nvswitch/fabricmanager.cfg"
ROW = regex(r"\s{0,20}([A-Z][A-Z0-9_]{1,60})\s{0,20}=\s{0,20}(\S.{0,400}|)")


def settings(content: str) -> dict[str, str]:
    """Read `NAME=value` lines; comments begin with `#`, and other lines are skipped."""
    found = (ROW.fullmatch(row) for row in content.splitlines() if not row.lstrip().startswith("#"))
    return {match[1]: match[2].strip() for match in found if match}


# Unverified on hardware: names and format from NVIDIA's Fabric Manager guide.
@probe(
    Read(PLACE),
    gives={
        "driver.fabric.setting": collection(
            "Settings of the Fabric Manager by their names: FABRIC_MODE, TRUNK_LINK_FAILURE_MODE; none without a file."
        ),
        "driver.fabric.setting/*.value": setting("The value in the file; absent if the value is empty."),
    },
)
def fabric_settings(files: Files) -> Facts:
    """Read the Fabric Manager's settings; a node without its configuration file has none."""
    if files.has(PLACE):
        for name, value in settings(files.text(PLACE)).items():
            yield f"driver.fabric.setting/{name}.value", value or Absent("empty")
