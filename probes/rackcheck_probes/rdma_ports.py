"""What the subnet manager gave each RDMA port."""

import re

from rackcheck import Absent, Class, Facts, Files, Read, Sourced, Unreadable, integer, probe, spell_key, text
from rackcheck.core import read

PORT = "/sys/class/infiniband/{}/ports/{}"
NAMES = ("lid", "sm_lid", "sm_sl", "lid_mask_count", "cap_mask", "link_layer", "gids/0")


def hexadecimal(content: str) -> int:
    """Read `0x96`; some kernels write a count without the mark."""
    word = read.line(content)
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}|[0-9]{1,10}", word):
        raise Unreadable(f"not a number: {word[:80]!r}")
    return int(word, 16 if word.startswith("0x") else 10)


def port_guid(content: str) -> str:
    """Give the port's GUID, the second half of its first GID."""
    gid = read.line(content)
    if not re.fullmatch(r"([0-9a-f]{4}:){7}[0-9a-f]{4}", gid):
        raise Unreadable(f"not a GID: {gid[:80]!r}")
    return gid[20:]


@probe(
    Read(*(PORT.format("*", "*") + f"/{name}" for name in NAMES)),
    gives={
        "nic/*.port/*.lid": integer(
            "The port's local id; 0 or 65535 if no subnet manager gave one, and on Ethernet.", Class.IDENTITY
        ),
        "nic/*.port/*.sm_lid": integer("The local id of the subnet manager; 0 if there is none."),
        "nic/*.port/*.sm_sl": integer("The service level that reaches the subnet manager."),
        "nic/*.port/*.lmc": integer("How many low bits of the local id choose a path."),
        "nic/*.port/*.capabilities": text("The port's capability mask, in hexadecimal."),
        "nic/*.port/*.port_guid": text("The GUID of an InfiniBand port; absent on Ethernet.", Class.IDENTITY),
    },
)
def rdma_ports(files: Files) -> Facts:
    """Read each port's ids."""
    for device, port in files.found(PORT.format("*", "*") + "/lid"):
        item, folder = f"nic/{spell_key(device)}.port/{spell_key(port)}", PORT.format(device, port)
        for leaf, name in (("lid", "lid"), ("sm_lid", "sm_lid"), ("sm_sl", "sm_sl"), ("lmc", "lid_mask_count")):
            yield f"{item}.{leaf}", files.read(f"{folder}/{name}", hexadecimal)
        yield f"{item}.capabilities", files.read(f"{folder}/cap_mask")
        layer = files.read(f"{folder}/link_layer")
        ethernet = layer.reading == "Ethernet"
        guid = Sourced(Absent("Ethernet"), layer.source) if ethernet else files.read(f"{folder}/gids/0", port_guid)
        yield f"{item}.port_guid", guid
