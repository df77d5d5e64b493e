"""EFI variables as a shell command prints them (`SecureBoot 6 0 0 0 1`), or `legacy` on a node booted without UEFI."""

import re
from collections.abc import Mapping

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.model.text.values import bit, rows

END = "-- end --"
"""Last line of a complete list of EFI variables."""

GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
"""GUID of the EFI variables that the UEFI specification itself defines."""

ENTRIES = 1000
"""Maximum number of entries in a boot order; real machines have dozens of entries."""


def asking(*names: str) -> str:
    """Return the shell command that prints the bytes of the EFI variables in `names`.

    EFI variables contain zero bytes, which a shell cannot store, so `od` prints the bytes as numbers. The shell command
    fails in a container that hides /sys/firmware.
    """
    return (
        "set -- /sys/firmware/*; [ -e \"$1\" ] || { echo '/sys/firmware shows nothing' >&2; exit 1; }\n"
        "[ -d /sys/firmware/efi ] || { echo legacy; exit 0; }\n"
        "cd /sys/firmware/efi/efivars || exit 1\n"
        'set -- *; [ -e "$1" ] || { echo "no EFI variable is shown: efivarfs is not mounted" >&2; exit 1; }\n'
        f"for v in {' '.join(names)}; do\n"
        f"[ -e $v-{GLOBAL} ] || continue\n"
        f"b=$(od -An -v -tu1 $v-{GLOBAL}) || exit 1\n"
        f'echo $v $b\ndone; echo "{END}"'
    )


def variables(answer: str) -> Mapping[str, str] | None:
    """Return the bytes of each EFI variable, by its name; None if the system was not booted by UEFI.

    Raises Unreadable if the list of EFI variables is incomplete.
    """
    items = rows(answer)
    if items == ["legacy"]:
        return None
    if not items or items[-1] != END:
        raise Unreadable("the output was truncated")
    return dict(row.partition(" ")[::2] for row in items[:-1])


def yes(name: str, shown: Mapping[str, str]) -> bool | Absent:
    """Return whether an EFI variable has the value 1; absent if the firmware does not have the variable.

    Raises Unreadable unless the EFI variable has four bytes of attributes and then a byte 0 or 1.
    """
    if name not in shown:
        return Absent(f"firmware has no {name}")
    octets = shown[name].split()
    if len(octets) != 5:
        raise Unreadable(f"{name} is not five bytes: {shown[name][:80]!r}")
    return bit(octets[4])


def entries(name: str, shown: Mapping[str, str]) -> tuple[str, ...] | Absent:
    """Return the boot entries that an EFI variable lists (`Boot0003`); absent if firmware does not have the variable.

    An EFI variable that lists boot entries has four bytes of attributes and then two bytes for the number of each boot
    entry. Raises Unreadable if the variable's bytes have another form.
    """
    if name not in shown:
        return Absent(f"firmware has no {name}")
    octets = shown[name].split()
    if len(octets) < 6 or len(octets) % 2 or len(octets) > 2 * ENTRIES or not all(map(_octet, octets)):
        raise Unreadable(f"{name} is not a list of boot entries: {shown[name][:80]!r}")
    low, high = octets[4::2], octets[5::2]
    return tuple(f"Boot{int(first) + 256 * int(second):04X}" for first, second in zip(low, high, strict=True))


def _octet(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,3}", text, re.ASCII) is not None and int(text) < 256
