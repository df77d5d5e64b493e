"""What a Lustre client says of itself in its files `version` and `health_check`, of either age."""

import re

from rackcheck.model.fact import Unreadable

_WORDS = ("LBUG", "NOT HEALTHY", "healthy")
"""The worst first: an ill client may hold healthy devices."""


def release(content: str) -> str:
    """Read `2.14.0_ddn85`, or the first line `lustre: 2.10.8` of older clients; raises Unreadable on anything else."""
    match = re.match(r"(?:lustre: )?([0-9][\w.-]{0,60})\s", content + "\n")
    if match is None:
        raise Unreadable(f"not a version of Lustre: {content[:80]!r}")
    return match[1]


def health(content: str) -> str:
    """Give the word, which older clients put behind the device that is ill; raises Unreadable where there is none."""
    words = [word for word in _WORDS if word in content]
    if not words:
        raise Unreadable(f"no word of Lustre's health: {content[:80]!r}")
    return words[0]
