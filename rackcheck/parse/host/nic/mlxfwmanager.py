"""The output of `mlxfwmanager -d DEVICE --query` on the firmware in a NIC's flash; `mlxup` prints the same."""

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex

LINES = 500
"""Maximum number of lines of mlxfwmanager's output; a longer output is not read."""

LEAVES = {"firmware": "FW", "running": "FW (Running)", "pxe": "PXE", "uefi": "UEFI", "psid": "PSID",
          "part": "Part Number", "description": "Description", "mac": "Base MAC"}  # fmt: skip
"""The properties of the firmware in a NIC's flash, and the names that mlxfwmanager prints for them."""

_UNREAD = Unknown(Reason.UNPARSABLE, "no FW: the flash could not be read")
_HEAD = regex(r"Device #[0-9]{1,4}:\s{0,80}")
_FIELD = regex(r" {1,8}([A-Za-z][A-Za-z ()]{1,40}?): {1,40}(\S[^\n]{0,200}?) {0,80}")
_FIRMWARE = regex(r" {1,16}(FW|FW \(Running\)|PXE|UEFI) {2,40}([0-9][0-9.]{2,30})(?: {1,80}\S{1,40})? {0,80}")


def device(text: str) -> dict[str, str]:
    """Return the values of the queried device by mlxfwmanager's names: `Part Number`, `PSID`, `FW`, `FW (Running)`.

    If mlxfwmanager prints a name twice, the first value counts. Raises Unreadable if mlxfwmanager prints no device, or
    several.
    """
    rows = text.splitlines()
    heads = [row for row in rows if _HEAD.fullmatch(row)]
    if len(rows) > LINES or len(heads) != 1:
        raise Unreadable(f"{len(heads)} devices in the answer, expected 1: {clean(text, 80)!r}")
    values: dict[str, str] = {}
    for row in rows[rows.index(heads[0]) :]:
        match = _FIELD.fullmatch(row) or _FIRMWARE.fullmatch(row)
        if match is not None:
            values.setdefault(match[1], match[2])
    return values


def facts(text: str) -> dict[str, Reading]:
    """Return a reading for each name in LEAVES; a missing value is absent, but a missing `firmware` is Unknown."""
    values = device(text)
    found: dict[str, Reading] = {leaf: values.get(name, Absent(f"no {name}")) for leaf, name in LEAVES.items()}
    return found | {"firmware": values.get("FW", _UNREAD)}
