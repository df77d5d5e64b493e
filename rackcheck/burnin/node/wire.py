"""Runs on the node: records to whoever listens, one JSON object a line."""

import json
import os
import threading
import time


class RecordStream:
    """Where records go: a file descriptor, and the clock that all records of a burn-in share."""

    def __init__(self, out: int, began: float) -> None:
        self._out, self._began, self._lock = out, began, threading.Lock()

    def clock(self) -> float:
        """Seconds since the burn-in began."""
        return time.monotonic() - self._began

    def tell(self, kind: str, **fields: object) -> None:
        """Write a record; raises OSError where nobody listens any more."""
        record = dict(fields, k=kind)
        record.setdefault("t", round(self.clock(), 3))
        self._write(json.dumps(record, separators=(",", ":")))

    def ask(self, **words: object) -> None:
        """Write a word for the supervisor, which does not hand it on."""
        self._write("!" + json.dumps(words, separators=(",", ":")))

    def _write(self, text: str) -> None:
        data = (text + "\n").encode("ascii")
        with self._lock:
            while data:
                data = data[os.write(self._out, data) :]
