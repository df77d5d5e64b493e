"""Carries the shards of a plan to an engine, and waits for their results."""

import threading
from collections.abc import Callable
from pathlib import Path

from rackcheck.session.shard_plan import RESULTS, SHARDS, shards_of
from rackcheck.shard.engines.contract import Engine, Load
from rackcheck.views.summary import several


def loads(folder: Path) -> list[Load]:
    """Return the shards of a plan that have no result yet."""
    found = [
        Load(
            shard.number,
            folder / SHARDS / f"{shard.name}.json",
            folder / RESULTS / shard.name,
            shard.reach,
            shard.burn is not None,
            shard.inband,
        )
        for shard in shards_of(folder)
    ]
    return [load for load in found if not load.result.exists()]


def carry(folder: Path, engine: Engine, stop: threading.Event, tell: Callable[[str], None]) -> list[int]:
    """Run the shards of a plan that have no result; return the numbers of those that failed.

    `tell` is called with the progress, and with each failure.
    """
    missing = loads(folder.absolute())
    failed: list[int] = []
    done = 0
    if missing:
        tell(f"{several(len(missing), 'shard')} to ask")
    for ended in engine.carry(missing, stop):
        if ended.why:
            tell(f"rackcheck: shard {ended.load.number}: {ended.why}{'' if ended.last else '; it is run again'}")
            failed += [ended.load.number] if ended.last else []
        else:
            done += 1
            tell(f"{done} of {several(len(missing), 'shard')} done")
    return sorted(failed)
