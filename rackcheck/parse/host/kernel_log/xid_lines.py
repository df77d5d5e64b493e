"""Every Xid and every SXid of a whole log, in the log's order, and why the list may be incomplete.

Some lines with an Xid cannot be parsed: lines of a later driver, lines with an unknown prefix of dmesg, forged lines.
The Xids of the other lines are then returned with the reason why the list may be incomplete.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid import SXIDS, XIDS, SXid, Xid, sxid, xid

Error = TypeVar("Error", Xid, SXid)


def every_xid(log: str) -> tuple[list[Xid], Unknown | None]:
    """Return a log's Xids in order, and why the list may be incomplete, or None if it is complete."""
    return _every(log, XIDS, xid)


def every_sxid(log: str) -> tuple[list[SXid], Unknown | None]:
    """Return a log's SXids (NVSwitch errors) in order, and why the list may be incomplete, or None if complete."""
    return _every(log, SXIDS, sxid)


def xids(log: str) -> list[Xid]:
    """Return the Xids of a log in order, without those that could not be parsed."""
    return every_xid(log)[0]


def sxids(log: str) -> list[SXid]:
    """Return the SXids (errors of NVSwitches) of a log in order, without those that could not be parsed."""
    return every_sxid(log)[0]


def _every(log: str, holds: str, read: Callable[[str], Error | None]) -> tuple[list[Error], Unknown | None]:
    found: list[Error] = []
    odd: list[str] = []
    for line in dmesg.lines(log, holds):
        error = read(dmesg.message(line))
        if error is not None:
            found.append(error)
        else:
            odd.append(line)
    if not odd:
        return found, None
    # A process' name, if any, is after the first comma.
    shown = clean(odd[-1][odd[-1].find(holds) :].partition(",")[0], 60)
    return found, Unknown(Reason.UNPARSABLE, f"{len(odd)} of the lines cannot be parsed, the last: {shown!r}")


def by_place(errors: Iterable[Error]) -> Mapping[str, list[Error]]:
    """Group Xids or SXids by the PCI address of the device, in the order in which the log first names the devices."""
    devices: dict[str, list[Error]] = {}
    for error in errors:
        devices.setdefault(error.place, []).append(error)
    return devices


def codes(errors: Iterable[Xid | SXid]) -> tuple[str, ...]:
    """Return the distinct numbers of the Xids or SXids, in numeric order."""
    return tuple(str(code) for code in sorted({error.code for error in errors}))


def nvlink_errors(errors: Iterable[Xid]) -> tuple[str, ...]:
    """Return the distinct errors of Blackwell's NVLink, sorted: Xid number, unit, Fatal or Nonfatal, link."""
    kinds = {(e.code, e.nvlink.unit, e.nvlink.link, e.nvlink.fatal) for e in errors if e.nvlink is not None}
    return tuple(
        f"{code} {unit} {'Fatal' if fatal else 'Nonfatal'} link {link}" for code, unit, link, fatal in sorted(kinds)
    )


def recovery(errors: Iterable[Xid]) -> str | None:
    """Return the recovery action of the last Xid that has one; None if no Xid has one."""
    rows = [error.recovery for error in errors if error.recovery is not None]
    return rows[-1] if rows else None
