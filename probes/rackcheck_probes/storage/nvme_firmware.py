"""The active firmware slot of each NVMe drive, and whether another slot becomes active at the next reset."""

from rackcheck import Class, Facts, Shell, flag, integer, probe, read, spell_key
from rackcheck.parse.host.storage import nvme
from rackcheck_probes.storage.nvme_health import CONTROLLERS


# Unverified on hardware: the format is that of linux-nvme/nvme-cli issue 182 (nvme-cli 1.3) and of later printers.
@probe(
    Shell("nvme fw-log -o json /dev/{}", each=CONTROLLERS, root=True, seconds=30),
    gives={
        "nvme/*.firmware_slot": integer("The slot that the running firmware was loaded from.", Class.CONFIG),
        "nvme/*.firmware_pending": flag("Whether firmware of another slot waits for the controller's next reset."),
    },
)
def nvme_firmware(answer: str) -> Facts:
    """Read each controller's log of firmware slots."""
    for name, reading in read.each(answer).items():
        slots = nvme.slots(reading, name)
        yield f"nvme/{spell_key(name)}.firmware_slot", slots.running
        yield f"nvme/{spell_key(name)}.firmware_pending", slots.pending
