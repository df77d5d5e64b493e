"""What `lldpctl -f json` prints: the neighbours on each network interface."""

from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.text import json_text

LEAVES = ("switch", "switch_id", "switch_description", "port", "port_description", "port_mtu", "vlan")
"""Names of the values that are read of one LLDP neighbour."""


def heard(answer: str) -> dict[str, list[Mapping[str, Reading]]]:
    """Return the LLDP neighbours of each interface; a neighbour has a reading for every name in LEAVES.

    Raises Unreadable if the answer is not the output of lldpctl.
    """
    found: dict[str, list[Mapping[str, Reading]]] = {}
    for name, values in _entries(answer):
        found.setdefault(name, []).append(_neighbour(values))
    return found


def _entries(answer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        root = json_text.loaded(answer)
        found = root["lldp"].get("interface", [])
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise Unreadable(f"not the output of lldpctl: {error!r}"[:200]) from error
    for entry in _listed(found):
        if not isinstance(entry, dict) or not all(isinstance(value, dict) for value in entry.values()):
            raise Unreadable(f"not an interface: {str(entry)[:80]}")
        yield from entry.items()


def _neighbour(values: Mapping[str, Any]) -> Mapping[str, Reading]:
    """Return the readings of one neighbour; `switch` is absent if the switch sends no name."""
    chassis = values.get("chassis")
    named = isinstance(chassis, dict) and len(chassis) == 1 and "id" not in chassis
    (name, switch), *_ = chassis.items() if named and isinstance(chassis, dict) else [(None, chassis)]
    size = _text(_inside(values, "port", "mfs"))
    digits = isinstance(size, str) and size.isascii() and size.isdecimal() and len(size) <= 9
    own = [vlan for vlan in _listed(values.get("vlan")) if _inside(vlan, "pvid") is True]
    return {
        "switch": _text(name),
        "switch_id": _text(_inside(switch, "id", "value")),
        "switch_description": _text(_inside(switch, "descr")),
        "port": _text(_inside(values, "port", "id", "value")),
        "port_description": _text(_inside(values, "port", "descr")),
        "port_mtu": int(str(size)) if digits else size,
        "vlan": _text(_inside(own[0], "vlan-id"))
        if len(own) == 1
        else Absent("none or several VLANs are marked as PVID"),
    }


def _listed(value: object) -> list[Any]:
    """Return a list unchanged, None as an empty list, and any other value as a list with this single value."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: object) -> Reading:
    """Return a text from lldpctl; absent if the switch does not send it, Unknown if it is not a text."""
    if value is None:
        return Absent("the switch does not send it")
    return value if isinstance(value, str) else Unknown(Reason.UNPARSABLE, f"not a text: {str(value)[:80]}")


def _inside(value: object, *keys: str) -> object:
    """Return the value at a path of keys in nested JSON objects; None if there is no such path."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
