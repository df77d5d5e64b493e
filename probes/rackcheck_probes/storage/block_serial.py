"""Serial numbers of drives that are block devices, as the device manager of the OS (udev) stores them."""

import re

from rackcheck import Absent, Class, Facts, Shell, Unreadable, probe, read, spell_key, text
from rackcheck.parse.host.storage import block_queue

_LINE = re.compile(r'KNAME="([^"]+)" TYPE="([^"]*)" SERIAL="([^"]*)"')
_OTHER = frozenset({"part", "loop", "rom"})
"""Types of devices that are no disk and no array of disks."""


@probe(
    Shell("lsblk -P -o KNAME,TYPE,SERIAL", quick=True),
    gives={
        "storage.device/*.serial": text("The drive's serial number; absent on devices without one.", Class.IDENTITY),
    },
)
def block_serial(answer: str) -> Facts:
    """Read the serial number of each disk; lsblk lists an array of disks below each of its disks."""
    for row in read.rows(answer):
        match = _LINE.fullmatch(row.strip())
        if match is None:
            raise Unreadable(row)
        name, kind, serial = match.groups()
        if kind not in _OTHER and block_queue.is_disk(name):
            yield f"storage.device/{spell_key(name)}.serial", serial.strip() or Absent("lsblk shows none")
