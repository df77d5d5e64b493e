"""Firmware in the flash of NVIDIA's NICs: a NIC runs this firmware after its next reset."""

from rackcheck import Class, Facts, Shell, probe, text, version
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import mlxfwmanager as tool
from rackcheck_probes.nic.adapters import EACH


@probe(
    Shell("mlxfwmanager -d {} --query", root=True, each=EACH, seconds=120),
    gives={
        "nic.adapter/*.flash.firmware": version("dotted", "The firmware in the flash, used after the next reset."),
        "nic.adapter/*.flash.running": version(
            "dotted", "The running firmware, if it differs from the firmware in the flash."
        ),
        "nic.adapter/*.flash.pxe": version("dotted", "The PXE boot ROM in the flash; absent without one."),
        "nic.adapter/*.flash.uefi": version("dotted", "The UEFI boot ROM in the flash; absent without one."),
        "nic.adapter/*.flash.psid": text("The board's id in the flash."),
        "nic.adapter/*.flash.part": text("The board's part number in the flash."),
        "nic.adapter/*.flash.description": text("The vendor's description of the board."),
        "nic.adapter/*.flash.mac": text("The board's first hardware address.", Class.IDENTITY),
    },
)
def mlxfwmanager(answer: str) -> Facts:
    """Read the firmware and the board data in each NIC's flash.

    Unverified on hardware: the output format is that of mlxup, which is the same program bundled with firmware images.
    """
    yield from per_device.facts(answer, "nic.adapter/*.flash", tool.LEAVES, tool.facts)
