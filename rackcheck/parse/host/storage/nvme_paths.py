"""NVMe subsystems, /sys/class/nvme-subsystem, and the controllers through which each subsystem is reached (paths)."""

from collections.abc import Mapping, Sequence

from rackcheck.model.fact import Reading, Unknown
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import natural

FOLDER = "/sys/class/nvme-subsystem/{}"
NAMES = f"{FOLDER.format('*')}/subsysnqn"
PATHS = f"{FOLDER.format('*')}/nvme*/state"


def states(files: Files) -> Mapping[str, Sequence[Reading]]:
    """Return the state of each path (controller) to each NVMe subsystem; empty for a subsystem without paths."""
    found: dict[str, list[Reading]] = {name: [] for name in sorted((n for (n,) in files.found(NAMES)), key=natural)}
    for name, controller in files.found(PATHS):
        state = files.read(f"{FOLDER.format(name)}/nvme{controller}/state")
        found.setdefault(name, []).append(state.reading)
    return found


def live(paths: Sequence[Reading]) -> Reading:
    """Count the paths to an NVMe subsystem that are in the state `live`; unknown if the state of a path is unknown."""
    unknown = next((state for state in paths if isinstance(state, Unknown)), None)
    return unknown or paths.count("live")
