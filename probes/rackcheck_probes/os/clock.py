"""How far the node's clock is from ours."""

import re

from rackcheck import Class, Facts, Reason, Shell, Unreadable, probe, quantity
from rackcheck.model import text as read

TIME = re.compile(r"(?P<seconds>[0-9]{1,12})(?:\.(?P<parts>[0-9]{1,9})?\D{0,8})?")
"""Seconds since 1970. A `date` that knows no nanoseconds ends with the dot, or with the letters it was asked with."""


def seconds(text: str) -> float:
    """Read a time; without parts of a second it is up to one second too early."""
    match = TIME.fullmatch(text)
    if match is None:
        raise Unreadable(f"not seconds since 1970: {text[:80]!r}")
    return float(f"{match['seconds']}.{match['parts'] or 0}")


# Both clocks were read before the script began: ours when it was sent, the node's when it came.
@probe(
    Shell('echo "$RACKCHECK_SENT $RACKCHECK_CLOCK"', quick=True),
    gives={
        "time.offset": quantity(
            "s",
            "The node's clock less ours; below zero it is slow. The way to the node, and up to one second where its "
            "date tells whole seconds only, are part of it.",
            Class.MEASUREMENT,
        )
    },
)
def clock(answer: str) -> Facts:
    """Read our time and the node's, two numbers in a line."""
    rows = "\n".join(read.rows(answer)).split()
    if not rows:
        raise Unreadable("the question came without our time", Reason.NOT_COLLECTED)
    if len(rows) != 2:
        raise Unreadable(f"not two times: {answer[:80]!r}")
    sent, there = map(seconds, rows)
    yield "time.offset", round(there - sent, 2) or 0.0  # no clock is -0 off
