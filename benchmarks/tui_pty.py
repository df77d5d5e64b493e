"""A terminal for benchmarks: runs a command on its own pty, reads at a link's rate, types, and measures.

It answers only the cursor query after a frame, once that has come through the link:
like tmux before 3.7 it does not report synchronized output.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

QUESTION, ANSWER = b"\x1b[6n", b"\x1b[1;1R"
_KEPT = 200_000


@dataclass
class Terminal:
    """A running command on its pty; `link` is the rate of reading in bytes per second, 0 for no limit."""

    command: Sequence[str]
    size: tuple[int, int] = (200, 50)
    link: float = 0
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self.took = 0
        self.seen = b""
        self._allowed = 0.0
        self._refilled = self.began
        self._answered = 0
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        for name in [name for name in environment if name.startswith("TEXTUAL") or name == "NO_COLOR"]:
            del environment[name]
        width, height = self.size
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            os.execvpe(self.command[0], list(self.command), {**environment, **self.environment})  # noqa: S606

    def wait(self, needle: bytes, seconds: float) -> float | None:
        """Read until a pattern appears from here on; return the seconds, or None."""
        began, self.seen = time.monotonic(), b""
        return time.monotonic() - began if self._read(lambda: needle in self.seen, seconds) else None

    def rest(self, seconds: float) -> None:
        """Read for this many seconds."""
        self._read(lambda: False, seconds)

    def press(self, key: bytes, needle: bytes, seconds: float = 30) -> float | None:
        """Type a key and return the seconds until its drawing has come through; None where it does not."""
        os.write(self.fd, key)
        return self.wait(needle, seconds)

    def cpu(self) -> float:
        """CPU seconds that the command has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Peak memory of the command in megabytes."""
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        return int(found[1]) / 1000 if found else 0.0

    def close(self) -> None:
        """End the command."""
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.fd)

    def _read(self, enough: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not enough():
            now = time.monotonic()
            if now >= end:
                return False
            if self.link:
                self._allowed = min(self._allowed + (now - self._refilled) * self.link, self.link * 0.05)
                self._refilled = now
                if self._allowed < 64:
                    time.sleep(min(64 / self.link, end - now))
                    continue
            if not select.select([self.fd], [], [], min(0.01, end - now))[0]:
                continue
            try:
                data = os.read(self.fd, int(self._allowed) if self.link else 65536)
            except OSError:
                print("the command has ended:", self.seen[-2000:].decode(errors="replace"), file=sys.stderr)
                return False
            self._allowed -= len(data)
            self._take(data)
        return True

    def _take(self, data: bytes) -> None:
        before = self.seen[-len(QUESTION) + 1 :]
        self.took += len(data)
        self.seen = (self.seen + data)[-_KEPT:]
        for _ in range((before + data).count(QUESTION) - before.count(QUESTION)):
            os.write(self.fd, ANSWER)
