"""Settings of the screen library for a slow link: made before it is loaded, so nothing of it is imported here."""

from collections.abc import MutableMapping
from typing import Literal

LinkSpeed = Literal["auto", "slow"]

_SLOW = {
    "TEXTUAL_FPS": "20",
    "TEXTUAL_ANIMATIONS": "none",
    "TEXTUAL_SMOOTH_SCROLL": "0",
    "TEXTUAL_COLOR_SYSTEM": "standard",
}
"""Few frames, no animations, and sixteen colours, whose escape sequences are half as long."""


def settle_environment(link: LinkSpeed, environment: MutableMapping[str, str]) -> None:
    """Set the variables that the screen library reads on import; values set by the user stay."""
    if link == "slow":
        for name, value in _SLOW.items():
            environment.setdefault(name, value)
