"""Applies the schedule of a burn-in to threads: each node's thread waits here to connect, and then to start."""

import threading
import time
from collections.abc import Iterable

from rackcheck.burnin.ramp import NodeLoad, PowerLimits, Ramp
from rackcheck.parse.burnin.plan import PULSE

POLL = 0.1
"""Maximum time, in seconds, until the gate notices that the run was stopped."""

LINGER = PULSE + 1.0
"""Seconds for which power stays reserved for a node that was lost under load.

Such a node ends its load at most one second after PULSE.
"""


class StartGate:
    """The schedule of one run, shared by the threads of its nodes.

    `began` is the start of each node that has started, in seconds after the first start.
    """

    def __init__(self, loads: Iterable[NodeLoad], limits: PowerLimits, stop: threading.Event) -> None:
        """Raises ValueError if a node could never start within the limits."""
        self._ramp = Ramp.of(loads, limits)
        self._stop = stop
        self._zero, self._first = time.monotonic(), 0
        self._changed = threading.Condition()
        self._connect = {load.name: threading.Event() for load in self._ramp.loads}
        self._start = {load.name: threading.Event() for load in self._ramp.loads}
        self.patience = self._ramp.patience
        self.began: dict[str, float] = {}
        self._lingers: dict[str, float] = {}

    def open(self) -> None:
        """Begin to let nodes connect and start in their turn, in a new thread that ends when the run ends."""
        threading.Thread(target=self._run, daemon=True, name="burn-gate").start()

    def may_connect(self, name: str) -> bool:
        """Wait until a node may connect; return false if the run was stopped."""
        self._connect[name].wait()
        return not self._stop.is_set()

    def may_start(self, name: str) -> float | None:
        """Wait until a connected node may start; return its start in seconds, or None if the run was stopped."""
        with self._changed:
            self._ramp = self._ramp.connected(name)
            self._changed.notify()
        self._start[name].wait()
        return None if self._stop.is_set() else self.began.get(name)

    def over(self, name: str, *, whole: bool) -> None:
        """Release the power of a node whose burn-in has ended, or did not start.

        If the node has not reported the end of its load, `whole` is false: its power is released only LINGER s later.
        """
        with self._changed:
            if whole or name not in self.began:
                self._ramp = self._ramp.over(name)
                self._changed.notify()
            else:
                self._lingers[name] = time.monotonic() + LINGER

    def _run(self) -> None:
        try:
            with self._changed:
                while not self._ramp.done and not self._stop.is_set():
                    self._changed.wait(self._turn())
        finally:  # no thread may wait for ever, whatever has happened
            for event in (*self._connect.values(), *self._start.values()):
                event.set()

    def _turn(self) -> float:
        """Let the nodes whose turn it is go on; return the time (s) until the next turn."""
        for name in [name for name, until in self._lingers.items() if until <= time.monotonic()]:
            del self._lingers[name]
            self._ramp = self._ramp.over(name)
        now = int((time.monotonic() - self._zero) * 1000)
        turn = self._ramp.turn(now)
        self._ramp = turn.ramp
        if turn.start and not self.began:
            self._first = now
        for name in turn.start:
            self.began[name] = (now - self._first) / 1000
            self._start[name].set()
        for name in turn.connect:
            self._connect[name].set()
        return POLL if turn.wake is None else min(POLL, max(0.001, (turn.wake - now) / 1000))
