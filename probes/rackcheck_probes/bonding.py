"""Bonds of network interfaces: their mode, their members, and whether all of them carry."""

import re
from collections.abc import Iterator

from rackcheck import (
    Absent,
    Class,
    Facts,
    Files,
    Read,
    Reason,
    Unknown,
    Unreadable,
    collection,
    integer,
    probe,
    quantity,
    spell_key,
    text,
)
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck_probes.interfaces import BONDS

MEMBERS = 64
OF_BOND = {
    "mode": "Bonding Mode",
    "hash": "Transmit Hash Policy",
    "state": "MII Status",
    "primary": "Primary Slave",
    "active": "Currently Active Slave",
    "lacp_rate": "LACP rate",
}


def sections(content: str) -> Iterator[dict[str, str]]:
    """Part the kernel's report into the bond and its members; of a name said twice the first counts."""
    if not content.startswith("Ethernet Channel Bonding Driver:"):
        raise Unreadable(f"not a bond: {content[:80]!r}")
    found: list[dict[str, str]] = [{}]
    for row in content.splitlines():
        key, mark, value = row.strip().partition(": ")
        if mark and key == "Slave Interface":
            found.append({})
        if mark:
            found[-1].setdefault(key, value.strip())
    if len(found) > MEMBERS + 1:
        raise Unreadable(f"more than {MEMBERS} members", Reason.TOO_LARGE)
    yield from found


def number(section: dict[str, str], key: str, word: str = r"([0-9]{1,12})") -> Reading:
    """Read a number of a section; absent where the kernel does not say it in this mode."""
    said = section.get(key)
    if said is None:
        return Absent(f"no {key}")
    match = re.fullmatch(word, said)
    return int(match[1]) if match else Unknown(Reason.UNPARSABLE, f"{key} {said[:80]!r}")


@probe(
    Read(BONDS, cap=2 << 20),
    gives={
        "nic.bond": collection("Bonds by name; empty without the bonding driver."),
        "nic.bond/*.mode": text("How it spreads packets: IEEE 802.3ad Dynamic link aggregation, fault-tolerance."),
        "nic.bond/*.hash": text("What chooses a packet's member: layer2 (0), layer3+4 (1); absent if nothing does."),
        "nic.bond/*.state": text("Whether any member carries: up, down."),
        "nic.bond/*.primary": text("The member that is preferred; absent if none is."),
        "nic.bond/*.active": text("The one member that carries, in a mode with one."),
        "nic.bond/*.lacp_rate": text("How often the switch is asked to speak: slow, fast; absent without LACP."),
        "nic.bond/*.poll": integer("Milliseconds between two looks at the members' signals; 0 is never."),
        "nic.bond/*.aggregated": integer("Members in the active aggregator; absent without LACP."),
        "nic.bond/*.partner": text("The switch's LACP address; all zeros if no switch speaks LACP.", Class.IDENTITY),
        "nic.bond/*.member": collection("The bond's members by the interface's name."),
        "nic.bond/*.member/*.state": text("Whether the member carries: up, down, going back."),
        "nic.bond/*.member/*.speed": quantity("Gb/s", "The member's speed; absent without a link."),
        "nic.bond/*.member/*.failures": integer("Times the member lost its link.", Class.COUNTER),
        "nic.bond/*.member/*.aggregator": integer("The aggregator it belongs to: another than its siblings' is idle."),
        "nic.bond/*.member/*.mac": text("The member's permanent hardware address.", Class.IDENTITY),
    },
)  # fmt: skip
def bonding(files: Files) -> Facts:
    """Read each bond."""
    for (name,) in files.found(BONDS):
        item = f"nic.bond/{spell_key(name)}"
        try:
            bond, *members = sections(files.text(f"/proc/net/bonding/{name}"))
        except Unreadable as error:
            yield f"{item}.mode", Unknown(error.reason, str(error))
            yield f"{item}.member", Unknown(error.reason, str(error))
            continue
        for leaf, key in OF_BOND.items():
            told = bond.get(key, "None")
            yield f"{item}.{leaf}", Absent(f"no {key}") if told == "None" else told
        yield f"{item}.poll", number(bond, "MII Polling Interval (ms)")
        yield f"{item}.aggregated", number(bond, "Number of ports")
        yield f"{item}.partner", bond.get("Partner Mac Address", Absent("no LACP"))
        yield f"{item}.member", tuple(sorted((m["Slave Interface"] for m in members), key=read.natural))
        for member in members:
            its = f"{item}.member/{spell_key(member['Slave Interface'])}"
            yield f"{its}.state", member.get("MII Status", Absent("no MII Status"))
            speed = number(member, "Speed", r"([0-9]{1,9}) Mbps")
            no_link = member.get("Speed") == "Unknown"
            gigabits = speed / 1000 if isinstance(speed, int) else speed
            yield f"{its}.speed", Absent("no link") if no_link else gigabits
            yield f"{its}.failures", number(member, "Link Failure Count")
            yield f"{its}.aggregator", number(member, "Aggregator ID")
            yield f"{its}.mac", member.get("Permanent HW addr", Absent("no Permanent HW addr"))
