"""How RoCE marks its packets: the traffic class of each device, and the settings of new connections."""

from rackcheck import Facts, Files, Read, integer, probe, read, spell_key, text
from rackcheck.parse.host.nic import ib_port

STATE = "/sys/class/infiniband/*/ports/*/state"
CLASS = "/sys/class/infiniband/{}/tc/{}/traffic_class"
CM = "/sys/kernel/config/rdma_cm/{}/ports/{}"


@probe(
    Read(STATE, CLASS.format("*", "*"), *(CM.format("*", "*") + f"/default_roce_{n}" for n in ("mode", "tos"))),
    gives={
        "nic/*.port/*.roce_traffic_class": integer(
            "The traffic class that the driver sets on all RoCE packets; absent without NVIDIA's own driver package."
        ),
        "nic/*.port/*.roce_cm_mode": text(
            "The RoCE version of new connections: IB/RoCE v1, RoCE v2; absent if not set up in configfs."
        ),
        "nic/*.port/*.roce_cm_tos": integer("The type of service of new connections; absent if not set up."),
    },
)
def roce_settings(files: Files) -> Facts:
    """Read the RoCE settings of each RDMA port.

    Unverified on hardware: written from the documentation of NVIDIA's driver.
    """
    for device, port in files.found(STATE):
        item = f"nic/{spell_key(device)}.port/{spell_key(port)}"
        yield f"{item}.roce_traffic_class", ib_port.traffic_class(files, CLASS.format(device, port))
        yield f"{item}.roce_cm_mode", files.read(f"{CM.format(device, port)}/default_roce_mode")
        yield f"{item}.roce_cm_tos", files.read(f"{CM.format(device, port)}/default_roce_tos", read.whole)
