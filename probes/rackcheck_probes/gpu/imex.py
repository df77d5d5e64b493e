"""Configuration of IMEX, through which nodes of one NVLink domain share memory."""

import re

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, collection, flag, integer, probe, setting
from rackcheck_probes.gpu.fabric_settings import settings

NODES, CONFIG = "/etc/nvidia-imex/nodes_config.cfg", "/etc/nvidia-imex/config.cfg"
DEVICES = "/proc/devices"


def supported(content: str) -> bool:
    """Whether /proc/devices lists a device number for IMEX channels."""
    return any(row.split()[1:] == ["nvidia-caps-imex-channels"] for row in content.splitlines())


def nodes(content: str) -> int:
    """Count the lines of the IMEX node file that contain an address or a host name; `#` begins a comment.

    Raises Unreadable on a line with any other text.
    """
    rows = [row.partition("#")[0].strip() for row in content.splitlines()]
    strange = [row for row in rows if row and not re.fullmatch(r"[\w.:-]{1,253}", row)]
    if strange:
        raise Unreadable(f"not a node: {strange[0][:80]!r}")
    return sum(bool(row) for row in rows)


# Unverified on hardware: names and format from NVIDIA's IMEX guide.
@probe(
    Read(NODES, CONFIG, DEVICES),
    gives={
        "driver.imex.supported": flag("Whether the loaded driver has a device number for IMEX channels."),
        "driver.imex.nodes": integer("Nodes in the IMEX node file, including this one; absent without the file."),
        "driver.imex.setting": collection("Settings of IMEX by their names: IMEX_SERVER_PORT; none without its file."),
        "driver.imex.setting/*.value": setting("The value in the file."),
    },
)
def imex(files: Files) -> Facts:
    """Count the nodes in the IMEX node file, and read the settings of IMEX."""
    yield "driver.imex.supported", files.read(DEVICES, supported)
    sourced = files.read(NODES, nodes)
    yield "driver.imex.nodes", Sourced(Absent(f"no {NODES}"), NODES) if isinstance(sourced.reading, Absent) else sourced
    if files.has(CONFIG):
        for name, value in settings(files.text(CONFIG)).items():
            yield f"driver.imex.setting/{name}.value", Sourced(value, CONFIG)
