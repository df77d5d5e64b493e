"""The network interface under each RoCE port, as the RDMA core knows it."""

import json

from rackcheck import Absent, Facts, Reason, Shell, Unknown, Unreadable, probe, spell_key, text


# To open its way to the kernel is to load the RDMA core (its alias is net-pf-16-proto-20): only a loaded one is asked.
@probe(
    Shell(
        "if [ -d /sys/class/infiniband ]; then rdma -j link show; else echo '[]'; fi",
        lane="network",
    ),
    gives={
        "nic/*.port/*.interface": text(
            "The network interface that carries the port's RoCE; absent on InfiniBand, where IP only visits."
        )
    },
)
def rdma_links(answer: str) -> Facts:
    """Read each link's interface."""
    try:
        links = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {error}") from error
    if not isinstance(links, list):
        raise Unreadable("not a list of links")
    for link in links:
        name, port = (link.get("ifname"), link.get("port")) if isinstance(link, dict) else (None, None)
        if not isinstance(name, str) or not name or not isinstance(port, int) or isinstance(port, bool):
            raise Unreadable(f"a link without its name and port: {str(link)[:80]}")
        interface = link.get("netdev", Absent("no network interface"))
        odd = Unknown(Reason.UNPARSABLE, f"not a name: {str(interface)[:80]}")
        yield f"nic/{spell_key(name)}.port/{port}.interface", interface if isinstance(interface, str | Absent) else odd
