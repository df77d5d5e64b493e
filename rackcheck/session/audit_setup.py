"""An audit that is ready to start: the nodes that it reads, its profile, and the folder in which the run is stored."""

import getpass
import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node, Rack
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase, Profile
from rackcheck.probe.group import Seat
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import Answered, Event, FactsRead
from rackcheck.run.job import Again, Job, new_id, now
from rackcheck.run.kept_facts import kept_facts
from rackcheck.run.look_ahead import wanted_workers
from rackcheck.run.raw_reply import RawFolder
from rackcheck.run.resumed import ResumedWriter
from rackcheck.run.run_writer import EventsWriter, RunWriter
from rackcheck.run.stored_replies import StoredReplies
from rackcheck.session import cli_choices
from rackcheck.session.output import note
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import secrets_of
from rackcheck.signoff import waivers
from rackcheck.signoff.waivers import File
from rackcheck.transport.memory import DEFAULT

CONFIG = frozenset({Phase.CONFIG})


@dataclass(frozen=True)
class Prepared:
    """A prepared audit; `given` contains site values, `files` the waiver files, `own` the waivers in the profile.

    `again_of` is the id of the earlier run whose nodes the audit reads again; the run name `last` skips such an audit.
    If the audit continues the run `resumed`, `there` are the answers that this run has.
    """

    job: Job
    folder: Path
    given: Mapping[str, str]
    files: tuple[File, ...]
    own: tuple[File, ...]
    racks: Mapping[str, Rack]
    again_of: str = ""
    pdus: Mapping[str, int] = field(default_factory=dict)
    resumed: store.Stored | None = None
    there: tuple[Answered, ...] = ()

    @property
    def profile(self) -> Profile:
        """The profile that the audit applies."""
        assert self.job.profile is not None
        return self.job.profile

    def once_more(self, nodes: Sequence[Node]) -> "Prepared":
        """Return the same audit for some of its nodes, as a separate run, without prompting for secrets again."""
        job = replace(
            self.job, nodes=tuple(nodes), id=new_id(), time=now(), targets=f"{len(nodes)} of {self.job.targets}"
        )
        return replace(
            self, job=job, folder=store.runs_folder() / job.id, again_of=self.again_of or self.job.id, resumed=None,
            there=(),
        )  # fmt: skip

    def _writer(self) -> EventsWriter:
        """Begin the run on disk, or continue it."""
        if self.resumed is not None:
            return ResumedWriter(self.resumed, self.there)
        texts = {file.name: file.text for file in self.files}
        return RunWriter(self.folder, head(self), self.profile.files, texts)

    def run(
        self, stop: threading.Event, tell: Callable[[str], None] = note, drive: "Drive | None" = None
    ) -> Iterator[Event]:
        """Run the audit; store and yield each event. Raises UserError if the run cannot be created.

        Each yielded event `answered` has the digest of its reply. `tell` is called with errors that affect the stored
        run but not the verdicts. If `drive` is not None, the function `drive` runs the job in place of the usual audit.
        """
        writer = self._writer()
        job = replace(self.job, stored=StoredReplies()) if drive is None else self.job
        events = drive(job, stop) if drive is not None else audit(job, ask_plane, stop, self.there)
        try:
            yield from _with_kept_facts(job, _kept(events, writer, tell, job.stored))
        finally:
            try:
                writer.close()
            except OSError as error:
                tell(_not_stored(writer, error))


@dataclass(frozen=True, slots=True)
class Request:
    """The parameters of an audit: its profile with site values, its waiver files, planes, phases and time limits.

    `seconds` limits the time for one plane of one node, `deadline` the time for the whole run. `again` is the time
    between two readings. `memory` limits the replies in flight, in bytes. If `asks` is false, other processes ask the
    nodes, and no secret is fetched here. If `fragment` is true, the profile must be a fragment.
    """

    profile: str
    planes: frozenset[Plane]
    values: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    files: tuple[File, ...] = ()
    output: Path | None = None
    seconds: float | None = None
    deadline: float | None = None
    again: float | None = None
    phases: frozenset[Phase] = CONFIG
    memory: int = DEFAULT
    asks: bool = True
    fragment: bool = False


