"""EFI variables as the node prints them: a name and its bytes, `SecureBoot 6 0 0 0 1`; or `legacy`, without UEFI."""

from collections.abc import Mapping

from rackcheck.core.fact import Absent, Unreadable
from rackcheck.core.read.values import bit, rows

END = "-- end --"
"""The answer's last line."""


def variables(answer: str) -> Mapping[str, str] | None:
    """Give each variable's bytes by its name; none where the system was not booted by UEFI.

    Raises Unreadable on an answer that was cut.
    """
    told = rows(answer)
    if told == ["legacy"]:
        return None
    if not told or told[-1] != END:
        raise Unreadable("the answer was cut")
    return dict(row.partition(" ")[::2] for row in told[:-1])


def yes(name: str, shown: Mapping[str, str]) -> bool | Absent:
    """Read a variable of four bytes of attributes and a 0 or 1; raises Unreadable on other bytes."""
    if name not in shown:
        return Absent(f"firmware has no {name}")
    octets = shown[name].split()
    if len(octets) != 5:
        raise Unreadable(f"{name} is not five bytes: {shown[name][:80]!r}")
    return bit(octets[4])
