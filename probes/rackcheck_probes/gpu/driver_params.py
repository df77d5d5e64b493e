"""Parameters that the NVIDIA driver's kernel module was loaded with.

The parameters are not read from `/sys/module/nvidia/parameters`, because it lacks parameters with text values, of which
`RegistryDwords` is the most important.
"""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, collection, probe, read, setting, spell_key

PLACE = "/proc/driver/nvidia/params"


@probe(
    Read(PLACE),
    gives={
        "driver.param": collection(
            "Parameters of the NVIDIA driver's module by name; none if the module is not loaded."
        ),
        "driver.param/*": setting("The parameter's value; absent for an empty text."),
    },
)
def driver_params(files: Files) -> Facts:
    """Read one parameter per line: `EnableStreamMemOPs: 1` or `RegistryDwords: "PeerMappingOverride=1;"`."""
    if not files.has(PLACE):
        return
    for row in read.rows(files.text(PLACE)):
        match = re.fullmatch(r'([A-Za-z][A-Za-z0-9_]{0,80}): (?:"([^"]{0,2000})"|([^\s"]{1,2000}))', row)
        if match is None:
            raise Unreadable(f"not a parameter: {row[:80]!r}")
        value = match[2] if match[3] is None else match[3]
        yield f"driver.param/{spell_key(match[1])}", Sourced(value or Absent("empty"), PLACE)
