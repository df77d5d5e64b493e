"""The data model of the screens: stored and new runs, the raw replies of nodes, and the commands that screens run."""

import os
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from json import loads
from pathlib import Path as File
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Verdict
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import Node, Rack
from rackcheck.model import path as paths
from rackcheck.model.capture import BmcCapture, BurnCapture, Capture
from rackcheck.model.catalogue import Kind
from rackcheck.model.change import STEADY
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Class, Plane
from rackcheck.model.path import BadPath, Path
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import AnyProbe
from rackcheck.profile import library
from rackcheck.profile.layers import did_you_mean
from rackcheck.remedy.settings import settings
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered, Burning, Event, FactsRead, RunDone, RunStarted
from rackcheck.run.job import Job
from rackcheck.run.judging import tree_of
from rackcheck.session import subject
from rackcheck.session.audit_setup import Drive, Prepared
from rackcheck.session.raw import probe_of
from rackcheck.session.registry_loading import known
from rackcheck.session.stored import stored_nodes, stored_racks
from rackcheck.session.subject import RunSubject
from rackcheck.session.verdict_since import since
from rackcheck.signoff import acceptance, waivers
from rackcheck.views import against, commands
from rackcheck.views.open_run import CommandResult
from rackcheck.views.rule_coverage import Covering
from rackcheck.views.steps import Step

PATIENCE = 120.0
"""Maximum duration of a command called from the screens, in seconds."""

RECORDS = 512
"""Number of records of a stored burn-in per event; a small number keeps the screens responsive."""

CROSS = "cross-plane"
"""The shipped fragment whose rules compare facts of both planes."""


