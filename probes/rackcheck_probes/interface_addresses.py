"""The IP addresses of each network interface."""

import re
from collections.abc import Iterator

from rackcheck import Absent, Class, Facts, Shell, Unreadable, listing, probe, spell_key
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck.core.read import per_device
from rackcheck_probes.interfaces import HARDWARE

ROW = re.compile(r"[0-9]{1,9}: +\S{1,64} +(inet6?) ([0-9a-fA-F.:]{2,45}(?:/[0-9]{1,3})?) ([^\n]{0,300})")

FAMILIES = ("ipv4", "ipv6")


def addresses(said: str) -> dict[str, Reading]:
    """Give the global addresses of each family; one that the kernel makes up anew each day is nobody's address."""
    found: dict[str, list[str]] = {"inet": [], "inet6": []}
    for row in read.rows(said):
        match = ROW.match(row)
        if match is None:
            raise Unreadable(f"not an address: {row[:80]!r}")
        if "scope global" in match[3] and " temporary" not in match[3]:
            found[match[1]].append(match[2])
    none = Absent("no global address")
    return {"ipv4": tuple(found["inet"]) or none, "ipv6": tuple(found["inet6"]) or none}


def of_each(answer: str) -> Iterator[tuple[str, Reading]]:
    """Give each interface's addresses by `name.family`."""
    for name, told in per_device.read(answer, FAMILIES, addresses):
        yield from ((f"{spell_key(name)}.{family}", reading) for family, reading in told.items())


@probe(
    Shell("ip -o addr show dev {}", each=HARDWARE, seconds=20, lane="network"),
    gives={
        "nic.interface/*.ipv4": listing("Its global IPv4 addresses; absent if it has none.", Class.IDENTITY),
        "nic.interface/*.ipv6": listing("Its global IPv6 addresses; absent if it has none.", Class.IDENTITY),
    },
)
def interface_addresses(answer: str) -> Facts:
    """Read each interface's addresses."""
    yield from ((f"nic.interface/{leaf}", reading) for leaf, reading in of_each(answer))
