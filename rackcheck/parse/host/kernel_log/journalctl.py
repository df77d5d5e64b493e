"""What journalctl prints: the kernel's lines with their seconds since boot (`-o short-monotonic`), and entries as JSON.

After the time, a line of the kernel has the form that dmesg prints, so the module `dmesg` parses it. journalctl may
also print its own lines, `-- No entries --` and the beginning of a boot, which are left out here.
"""

import json
import re
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows
from rackcheck.parse.host.kernel_log import dmesg

NONE = "-- No entries --"
"""Text that journalctl prints for a boot that is in the journal but has no matching line."""

STARTED = "f77379a8490b408bbe5f6940505a777b"
"""MESSAGE_ID of `Journal started` (systemd's catalog/systemd.catalog.in), which journald logs at each start."""

EARLY = 300
"""Seconds after boot by which journald has started for the first time; a later start of journald is a restart."""

_BLOB = regex(r"\[[0-9]{1,6}(?:\.[0-9])?[BKMG] blob data\]")


def of_this_boot(answer: str) -> str:
    """Return the kernel's lines of this boot; raises Unreadable if there are none: the node may keep no journal."""
    if answer and not answer.endswith("\n"):
        dmesg.whole(answer)
    log = _lines(answer)
    if not log:
        raise Unreadable("no line of this boot: the node may keep no journal", Reason.NOT_COLLECTED)
    return log


def of_boot_before(answer: str) -> str:
    """Return the kernel's lines of the previous boot; empty if there are none.

    Raises Unreadable on incomplete output, and if journalctl prints neither `-- No entries --` nor a line of the
    kernel.
    """
    log = _lines(answer)
    if not log and NONE not in answer:
        raise Unreadable("journalctl printed neither lines nor '-- No entries --'", Reason.NOT_COLLECTED)
    if not answer.endswith("\n"):
        dmesg.whole(answer)
    return log


def _lines(answer: str) -> str:
    """Return the kernel's lines, without journalctl's own lines and without an incomplete last line."""
    return "".join(f"{row}\n" for row in answer.split("\n")[:-1] if row and not row.startswith("-- "))


def oldest(log: str) -> float:
    """Return the seconds since boot of a journal's first line; raises Unreadable if this line has no time."""
    first = dmesg.seconds(log[: dmesg.LONGEST])
    if first is None:
        raise Unreadable("the journal's first line has no time since boot")
    return first


def hidden(log: str) -> Unknown | None:
    """Return an Unknown if journalctl printed only the size of some messages; None if it printed all messages.

    journalctl prints only the size of a message with an unprintable byte. The line of an Xid may be such a message, as
    it contains a process name, in which unprintable bytes may occur.
    """
    blobs = sum(_BLOB.fullmatch(dmesg.message(row)) is not None for row in dmesg.lines(log, " blob data]"))
    return Unknown(Reason.UNPARSABLE, f"journalctl shows only the size of {blobs} lines") if blobs else None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry of `journalctl -o json`: its priority (`0` to `7` or None), and whether it begins a boot's journal."""

    priority: object
    begins: bool


def entries(answer: str) -> list[JournalEntry]:
    """Read one JSON entry per line, in order; raises Unreadable on cut lines, other text, or a missing timestamp."""
    return [_entry(row) for row in rows(answer)]


def _entry(row: str) -> JournalEntry:
    try:
        value = json.loads(row)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {clean(row, 80)!r}") from error
    if not isinstance(value, dict):
        raise Unreadable(f"not an entry: {clean(row, 80)!r}")
    microseconds = value.get("__MONOTONIC_TIMESTAMP")
    if not isinstance(microseconds, str) or not re.fullmatch("[0-9]{1,20}", microseconds):
        raise Unreadable(f"an entry has no time since boot: {clean(row, 80)!r}")
    return JournalEntry(value.get("PRIORITY"), value.get("MESSAGE_ID") == STARTED and int(microseconds) < EARLY * 10**6)