class RunSession:
    """The runs shown on the screens: stored runs, and audits of this session; nodes are contacted only on request.

    Only the locations of raw replies are kept in memory, because there may be a thousand nodes; when facts are needed,
    the replies are read from disk.
    """

    def __init__(
        self, *, found: RunSubject | None = None, ready: Prepared | None = None, drive: Drive | None = None
    ) -> None:
        self.ready, self.found, self._drives = ready, found, drive
        self._stop = threading.Event()
        self._runs: list[tuple[store.Stored, Job]] = []
        self._heard: dict[str, dict[tuple[Plane, int], tuple[store.Stored, Answered]]] = {}
        self._files: dict[str, waivers.File] = {}
        self._places: list[File] = []
        self._began = False
        self.notes: Sequence[str] = ()
        self.steps: Sequence[Step] = ()
        self.troubles: list[str] = []
        self._tree = lru_cache(maxsize=16)(self._read)
        if found is not None:
            self.name, self.profile = found.name, found.profile
            self._runs = [(stored, job) for stored, job, _ in found.jobs]
            self.nodes: Mapping[str, Node] = _nodes(found)
            self.racks: Mapping[str, Rack] = {k: v for stored, _ in self._runs for k, v in stored_racks(stored).items()}
            self._own: tuple[Waiver, ...] = found.waivers
        else:
            assert ready is not None
            self.name, self.profile = ready.job.id, ready.profile
            self.nodes = {node.name: node for node in ready.job.nodes}
            self.racks, self._own = ready.racks, ready.job.waivers

    # ---- the subject

    @property
    def waivers(self) -> Sequence[Waiver]:
        """The waivers in use: the waivers of the runs, and the waivers of files written on the screens."""
        return (*self._own, *(waiver for file in self._files.values() for waiver in file.waivers))

    @property
    def began(self) -> Sequence[str]:
        """The start times of the runs of an acceptance, the oldest first; empty if a single run is shown."""
        laid = self.found is not None and self.found.kind == "acceptance"
        return [stored.started().time for stored, _ in self._runs] if laid else []

    @property
    def mute(self) -> str:
        """The reason why nodes cannot be read again in this session; empty if nodes can be read."""
        if self._drives is not None:
            return "a burn-in cannot be repeated from here: rackcheck burnin NODE --seed SEED repeats the work"
        if self.ready is not None:
            return ""
        return "the nodes of a stored run cannot be read again; to read nodes: rackcheck tui -p PROFILE -i INVENTORY"

    @property
    def replays(self) -> bool:
        """Whether the events come from stored runs."""
        return self.ready is None

    @property
    def made(self) -> Sequence[File]:
        """The folders of the runs of this session, in order of time."""
        return [stored.folder for stored, _ in self._runs] if self.ready is not None else []

    def ends(self) -> Iterator[RunDone | None]:
        """For each run of this session, yield its event `run done`, or None if the stored run is incomplete."""
        for folder in self.made:
            yield store.find(str(folder)).done() if (folder / "run.json").is_file() else None

    @property
    def left_behind(self) -> str:
        """A note on runs that a report of the first run does not contain; empty if there are no such runs."""
        later = [stored.folder.name for stored, _ in self._runs[1:]] if self.ready is not None else []
        return f"; it covers only the first reading, not the later readings {', '.join(later)}" if later else ""

    @property
    def run_word(self) -> str:
        """The run or acceptance as an argument for commands: its name, or the folder of a run stored elsewhere."""
        laid = self.found is not None and self.found.kind == "acceptance"
        return _word(self._runs[0][0]) if self._runs and not laid else self.name

    @property
    def profile_word(self) -> str:
        """The profile argument for commands: the file stored with the run, because the installed profile may differ."""
        kept = self._runs[0][0].folder / "profile" / f"{self.profile.name}.yaml" if self._runs else None
        return str(kept) if kept is not None and kept.is_file() else self.profile.name

    @property
    def waiver_words(self) -> Sequence[str]:
        """The `--waivers` options for stored and new waiver files; empty if no new file was written."""
        if not self._places:
            return ()
        folders = [stored.folder / "waivers" for stored, _ in self._runs[:1]]
        kept = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())]
        files = [*(file for file in kept if file.name not in self._files), *self._places]
        return tuple(word for file in files for word in ("--waivers", str(file)))

    @property
    def pairs(self) -> Sequence[Rule]:
        """Rules that compare facts of two planes."""
        return (*self.profile.rules, *_cross())

    def run_of(self, *nodes: str) -> str:
        """Return the newest run that read all of these nodes, as an argument for commands."""
        mine = [stored for stored, job in self._runs if set(nodes) <= {node.name for node in job.nodes}]
        return _word(mine[-1]) if mine else self.name

    def baselines(self) -> Sequence[tuple[str, str]]:
        """Return the names of acceptances, then of other runs with the newest run first; each has a description."""
        here = {stored.folder.name for stored, _ in self._runs}
        accepted = [(name, "an acceptance: each node as it was accepted") for name in acceptance.names()]
        return [*accepted, *((name, "another run") for name in reversed(store.ids()) if name not in here)]

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Return a `did you mean` hint with the most similar known word, as the end of a message."""
        return did_you_mean(word, list(known))

    # ---- events

    def events(self) -> Iterator[Event]:
        """Yield all events: the first call runs the prepared audit, later calls evaluate the stored runs again."""
        if self.ready is not None and not self._began:
            self._began = True
            yield from self._drive(self.ready)
            return
        if self.found is not None and self.found.kind != "run":
            yield from self._laid()
            return
        for stored, job in self._runs:
            yield from self._replayed(stored, job)

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        """Read these nodes again in a separate run; raises UserError if this session cannot read nodes."""
        if self.ready is None or self._drives is not None:
            raise UserError(self.mute)
        asked = self.ready.once_more([self.nodes[name] for name in nodes])
        yield from self._drive(replace(asked, job=replace(asked.job, waivers=tuple(self.waivers))))

    def stop(self) -> None:
        """Stop reading nodes; replies received so far are kept."""
        self._stop.set()

    def _drive(self, ready: Prepared) -> Iterator[Event]:
        self._stop = stop = threading.Event()  # a separate event for each run, because a run sets its event at its end
        for event in ready.run(stop, self.troubles.append, self._drives):
            if isinstance(event, RunStarted):
                self._runs.append((store.Stored(ready.folder, {"nodes": []}), ready.job))
            yield self._light(self._runs[-1][0], event)

    def _replayed(self, stored: store.Stored, job: Job) -> Iterator[Event]:
        done = stored.done() if (stored.folder / "events.jsonl").is_file() else None
        for event in replay(replace(job, waivers=tuple(self.waivers)), stored.answers(), done):
            yield from _burnt(event)
            yield self._light(stored, event)

    def _laid(self) -> Iterator[Event]:
        """Merge the runs of an acceptance, and yield the events of one combined run."""
        assert self.found is not None
        for stored, _ in self._runs:
            for answer in stored.answered():
                self._hear(stored, answer)
        waived = tuple(self.waivers)
        jobs = tuple((stored, replace(job, waivers=waived), kind) for stored, job, kind in self.found.jobs)
        summary = subject.shown(replace(self.found, waivers=waived, jobs=jobs))
        self.notes, self.steps = summary.notes, summary.steps
        yield summary.started
        for each in summary.judged:
            yield FactsRead(each.node, self.tree(each.node))
            yield each
        yield from summary.groups
        yield summary.done

    def _light(self, stored: store.Stored, event: Event) -> Event:
        """Remember where a raw reply is stored, and return the event without the raw reply."""
        if isinstance(event, Answered):
            event = replace(event, capture=None)
            self._hear(stored, event)
        return event

    def _hear(self, stored: store.Stored, answer: Answered) -> None:
        mine = self._heard.setdefault(answer.node, {})
        mine[answer.plane, answer.reading] = stored, answer
        self._tree.cache_clear()

    # ---- details

    def kind(self, fact: str) -> Kind | None:
        """The type and unit of a fact; None if the fact is unknown to every probe."""
        try:
            entry = known().catalogue.find(paths.parse(fact))
        except BadPath:
            return None
        return entry.kind if entry is not None else None

    def plane(self, fact: Path) -> Plane:
        """The plane that a fact is read from."""
        entry = known().catalogue.find(fact)
        return entry.plane if entry is not None else Plane.DERIVED

    def probe(self, fact: str) -> AnyProbe | None:
        """The probe that reads a fact."""
        try:
            return probe_of(fact)
        except BadPath:
            return None

    def near(self, fact: str) -> Sequence[str]:
        """Known facts with a name similar to this name."""
        return known().catalogue.near(fact)

    def since(self, node: str, rule: str) -> str:
        """Return a rule's verdict on a node, and the run since which it is unchanged, as text; empty if unknown."""
        found = since(node, rule, self.run_of(node)) or since(node, rule)
        if found is None:
            return ""
        runs = f"{found.runs} run{'' if found.runs == 1 else 's'}"
        first = ", the first run that judged the rule" if found.first else ""
        return f"{found.verdict} since {found.time} ({runs}; run {found.run}{first})"

    def tree(self, node: str) -> Tree:
        """Return the facts of a node from its newest replies; raises UserError if these cannot be read."""
        return self._tree(node)

    def _read(self, node: str) -> Tree:
        job = next((job for _, job in reversed(self._runs) if node in {each.name for each in job.nodes}), None)
        if job is None or node not in self.nodes:
            raise UserError(f"no node {node} in {self.name}{did_you_mean(node, list(self.nodes))}")
        return tree_of(job, self.nodes[node], self._whole(node))

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        """Return the newest raw replies of a node by plane; raises UserError if a reply cannot be read."""
        return {a.plane: a.capture for a in self._whole(node) if a.capture is not None and a.reading == 1}

    def _whole(self, node: str) -> Iterator[Answered]:
        """Yield the events `answered` of a node with their raw replies."""
        for stored, answer in list(self._heard.get(node, {}).values()):
            if not answer.digest:
                yield answer
                continue
            try:
                yield replace(answer, capture=stored.capture(answer.digest, answer.plane))
            except ValueError as error:
                raise UserError(f"{stored.folder}/events.jsonl is damaged: {error}") from None

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Return `node` or `rule`, and the history of this node or rule, the newest run first; raises UserError."""
        doc = self.document(("history", name, "--limit", "200"))
        kind = "rule" if "rule" in doc else "node"
        return kind, doc["runs"]

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        """Return the commands that fix the findings in `only`, as `rackcheck remedy` prints them; raises UserError."""
        urls = {name: node.bmc.url for name, node in self.nodes.items() if node.bmc is not None}
        profile = f"{self.profile.name} {self.profile.version}"
        return commands.fixes(self.name, profile, self.profile.rules, verdicts, only, self._resources, urls, settings())

    def _resources(self, node: str) -> Documents | None:
        found = self.replies(node).get(Plane.BMC)
        return found.documents if isinstance(found, BmcCapture) else None

    # ---- commands

    def run_command(self, words: Sequence[str], width: int = 100) -> CommandResult:
        """Run a rackcheck command in a separate process without a terminal, so that the command cannot prompt."""
        done = self._call(words, width)
        return CommandResult(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        """Run a rackcheck command with `--json`, and return its JSON document; raises UserError if this fails."""
        done = self._call((*words, "--json"))
        if done.returncode not in {0, 1, 3}:
            why = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1].removeprefix("rackcheck: ")
            raise UserError(why or f"rackcheck {words[0]} ended with {done.returncode}")
        found: Mapping[str, Any] = loads(done.stdout)
        return found

    def _call(self, words: Sequence[str], width: int = 100) -> "subprocess.CompletedProcess[bytes]":
        environment = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1"}
        try:
            return subprocess.run(  # noqa: S603  rackcheck itself, with its arguments as a list
                [sys.executable, "-m", "rackcheck", *words], stdin=subprocess.DEVNULL, capture_output=True,
                timeout=PATIENCE, check=False, env=environment,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise UserError(f"rackcheck {words[0]} took more than {PATIENCE:g} s and was stopped") from None
        except OSError as error:
            raise UserError(f"rackcheck {words[0]} cannot be called: {error.strerror}") from None

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        """Compare a node with another node of the same runs; raises UserError if a node cannot be read."""
        job = self._runs[-1][1]
        covering = Covering(self.profile.rules, (*job.plan.joins, *job.plan.gatherings))
        mine, theirs = against.facts_of(self.tree(node)), against.facts_of(self.tree(other))
        found = against.against(mine, theirs, covering, verdicts, tuple(Class) if every else STEADY)
        return {
            "node": node, "against": other, "own": found.own, "silent": list(found.silent),
            "unknown-in-both": found.unknown, "differing": [against.document(one) for one in found.differing],
        }  # fmt: skip

    def waived(self, file: str) -> None:
        """Use this waiver file from now on, in place of a file with the same name; raises UserError on errors."""
        found = waivers.load(File(file))
        self._own = tuple(waiver for waiver in self._own if not waiver.place.startswith(f"{found.name}:"))
        self._files[found.name] = found
        self._places = [place for place in self._places if place.name != found.name] + [File(file)]


def _burnt(event: Event) -> Iterator[Burning]:
    """Yield the records of a stored burn-in in batches, like a running burn-in."""
    if isinstance(event, Answered) and isinstance(event.capture, BurnCapture):
        records = event.capture.records
        for at in range(0, len(records), RECORDS):
            yield Burning(event.node, records[at : at + RECORDS])


def _word(stored: store.Stored) -> str:
    """Return a run as an argument for commands: its id if it is in the default folder, else the path of its folder."""
    at_home = stored.folder.resolve() == (store.runs_folder() / stored.folder.name).resolve()
    return stored.folder.name if at_home else str(stored.folder)


def _nodes(found: RunSubject) -> Mapping[str, Node]:
    """Return all nodes of the runs; each node has the values of the newest run that contains it."""
    return {node.name: node for stored, _, _ in found.jobs for node in stored_nodes(stored)}


@lru_cache(maxsize=1)
def _cross() -> tuple[Rule, ...]:
    """Load the rules that compare OS facts with BMC facts; if loading fails, return no rules."""
    try:
        return library.load(CROSS, known().catalogue).own
    except UserError:
        return ()
