"""Every RDMA device and its ports."""

import re

from rackcheck import Class, Facts, Files, Read, Unreadable, collection, probe, quantity, spell_key, text, version
from rackcheck.core import read

FOLDER = "/sys/class/infiniband/{}"
PORT = FOLDER + "/ports/{}"
DEVICE = {"firmware": "fw_ver", "psid": "board_id", "type": "hca_type", "guid": "node_guid"}
RATE = re.compile(r"(?P<rate>\d{1,5}(?:\.\d)?) Gb/sec \((?P<width>\d{1,2}X)(?: \w+)?\)")


def numbered(content: str) -> str:
    """Read the word of `4: ACTIVE`."""
    number, mark, word = read.line(content).partition(": ")
    if not mark or not number.isdigit() or not word:
        raise Unreadable(f"not a numbered state: {content.strip()[:80]!r}")
    return word


def speed(content: str) -> re.Match[str]:
    """Read `400 Gb/sec (4X NDR)`; older kernels leave the last word out."""
    match = RATE.fullmatch(read.line(content))
    if match is None:
        raise Unreadable(f"not a rate: {content.strip()[:80]!r}")
    return match


@probe(
    Read(*(FOLDER.format("*") + f"/{n}" for n in DEVICE.values()),
         *(PORT.format("*", "*") + f"/{n}" for n in ("state", "phys_state", "rate", "link_layer"))),
    gives={
        "nic": collection("RDMA devices by the driver's name: mlx5_0. Empty if no RDMA driver has one."),
        "nic/*.firmware": version("dotted", "The device's running firmware."),
        "nic/*.psid": text("The board's id; on NVIDIA NICs the PSID: which firmware fits.", Class.IDENTITY),
        "nic/*.type": text("The device's model: MT4129 is a ConnectX-7.", Class.IDENTITY),
        "nic/*.guid": text("The device's node GUID.", Class.IDENTITY),
        "nic/*.port": collection("The device's ports by number."),
        "nic/*.port/*.state": text("The port's logical state: ACTIVE, ARMED, INIT (no subnet manager), DOWN."),
        "nic/*.port/*.physical": text("The port's physical state: LinkUp, Polling (no signal), Disabled."),
        "nic/*.port/*.rate": quantity("Gb/s", "The data rate that the port trained."),
        "nic/*.port/*.width": text("The lanes that the port trained: 4X."),
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
        yield f"{item}.state", files.read(f"{folder}/state", numbered)
        yield f"{item}.physical", files.read(f"{folder}/phys_state", numbered)
        yield f"{item}.rate", files.read(f"{folder}/rate", lambda content: float(speed(content)["rate"]))
        yield f"{item}.width", files.read(f"{folder}/rate", lambda content: speed(content)["width"])
        yield f"{item}.link_layer", files.read(f"{folder}/link_layer")
