"""A terminal of a given size in a separate tmux, in which keys are typed and whose screen is read."""

import shlex
import subprocess
import time
from pathlib import Path


class Tmux:
    """A terminal in a separate tmux, which listens at `socket`."""

    def __init__(self, socket: Path, environment: dict[str, str]) -> None:
        self._words = ["tmux", "-u", "-S", str(socket), "-f", "/dev/null"]
        self._environment = environment

    def do(self, *words: str) -> str:
        done = subprocess.run(
            [*self._words, *words], env=self._environment, capture_output=True, text=True, timeout=20, check=False
        )
        assert done.returncode == 0, f"tmux {shlex.join(words)}: {done.stderr}"
        return done.stdout

    def screen(self) -> str:
        return self.do("capture-pane", "-p")

    def type(self, *keys: str) -> None:
        for key in keys:
            if key.startswith("="):
                self.do("send-keys", "-l", key[1:])
            else:
                self.do("send-keys", key)
            time.sleep(0.05)

    def until(self, *words: str, seconds: float = 20) -> str:
        """Wait until all these words are on the screen and it no longer changes; return its text."""
        end, before = time.monotonic() + seconds, ""
        while time.monotonic() < end:
            now = self.screen()
            if now == before and all(word in now for word in words):
                return now
            before = now
            time.sleep(0.25)
        raise AssertionError(f"{words} did not come to be on the screen:\n{before}")
