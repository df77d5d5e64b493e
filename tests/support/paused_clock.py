"""A clock of Textual's timers that jumps, as it does when this process is not executed for a moment."""

from types import SimpleNamespace

import pytest
from textual._time import get_time


def paused_clock(monkeypatch: pytest.MonkeyPatch, pause: float) -> None:
    """Let every second reading of the clock come after a pause of so many seconds.

    Not every reading: a repeated timer that is late reads the clock until it is not.
    """
    readings = [0]

    def paused() -> float:
        readings[0] += 1
        return get_time() + readings[0] // 2 * pause

    monkeypatch.setattr("textual.timer._time", SimpleNamespace(get_time=paused))
