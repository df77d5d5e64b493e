"""What every engine does; all of them may run a shard more than once, and the merge accepts that."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ATTEMPTS = 3
"""Maximum number of times that an engine runs a shard."""


@dataclass(frozen=True, slots=True)
class Load:
    """A shard to run: its file, the place of its result, and what its nodes share.

    A shard that puts nodes under load is run `once`, whatever happens to it. An `inband` shard runs on the node that is
    its reach.
    """

    number: int
    file: Path
    result: Path
    reach: str
    once: bool = False
    inband: bool = False

    @property
    def attempts(self) -> int:
        """Maximum number of times that an engine runs this shard."""
        return 1 if self.once else ATTEMPTS


@dataclass(frozen=True, slots=True)
class Carried:
    """The end of an attempt: the result is there, or why it is not; `last` is false if the shard is run again."""

    load: Load
    why: str = ""
    last: bool = True


class Engine(Protocol):
    """Runs shards, each in a process `rackcheck run-shard`, and yields their ends in any order."""

    def carry(self, loads: Sequence[Load], stop: threading.Event) -> Iterator[Carried]:
        """Run all shards; if `stop` is set, end soon, and leave no process behind that this engine can end.

        Raises UserError if the engine cannot be used.
        """
