"""The difference between the node's clock and the auditing machine's."""

from rackcheck import Class, Facts, Reason, Shell, Unreadable, probe, quantity, read
from rackcheck.model.regex import regex

TIME = regex(r"(?P<seconds>[0-9]{1,12})(?:\.(?P<parts>[0-9]{1,9})?\D{0,8})?")
"""Seconds since 1970.

After the seconds, a `date` that cannot print nanoseconds prints only a dot, or a dot and the letters of the format.
"""


def seconds(text: str) -> float:
    """Read seconds since 1970; a time in whole seconds may be up to one second too early."""
    match = TIME.fullmatch(text)
    if match is None:
        raise Unreadable(f"not seconds since 1970: {text[:80]!r}")
    return float(f"{match['seconds']}.{match['parts'] or 0}")


# Both clocks are read before the script begins: ours when it is sent, the node's when it arrives.
@probe(
    Shell('echo "$RACKCHECK_SENT $RACKCHECK_CLOCK"', quick=True),
    gives={
        "time.offset": quantity(
            "s",
            "The node's clock minus the auditing machine's clock; negative if the node's clock is behind. "
            "The value includes the network delay, and up to one second if the node's `date` prints whole seconds.",
            Class.MEASUREMENT,
        )
    },
)
def clock(answer: str) -> Facts:
    """Read the auditing machine's time and the node's time, two numbers in one line."""
    rows = "\n".join(read.rows(answer)).split()
    if not rows:
        raise Unreadable("the auditing machine's time was not passed to the command", Reason.NOT_COLLECTED)
    if len(rows) != 2:
        raise Unreadable(f"expected two times, got: {answer[:80]!r}")
    sent, there = map(seconds, rows)
    yield "time.offset", round(there - sent, 2) or 0.0  # turns -0.0 into 0.0
