"""What a slow link asks of the screen library: set before that is loaded, so nothing of it is imported here."""

from collections.abc import MutableMapping
from typing import Literal

LinkSpeed = Literal["auto", "slow"]

_SLOW = {
    "TEXTUAL_FPS": "20",
    "TEXTUAL_ANIMATIONS": "none",
    "TEXTUAL_SMOOTH_SCROLL": "0",
    "TEXTUAL_COLOR_SYSTEM": "standard",
}
"""Few frames, nothing that glides, and sixteen colours, whose escape sequences are half as long."""


def settle_environment(link: LinkSpeed, environment: MutableMapping[str, str]) -> None:
    """Set what the screen library reads when it is imported; what its reader has set himself stays."""
    if link == "slow":
        for name, value in _SLOW.items():
            environment.setdefault(name, value)
