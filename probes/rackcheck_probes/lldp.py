"""Which port of which switch each network interface hangs on, as the switch says (LLDP)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck import (
    Absent,
    Class,
    Facts,
    Reason,
    Shell,
    Unknown,
    Unreadable,
    collection,
    integer,
    probe,
    spell_key,
    text,
)
from rackcheck.core.fact import Reading


def listed(value: object) -> list[Any]:
    """Give what is a list, and what would be one if there were two; lldpctl writes single things bare."""
    return value if isinstance(value, list) else [] if value is None else [value]


def neighbours(answer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each interface with what one neighbour says there."""
    try:
        root = json.loads(answer)
        found = root["lldp"].get("interface", [])
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise Unreadable(f"not what lldpctl writes: {error!r}"[:200]) from error
    for entry in listed(found):
        if not isinstance(entry, dict) or not all(isinstance(told, dict) for told in entry.values()):
            raise Unreadable(f"not an interface: {str(entry)[:80]}")
        yield from entry.items()


def said(value: object) -> Reading:
    """Give a text of lldpctl's; absent where the switch does not say it."""
    if value is None:
        return Absent("the switch does not say")
    return value if isinstance(value, str) else Unknown(Reason.UNPARSABLE, f"not a text: {str(value)[:80]}")


def inside(value: object, *keys: str) -> object:
    """Follow keys into JSON; none where they lead nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


@probe(
    Shell("lldpctl -f json", root=True),
    gives={
        "nic.lldp": collection("Network interfaces on which a switch has told its name; unknown without lldpd."),
        "nic.lldp/*.neighbors": integer("How many devices speak on this interface: more than one is no plain cable."),
        "nic.lldp/*.switch": text("The switch's name.", Class.IDENTITY),
        "nic.lldp/*.switch_id": text("The switch's chassis id, mostly its hardware address.", Class.IDENTITY),
        "nic.lldp/*.switch_description": text("What the switch says it is."),
        "nic.lldp/*.port": text("The switch's port, by its id.", Class.IDENTITY),
        "nic.lldp/*.port_description": text("What the switch calls the port.", Class.IDENTITY),
        "nic.lldp/*.port_mtu": integer("The largest frame that the switch's port takes, in bytes."),
        "nic.lldp/*.vlan": text("The port's own VLAN."),
    },
)  # fmt: skip
def lldp(answer: str) -> Facts:
    """Read each interface's neighbour; where there are several, none of them is the one."""
    heard: dict[str, list[Mapping[str, Any]]] = {}
    for name, told in neighbours(answer):
        heard.setdefault(name, []).append(told)
    for name, several in heard.items():
        item = f"nic.lldp/{spell_key(name)}"
        yield f"{item}.neighbors", len(several)
        yield from (
            (f"{item}.{leaf}", reading) for leaf, reading in (one(several[0]) if len(several) == 1 else many(several))
        )


def one(told: Mapping[str, Any]) -> Iterator[tuple[str, Reading]]:
    """Read the one neighbour; a switch that gives no name stands under its id."""
    chassis = told.get("chassis")
    named = isinstance(chassis, dict) and len(chassis) == 1 and "id" not in chassis
    (name, switch), *_ = chassis.items() if named and isinstance(chassis, dict) else [(None, chassis)]
    yield "switch", said(name)
    yield "switch_id", said(inside(switch, "id", "value"))
    yield "switch_description", said(inside(switch, "descr"))
    yield "port", said(inside(told, "port", "id", "value"))
    yield "port_description", said(inside(told, "port", "descr"))
    size = said(inside(told, "port", "mfs"))
    digits = isinstance(size, str) and size.isascii() and size.isdecimal() and len(size) <= 9
    yield "port_mtu", int(str(size)) if digits else size
    own = [vlan for vlan in listed(told.get("vlan")) if inside(vlan, "pvid") is True]
    yield "vlan", said(inside(own[0], "vlan-id")) if len(own) == 1 else Absent("no single VLAN of the port's own")


def many(several: list[Mapping[str, Any]]) -> Iterator[tuple[str, Reading]]:
    """Say of several neighbours that none is known to be at the cable's end."""
    for leaf, _ in one({}):
        yield leaf, Unknown(Reason.UNPARSABLE, f"{len(several)} neighbours speak on this interface")
