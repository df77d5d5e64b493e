"""Every network interface that has hardware behind it."""

from collections.abc import Callable

from rackcheck import (
    Absent,
    Class,
    Facts,
    Files,
    Read,
    Sourced,
    Unreadable,
    collection,
    flag,
    integer,
    probe,
    quantity,
    spell_key,
    text,
)  # fmt: skip
from rackcheck.core import read
from rackcheck.core.fact import Value

HARDWARE = "/sys/class/net/*/device/net/*"
"""The interfaces with a device behind them, by their last part: no bridge, no tunnel, no container's end of a pair.

Two interfaces of one PCI function are each found twice.
"""

BONDS = "/proc/net/bonding/*"
"""The bonds, by their last part."""

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
TYPES = {"1": "Ethernet", "32": "InfiniBand", "772": "loopback"}
ADDRESSES = {"0": "permanent", "1": "random", "2": "stolen", "3": "set"}
ADMIN_UP, PROMISCUOUS = 0x1, 0x100
NONE = "the interface is down, or its driver tells none"


def flags(content: str) -> int:
    """Read the interface's flags, in hexadecimal."""
    word = read.line(content)
    if not word.startswith("0x") or len(word) > 10:
        raise Unreadable(f"not flags: {word[:80]!r}")
    try:
        return int(word, 16)
    except ValueError as error:
        raise Unreadable(f"not flags: {word[:80]!r}") from error


def gigabits(content: str) -> float:
    """Read Mb/s; the kernel's unknown is -1, and as an unsigned number of old kernels 4294967295."""
    return read.whole(content) / 1000


def told(files: Files, place: str, reader: Callable[[str], Value]) -> Sourced:
    """Read a file that the kernel refuses to read (EINVAL) while the interface is down."""
    refused = files.refused.get(place)
    if refused is not None and refused.detail == "Invalid argument":
        return Sourced(Absent(NONE), place)
    return files.read(place, reader)


@probe(
    Read(*(PLACE.format("*", name) for name in NAMES), seconds=30, cap=4 << 20),
    gives={
        "nic.interface": collection("Network interfaces with hardware behind them, by name; IP over InfiniBand too."),
        "nic.interface/*.state": text("Whether it can pass packets: up, down, lowerlayerdown, dormant, unknown."),
        "nic.interface/*.carrier": flag("Whether it has a signal; absent while it is set down."),
        "nic.interface/*.up": flag("Whether it is set up, whatever its signal."),
        "nic.interface/*.promiscuous": flag("Whether it takes packets for others."),
        "nic.interface/*.speed": quantity("Gb/s", "The speed it runs at; absent without a link."),
        "nic.interface/*.duplex": text("full or half; absent without a link."),
        "nic.interface/*.mtu": integer("The largest packet it sends, in bytes."),
        "nic.interface/*.mac": text("The hardware address it uses.", Class.IDENTITY),
        "nic.interface/*.mac_origin": text("Where the address comes from: permanent, random, stolen, set."),
        "nic.interface/*.type": text("What its link is: Ethernet, InfiniBand, or the kernel's number."),
        "nic.interface/*.device_port": integer("Which port of its PCI function it is, from 0."),
        "nic.interface/*.queue_length": integer("Packets that may wait to be sent."),
        "nic.interface/*.carrier_changes": integer("Times the signal came or went.", Class.COUNTER),
        "nic.interface/*.carrier_losses": integer("Times the signal went.", Class.COUNTER),
    },
)
def interfaces(files: Files) -> Facts:
    """Read each interface's link."""
    for one, other in files.found(f"{HARDWARE}/mtu"):
        if one != other:
            continue  # two interfaces of one device see each other
        item, place = f"nic.interface/{spell_key(one)}", {name: PLACE.format(one, name) for name in NAMES}
        yield f"{item}.state", files.read(place["operstate"])
        yield f"{item}.carrier", told(files, place["carrier"], read.bit)
        shown = files.read(place["flags"], flags)
        for leaf, bit in (("up", ADMIN_UP), ("promiscuous", PROMISCUOUS)):
            known = shown.reading
            yield f"{item}.{leaf}", Sourced(bool(known & bit) if isinstance(known, int) else known, shown.source)
        speed = told(files, place["speed"], gigabits)
        lost = speed.reading in (-0.001, 4294967.295)
        yield f"{item}.speed", Sourced(Absent(NONE), speed.source) if lost else speed
        duplex = told(files, place["duplex"], read.line)
        yield f"{item}.duplex", Sourced(Absent(NONE), duplex.source) if duplex.reading == "unknown" else duplex
        yield f"{item}.mac", files.read(place["address"])
        yield (
            f"{item}.mac_origin",
            files.read(place["addr_assign_type"], lambda c: ADDRESSES.get(c.strip(), read.line(c))),
        )
        yield f"{item}.type", files.read(place["type"], lambda c: TYPES.get(c.strip(), read.line(c)))
        for leaf, name in NUMBERS.items():
            yield f"{item}.{leaf}", files.read(place[name], read.whole)
