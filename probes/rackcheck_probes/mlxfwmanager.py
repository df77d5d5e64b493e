"""Which firmware lies in the flash of NVIDIA's NICs: another than the running one waits for a reset."""

import re

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, probe, spell_key, text, version
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import per_device
from rackcheck_probes.nic_adapters import EACH

FIELD = re.compile(r" {1,8}([A-Za-z][A-Za-z ()]{1,40}?): {1,40}(\S[^\n]{0,200}?) {0,80}")
FIRMWARE = re.compile(r" {1,16}(FW|FW \(Running\)|PXE|UEFI) {2,40}([0-9][0-9.]{2,30})(?: {1,80}\S{1,40})? {0,80}")
LEAVES = {"firmware": "FW", "running": "FW (Running)", "pxe": "PXE", "uefi": "UEFI", "psid": "PSID",
          "part": "Part Number", "description": "Description", "mac": "Base MAC"}  # fmt: skip
MOST = 500


def facts(said: str) -> dict[str, Reading]:
    """Read the one device that was asked for; raises Unreadable where the tool tells of none, or of several."""
    rows = said.splitlines()
    heads = [row for row in rows if re.fullmatch(r"Device #[0-9]{1,4}:\s{0,80}", row)]
    if len(rows) > MOST or len(heads) != 1:
        raise Unreadable(f"{len(heads)} devices in the answer for one: {clean(said, 80)!r}")
    told: dict[str, str] = {}
    for row in rows[rows.index(heads[0]) :]:
        match = FIELD.fullmatch(row) or FIRMWARE.fullmatch(row)
        if match is not None:
            told.setdefault(match[1], match[2])
    found: dict[str, Reading] = {leaf: told.get(name, Absent(f"no {name}")) for leaf, name in LEAVES.items()}
    if isinstance(found["firmware"], Absent):
        found["firmware"] = Unknown(Reason.UNPARSABLE, "no FW: the flash could not be read")
    return found


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
    for address, told in per_device.read(answer, tuple(LEAVES), facts):
        for leaf, reading in told.items():
            yield f"nic.adapter/{spell_key(address)}.flash.{leaf}", reading
