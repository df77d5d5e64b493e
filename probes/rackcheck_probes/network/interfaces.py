"""Every network interface that belongs to a hardware device."""

from rackcheck import (
    Class,
    Facts,
    Files,
    Read,
    collection,
    flag,
    integer,
    probe,
    quantity,
    read,
    spell_key,
    text,
)  # fmt: skip
from rackcheck.parse.host.network import net_class

HARDWARE = "/sys/class/net/*/device/net/*"
"""Glob of the interfaces that belong to a device; the last path segment is the interface's name.

The glob does not match bridges, tunnels and veths, which belong to no device. If a PCI function has two interfaces, the
glob matches each of them twice: in its own folder, and in the folder of the other interface.
"""

BONDS = "/proc/net/bonding/*"
"""Glob of the bonds; the last path segment is the bond's name."""

PLACE = "/sys/class/net/{0}/device/net/{0}/{1}"
NAMES = ("mtu", "operstate", "carrier", "speed", "duplex", "address", "addr_assign_type", "flags", "type", "dev_port",
         "carrier_changes", "carrier_down_count", "tx_queue_len")  # fmt: skip
NUMBERS = {
    "mtu": "mtu",
    "device_port": "dev_port",
    "queue_length": "tx_queue_len",
    "carrier_changes": "carrier_changes",
    "carrier_losses": "carrier_down_count",
}


@probe(
    Read(*(PLACE.format("*", name) for name in NAMES), seconds=30, cap=4 << 20),
    gives={
        "nic.interface": collection(
            "Network interfaces that belong to a hardware device, by name, including IP over InfiniBand."
        ),
        "nic.interface/*.state": text(
            "Whether the interface passes packets: up, down, lowerlayerdown, dormant, unknown."
        ),
        "nic.interface/*.carrier": flag(
            "Whether there is a signal; absent while the interface is administratively down."
        ),
        "nic.interface/*.up": flag("Whether the interface is administratively up, regardless of its signal."),
        "nic.interface/*.promiscuous": flag("Whether the interface accepts packets for other addresses."),
        "nic.interface/*.speed": quantity("Gb/s", "The link's speed; absent without a link."),
        "nic.interface/*.duplex": text("The link's duplex mode: full or half; absent without a link."),
        "nic.interface/*.mtu": integer("The largest packet that the interface sends, in bytes."),
        "nic.interface/*.mac": text("The hardware address in use.", Class.IDENTITY),
        "nic.interface/*.mac_origin": text("Origin of the hardware address: permanent, random, stolen, set."),
        "nic.interface/*.type": text("The link's type: Ethernet, InfiniBand, or the kernel's number."),
        "nic.interface/*.device_port": integer("The interface's port on its PCI function, from 0."),
        "nic.interface/*.queue_length": integer("The maximum number of packets in the transmit queue."),
        "nic.interface/*.carrier_changes": integer("Times the signal appeared or was lost.", Class.COUNTER),
        "nic.interface/*.carrier_losses": integer("Times the signal was lost.", Class.COUNTER),
    },
)
def interfaces(files: Files) -> Facts:
    """Read each interface's link."""
    for one in net_class.names(files, f"{HARDWARE}/mtu"):
        item, place = f"nic.interface/{spell_key(one)}", {name: PLACE.format(one, name) for name in NAMES}
        yield f"{item}.state", files.read(place["operstate"])
        yield f"{item}.carrier", net_class.while_up(files, place["carrier"], read.bit)
        for leaf, bit in (("up", net_class.ADMIN_UP), ("promiscuous", net_class.PROMISCUOUS)):
            yield f"{item}.{leaf}", net_class.flagged(files, place["flags"], bit)
        yield f"{item}.speed", net_class.speed(files, place["speed"])
        yield f"{item}.duplex", net_class.duplex(files, place["duplex"])
        yield f"{item}.mac", files.read(place["address"])
        yield f"{item}.mac_origin", files.read(place["addr_assign_type"], net_class.address_origin)
        yield f"{item}.type", files.read(place["type"], net_class.link_type)
        for leaf, name in NUMBERS.items():
            yield f"{item}.{leaf}", files.read(place[name], read.whole)
