"""The subject of a report, a screen or a comparison: one stored run, or an acceptance with all its runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.evaluate.waiver import Waiver, standings
from rackcheck.inventory import Node
from rackcheck.inventory.nodeset import is_name
from rackcheck.model.fact import Plane, clean
from rackcheck.model.fold import fold
from rackcheck.model.profile import FIRST, Profile
from rackcheck.probe.group import Seat
from rackcheck.profile import library
from rackcheck.report.counters import counting
from rackcheck.report.merge_runs import Settled, settle
from rackcheck.report.run_data import CollectedRun, gather, merged
from rackcheck.run import store, stored_forms
from rackcheck.run.engine import replay
from rackcheck.run.event import Event, RunDone, RunStarted
from rackcheck.run.index.pair import ComparedRun
from rackcheck.run.job import Job
from rackcheck.run.simulated_run import is_simulated as is_simulated_run
from rackcheck.session.registry_loading import known
from rackcheck.session.stored import stored_job, stored_nodes
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance
from rackcheck.signoff.bom import Bom
from rackcheck.signoff.removed_run import RemovedRun, removed_text
from rackcheck.signoff.steps import NO_STEPS, AgreedSteps
from rackcheck.signoff.waivers import File
from rackcheck.signoff.waivers import own as waivers_of
from rackcheck.views.locations import NodeLocation
from rackcheck.views.simulation import is_simulated, of_targets
from rackcheck.views.steps import step_notes
from rackcheck.views.summary import Summary, findings, notes, several, summarize, waiver_notes

if TYPE_CHECKING:
    from rackcheck.report.build import ReportJob
    from rackcheck.report.report_model import Brand


Watch = Callable[[Iterable[Event]], Iterator[Event]]
"""Takes the events of a run while they pass."""


@dataclass(frozen=True)
class RunSubject:
    """One run, or the runs of an acceptance, the oldest first; each run has a job and a kind such as `rework`."""

    kind: str
    name: str
    state: str
    jobs: tuple[tuple[store.Stored, Job, str], ...]
    profile: Profile
    folder: Path
    given: Mapping[str, str]
    places: Mapping[str, NodeLocation]
    inventory: str = ""
    waivers: tuple[Waiver, ...] = ()
    acceptance: Acceptance | None = None
    planes: frozenset[Plane] | None = None

    @property
    def steps(self) -> AgreedSteps:
        """The steps that an acceptance has agreed on; a single run has none."""
        return self.acceptance.steps if self.acceptance is not None else NO_STEPS

    @property
    def removed(self) -> tuple[RemovedRun, ...]:
        """The runs that were removed from an acceptance; a single run has none."""
        return self.acceptance.removed if self.acceptance is not None else ()

    @property
    def simulated(self) -> bool:
        """Whether any node of the runs is simulated."""
        return is_simulated_run(stored for stored, _, _ in self.jobs)

    def evaluate(self, *, fingerprints: bool = False, watch: Watch = iter) -> Iterator[CollectedRun]:
        """Evaluate every run again, one after the other; a report needs the fingerprints of facts.

        The events of each run pass through `watch` unchanged.
        """
        notes = {member.run: member.note for member in self.acceptance.runs} if self.acceptance is not None else {}
        # Counters are compared across a burn-in: without one, they would be read of each node for nothing.
        loaded = any(Plane.BURNIN in job.planes for _, job, _ in self.jobs)
        counted = counting(self.profile.rules) if self.steps.counters and loaded else ()
        for stored, job, kind in self.jobs:
            source = stored.head.get("operator")
            events = watch(replay(job, stored.answers(), stored.done()))
            by = source if isinstance(source, str) else ""
            note = notes.get(job.id, "")
            yield gather(
                events, self.profile.rules, kind=kind, operator=by, note=note, fingerprints=fingerprints,
                counting=counted,
            )  # fmt: skip

    def order(self, bill: Bom | None = None, brand: "Brand | None" = None) -> "ReportJob":
        """Return all inputs of a report except the evaluated runs."""
        from rackcheck.report.build import ReportJob  # noqa: PLC0415  other commands start faster without it
        from rackcheck.report.report_model import Brand  # noqa: PLC0415  as above

        return ReportJob(
            self.kind, self.name, "superseded" if self.state == "superseded" else "draft", self.profile,
            tuple(_lineage(self.folder, self.profile, self.given)), self.given, self.places, self.waivers,
            self.inventory, self.planes, bill, brand or Brand(), __version__,
            fragments=tuple(_fragments(self.folder, self.profile, self.given)), steps=self.steps,
            removed=self.removed,
        )  # fmt: skip


def find(name: str, files: Sequence[File] | None = None) -> RunSubject:
    """Find a run or an acceptance; if `files` is set, its waivers replace the stored waivers.

    Raises UserError with the most similar name if there is no such run or acceptance.
    """
    if acceptance.is_one(name) and not (Path(name) / "run.json").is_file():
        return _accepted(acceptance.find(name), files)
    try:
        stored = store.find(name)
    except store.UnknownRun:
        near = store.near(name, acceptance.names())
        shown = "; `rackcheck runs list` shows the runs" if store.ids() else "; there is no run yet"
        raise UserError(f"no run or acceptance {clean(name, 80)}{near or shown}") from None
    held(stored)
    job = stored_job(stored, waived=None if files is None else tuple(w for f in files for w in f.waivers))
    assert job.profile is not None
    places = {
        n.name: NodeLocation(n.role, n.rack, n.u, n.height, n.slot, n.host, n.bmc.url if n.bmc else "", n.pdu)
        for n in stored_nodes(stored)
    }
    given = {param: stored_forms.word(stored.head["profile"]["set"], param) for param in stored.head["profile"]["set"]}
    return RunSubject(
        "run", job.id, "draft", ((stored, job, "audit"),), job.profile, stored.folder / "profile", given, places,
        waivers=job.waivers,
    )  # fmt: skip


def held(stored: store.Stored) -> tuple[Node, ...]:
    """Return a run's nodes; raises UserError if run.json and the events contradict each other.

    The id of the run is used in file names, and the date of the run determines which waivers apply. A node with two
    entries would be counted twice.
    """
    began, nodes = stored.started(), stored_nodes(stored)
    names = [node.name for node in nodes]
    wrong = [word for word in ("run", "time") if stored.head.get(word) != getattr(began, word)]
    wrong += ["nodes"] if names != list(began.nodes) or len(set(names)) != len(names) else []
    if wrong:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: it differs from the events in {' and '.join(wrong)}")
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", began.run) is None:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: {clean(began.run, 60)!r} is not a run's id")
    odd = next((name for name in names if not is_name(name)), None)
    if odd is not None:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: {clean(odd, 60)!r} is not a node's name")
    try:
        date.fromisoformat(began.time[:10])
    except ValueError:
        raise UserError(f"{stored.folder / 'run.json'} is damaged: {clean(began.time, 60)!r} is not a time") from None
    return nodes


def judged_by(found: Acceptance, stored: store.Stored) -> CollectedRun:
    """Evaluate a run with the profile of an acceptance; raises UserError if the run cannot be evaluated."""
    given = {str(name): str(value) for name, value in found.head["profile"]["set"].items()}
    job = stored_job(stored, str(found.profile), given, waived=(), law=found.law)
    return gather(replay(job, stored.answers(), stored.done()), fingerprints=False)


def _accepted(found: Acceptance, files: Sequence[File] | None) -> RunSubject:
    if not found.runs:
        raise UserError(f"acceptance {found.name} has no run yet: rackcheck accept add {found.name} RUN")
    given = {str(name): str(value) for name, value in found.head["profile"]["set"].items()}
    profile = library.load(str(found.profile), known().catalogue, given).under(found.law)
    head = found.head["profile"]
    if profile.digest != head["digest"] or (found.law != FIRST and profile.machines != head.get("machines", "")):
        raise UserError(f"the acceptance's profile was changed: {found.profile}")
    stored = sorted(((acceptance.run_of(found, member), member.kind) for member in found.runs), key=_began)
    kept_files = found.files() if files is None else files
    waivers = tuple(waiver for file in kept_files for waiver in file.waivers)
    own = waivers_of(profile.files)
    day = stored[-1][0].started().time[:10]
    jobs = []
    for run, kind in stored:
        held(run)
        job = stored_job(run, str(found.profile), given, waived=waivers, law=found.law)
        jobs.append((run, replace(job, held=day), kind))
    places = {str(node["name"]): _place(node) for node in found.nodes}
    return RunSubject(
        "acceptance", found.name, found.state, tuple(jobs), profile, found.folder / "profile", given, places,
        str(found.head["inventory"]["digest"]), (*own, *waivers), found, found.planes,
    )  # fmt: skip


def _began(member: tuple[store.Stored, str]) -> tuple[str, str]:
    """Return the sort key of a run: its start in seconds, then its id, which contains the milliseconds."""
    started = member[0].started()
    return started.time, started.run


def _place(node: Mapping[str, object]) -> NodeLocation:
    words = ("role", "rack", "slot", "host", "bmc", "pdu")
    role, rack, slot, host, bmc, pdu = (str(node.get(key, "")) for key in words)
    u, height = (value if isinstance(value := node.get(key), int) else low for key, low in (("u", 0), ("height", 1)))
    return NodeLocation(role, rack, u, height, slot, host, bmc, pdu)


def _lineage(folder: Path, profile: Profile, given: Mapping[str, str]) -> Iterator[Profile]:
    """Yield the stored parents of the run's profile, loaded with the run's site values, and then the profile itself."""
    for step in profile.lineage[:-1]:
        yield _kept(folder, _named(step), given)
    yield profile


def _fragments(folder: Path, profile: Profile, given: Mapping[str, str]) -> Iterator[Profile]:
    """Load the stored fragments that the profile and its parents include, sorted by name."""
    parents = {_named(step) for step in profile.lineage}
    for file in sorted(profile.files):
        if file != library.SOURCES and file.removesuffix(".yaml") not in parents:
            yield _kept(folder, file.removesuffix(".yaml"), given)


def _named(step: str) -> str:
    """Return the profile's name from an entry of a lineage: NAME@VERSION, followed by the fragments it includes."""
    return step.partition("@")[0]