def prepare(choose: Callable[[], cli_choices.Chosen], request: Request) -> Prepared:
    """Prepare an audit; this contacts no node and writes no file. Raises UserError, or a usage error.

    The profile is validated before nodes are chosen, because a simulated rack takes time to start.
    """
    wanted_workers()
    given = cli_choices.pairs(request.values)
    profile = library.load(request.profile, known().catalogue, given, request.folders)
    if request.fragment and not profile.fragment:
        raise click.UsageError(f"--fragment: {request.profile} is not a fragment")
    second = _second(profile, request.again, request.deadline)
    if request.phases != CONFIG and not any(rule.phase in request.phases for rule in profile.own):
        raise UserError(f"{profile.name} has no rule of phase {', '.join(sorted(request.phases))}")
    own = waivers.within(profile.files)
    chosen = choose()
    wanted = known().planned(profile, request.phases)
    job = Job(
        wanted,
        chosen.nodes,
        profile,
        request.planes,
        request.phases,
        targets=chosen.words,
        waivers=tuple(waiver for kept in (*own, *request.files) for waiver in kept.waivers),
        seconds=request.seconds,
        deadline=request.deadline,
        secrets=secrets_of(chosen.nodes, _secret_planes(wanted.planes & request.planes)) if request.asks else {},
        expected=tuple(Seat(node.name, node.role, node.rack) for node in chosen.expected),
        again=second,
        memory=request.memory,
        limits=chosen.limits,
    )
    output = request.output
    folder = output or store.runs_folder() / job.id
    if output is not None and output.is_dir() and any(output.iterdir()) and not (output / "run.json").exists():
        raise UserError(f"{output} contains other files; choose a new or empty folder")
    return Prepared(job, folder, given, request.files, own, chosen.racks, pdus=chosen.pdus)


def _secret_planes(planes: frozenset[Plane]) -> frozenset[Plane]:
    """Return the planes whose secrets are needed; for a burn-in, these include the BMC plane."""
    return planes | {Plane.BMC} if Plane.BURNIN in planes else planes


def _second(profile: Profile, seconds: float | None, deadline: float | None) -> Again | None:
    """Return the parameters of the second reading.

    Raises a usage error if no rule needs a second reading, or if the deadline is too short.
    """
    if seconds is None:
        return None
    facts = profile.twice()
    if not facts:
        raise click.UsageError(f"--again: no rule of {profile.name} compares two readings (`steady`, `rate`)")
    if deadline is not None and deadline <= seconds:
        raise click.UsageError(f"--deadline {deadline:g} must be more than --again {seconds:g}")
    return Again(seconds, known().plan(facts))


Drive = Callable[[Job, threading.Event], Iterator[Event]]
"""A function that runs a job, and yields its events until the job is done or stopped."""


def _kept(
    events: Iterator[Event], writer: EventsWriter, tell: Callable[[str], None], replies: StoredReplies | None
) -> Iterator[Event]:
    """Store each event; if writing fails, no more events are stored, but the verdicts are not affected."""
    failed = False
    for event in events:
        stored = event
        if not failed:
            try:
                stored = writer.write(event)
                if isinstance(stored, Answered) and replies is not None:
                    replies.add(writer.folder, stored)
            except OSError as error:
                failed = True
                tell(_not_stored(writer, error))
        yield stored


