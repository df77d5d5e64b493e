"""Merges the results of shards into a run, and judges it: the same bytes for any number of files, in any order."""

import gzip
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane, Reason, Unknown, clean
from rackcheck.run import raw_reply, resumed, store
from rackcheck.run.asking import PlaneQueue, wanted
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered, Event, RunDone
from rackcheck.run.job import Job
from rackcheck.run.raw_reply import DAMAGED
from rackcheck.run.run_writer import RunWriter
from rackcheck.session.shard_plan import RESULTS, RUN, digest_of, shards_of
from rackcheck.session.stored import stored_job
from rackcheck.shard import result
from rackcheck.shard.document import Shard
from rackcheck.shard.result import PART, ResultReader

NOT_ASKED = Unknown(Reason.NOT_COLLECTED, "not asked: no result of a shard has this plane")
"""The reason of a plane that no result has."""


@dataclass
class Merged:
    """The answers of all results: the first complete one for each plane, and what was found in the files.

    `twice` counts the answers of planes that have more than one; `damaged` are files with a damage, and what it is.
    """

    answers: dict[resumed.Key, Answered] = field(default_factory=dict)
    twice: dict[resumed.Key, int] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    files: int = 0

    def add(self, answer: Answered) -> Answered | None:
        """Add an answer; return the answer that it replaces, or itself if it is not used."""
        key = resumed.key(answer)
        before = self.answers.get(key)
        if before is None:
            self.answers[key] = answer
            return None
        self.twice[key] = self.twice.get(key, 1) + 1
        first = min(before, answer, key=_rank)
        self.answers[key] = first
        return answer if first is before else before


def _rank(answer: Answered) -> tuple[int, str, str, str]:
    """Return by what the answers of a plane are compared: a whole reply counts before a reason, the earlier one first.

    The order in which files are read makes no difference.
    """
    whole = 0 if answer.digest and answer.trouble is None else 1 if answer.digest else 2
    return whole, answer.time, answer.digest, str(answer.trouble)


def merged(folder: Path, results: Sequence[Path], raw: Path) -> Merged:
    """Read results, and write the replies of their answers into the folder `raw`.

    Raises UserError if a file cannot be read, or is a result of another plan; nothing of a plan's folder is changed.
    """
    shards = {shard.number: shard for shard in shards_of(folder)}
    for path in results:
        with ResultReader(path) as reader:
            _shard_of(reader, shards)
    found = Merged()
    used: dict[str, int] = {}
    for path in results:
        with ResultReader(path) as reader:
            shard = _shard_of(reader, shards)
            names = {node.name for node in shard.nodes}
            for part in reader.parts(4 * len(names)):
                if part.answer.node not in names:
                    reader.damage = f"{clean(part.answer.node, 60)} is no node of its shard"
                    break
                answer, reply = _readable(part)
                lost = found.add(answer)
                if lost is not answer and reply:
                    used[answer.digest] = used.get(answer.digest, 0) + 1
                    _keep(raw, answer.digest, reply)
                if lost is not None and lost is not answer and lost.digest:
                    used[lost.digest] -= 1
                    if not used[lost.digest]:
                        (raw / f"{lost.digest}.json.gz").unlink()
            if reader.damage:
                found.damaged[str(path)] = reader.damage
        found.files += 1
    return found


def _shard_of(reader: ResultReader, shards: Mapping[int, Shard]) -> Shard:
    number = reader.head.get("shard")
    shard = shards.get(number) if isinstance(number, int) else None
    if shard is None or not reader.is_of(shard):
        raise UserError(f"{reader.path} is a result of another plan")
    return shard


def _readable(part: result.Part) -> tuple[Answered, bytes]:
    """Return an answer and its reply; an invalid reply costs its plane, with the reason, and no other one."""
    try:
        result.captured(part)
    except DAMAGED as error:
        why = f"the reply of the result has an invalid form: {clean(repr(error), 100)}"
        return replace(part.answer, digest="", trouble=Unknown(Reason.UNPARSABLE, why)), b""
    return part.answer, part.reply


def _keep(raw: Path, digest: str, reply: bytes) -> None:
    path = raw / f"{digest}.json.gz"
    if not path.exists():
        path.write_bytes(gzip.compress(reply, compresslevel=raw_reply.LEVEL, mtime=0))


def results_of(folder: Path) -> list[Path]:
    """Return the complete results in the folder of a plan."""
    return [path for path in sorted((folder / RESULTS).glob("*")) if PART not in path.suffixes]


def run_of(folder: Path) -> tuple[store.Stored, Job]:
    """Return the beginning of a plan's run, and its job; raises UserError if the plan is damaged."""
    digest_of(folder)
    stored = store.find(str(folder / RUN))
    return stored, stored_job(stored)


def events(folder: Path, job: Job, found: Merged, target: Path, raw: Path) -> Iterator[Event]:
    """Judge the answers, store the run in a new folder, and yield its events.

    The same answers give the same bytes, in whatever files they came.
    """
    stored, _ = run_of(folder)
    head_doc = {name: value for name, value in stored.head.items() if name != "rackcheck"}
    texts = [
        {path.name: path.read_text(encoding="utf-8") for path in sorted((stored.folder / name).glob("*"))}
        for name in ("profile", "waivers")
    ]
    with RunWriter(target, head_doc, texts[0], texts[1]) as writer:
        for path in raw.iterdir():
            shutil.move(path, target / "raw" / path.name)
        raw_reply.synced(target / "raw")
        last = max((answer.time for answer in found.answers.values()), default=job.time)
        answers = _sorted(job, found, store.find(str(target)))
        for event in replay(job, answers, RunDone(max(last, job.time), Outcome.PASS)):
            yield writer.write(event)


def _sorted(job: Job, found: Merged, run: store.Stored) -> Iterator[Answered]:
    """Yield the answer of each plane in the order of the inventory; a plane without one has the reason.

    Replies are read from the run when they are judged: those of a hall do not fit into memory.
    """
    for node in job.nodes:
        for plane, reading in sorted(_expected(node, job)):
            answer = found.answers.get((node.name, plane, reading))
            if answer is None:
                first = found.answers.get((node.name, plane, 1))
                if reading == 1 or (first is not None and first.digest):
                    yield Answered(node.name, plane, job.time, NOT_ASKED, reading=reading)
            elif answer.digest:
                yield replace(answer, capture=run.held(answer.digest, plane))
            else:
                yield answer


def _expected(node: Node, job: Job) -> frozenset[PlaneQueue]:
    """Return the planes of a node that a shard reads, each with the number of its reading."""
    burn = {(Plane.BURNIN, 1)} if Plane.BURNIN in job.planes and node.host else set()
    return wanted(node, job) | burn


def missing(job: Job, found: Merged) -> list[str]:
    """Return the nodes of which no result has the first reading of a plane."""
    return [
        node.name
        for node in job.nodes
        if any(reading == 1 and (node.name, plane, 1) not in found.answers for plane, reading in _expected(node, job))
    ]


def scratch(target: Path) -> "tempfile.TemporaryDirectory[str]":
    """Return a folder for replies beside the later run, which is removed at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=target.parent, prefix=".merge-")
