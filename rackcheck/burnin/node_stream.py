"""Runs one burn-in over a stream: sends the burn-in, keeps its records, and stops it on an interrupt."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.transport.wire import CommandStream

CAP = 64 << 20
"""Maximum size of one burn-in's output, in bytes: a soak of eight GPUs writes about ten million."""

LONGEST = 1 << 20
"""Maximum size of one record, in bytes."""

MOST = 400_000
"""Maximum number of records of one burn-in: a soak of eight GPUs has about 60,000."""

DEPTH = 6
"""Maximum nesting depth of a record; the deepest records of a burn-in list the GPUs by index with their values."""

NOISE = 100
"""Maximum number of output lines that are kept although they are not records."""

PULSE = 1.0
"""Seconds between two keep-alives to the node."""

TURN = 0.2
"""Time, in seconds, after which a burn-in looks whether the run was interrupted, if the node sends nothing."""

LEAVING = 3.0
"""Time, in seconds, that a burn-in has to send its last records after its input was closed."""

OURS = "bmc"
"""The part whose records only the controller adds; a record about it is not accepted from a node."""

NO_PYTHON = 127
"""A shell's exit status for a missing command."""

Hear = Callable[[tuple[Mapping[str, Any], ...]], None]


@dataclass
class Talk:
    """One burn-in on its stream; other threads may read `records` while the burn-in runs.

    `turn` waits until the node may start, and returns the seconds since the first node's start; None means that the
    run was stopped, and then nothing is sent. The record `hello` receives these seconds as `began`.
    """

    text: bytes
    stop: Event
    hear: Hear
    hide: Callable[[bytes], bytes] = bytes
    clean: Callable[[Any], Any] = lambda record: record
    records: list[Mapping[str, Any]] = field(default_factory=list)
    offset: float | None = None
    ended: bool = False
    began: float = 0.0
    turn: Callable[[], float | None] = lambda: 0.0
    _lock: Lock = field(default_factory=Lock)
    _rest: bytes = b""
    _size: int = 0
    _noise: int = 0

    def __call__(self, line: CommandStream) -> Unknown:
        """Run the burn-in to its end; return why the stream has ended."""
        try:
            began = self.turn()
            if began is None:
                return Unknown(Reason.NOT_COLLECTED, "the run was interrupted")
            self.began = began
            line.send(self.text, 30.0)
            return self._listen(line)
        except OSError as error:
            status, message = line.ended()
            if status == NO_PYTHON:
                return Unknown(Reason.TOOL_MISSING, "no python3 on this node")
            text = message or clean(str(error)) or type(error).__name__
            return Unknown(Reason.UNREACHABLE, f"the connection broke: {text}")
        finally:
            line.close()

    def add(self, record: Mapping[str, Any]) -> None:
        """Add a record of the controller to the node's records."""
        with self._lock:
            self.records.append(record)
        self.hear((record,))

    def since(self) -> float | None:
        """Return the seconds since the burn-in began, on the node's clock; None before the node's first record."""
        return None if self.offset is None else time.monotonic() - self.offset

    def _listen(self, line: CommandStream) -> Unknown:
        left, pulsed, mute = 0.0, time.monotonic(), False
        while True:
            data = line.receive(TURN)
            now = time.monotonic()
            if data == b"":
                break
            if data is not None:
                self._take(data)
            if self._size > CAP or len(self.records) > MOST:
                return Unknown(Reason.TOO_LARGE, f"more than {CAP >> 20} MiB, or {MOST} records")
            if self.stop.is_set() and not left:
                left = now
                line.finish()
            if left and now - left > LEAVING:
                return Unknown(Reason.NOT_COLLECTED, "the run was interrupted")
            if not left and not mute and now - pulsed > PULSE and not self.ended:
                pulsed = now
                try:
                    line.send(b"\n", 10.0)
                except OSError:  # the burn-in has ended, but its last output is still unread
                    mute = True
        if self._rest:
            self._take(b"\n")
        if self.ended:
            return Unknown(Reason.NOT_COLLECTED, "the burn-in ended")
        status, message = line.ended()
        if status == NO_PYTHON and not self.records:
            return Unknown(Reason.TOOL_MISSING, "no python3 on this node")
        what = f"; its output: {message}" if message else ""
        return Unknown(Reason.UNREACHABLE, clean(f"the burn-in ended without a verdict{what}"))

    def _take(self, data: bytes) -> None:
        self._size += len(data)
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > LONGEST:
            lines.append(self._rest)
            self._rest = b""
        came = [record for line in lines if (record := self._record(line)) is not None]
        if came:
            with self._lock:
                self.records += came
            self.hear(tuple(came))

    def _record(self, line: bytes) -> Mapping[str, Any] | None:
        """Parse a line; the first NOISE lines that are not valid records are kept as text, cut to 200 characters."""
        if not line.strip():
            return None
        try:
            record = json.loads(self.hide(line)) if len(line) <= LONGEST else None
            if not isinstance(record, dict) or _deep(record) or record.get("of") == OURS:
                raise TypeError  # noqa: TRY301  handled the same, whatever it is
            record = self.clean(record)
            assert isinstance(record, dict)
        except (ValueError, TypeError, RecursionError):
            self._noise += 1
            if self._noise > NOISE:
                return None
            return {"k": "noise", "said": clean(self.hide(line)[:200].decode("utf-8", "replace"))}
        t = record.get("t")
        if isinstance(t, int | float) and not isinstance(t, bool) and abs(t) < 1e6:
            offset = time.monotonic() - t
            self.offset = offset if self.offset is None else min(self.offset, offset)
        self.ended = self.ended or record.get("k") == "verdict"
        return {**record, "began": round(self.began, 3)} if record.get("k") == "hello" else record


def _deep(record: Mapping[str, Any]) -> bool:
    """Return whether a record is nested too deeply for the code that later recurses into records."""
    level: list[Any] = [record]
    for _ in range(DEPTH):
        level = [inner for each in level if isinstance(each, dict | list) for inner in _within(each)]
        if not level:
            return False
    return True


def _within(each: Any) -> list[Any]:
    return list(each.values()) if isinstance(each, dict) else each
