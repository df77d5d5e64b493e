"""The memory for replies in flight: a budget that all planes of a run share, and the allowance of each plane.

Sizes are bytes of this process, and an upper bound of what is really held: a parsed reply takes several times the bytes
of the network. A plane takes no memory until its node has answered, so that hundreds of silent nodes can be waited for;
its reply is read only if the budget has room for an ordinary reply. A larger reply grows while there is room; without
room it waits, except for one reply at a time, for which a reserve is kept. So the budget is never exceeded, and a reply
that waits gets memory sooner or later.
"""

import math
import threading
import time

from rackcheck.model.fact import Reason, Unknown

MIB = 1 << 20

DEFAULT = 512 * MIB
"""Default memory for the replies in flight of a run."""

LARGEST = 192 * MIB
"""Maximum memory of one plane's reply, including the copies that are made while it is parsed.

A reply of the maximum size (32 MiB) takes 96 MiB if all characters are ASCII. This is also the reserve of a budget.
"""

LEAST = LARGEST + 64 * MIB
"""Minimum memory of a budget."""

ORDINARY = 4 * MIB
"""Memory that a plane gets before it is read: enough for most BMCs and hosts, so that these never wait while read.

A DGX H100 takes 2 to 3 MiB for its BMC, and 4 to 8 MiB for its operating system.
"""

LARGE = 8 * MIB
"""A reply with more memory is written to disk as soon as it is complete; the replies of most nodes take less."""

STEP = MIB
"""The amount by which an allowance grows; a smaller one would lock the budget for each chunk of a reply."""

POLL = 0.2
"""Seconds between two checks of a reply that grows for an interrupt."""

ENTRY_POLL = 1.0
"""Seconds between two checks of a plane that waits to be read for an interrupt: hundreds of planes may wait."""

PATIENCE = 10.0
"""Maximum seconds that the judging of a node waits until replies that are being read have released memory."""


INTERRUPTED = Unknown(Reason.NOT_COLLECTED, "interrupted")


class MemoryBudget:
    """The memory of a run's replies, in bytes; safe for use by several threads.

    `most` is the highest number of bytes that were held at the same time.
    """

    def __init__(self, size: int = DEFAULT) -> None:
        self.size = max(size, LEAST)
        self.held = self.most = 0
        self._shared = 0
        self._pool = self.size - LARGEST
        self._growing = 0
        lock = threading.Lock()
        self._changed, self._entry = threading.Condition(lock), threading.Condition(lock)
        self._reserved_by: Allowance | None = None

    def admit(self, allowance: "Allowance") -> Unknown | None:
        """Wait until there is room for an ordinary reply, and take its memory; return the reason after an interrupt.

        A fifth of the shared memory is left for replies that grow.
        """
        with self._changed:
            while not self._enter(allowance):
                if allowance.stop.is_set():
                    return INTERRUPTED
                self._entry.wait(ENTRY_POLL)
            return None

    def try_admit(self, allowance: "Allowance") -> bool:
        """Take the memory of an ordinary reply if there is room for it now; return whether there was."""
        with self._changed:
            return self._enter(allowance)

    def _enter(self, allowance: "Allowance") -> bool:
        if self._shared + ORDINARY > self._pool * 4 // 5:
            return False
        self._take(allowance, ORDINARY)
        self._entry.notify()  # there may be room for another one
        return True

    def keep_free(self, size: int) -> None:
        """Keep `size` bytes for replies that are read back from disk, now and until the end of the run.

        Waits for them, at most `PATIENCE` seconds: the replies that are being read must first be complete.
        """
        end = time.monotonic() + PATIENCE
        with self._changed:
            self._pool = min(self._pool, max(self.size - LARGEST - size, 2 * ORDINARY))
            while self.held + size > self.size and self._growing and time.monotonic() < end:
                self._changed.wait(POLL)

    def complete(self, allowance: "Allowance") -> None:
        """Count a reply no longer as being read."""
        with self._changed:
            self._growing -= allowance.growing
            allowance.growing = False
            self._changed.notify_all()

    def grow(self, allowance: "Allowance", size: int) -> Unknown | None:
        """Wait until an allowance can grow by `size`; return the reason if it cannot."""
        if allowance.granted + size > 2 * LARGE:
            from rackcheck.transport.allocator import return_large_blocks  # noqa: PLC0415  few runs need `ctypes`

            return_large_blocks()
        with self._changed:
            if allowance.granted + size > LARGEST:
                return Unknown(Reason.TOO_LARGE, f"the reply needs more than {LARGEST // MIB} MiB of memory")
            while not self._has_room(allowance, size):
                if allowance.stop.is_set():
                    return INTERRUPTED
                left = allowance.until - time.monotonic()
                if left <= 0:
                    return Unknown(
                        Reason.TIMEOUT,
                        f"no memory was free in time: other replies take the limit of {self.size // MIB} MiB",
                    )
                self._changed.wait(min(POLL, left))
            self._take(allowance, size)
            return None

    def release(self, allowance: "Allowance", size: int) -> None:
        """Take memory back from an allowance; without any memory, it also gives up the reserve."""
        with self._changed:
            self._take(allowance, -size)
            if self._reserved_by is allowance and not allowance.granted:
                self._reserved_by = None
            self._changed.notify_all()
            self._entry.notify()

    def has_reserve(self, allowance: "Allowance") -> bool:
        """Return whether a reply uses the reserve, so that it must not be held until its node is judged."""
        return self._reserved_by is allowance

    def _has_room(self, allowance: "Allowance", size: int) -> bool:
        """Return whether an allowance can grow, and assign the reserve to it if it needs the reserve."""
        if self._reserved_by is allowance or self._shared + size <= self._pool:
            return True
        if self._reserved_by is not None:
            return False
        self._reserved_by = allowance
        self._shared -= allowance.granted
        self._changed.notify_all()
        self._entry.notify()
        return True

    def _take(self, allowance: "Allowance", size: int) -> None:
        if size > 0 and not allowance.growing:
            allowance.growing = True
            self._growing += 1
        allowance.granted += size
        self.held += size
        self.most = max(self.most, self.held)
        if self._reserved_by is not allowance:
            self._shared += size


