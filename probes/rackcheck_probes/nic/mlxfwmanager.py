"""Which firmware lies in the flash of NVIDIA's NICs: another than the running one waits for a reset."""

from rackcheck import Class, Facts, Shell, probe, text, version
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import mlxfwmanager as tool
from rackcheck_probes.nic.adapters import EACH


@probe(
    Shell("mlxfwmanager -d {} --query", root=True, each=EACH, seconds=120),
    gives={
        "nic.adapter/*.flash.firmware": version("dotted", "The firmware in the flash: what runs after the next reset."),
        "nic.adapter/*.flash.running": version(
            "dotted", "The firmware that runs, where it is not the one in the flash."
        ),
        "nic.adapter/*.flash.pxe": version("dotted", "The PXE boot ROM in the flash; absent without one."),
        "nic.adapter/*.flash.uefi": version("dotted", "The UEFI boot ROM in the flash; absent without one."),
        "nic.adapter/*.flash.psid": text("The board's id, as the flash has it."),
        "nic.adapter/*.flash.part": text("The board's part number, as the flash has it."),
        "nic.adapter/*.flash.description": text("What the board is, in the maker's words."),
        "nic.adapter/*.flash.mac": text("The board's first hardware address.", Class.IDENTITY),
    },
)
def mlxfwmanager(answer: str) -> Facts:
    """Read each device. The shape is mlxup's, the same program with images inside; unverified on hardware of ours."""
    yield from per_device.facts(answer, "nic.adapter/*.flash", tool.LEAVES, tool.facts)
