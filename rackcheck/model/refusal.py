"""Finds out why a command failed, from its exit status and its error output."""

import re

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex

LATE = frozenset({124, 137, 143})
"""Exit statuses of a command ended by `timeout`: 124 (coreutils), 137 (killed after that), 143 (busybox)."""

_NO_ROOT = regex(
    r"a password is required|is not allowed to|not in the sudoers|may not run sudo|have a tty to run sudo"
    r"|(?:^|: )sudo: (?:command )?not found",
    re.MULTILINE,
)
"""Messages of sudo if it refuses to run a command, or of a shell that finds no sudo; others are from the command."""

_DENIED = ("permission denied", "operation not permitted", "must be root", "not authorized")


def refusal(status: int, complaint: str, *, root: bool, seconds: float) -> Unknown:
    """Return why a command failed, from its exit status and its error output (`complaint`)."""
    message = clean(complaint.strip().splitlines()[-1]) if complaint.strip() else f"exit {status}"
    lowered = complaint.casefold()
    if root and _NO_ROOT.search(lowered):
        return Unknown(Reason.DENIED, f"needs root: {message}")
    # A shell may also exit with 127 for a program that exists but may not be run; then the error message decides.
    if (status == 127 and _DENIED[0] not in lowered) or "command not found" in lowered:
        return Unknown(Reason.TOOL_MISSING, message)
    if status in LATE:
        return Unknown(Reason.TIMEOUT, f"no answer within {seconds:g} s")
    if any(words in lowered for words in _DENIED):
        return Unknown(Reason.DENIED, message)
    return Unknown(Reason.NOT_COLLECTED, message)