class Allowance:
    """The memory of one plane's reply: `granted` by the budget, and `used` by the reply; both in bytes.

    Safe for use by several threads. `until` is the time of the monotonic clock until which the reply waits for memory.
    `growing` is true from its first memory until it is complete. An allowance without a budget is unlimited.
    """

    def __init__(self, budget: MemoryBudget | None = None, stop: threading.Event | None = None) -> None:
        self.budget, self.stop = budget, stop or threading.Event()
        self.granted = self.used = 0
        self.growing = False
        self.until = math.inf
        self._lock = threading.Lock()

    def admit(self) -> Unknown | None:
        """Wait for the memory of an ordinary reply; return the reason after an interrupt.

        Called once, when the node has answered and before its reply is read. The wait is no time of the node: the
        caller extends the node's deadline by it.
        """
        return self.budget.admit(self) if self.budget is not None else None

    def try_admit(self) -> bool:
        """Take the memory of an ordinary reply, and return true; return false if `admit` would have to wait for it."""
        return self.budget is None or self.budget.try_admit(self)

    def add(self, size: int) -> Unknown | None:
        """Use `size` more bytes, and wait for them if needed; return the reason if the reply must be cut."""
        with self._lock:
            missing = self.used + size - self.granted
            if self.budget is not None and missing > 0:
                why = self.budget.grow(self, -(-missing // STEP) * STEP)
                if why is not None:
                    return why
            self.used += size
            return None

    def give(self, size: int) -> None:
        """Use `size` bytes less; the bytes stay granted, because most replies need them again."""
        with self._lock:
            self.used -= size

    def settle(self) -> None:
        """Return the memory that is granted and not used, when the reply is complete."""
        with self._lock:
            self._release(self.granted - self.used)
        if self.budget is not None:
            self.budget.complete(self)

    def close(self) -> None:
        """Return all memory, when the reply is no longer held."""
        with self._lock:
            self.used = 0
            self._release(self.granted)

    def _release(self, size: int) -> None:
        if self.budget is not None and size > 0:
            self.budget.release(self, size)
