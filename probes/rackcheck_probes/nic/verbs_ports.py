"""The maximum packet size (MTU) of each RDMA port."""

from rackcheck import Facts, Shell, integer, probe, read, spell_key
from rackcheck.model.regex import regex

DEVICE = regex(r"hca_id:\s{0,40}(\S{1,100})")
PORT = regex(r"port:\s{0,40}([0-9]{1,5})")
SIZE = regex(r"(max|active)_mtu:\s{0,40}([0-9]{3,5}) \([0-9]\)")


# libibverbs opens the kernel interface that loads the RDMA core: only a loaded one is queried.
@probe(
    Shell("if [ -d /sys/class/infiniband ]; then ibv_devinfo; else echo none; fi"),
    gives={
        "nic/*.port/*.mtu": integer("The largest packet that the port sends now, in bytes."),
        "nic/*.port/*.mtu_max": integer("The largest packet that the port supports, in bytes."),
    },
)
def verbs_ports(answer: str) -> Facts:
    """Read the current and maximum MTU of each port, which only libibverbs provides."""
    rows = read.rows(answer)
    device = port = ""
    for row in rows:
        name, number, size = (pattern.fullmatch(row.strip()) for pattern in (DEVICE, PORT, SIZE))
        device, port = (name[1], "") if name is not None else (device, number[1] if number is not None else port)
        if size is not None and device and port:
            leaf = "mtu" if size[1] == "active" else "mtu_max"
            yield f"nic/{spell_key(device)}.port/{port}.{leaf}", int(size[2])
