"""Which priority each DSCP gets on each network interface: with such a map the interface trusts DSCP."""

from collections.abc import Mapping

from rackcheck import Facts, Shell, Unreadable, listing, probe, spell_key
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import per_device
from rackcheck_probes.dcb_pfc import document
from rackcheck_probes.interfaces import HARDWARE


def dscp(said: str) -> Mapping[str, Reading]:
    """Read the map; dcb leaves out one that is empty."""
    table = document(said).get("dscp_prio", [])
    if not isinstance(table, list) or len(table) > 512:
        raise Unreadable(f"no map: {clean(said, 80)!r}")
    found = []
    for entry in table:
        whole = isinstance(entry, list) and len(entry) == 2 and all(type(n) is int and 0 <= n < 64 for n in entry)
        if not whole:
            raise Unreadable(f"not a DSCP and its priority: {str(entry)[:80]}")
        found.append((entry[0], entry[1]))
    return {"dscp": tuple(f"{value}:{priority}" for value, priority in sorted(found))}


@probe(
    Shell("dcb -j -N app show dev {}", each=HARDWARE, seconds=30, lane="network"),
    gives={
        "nic.interface/*.dscp": listing(
            "DSCP and its priority: 26:3; empty where the interface does not go by DSCP (trust: pcp)."
        )
    },
)
def dcb_app(answer: str) -> Facts:
    """Read each interface's map. Unverified on hardware: written to the source of iproute2's dcb."""
    for name, told in per_device.read(answer, ("dscp",), dscp):
        yield f"nic.interface/{spell_key(name)}.dscp", told["dscp"]
