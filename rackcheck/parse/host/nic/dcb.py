"""The output of iproute2's `dcb -j` for one network interface: priority flow control, traffic classes, the DSCP map.

DCB has eight priorities and eight traffic classes, both numbered from 0.
"""

from dataclasses import dataclass
from typing import Any

from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.text import json_text

EIGHT = 8
DSCPS = 64
_MOST = 512
"""Maximum number of entries in a DSCP map: eight priorities for each of 64 DSCP values."""

_ALGORITHMS = ("strict", "cbs", "ets", "vendor")


@dataclass(frozen=True)
class Pfc:
    """The priorities that have flow control on, and the maximum number of priorities that may have flow control on."""

    pausing: tuple[int, ...]
    most: int


@dataclass(frozen=True)
class Ets:
    """The class of each priority, and the scheduling algorithm and the bandwidth share (in percent) of each class.

    `willing` is whether the other end of the cable may set the classes, the algorithms and the shares.
    """

    classes: tuple[int, ...]
    algorithms: tuple[str, ...]
    shares: tuple[int, ...]
    willing: bool


def pfc(message: str) -> Pfc:
    """Read `dcb -j pfc show`; raises Unreadable if `pfc_cap` is missing, or if `prio_pfc` is not eight booleans."""
    values = _document(message)
    switches = values.get("prio_pfc")
    if not isinstance(switches, list) or len(switches) != EIGHT or not all(isinstance(on, bool) for on in switches):
        raise Unreadable(f"prio_pfc is not eight flags: {clean(message, 80)!r}")
    most = values.get("pfc_cap")
    if not isinstance(most, int) or isinstance(most, bool):
        raise Unreadable(f"pfc_cap is missing: {clean(message, 80)!r}")
    return Pfc(tuple(n for n, on in enumerate(switches) if on), most)


def ets(message: str) -> Ets:
    """Read `dcb -j ets show`; raises Unreadable if `willing` is missing, or if a table does not have eight values."""
    values = _document(message)
    classes, algorithms, shares = (_eight(values, name, message) for name in ("prio_tc", "tc_tsa", "tc_bw"))
    if not isinstance(values.get("willing"), bool):
        raise Unreadable(f"willing is missing: {clean(message, 80)!r}")
    return Ets(classes, algorithms, shares, values["willing"] is True)


def dscp(message: str) -> tuple[tuple[int, int], ...]:
    """Return the pairs of DSCP and priority from `dcb -j app show`, in order; empty if dcb prints no map."""
    table = _document(message).get("dscp_prio", [])
    if not isinstance(table, list) or len(table) > _MOST:
        raise Unreadable(f"dscp_prio is not a list, or too long: {clean(message, 80)!r}")
    found = []
    for entry in table:
        whole = isinstance(entry, list) and len(entry) == 2 and all(type(n) is int and 0 <= n < DSCPS for n in entry)
        if not whole:
            raise Unreadable(f"not a DSCP and its priority: {str(entry)[:80]}")
        found.append((entry[0], entry[1]))
    return tuple(sorted(found))


def _document(message: str) -> dict[str, Any]:
    """Parse dcb's output, which is a single JSON object; raises Unreadable on anything else."""
    try:
        found = json_text.loaded(message)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {clean(message, 80)!r}") from error
    if not isinstance(found, dict):
        raise Unreadable(f"not an object: {clean(message, 80)!r}")
    return found


def _eight(values: dict[str, Any], name: str, message: str) -> tuple[Any, ...]:
    """Return the eight values of a table: in `tc_tsa`, names of algorithms; in other tables, numbers up to 100."""
    table = values.get(name)
    known = isinstance(table, list) and all(
        value in _ALGORITHMS if name == "tc_tsa" else type(value) is int and 0 <= value <= 100 for value in table
    )
    if not isinstance(table, list) or not known or len(table) != EIGHT:
        raise Unreadable(f"{name} is not eight valid values: {clean(message, 80)!r}")
    return tuple(table)