def _kept(folder: Path, name: str, given: Mapping[str, str]) -> Profile:
    place = str(folder / f"{name}.yaml")
    bare = library.load(place, known().catalogue)
    whole = library.load(place, known().catalogue, {n: v for n, v in given.items() if n in bare.params})
    return replace(whole, rules=whole.own)


def shown(subject: RunSubject, watch: Watch = iter) -> Summary:
    """Evaluate a run or an acceptance again, and return a summary for a terminal or a screen.

    The events of each run pass through `watch` unchanged.
    """
    if subject.kind == "run":
        ((stored, job, _),) = subject.jobs
        return summarize(watch(replay(job, stored.answers(), stored.done())), subject.profile, subject.waivers)
    return summary(subject, list(subject.evaluate(watch=watch)))


def readings(name: str) -> ComparedRun:
    """Return one side of a comparison: a run, or an acceptance with the newest run of each node."""
    if acceptance.is_one(name) and not (Path(name) / "run.json").is_file():
        found = acceptance.find(name)
        if not found.runs:
            raise UserError(f"acceptance {name} has no run yet: rackcheck accept add {name} RUN")
        runs = sorted(((acceptance.run_of(found, member), member.kind) for member in found.runs), key=_began)
        return ComparedRun(name, tuple(run for run, _ in runs), tuple(str(node["name"]) for node in found.nodes))
    stored = store.find(name)
    return ComparedRun(stored.folder.name, (stored,))


