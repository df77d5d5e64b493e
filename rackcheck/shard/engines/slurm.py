"""Runs shards as job arrays of Slurm; the folder of the plan must be on a file system that all its nodes share.

A shard with a reach runs on nodes with this feature (`sbatch -C`), and a shard by node on the node with this name
(`sbatch -w`). Seen with Slurm 22.05.
"""

import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.shard.engines.contract import Carried, Load
from rackcheck.shard.engines.local import words

POLL = 2.0
"""Seconds between two questions to the controller of the cluster: it serves all users."""

PATIENCE = 60.0
"""Maximum seconds for a command of Slurm."""

GONE = 3
"""Number of answers without a job after which it has ended: a job that was just submitted may not be listed yet."""

EXPORTED = ("HOME", "PATH", "LANG", "LC_ALL", "RACKCHECK_HOME", "RACKCHECK_PROGRAM_CACHE", "RACKCHECK_SSH")
"""Variables of the environment that jobs get: Slurm stores them on disk, so that no secret may be among them."""

STUCK = 15
"""Number of answers in a row after which a job that waits for nodes that are down has ended."""

UNAVAILABLE = ("ReqNodeNotAvail", "Nodes required for job are DOWN", "PartitionDown", "PartitionInactive")
"""The begin of the reasons for which a job waits that no other job's end removes."""

LOG = "slurm-%A_%a.log.part"
"""The file for the output of a task, by the numbers of its job and of the task, as sbatch writes it."""

SCRIPT = """\
#!/bin/sh
# Runs one shard of a plan; the number of the task is its place in the list.
set -eu
shift "$SLURM_ARRAY_TASK_ID"
exec sh -c "$1"
"""


@dataclass
class _Array:
    """A submitted array: its job, its shards by task, and the number of answers of the controller without it.

    `stuck` is the number of answers in which all tasks that are left wait for nodes that are down, `why` the reason.
    """

    job: str
    tasks: Mapping[int, Load]
    attempt: int
    gone: int = 0
    stuck: int = 0
    why: str = ""


class SlurmEngine:
    """Submits an array for each reach, and looks for results until all are there or no job is left."""

    def __init__(self, partition: str = "") -> None:
        self.partition = partition

    def carry(self, loads: Sequence[Load], stop: threading.Event) -> Iterator[Carried]:
        """Run all shards; see `Engine`."""
        self._check(loads)
        arrays: list[_Array] = []
        left = {load.number: load for load in loads}
        try:
            arrays.extend(self._submitted(mine, 1) for mine in _by_reach(loads))
            while arrays and not stop.is_set():
                for load in [load for load in left.values() if load.result.exists()]:
                    del left[load.number]
                    yield Carried(load)
                listed = _listed([array.job for array in arrays])
                for array in list(arrays):
                    open_tasks = {task: load for task, load in array.tasks.items() if load.number in left}
                    reasons = listed.get(array.job)
                    array.gone = array.gone + 1 if reasons is None else 0
                    array.why = _unavailable(reasons or ())
                    array.stuck = array.stuck + 1 if array.why else 0
                    if not open_tasks or array.gone >= GONE:
                        arrays.remove(array)
                        yield from self._again(array, open_tasks, arrays)
                    elif array.stuck >= STUCK:
                        arrays.remove(array)
                        _call("scancel", array.job)
                        yield from (Carried(load, f"no node can run it: {array.why}") for load in open_tasks.values())
                stop.wait(POLL if arrays else 0)
        finally:
            if arrays:
                _call("scancel", *(array.job for array in arrays))

    def _again(self, array: _Array, lost: Mapping[int, Load], arrays: list[_Array]) -> Iterator[Carried]:
        """Yield the shards that a job has left without a result, and submit them again."""
        again: list[Load] = []
        for task, load in lost.items():
            last = array.attempt >= load.attempts
            again += [] if last else [load]
            log = load.result.parent / LOG.replace("%A", array.job).replace("%a", str(task))
            yield Carried(load, f"job {array.job} ended without a result{_end_of(log)}", last)
        if again:
            arrays.append(self._submitted(again, array.attempt + 1))

    def _check(self, loads: Sequence[Load]) -> None:
        if shutil.which("sbatch") is None:
            raise UserError("slurm: there is no sbatch on this machine; run rackcheck on a login node of the cluster")
        named = {load.reach for load in loads if load.inband}
        strangers = named - set(_call("sinfo", "-h", "-N", "-o", "%N", *self._where()).split()) if named else set()
        if strangers:
            raise UserError(f"slurm: no node has the name {fold(sorted(strangers))}, as the inventory has it")
        features = set(re.split(r"[,\s]+", _call("sinfo", "-h", "-o", "%f", *self._where())))
        unknown = {load.reach for load in loads if load.reach and not load.inband} - features
        if unknown:
            has = fold(sorted(features - {"(null)", ""})) or "none"
            raise UserError(
                f"slurm: no node has the feature {fold(sorted(unknown))}; there are {has} (--by COUNT needs none)"
            )

    def _where(self) -> list[str]:
        return ["-p", self.partition] if self.partition else []

    def _submitted(self, loads: Sequence[Load], attempt: int) -> _Array:
        tasks = dict(enumerate(loads, start=1))
        place = loads[0].result.parent
        command = [
            "sbatch", "--parsable", "--no-requeue", f"--array=1-{len(tasks)}", "--job-name=rackcheck",
            "--ntasks=1", f"--export={','.join(EXPORTED)}", f"--chdir={place}",
            f"--output={place}/{LOG}", *self._where(),
        ]  # fmt: skip
        if loads[0].reach:
            command.append(f"--{'nodelist' if loads[0].inband else 'constraint'}={loads[0].reach}")
        script = place / "slurm.sh.part"
        script.write_text(SCRIPT, encoding="utf-8")
        found = _call(*command, str(script), "shards", *(shlex.join(words(load)) for load in loads))
        return _Array(found.strip().partition(";")[0], tasks, attempt)


def _by_reach(loads: Sequence[Load]) -> list[list[Load]]:
    found: dict[str, list[Load]] = {}
    for load in loads:
        found.setdefault(load.reach, []).append(load)
    return list(found.values())


def _listed(jobs: Sequence[str]) -> dict[str, list[str]]:
    """Return which of these jobs have a task that waits or runs, with the reason of each task."""
    done = subprocess.run(  # noqa: S603
        ["squeue", "-h", "-o", "%F %r", "-j", ",".join(jobs)],  # noqa: S607  the cluster's own program
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    if done.returncode and "Invalid job id" not in done.stderr:
        return {job: [""] for job in jobs}  # the controller does not answer now: the jobs go on
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        job, _, reason = line.strip().partition(" ")
        found.setdefault(job, []).append(reason.strip())
    return found


def _unavailable(reasons: Sequence[str]) -> str:
    """Return why no task of a job can run, if all of them wait for nodes that are down; else an empty text."""
    stuck = bool(reasons) and all(reason.startswith(UNAVAILABLE) for reason in reasons)
    return clean(reasons[0], 120) if stuck else ""


def _call(*command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  Slurm's own programs
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"slurm: {command[0]}: {error}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise UserError(f"slurm: {command[0]}: {clean(lines[-1], 200) if lines else f'exit status {done.returncode}'}")
    return done.stdout


def _end_of(log: Path) -> str:
    """Return the last line that a task has printed, as the end of a message; empty if there is none."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return f": {clean(lines[-1], 200)}" if lines else ""
