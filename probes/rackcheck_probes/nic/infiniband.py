"""Every RDMA device and its ports."""

from rackcheck import Class, Facts, Files, Read, collection, probe, quantity, read, spell_key, text, version
from rackcheck.parse.host.nic import ib_port

FOLDER = "/sys/class/infiniband/{}"
PORT = FOLDER + "/ports/{}"
DEVICE = {"firmware": "fw_ver", "psid": "board_id", "type": "hca_type", "guid": "node_guid"}


@probe(
    Read(*(FOLDER.format("*") + f"/{n}" for n in DEVICE.values()),
         *(PORT.format("*", "*") + f"/{n}" for n in ("state", "phys_state", "rate", "link_layer"))),
    gives={
        "nic": collection("RDMA devices by the driver's name: mlx5_0. Empty if no RDMA driver provides one."),
        "nic/*.firmware": version("dotted", "The device's running firmware."),
        "nic/*.psid": text("The board's id; on NVIDIA NICs the PSID, which selects the firmware.", Class.IDENTITY),
        "nic/*.type": text("The device's model: MT4129 is a ConnectX-7.", Class.IDENTITY),
        "nic/*.guid": text("The device's node GUID.", Class.IDENTITY),
        "nic/*.port": collection(
            "The device's ports by number.", alike=("nic/*.type", "nic/*.virtual", "nic/*.port/*.link_layer")
        ),
        "nic/*.port/*.state": text("The port's logical state: ACTIVE, ARMED, INIT (no subnet manager), DOWN."),
        "nic/*.port/*.physical": text("The port's physical state: LinkUp, Polling (no signal), Disabled."),
        "nic/*.port/*.rate": quantity("Gb/s", "The data rate of the trained link."),
        "nic/*.port/*.width": text("The lanes of the trained link: 4X."),
        "nic/*.port/*.link_layer": text("InfiniBand or Ethernet."),
    },
)  # fmt: skip
def infiniband(files: Files) -> Facts:
    """Read each device's identity and firmware, and each port's state and rate."""
    ports = list(files.found(PORT.format("*", "*") + "/state"))
    names = {d for name in DEVICE.values() for (d,) in files.found(FOLDER.format("*") + f"/{name}")}
    for device in sorted(names | {device for device, _ in ports}, key=read.natural):
        for leaf, name in DEVICE.items():
            yield f"nic/{spell_key(device)}.{leaf}", files.read(f"{FOLDER.format(device)}/{name}")
    for device, port in ports:
        item, folder = f"nic/{spell_key(device)}.port/{spell_key(port)}", PORT.format(device, port)
        yield f"{item}.state", files.read(f"{folder}/state", ib_port.state)
        yield f"{item}.physical", files.read(f"{folder}/phys_state", ib_port.state)
        yield f"{item}.rate", files.read(f"{folder}/rate", lambda content: ib_port.rate(content).gigabits)
        yield f"{item}.width", files.read(f"{folder}/rate", lambda content: ib_port.rate(content).width)
        yield f"{item}.link_layer", files.read(f"{folder}/link_layer")
