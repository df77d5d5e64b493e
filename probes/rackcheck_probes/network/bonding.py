"""Bonds of network interfaces: their mode, their members, and whether all members are active."""

from rackcheck import (
    Class,
    Facts,
    Files,
    Read,
    Unknown,
    Unreadable,
    collection,
    integer,
    probe,
    quantity,
    read,
    spell_key,
    text,
)
from rackcheck.parse.host.network import proc_bonding
from rackcheck_probes.network.interfaces import BONDS

OF_BOND = {
    "mode": "Bonding Mode",
    "hash": "Transmit Hash Policy",
    "state": "MII Status",
    "primary": "Primary Slave",
    "active": "Currently Active Slave",
    "lacp_rate": "LACP rate",
}


@probe(
    Read(BONDS, cap=2 << 20),
    gives={
        "nic.bond": collection("Bonds by name; empty without the bonding driver."),
        "nic.bond/*.mode": text("How packets are distributed: IEEE 802.3ad Dynamic link aggregation, fault-tolerance."),
        "nic.bond/*.hash": text(
            "The hash that selects a packet's member: layer2 (0), layer3+4 (1); absent in modes without a hash."
        ),
        "nic.bond/*.state": text("Whether any member has a link: up, down."),
        "nic.bond/*.primary": text("The member that is preferred; absent if none is."),
        "nic.bond/*.active": text("The active member, in a mode with only one active member."),
        "nic.bond/*.lacp_rate": text("How often the switch should send LACP packets: slow, fast; absent without LACP."),
        "nic.bond/*.poll": integer("Milliseconds between two checks of the members' links; 0 is never."),
        "nic.bond/*.aggregated": integer("Members in the active aggregator; absent without LACP."),
        "nic.bond/*.left_out": integer("Members outside the active aggregator; absent without LACP."),
        "nic.bond/*.partner": text("The switch's LACP address; all zeros if no switch sends LACP.", Class.IDENTITY),
        "nic.bond/*.member": collection("The bond's members by the interface's name."),
        "nic.bond/*.member/*.state": text("Whether the member has a link: up, down, going back."),
        "nic.bond/*.member/*.speed": quantity("Gb/s", "The member's speed; absent without a link."),
        "nic.bond/*.member/*.failures": integer("Times the member lost its link.", Class.COUNTER),
        "nic.bond/*.member/*.aggregator": integer(
            "The member's aggregator; members outside the active aggregator are idle."
        ),
        "nic.bond/*.member/*.mac": text("The member's permanent hardware address.", Class.IDENTITY),
    },
)  # fmt: skip
def bonding(files: Files) -> Facts:
    """Read each bond."""
    for (name,) in files.found(BONDS):
        item = f"nic.bond/{spell_key(name)}"
        try:
            bond = proc_bonding.bond(files.text(f"/proc/net/bonding/{name}"))
        except Unreadable as error:
            yield f"{item}.mode", Unknown(error.reason, str(error))
            yield f"{item}.member", Unknown(error.reason, str(error))
            continue
        for leaf, key in OF_BOND.items():
            yield f"{item}.{leaf}", bond.own.chosen(key)
        yield f"{item}.poll", bond.own.number("MII Polling Interval (ms)")
        aggregated = bond.own.number("Number of ports")
        yield f"{item}.aggregated", aggregated
        yield f"{item}.left_out", len(bond.members) - aggregated if isinstance(aggregated, int) else aggregated
        yield f"{item}.partner", bond.own.text("Partner Mac Address", lacking="no LACP")
        yield f"{item}.member", tuple(sorted((member for member, _ in bond.members), key=read.natural))
        for member, section in bond.members:
            its = f"{item}.member/{spell_key(member)}"
            yield f"{its}.state", section.text("MII Status")
            yield f"{its}.speed", section.speed()
            yield f"{its}.failures", section.number("Link Failure Count")
            yield f"{its}.aggregator", section.number("Aggregator ID")
            yield f"{its}.mac", section.text("Permanent HW addr")
