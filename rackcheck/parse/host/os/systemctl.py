"""The output of systemctl: properties of units, lists of units and of unit files, and limits."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.model.text.values import whole

OF_LOGINS = ("user@", "user-runtime-dir@", "sshd@")
"""Prefixes of the names of the units that systemd starts for every login, also for rackcheck's own login."""

ALL_ONES = str(2**64 - 1)
"""Text by which systemd before 229 means infinity."""


def of_a_login(unit: str) -> bool:
    """Return whether systemd starts a unit for a login or for one command, so that its failure is not the machine's."""
    return unit.startswith(OF_LOGINS) or unit.endswith(".scope")


@dataclass(frozen=True)
class Timer:
    """A timer unit: its name without `.timer`, and systemd's words for its state and for whether it starts at boot."""

    name: str
    active: str
    enabled: str


def units(rows: Sequence[str], needed: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """Yield each unit of `systemctl show` with its properties by name; an empty row ends a unit.

    At a unit that lacks a needed property, raises Unreadable after yielding the units before it.
    """
    block: dict[str, str] = {}
    for row in (*rows, ""):
        key, _, value = row.partition("=")
        if row:
            block[key] = value
        elif block:
            missing = [name for name in needed if name not in block]
            if missing:
                raise Unreadable(f"{block.get('Id', 'a unit')} without {', '.join(missing)}")
            yield block
            block = {}


def service(unit: Mapping[str, str]) -> str | None:
    """Return a service's name without `.service`; None for other units, missing units, and the units of a login."""
    name = unit.get("Id", "")
    gone = unit.get("LoadState") == "not-found" and unit.get("ActiveState") == "inactive"
    return (
        None if gone or not name.endswith(".service") or name.startswith(OF_LOGINS) else name.removesuffix(".service")
    )


def service_files(rows: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name (with `.service`) and the state of each service's unit file.

    Leaves out templates, aliases, and the units that systemd starts for a login. Raises Unreadable on a row that is not
    a unit file and its state.
    """
    for row in rows:
        name, _, state = row.strip().partition(" ")
        if not name.endswith(".service") or not state.strip():
            raise Unreadable(f"not a unit file and its state: {row[:80]!r}")
        word = state.split()[0]
        if not name.endswith("@.service") and not name.startswith(OF_LOGINS) and word != "alias":
            yield name, word


def timers(loaded: Sequence[str], files: Sequence[str]) -> list[Timer]:
    """Return the timers in the rows of `list-units` and of `list-unit-files`, without templates and aliases.

    A timer that is only in `list-unit-files` has the state inactive; a timer that is only in `list-units` is transient.
    Raises Unreadable on a row that is not a timer.
    """
    active: dict[str, str] = {}
    for row in loaded:
        words = _timer(row)
        if len(words) < 4:
            raise Unreadable(f"not a unit: {row[:80]!r}")
        if words[1] != "not-found":
            active[words[0]] = words[2]
    enabled = {name: state for name, state, *_ in map(_timer, files) if state != "alias"}
    return [
        Timer(name.removesuffix(".timer"), active.get(name, "inactive"), enabled.get(name, "transient"))
        for name in sorted(active.keys() | enabled.keys())
        if not name.endswith("@.timer")
    ]


def _timer(row: str) -> list[str]:
    """Split a row of a list of timers at blanks, without the `*` or dot that systemctl may print before a name."""
    words = row.lstrip("●* ").split()
    if len(words) < 2 or not words[0].endswith(".timer"):
        raise Unreadable(f"not a timer: {row[:80]!r}")
    return words


def limit(value: str | None) -> float | Absent:
    """Return a limit as the number that systemd prints, or infinity; absent if systemd does not report it."""
    if not value:
        return Absent("this version of systemd does not report this value")
    return math.inf if value in {"infinity", ALL_ONES} else whole(value)


def limit_in_kib(value: str | None) -> float | Absent:
    """Read a limit in bytes, and return it in KiB."""
    size = limit(value)
    return size if isinstance(size, Absent) else size / 1024
