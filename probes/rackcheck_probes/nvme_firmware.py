"""Which firmware slot each NVMe drive runs from, and whether another waits for a reset."""

from rackcheck import Class, Facts, Shell, Unknown, Unreadable, flag, integer, probe, spell_key
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck.core.read import nvme
from rackcheck_probes.nvme_health import CONTROLLERS

AFI = "Active Firmware Slot (afi)"


def active(name: str, said: str | Unknown) -> int | Unknown:
    """Read the byte of active firmware; nvme-cli puts the log into an object that bears the device's name."""
    if isinstance(said, Unknown):
        return said
    try:
        return nvme.counted(nvme.inside(nvme.document(said), name), AFI)
    except Unreadable as error:
        return Unknown(error.reason, str(error))


# Unverified on hardware: the shape is that of linux-nvme/nvme-cli issue 182 (nvme-cli 1.3) and of its printers since.
@probe(
    Shell("nvme fw-log -o json /dev/{}", each=CONTROLLERS, root=True, seconds=30),
    gives={
        "nvme/*.firmware_slot": integer("The slot that the running firmware was loaded from.", Class.CONFIG),
        "nvme/*.firmware_pending": flag("Whether firmware of another slot waits for the controller's next reset."),
    },
)
def nvme_firmware(answer: str) -> Facts:
    """Read each controller's log of firmware slots: the slot now in bits 0 to 2, the next in bits 4 to 6, or 0."""
    for name, said in read.each(answer).items():
        item, byte = f"nvme/{spell_key(name)}", active(name, said)
        slot: Reading = byte if isinstance(byte, Unknown) else byte & 7
        pending: Reading = byte if isinstance(byte, Unknown) else (byte >> 4) & 7 not in {0, byte & 7}
        yield f"{item}.firmware_slot", slot
        yield f"{item}.firmware_pending", pending
