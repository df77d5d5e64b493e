"""IPv4 addresses of an Ethernet RDMA port's interface for which the port's GID table has no RoCE v2 entry."""

from ipaddress import IPv4Address, IPv6Address

from rackcheck import Class, Facts, Inputs, Unknown, join, listing, spell_key
from rackcheck.model.fact import Reading

PORT, GID = "nic/*.port/*", "nic/*.port/*.gid/*"


@join(
    needs=(
        "nic", "nic/*.port", f"{PORT}.interface", f"{PORT}.gid", f"{GID}.address", f"{GID}.type",
        "nic.interface", "nic.interface/*.ipv4",
    ),
    gives={
        f"{PORT}.addresses_without_gid": listing(
            "IPv4 addresses of the port's interface for which the port has no RoCE v2 entry; absent on InfiniBand.",
            Class.MEASUREMENT,
        ),
    },
)  # fmt: skip
def gid_addresses(inputs: Inputs) -> Facts:
    """Compare the addresses of each port's interface with the port's GIDs."""
    for nic in inputs.items("nic")[0]:
        for port in inputs.items(f"nic/{spell_key(nic)}.port")[0]:
            item = f"nic/{spell_key(nic)}.port/{spell_key(port)}"
            yield f"{item}.addresses_without_gid", _without(inputs, item)


def _without(inputs: Inputs, item: str) -> Reading:
    interface = inputs.reading(f"{item}.interface")
    if not isinstance(interface, str):
        return interface
    given = inputs.reading(f"nic.interface/{spell_key(interface)}.ipv4")
    if isinstance(given, Unknown):
        return given
    wanted = [address.partition("/")[0] for address in given] if isinstance(given, tuple) else []
    entries, lost = inputs.items(f"{item}.gid")
    held = set[str]()
    for entry in entries:
        address, kind = inputs.reading(f"{item}.gid/{entry}.address"), inputs.reading(f"{item}.gid/{entry}.type")
        if isinstance(address, str) and kind == "RoCE v2":
            held.add(_ipv4(address))
        lost = lost or next((each for each in (address, kind) if isinstance(each, Unknown)), None)
    missing = tuple(address for address in wanted if address not in held)
    return lost if missing and lost is not None else missing


def _ipv4(address: str) -> str:
    """Return the IPv4 address of a GID that contains one; else an empty text."""
    try:
        found: IPv4Address | None = IPv6Address(address).ipv4_mapped
    except ValueError:
        return ""
    return "" if found is None else str(found)
