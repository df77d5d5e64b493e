"""The network interface of each RoCE port, according to the RDMA core."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rackcheck import Facts, Shell, probe, spell_key, text
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.text import json_text


# Opening its interface to the kernel loads the RDMA core (alias net-pf-16-proto-20): only a loaded one is queried.
@probe(
    Shell(
        "if [ -d /sys/class/infiniband ]; then rdma -j link show; else echo '[]'; fi",
        lane="network",
    ),
    gives={
        "nic/*.port/*.interface": text(
            "The network interface that carries the port's RoCE; absent on InfiniBand, where IP is only an overlay."
        )
    },
)
def rdma_links(answer: str) -> Facts:
    """Read the network interface of each RDMA port."""
    for link in links(answer):
        yield f"nic/{spell_key(link.device)}.port/{link.port}.interface", link.interface


# Output of `rdma -j link show` of iproute2: a list of RDMA ports, with the network interface of each.


@dataclass(frozen=True)
class RdmaLink:
    """One RDMA port: its device, its number, and its network interface, which is absent if the port has none."""

    device: str
    port: int
    interface: Reading


def links(answer: str) -> Iterator[RdmaLink]:
    """Yield each link in the order of the output; raises Unreadable at a link without a name or a port."""
    try:
        found = json_text.loaded(answer)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from error
    if not isinstance(found, list):
        raise Unreadable("not a list of links")
    yield from map(_link, found)


def _link(value: Any) -> RdmaLink:
    name, port = (value.get("ifname"), value.get("port")) if isinstance(value, dict) else (None, None)
    if not isinstance(name, str) or not name or not isinstance(port, int) or isinstance(port, bool):
        raise Unreadable(f"a link without a valid name or port: {str(value)[:80]}")
    interface = value.get("netdev", Absent("no network interface"))
    odd = Unknown(Reason.UNPARSABLE, f"not a name: {str(interface)[:80]}")
    return RdmaLink(name, port, interface if isinstance(interface, str | Absent) else odd)
