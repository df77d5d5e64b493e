"""The output of iproute2's `ip -o`: one row for each address of an interface, or for each VLAN interface."""

from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

FAMILIES = ("ipv4", "ipv6")

_ADDRESS = regex(r"[0-9]{1,9}: +\S{1,64} +(inet6?) ([0-9a-fA-F.:]{2,45}(?:/[0-9]{1,3})?) ([^\n]{0,300})")
_VLAN = regex(
    r"[0-9]{1,9}: ([^\s@:]{1,15})@([^\s@:]{1,15}): <[^>]{0,200}> mtu ([0-9]{1,6}) [^\n]{0,400}?state ([A-Z]{1,20}) "
    r"[^\n]{0,600}? vlan protocol (802\.1[a-zA-Z]{1,2}) id ([0-9]{1,4})[^\n]{0,600}"
)


def addresses(answer: str) -> dict[str, Reading]:
    """Read the global addresses of each family in FAMILIES from `ip -o addr show`; absent for a family without any.

    Leaves out temporary IPv6 addresses, which the kernel renews each day. Raises Unreadable on a row that is not an
    address.
    """
    found: dict[str, list[str]] = {"inet": [], "inet6": []}
    for row in rows(answer):
        match = _ADDRESS.match(row)
        if match is None:
            raise Unreadable(f"not an address: {row[:80]!r}")
        if "scope global" in match[3] and " temporary" not in match[3]:
            found[match[1]].append(match[2])
    none = Absent("no global address")
    return {"ipv4": tuple(found["inet"]) or none, "ipv6": tuple(found["inet6"]) or none}


@dataclass(frozen=True)
class Vlan:
    """One VLAN interface: its name, the interface below it, its MTU in bytes, its state, its protocol and its tag."""

    name: str
    below: str
    mtu: int
    state: str
    protocol: str
    tag: int


def vlan(row: str) -> Vlan:
    """Read one row of `ip -d -o link show type vlan`; raises Unreadable on anything else."""
    match = _VLAN.fullmatch(row)
    if match is None:
        raise Unreadable(f"not a VLAN: {row[:80]!r}")
    name, below, mtu, state, protocol, tag = match.groups()
    return Vlan(name, below, int(mtu), state, protocol, int(tag))