def settled_of(subject: RunSubject, readings: Sequence[CollectedRun]) -> Settled:
    """Merge the evaluated runs of a subject."""
    seats = tuple(Seat(name, place.role, place.rack) for name, place in subject.places.items())
    whole = seats if subject.planes is not None else ()
    return settle(readings, subject.profile, subject.planes, whole, subject.steps)


def summary(subject: RunSubject, readings: Sequence[CollectedRun]) -> Summary:
    """Merge the evaluated runs into one summary for a terminal or a screen."""
    settled = settled_of(subject, readings)
    newest = readings[-1]
    nodes = tuple(dict.fromkeys((*subject.places, *(node.node for node in settled.judged))))
    unread = [node for node in nodes if node not in settled.latest]
    outcome = settled.outcome(unread)
    day = newest.started.time[:10]
    verdicts = {each.node: each.verdicts for each in settled.everyone}
    stand = tuple(standings(subject.waivers, verdicts, subject.profile.rules, day))
    rows = (*step_notes(settled.steps), *notes(settled.judged, subject.profile, settled.groups), *waiver_notes(stand))
    rows += (f"not read by any run: {several(len(unread), 'node')}, {fold(unread)}",) if unread else ()
    rows += tuple(map(removed_text, subject.removed))
    planes = tuple(sorted({plane for run in readings for plane in run.started.planes}))
    targets = f"acceptance {subject.name}: {several(len(readings), 'reading')} of {several(len(nodes), 'node')}"
    started = RunStarted(
        subject.name, newest.started.time, newest.started.version, subject.profile.name, subject.profile.version,
        subject.profile.digest, nodes, planes, targets, subject.profile.law,
    )  # fmt: skip
    silent = {(node, plane): why for node, tree in settled.trees.items() for plane, why in tree.silent.items()}
    done = RunDone(newest.done.time, outcome)
    return Summary(
        started, settled.judged, done, tuple(findings(settled.everyone, subject.profile.rules)), rows, silent, stand,
        settled.groups, merged(readings), settled.steps,
        any(of_targets(run.started.targets) or any(map(is_simulated, run.trees.values())) for run in readings),
    )  # fmt: skip
