"""Runs on the node: writes records, one JSON object per line."""

import json
import os
import threading
import time
from typing import Any


class RecordStream:
    """An output stream of records: a file descriptor, and a clock that counts from the start of the burn-in.

    `orders` are the orders of the supervisor to this process (child.py).
    """

    def __init__(self, out: int, began: float, orders: Any = None) -> None:
        self._out, self._began, self._lock, self.orders = out, began, threading.Lock(), orders

    def clock(self) -> float:
        """Return the seconds since the burn-in began."""
        return time.monotonic() - self._began

    def emit(self, kind: str, **fields: object) -> None:
        """Write a record. Raises OSError if no process reads the records any more."""
        record = dict(fields, k=kind)
        record.setdefault("t", round(self.clock(), 3))
        self._write(json.dumps(record, separators=(",", ":")))

    def ask(self, **words: object) -> None:
        """Write a message to the supervisor; the supervisor does not forward the message to the controller."""
        self._write("!" + json.dumps(words, separators=(",", ":")))

    def _write(self, text: str) -> None:
        data = (text + "\n").encode("ascii")
        with self._lock:
            while data:
                data = data[os.write(self._out, data) :]
