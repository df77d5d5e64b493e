"""Keeps the captures made from the answers to questions, so that equal answers of many nodes are split once.

Nodes of a rack differ in few answers. An answer is known by its digest, since the raw output may contain secrets, which
are kept nowhere; a capture does not contain them any more.
"""

import hashlib
from collections.abc import Callable

from rackcheck.model.capture import NodeCapture
from rackcheck.model.question import Read, Shell
from rackcheck.model.recently_used import RecentlyUsed

BUDGET = 24 << 20
"""Maximum memory of all kept captures, in bytes; a host takes 0.2 to 2 MB."""

ENTRY = 500
"""Memory of an entry besides its texts and files, in bytes, about."""


class KeptAnswers:
    """Captures by question and answer; safe for use by several threads."""

    def __init__(self, budget: int = BUDGET) -> None:
        # The question is kept alive, since its identity is in the key.
        self._kept = RecentlyUsed[tuple[Read | Shell, NodeCapture]](budget)

    def capture(
        self, question: Read | Shell, status: int, out: bytes, err: bytes, size: int, make: Callable[[], NodeCapture]
    ) -> NodeCapture:
        """Return the capture of an answer; `make` makes one that is not kept, of at most `size` bytes."""
        digest = hashlib.blake2b(b"%d %b" % (len(out), out), digest_size=32)
        digest.update(err)
        key = id(question), status, digest.digest()
        kept = self._kept.get(key)
        if kept is not None:
            return kept[1]
        made = make()
        self._kept.put(key, (question, made), size + ENTRY)
        return made


kept_answers = KeptAnswers()
"""The answers that this process has split."""
