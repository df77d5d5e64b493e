"""The part of `rackcheck audit --on ENGINE`: plans shards, carries them to an engine, and merges their results."""

import shlex
import shutil
import threading
from pathlib import Path

from rackcheck.base import state
from rackcheck.cli.interrupt import stopped_by_ctrl_c
from rackcheck.cli.merge import notes
from rackcheck.session import shard_carry, shard_merge
from rackcheck.session.audit_setup import Prepared
from rackcheck.session.output import note
from rackcheck.session.shard_plan import planned
from rackcheck.shard.engines import engine
from rackcheck.views.summary import Summary, summarize


def on_engine(ready: Prepared, name: str, by: str, *, quiet: bool) -> Summary | None:
    """Run a prepared audit on an engine, store it, and return its summary; None after an interrupt.

    The folder of the plan is removed if all of its results are in the run. Raises UserError if the engine cannot be
    used.
    """
    runner = engine(name)
    folder = state.folder("plans") / ready.job.id
    planned(ready, by, folder)
    stop = threading.Event()
    with stopped_by_ctrl_c(stop):
        failed = shard_carry.carry(folder, runner, stop, (lambda _: None) if quiet else note)
    words = f"rackcheck carry {shlex.quote(str(folder))} --on {shlex.quote(name)}"
    if stop.is_set():
        note(f"To continue: {words}; then rackcheck merge {shlex.quote(str(folder))}")
        return None
    job = ready.job
    results = shard_merge.results_of(folder)
    with shard_merge.scratch(ready.folder) as scratch:
        found = shard_merge.merged(folder, results, Path(scratch))
        lost = shard_merge.missing(job, found)
        if not quiet or lost:
            for line in notes(found, lost, results):
                note(line)
        summary = summarize(
            shard_merge.events(folder, job, found, ready.folder, Path(scratch)), ready.profile, job.waivers
        )
    if failed or lost:
        note(f"The plan is kept: {folder}")
    else:
        shutil.rmtree(folder)
    return summary
