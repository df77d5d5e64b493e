"""Keeps the captures made from the answers to questions, so that equal answers of many nodes are split once.

Nodes of a rack differ in few answers. An answer is known by its digest, since the raw output may contain secrets, which
are kept nowhere; a capture does not contain them any more.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from rackcheck.model.capture import NodeCapture
from rackcheck.model.question import Read, Shell

BUDGET = 24 << 20
"""Maximum memory of all kept captures, in bytes; a host takes 0.2 to 2 MB."""

LARGEST = 8
"""One capture may take at most this part of the budget."""

ENTRY = 500
"""Memory of an entry besides its texts and files, in bytes, about."""

_Key = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class _Kept:
    question: Read | Shell  # kept alive, since its identity is in the key
    capture: NodeCapture
    size: int


class KeptAnswers:
    """Captures by question and answer; the least recently used is dropped first. Safe for use by several threads."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget, self._size = budget, 0
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def capture(
        self, question: Read | Shell, status: int, out: bytes, err: bytes, size: int, make: Callable[[], NodeCapture]
    ) -> NodeCapture:
        """Return the capture of an answer; `make` makes one that is not kept, of at most `size` bytes."""
        digest = hashlib.blake2b(b"%d %b" % (len(out), out), digest_size=32)
        digest.update(err)
        key = id(question), status, digest.digest()
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept.capture
        new = _Kept(question, make(), size + ENTRY)
        if new.size <= self._budget // LARGEST:
            with self._lock:
                before = self._kept.pop(key, None)
                self._kept[key] = new
                self._size += new.size - (before.size if before is not None else 0)
                while self._size > self._budget:
                    self._size -= self._kept.popitem(last=False)[1].size
        return new.capture


kept_answers = KeptAnswers()
"""The answers that this process has split."""
