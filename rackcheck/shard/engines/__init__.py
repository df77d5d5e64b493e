"""Engines that run shards elsewhere; all of them may run a shard more than once, and the merge accepts that."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rackcheck.base.user_error import UserError
from rackcheck.profile.layers import did_you_mean

ATTEMPTS = 3
"""Maximum number of times that an engine runs a shard."""


@dataclass(frozen=True, slots=True)
class Load:
    """A shard to run: its file, the place of its result, and what its nodes share."""

    number: int
    file: Path
    result: Path
    reach: str


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


NAMES = ("local", "local:COUNT", "slurm", "slurm:PARTITION", "dask://HOST:PORT", "dask+tls://HOST:PORT")
"""The forms of an engine's name."""


def engine(name: str) -> Engine:
    """Return the engine of a name; raises UserError if there is none."""
    kind, mark, rest = name.partition(":")
    if kind == "local" and (not mark or (rest.isdecimal() and 0 < int(rest) <= 1000)):
        from rackcheck.shard.engines.local import LocalEngine  # noqa: PLC0415  only the engine in use is loaded

        return LocalEngine(int(rest) if rest else None)
    if kind == "slurm" and (not mark or rest):
        from rackcheck.shard.engines.slurm import SlurmEngine  # noqa: PLC0415

        return SlurmEngine(rest)
    if kind in {"dask", "dask+tls"} and rest.startswith("//") and len(rest) > 2:
        from rackcheck.shard.engines.dask import DaskEngine  # noqa: PLC0415

        return DaskEngine(f"{'tls' if kind == 'dask+tls' else 'tcp'}:{rest}")
    hint = did_you_mean(name, NAMES)
    raise UserError(f"no engine {name!r:.80}{hint}; there are {', '.join(NAMES)}")
