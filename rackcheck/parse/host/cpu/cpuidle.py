"""The idle states of CPUs in sysfs: the name of each, and the CPUs on which it is disabled.

The name of a state is read from the first CPU only: the other CPUs' files contain the same name, and a node with
hundreds of CPUs has too many of these files for one command line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.text.files import Files
from rackcheck.model.text.values import bit, line

NAME = "/sys/devices/system/cpu/cpu0/cpuidle/state*/name"
DISABLE = "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable"


@dataclass(frozen=True)
class IdleState:
    """One idle state: its number (higher for deeper states), its name, its CPUs, and the CPUs on which it is disabled.

    If an earlier idle state has the same name, the name of the state's folder is appended (`C6 state3`). If the first
    CPU has no `name` file for an idle state, the name is that of the state's folder (`state3`).
    """

    number: str
    name: str
    cpus: tuple[int, ...]
    off: tuple[int, ...]


def states(files: Files) -> Iterator[IdleState]:
    """Yield each idle state, read from the `disable` files of all CPUs; raises Unreadable if a file cannot be read."""
    switches: dict[str, dict[int, bool]] = {}
    for cpu, number in files.found(DISABLE):
        if re.fullmatch("[0-9]{1,6} [0-9]{1,3}", f"{cpu} {number}"):
            place = DISABLE.replace("*", cpu, 1).replace("*", number, 1)
            switches.setdefault(number, {})[int(cpu)] = bit(files.text(place))
    names: set[str] = set()
    for number in sorted(switches, key=int):
        place = NAME.replace("*", number)
        name = line(files.text(place)) if files.has(place) else f"state{number}"
        name = f"{name} state{number}" if name in names else name
        names.add(name)
        disabled = switches[number]
        yield IdleState(number, name, tuple(disabled), tuple(cpu for cpu in disabled if disabled[cpu]))
