"""Firmware configuration of NVIDIA's NICs, and changes that wait for the next boot."""

from rackcheck import Class, Facts, Shell, collection, listing, probe, setting, text
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import mlxconfig as tool
from rackcheck_probes.nic.adapters import EACH


@probe(
    Shell("mlxconfig -d {} -e query", root=True, each=EACH, seconds=120, cap=8 << 20),
    gives={
        "nic.adapter/*.model": text("The NIC's family: ConnectX7.", Class.IDENTITY),
        "nic.adapter/*.part": text("The NIC's part number: MCX75310AAS-NEA_Ax."),
        "nic.adapter/*.config": collection("The firmware's parameters, by name: LINK_TYPE_P1, MAX_ACC_OUT_READ."),
        "nic.adapter/*.config/*.value": setting("The value that the NIC runs with: IB(1), True(1), 44."),
        "nic.adapter/*.config/*.default": setting("The factory default."),
        "nic.adapter/*.config_waiting": listing("Parameters that the next boot changes, with their new values."),
    },
)
def mlxconfig(answer: str) -> Facts:
    """Read the firmware parameters of each PCI function.

    Unverified on hardware: written from documentation and quoted outputs.
    """
    yield from per_device.facts(answer, "nic.adapter/*", tool.LEAVES, tool.facts)
