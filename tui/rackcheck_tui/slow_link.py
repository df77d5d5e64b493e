"""Settings of Textual for a slow link, made before Textual is loaded: this module must not import Textual."""

from collections.abc import MutableMapping
from typing import Literal

LinkSpeed = Literal["auto", "slow"]

_SLOW = {
    "TEXTUAL_FPS": "20",
    "TEXTUAL_ANIMATIONS": "none",
    "TEXTUAL_SMOOTH_SCROLL": "0",
    "TEXTUAL_COLOR_SYSTEM": "standard",
}
"""Few frames, no animations, and sixteen colours, since escape sequences of sixteen colours are half as long."""


def settle_environment(link: LinkSpeed, environment: MutableMapping[str, str]) -> None:
    """Set the variables that Textual reads when it is imported; variables that the user set are not changed."""
    if link == "slow":
        for name, value in _SLOW.items():
            environment.setdefault(name, value)