def _with_kept_facts(job: Job, events: Iterator[Event]) -> Iterator[Event]:
    """Keep the facts of each node whose replies are stored, so that the next command need not parse them.

    The facts of a node in a burn-in contain those that are derived from other nodes, and are not kept.
    """
    together = Plane.BURNIN in job.planes or any(each.inputs <= job.planes for each in job.plan.comparisons)
    kept = None if together else kept_facts()
    nodes = {node.name: node for node in job.nodes}
    came: dict[str, list[Answered]] = {name: [] for name in nodes}
    for event in events:
        if isinstance(event, Answered) and event.reading == 1 and event.node in came:
            if event.capture is not None and not event.digest:  # it could not be stored
                del came[event.node]
            else:
                came[event.node].append(replace(event, capture=None))
        elif isinstance(event, FactsRead) and event.node in came and kept is not None:
            kept.add(job.asked, nodes[event.node], came.pop(event.node), event.tree)
        yield event


def _not_stored(writer: EventsWriter, error: OSError) -> str:
    return f"rackcheck: cannot store the run in {writer.folder}: {error.strerror}; the verdict is not stored"


def noting(lost: list[str]) -> Callable[[str], None]:
    """Return a function that prints an error of storing a run at once, and adds it to `lost`."""

    def tell(trouble: str) -> None:
        lost.append(trouble)
        note(trouble)

    return tell


def left_of(folder: Path) -> str:
    """Return what is kept of a run that could not be stored whole; an answer is kept if its raw reply is."""
    raw = RawFolder(folder / "raw")
    try:
        stored = store.find(str(folder))
        answers = sum(raw.has(answer.digest) for answer in stored.answered())
        done = stored.done()
    except (UserError, OSError):
        answers, done = 0, None
    if done is not None:
        return f"Not stored safely: {folder} was not synced to disk, and may be damaged later; copy it, or run again"
    if not answers:
        return "Not stored: no answer is kept"
    are = "answer without a verdict is" if answers == 1 else "answers without a verdict are"
    return f"Not stored: {answers} {are} kept in {folder}"


def head(audit: Prepared) -> dict[str, Any]:
    """Return the content of `run.json`: user, time and parameters, without secrets or references to secrets."""
    job, profile, own = audit.job, audit.profile, audit.own
    asked = {node.name for node in job.nodes}
    return {
        "run": job.id,
        "time": job.time,
        "version": job.version,
        "python": platform.python_version(),
        "operator": getpass.getuser(),
        "profile": {
            "name": profile.name,
            "lineage": list(profile.lineage),
            "digest": profile.digest,
            **({"machines": profile.machines} if profile.machines else {}),
            "set": dict(audit.given),
            **({"waivers": waivers.fingerprint(own)} if own else {}),
        },
        "waivers": {file.name: file.digest for file in audit.files},
        "targets": job.targets,
        "planes": sorted(p.value for p in job.planes),
        "phases": sorted(p.value for p in job.phases),
        "parts": True,
        **({"again": job.again.seconds} if job.again is not None else {}),
        **({store.AGAIN_OF: audit.again_of} if audit.again_of else {}),
        "nodes": [
            {
                "name": n.name,
                "role": n.role,
                "host": n.host,
                "bmc": n.bmc.url if n.bmc else "",
                "rack": n.rack,
                "u": n.u,
                "height": n.height,
                "slot": n.slot,
                **({"pdu": n.pdu} if n.pdu else {}),
            }
            for n in job.nodes
        ],
        "others": [{"name": s.name, "role": s.role, "rack": s.rack} for s in job.seats if s.name not in asked],
        "racks": [
            _shape(audit.racks[name]) for name in dict.fromkeys(n.rack for n in job.nodes) if name in audit.racks
        ],
    }


def _shape(rack: Rack) -> dict[str, Any]:
    """Return the layout of a rack, so that the run can be drawn even if the inventory has changed or is missing."""
    slots = [{"name": name, "u": s.u, "height": s.height, "role": s.role} for name, s in rack.slots.items()]
    return {"name": rack.name, "row": rack.row, "title": rack.title, "height": rack.height, "slots": slots}
