"""Local ids, capabilities and GUID of each RDMA port."""

from rackcheck import Class, Facts, Files, Read, integer, probe, spell_key, text
from rackcheck.parse.host.nic import ib_port

PORT = "/sys/class/infiniband/{}/ports/{}"
NAMES = ("lid", "sm_lid", "sm_sl", "lid_mask_count", "cap_mask", "link_layer", "gids/0")


@probe(
    Read(*(PORT.format("*", "*") + f"/{name}" for name in NAMES)),
    gives={
        "nic/*.port/*.lid": integer(
            "The port's local id; 0 or 65535 if no subnet manager assigned one, and on Ethernet.", Class.IDENTITY
        ),
        "nic/*.port/*.sm_lid": integer("The local id of the subnet manager; 0 if there is none."),
        "nic/*.port/*.sm_sl": integer("The service level that reaches the subnet manager."),
        "nic/*.port/*.lmc": integer("How many low bits of the local id select a path."),
        "nic/*.port/*.capabilities": text("The port's capability mask, in hexadecimal."),
        "nic/*.port/*.port_guid": text("The GUID of an InfiniBand port; absent on Ethernet.", Class.IDENTITY),
    },
)
def rdma_ports(files: Files) -> Facts:
    """Read each port's ids and capabilities."""
    for device, port in files.found(PORT.format("*", "*") + "/lid"):
        item, folder = f"nic/{spell_key(device)}.port/{spell_key(port)}", PORT.format(device, port)
        for leaf, name in (("lid", "lid"), ("sm_lid", "sm_lid"), ("sm_sl", "sm_sl"), ("lmc", "lid_mask_count")):
            yield f"{item}.{leaf}", files.read(f"{folder}/{name}", ib_port.hexadecimal)
        yield f"{item}.capabilities", files.read(f"{folder}/cap_mask")
        yield f"{item}.port_guid", ib_port.guid(files, folder)
