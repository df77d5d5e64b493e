"""Sessions for the screens: the caller sets the nodes' facts; profile, facts, judging and folding are the real ones."""

import asyncio
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path as File
from tempfile import mkdtemp
from typing import Any

from textual.pilot import Pilot

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome, Verdict
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import Node, Rack
from rackcheck.model import path as paths
from rackcheck.model.capture import Capture, NodeCapture
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Plane, Unknown
from rackcheck.model.path import BadPath, Path
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.question import Read
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import AnyProbe
from rackcheck.probe.plan import plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import Answered, Event, FactsRead, NodeRequested, RunDone
from rackcheck.run.job import Job
from rackcheck.run.run_writer import RunWriter
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.views.open_run import CommandResult, OpenRun
from rackcheck.views.signs import Signs
from rackcheck.views.state import Board
from rackcheck.views.steps import Step
from rackcheck_tui.app import Screens
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext

PROFILE = """\
rackcheck: 1
profile: small
version: 2026.11
params:
  site: { type: text, default: unset, about: the name of this site }
rules:
  host.named:
    title: The node has its name
    severity: minor
    fact: node.hostname
    is: right
    fix: hostnamectl set-hostname NAME
  memory.swappiness:
    title: The kernel prefers to keep programs in memory
    severity: advisory
    fact: sysctl.vm.swappiness
    at-most: 10
    why: Swapping in stalls whatever was swapped out.
  kernel.clean:
    title: The kernel is clean
    severity: blocker
    fact: kernel.tainted
    is: 0
    fix: Reboot, and report the trace.
  site.named:
    title: The site is the right one
    fact: node.product
    is: $site
"""
GOOD = {"tainted": "0\n", "hostname": "right\n", "swappiness": "10\n"}
PLACES = {
    "tainted": "/proc/sys/kernel/tainted",
    "hostname": "/proc/sys/kernel/hostname",
    "swappiness": "/proc/sys/vm/swappiness",
}
UNICODE, ASCII = Signs(plain=False), Signs(plain=True)
HOSTILE = "[bold red]x[/] \x1b[31m\x1b]0;owned\x07 [@click=app.quit]y[/]"
RUN, LATER = "20260101T000000Z-abcd", "20260102T000000Z-abcd"
PATIENCE = 60.0
"""Seconds until something must have happened, on a busy machine."""

Answer = Mapping[str, str] | Unknown
"""A node's facts in addition to the good ones, or why it returned nothing."""


@cache
def small(text: str = PROFILE) -> Profile:
    """Load a profile from its text."""
    file = File(mkdtemp(prefix="rackcheck-desks-")) / "small.yaml"
    file.write_text(text)
    loaded = library.load(str(file), registry().catalogue)
    found = replace(loaded, rules=loaded.own)  # the rules of every profile have tests of their own
    file.unlink()
    file.parent.rmdir()
    return found


def numbered(count: int, racks: int = 0, prefix: str = "dgx") -> tuple[Node, ...]:
    """Nodes by number, spread over this many racks, from the top unit downwards; without racks, they have no place."""
    wide, each = len(str(count)) if count > 9 else 1, -(-count // max(racks, 1))
    return tuple(
        Node(
            f"{prefix}{n:0{wide}}", host=f"{prefix}{n}.invalid", rack=f"r{(n - 1) // each + 1:02}" if racks else "",
            u=each - (n - 1) % each if racks else 0,
        )
        for n in range(1, count + 1)
    )  # fmt: skip


def job_of(
    nodes: Iterable[Node], profile: Profile, planes: frozenset[Plane] | None = None, *, run: str = RUN,
    waivers: Sequence[Waiver] = (),
) -> Job:  # fmt: skip
    """A run of these nodes with a fixed name and fixed times."""
    known = registry()
    return Job(
        plan(profile.facts(), known.probes, known.catalogue), tuple(nodes), profile,
        planes or frozenset({Plane.OS, Plane.BMC}), targets="the test", waivers=tuple(waivers), id=run,
        time=f"{run[:4]}-{run[4:6]}-{run[6:8]}T00:00:00Z",
    )  # fmt: skip


def answers(job: Job, values: Mapping[str, Answer]) -> Iterator[Answered]:
    """The answers of a job's nodes; only the transport is simulated."""
    globs = {glob: None for q in job.plan.questions if isinstance(q, Read) for glob in q.globs}
    for node in job.nodes:
        reading = values.get(node.name, {})
        if isinstance(reading, Unknown):
            yield Answered(node.name, Plane.OS, job.time, reading)
            continue
        files = {PLACES[name]: text for name, text in {**GOOD, **reading}.items()}
        yield Answered(node.name, Plane.OS, job.time, None, NodeCapture(globs=globs, files=files))


def ended(job: Job, *, interrupted: bool = False) -> RunDone:
    """The end of a job, a minute after it began."""
    return RunDone(f"{job.time[:-6]}01:00Z", Outcome.PASS, interrupted)


def events_of(job: Job, values: Mapping[str, Answer], *, interrupted: bool = False) -> tuple[Event, ...]:
    """The events of a run whose nodes reported these facts, as when it is judged again."""
    return tuple(replay(job, answers(job, values), ended(job, interrupted=interrupted)))


def with_requests(events: Iterable[Event]) -> Iterator[Event]:
    """The same events as during a reading: a node is contacted before it answers."""
    for event in events:
        if isinstance(event, Answered):
            yield NodeRequested(event.node, event.plane)
        yield event


def stored(
    name: str, values: Mapping[str, Answer], *, text: str = PROFILE, folder: File | None = None,
    racks: Mapping[str, Rack] | None = None, nodes: Sequence[Node] = (),
) -> File:  # fmt: skip
    """Write a real run as `rackcheck audit` does, below RACKCHECK_HOME or in a folder."""
    job = job_of(nodes or [Node(name, host=f"{name}.invalid") for name in values], small(text), run=name)
    ready = Prepared(job, (folder or store.runs_folder()) / name, {}, (), (), racks or {})
    with RunWriter(ready.folder, head(ready), small(text).files) as writer:
        for event in events_of(job, values):
            writer.write(event)
    return ready.folder


@dataclass
class MadeDesk:
    """A session with fixed events: it records the calls that it receives, and contacts no node.

    `later` are the events of a second reading; without them, nodes cannot be contacted again.
    `hold` pauses a reading before each event for which it returns true, until the session is stopped.
    """

    profile: Profile
    nodes: Mapping[str, Node]
    first: Sequence[Event]
    racks: Mapping[str, Rack] = field(default_factory=dict)
    waivers: Sequence[Waiver] = ()
    name: str = RUN
    later: Sequence[Event] = ()
    replays: bool = True
    hold: Callable[[Event], bool] = lambda _: False
    answers: Mapping[str, CommandResult] = field(default_factory=dict)
    began: Sequence[str] = ()
    notes: Sequence[str] = ()
    steps: Sequence[Step] = ()
    left_behind: str = ""
    read_again: list[tuple[str, ...]] = field(default_factory=list)
    commands: list[tuple[str, ...]] = field(default_factory=list)
    stopped: bool = False

    @property
    def mute(self) -> str:
        return "" if self.later else "a stored run is shown"

    @property
    def pairs(self) -> Sequence[Rule]:
        return self.profile.own

    @property
    def run_word(self) -> str:
        return self.name

    @property
    def profile_word(self) -> str:
        return self.profile.name

    def run_of(self, *nodes: str) -> str:
        return self.name

    def baselines(self) -> Sequence[tuple[str, str]]:
        return [(LATER, "another run")]

    def nearest(self, word: str, known: Sequence[str]) -> str:
        return did_you_mean(word, list(known))

    def events(self) -> Iterator[Event]:
        for event in self.first:
            while self.hold(event) and not self.stopped:
                time.sleep(0.01)
            if self.stopped:
                return
            yield event

    def again(self, nodes: Sequence[str]) -> Iterator[Event]:
        self.read_again.append(tuple(nodes))
        if not self.later:
            raise UserError(self.mute)
        yield from self.later

    def stop(self) -> None:
        self.stopped = True

    def kind(self, fact: str) -> Kind | None:
        try:
            entry = registry().catalogue.find(paths.parse(fact))
        except BadPath:
            return None
        return entry.kind if entry is not None else None

    def plane(self, fact: Path) -> Plane:
        entry = registry().catalogue.find(fact)
        return entry.plane if entry is not None else Plane.DERIVED

    def probe(self, fact: str) -> AnyProbe | None:
        entry = registry().catalogue.find(paths.parse(fact))
        return None if entry is None else next((p for p in registry().probes if p.name == entry.probe), None)

    def since(self, node: str, rule: str) -> str:
        return ""

    def near(self, fact: str) -> Sequence[str]:
        return registry().catalogue.near(fact)

    def tree(self, node: str) -> Tree:
        found = [e.tree for e in (*self.first, *self.later) if isinstance(e, FactsRead) and e.node == node]
        if not found:
            raise UserError(f"no node {node} in {self.name}")
        return found[-1]

    def replies(self, node: str) -> Mapping[Plane, Capture]:
        found = [e for e in (*self.first, *self.later) if isinstance(e, Answered) and e.node == node]
        return {e.plane: e.capture for e in found if e.capture is not None}

    def past(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        kind = "rule" if any(rule.id == name for rule in self.profile.own) else "node"
        run = {"run": self.name, "time": "2026-01-01T00:00:00Z"}
        values = {"newest": run, "oldest": run, "alike": 1}
        return kind, [
            {**values, "counts": {"fail": 1}} if kind == "rule" else {**values, "outcome": "FAIL", "first": True}
        ]

    def run_command(self, words: Sequence[str], width: int = 100) -> CommandResult:
        self.commands.append(tuple(words))
        return self.answers.get(words[0], CommandResult(0, f"ran {' '.join(words)}\n"))

    @property
    def troubles(self) -> Sequence[str]:
        return ()

    def document(self, words: Sequence[str]) -> Mapping[str, Any]:
        result = self.run_command(words)
        if result.status not in {0, 1, 3}:
            raise UserError(result.text.strip().removeprefix("rackcheck: "))
        found: Mapping[str, Any] = json.loads(result.text)
        return found

    def beside(self, node: str, other: str, verdicts: Mapping[str, str], *, every: bool = False) -> Mapping[str, Any]:
        self.commands.append(("beside", node, other))
        return {"node": node, "against": other, "differing": [], "silent": [], "unknown-in-both": 0, "own": 0}

    def waived(self, file: str) -> None:
        self.commands.append(("waived", file))

    def fixes(self, only: Mapping[str, Collection[str]], verdicts: Mapping[str, Sequence[Verdict]]) -> Sequence[str]:
        return [f"{node}: {rule}" for node, rules in only.items() for rule in sorted(rules) if node in verdicts]

    @property
    def waiver_words(self) -> Sequence[str]:
        return ()


def desk(
    values: Mapping[str, Answer], planes: frozenset[Plane] | None = None, *, text: str = PROFILE,
    nodes: Sequence[Node] = (), interrupted: bool = False, **more: Any,
) -> MadeDesk:  # fmt: skip
    """A session whose nodes reported these facts."""
    placed = tuple(nodes) or tuple(Node(name, host=f"{name}.invalid") for name in values)
    job = job_of(placed, small(text), planes, waivers=more.get("waivers", ()))
    events = events_of(job, values, interrupted=interrupted)
    found = MadeDesk(small(text), {node.name: node for node in placed}, events, **more)
    own: OpenRun = found  # checks that it is what the screens require
    assert own is found
    return found


def second(first: MadeDesk, values: Mapping[str, Answer]) -> tuple[Event, ...]:
    """The events of a second reading of some of a session's nodes."""
    job = job_of([first.nodes[name] for name in values], first.profile, run=LATER)
    return tuple(with_requests(events_of(job, values)))


def board(made: MadeDesk, events: Iterable[Event] | None = None) -> Board:
    """The board of a session after all its events, or those given; one second of the watcher's clock for each event."""
    found = Board(made.profile, made.nodes, made.racks, made.waivers)
    for number, event in enumerate(made.first if events is None else events):
        found.take(event, float(number))
    return found


def context(made: MadeDesk, signs: Signs = UNICODE, **more: Any) -> ViewContext:
    """The input of a view."""
    return ViewContext(board(made), made, signs, **more)


# ---- the screens under a pilot


@asynccontextmanager
async def shown(
    on: OpenRun | Callable[[], OpenRun], signs: Signs = UNICODE, *, view: str = "groups", about: tuple[str, ...] = (),
    where: str = "", size: tuple[int, int] = (80, 24), settle: bool = True,
) -> Any:  # fmt: skip
    """Open the screens over a session, and wait until all its events are shown."""
    opened: Callable[[], OpenRun] = on if callable(on) else lambda: on
    app = Screens(opened, signs, first=ViewState(view, about, where))
    async with app.run_test(size=size) as pilot:
        if settle:
            await settled(pilot)
        yield pilot


def _busy(app: Screens) -> bool:
    behind = not app.readout.paused and app.reading.seen != app.context.board.version
    return app.feed.running or behind or app.pace.pending or any(not worker.is_finished for worker in app.workers)


async def settled(pilot: Pilot[None]) -> None:
    """Wait until all events are taken and shown, and no background work is left."""
    app = screens(pilot)
    end = time.monotonic() + PATIENCE
    while True:
        await pilot.pause()
        if app.opening.trouble is not None or (app.ready and not _busy(app)):
            break
        assert time.monotonic() < end, screen(app)
        await asyncio.sleep(0.01)
    await pilot.pause()


async def until(pilot: Pilot[None], *words: str) -> str:
    """Wait until all these words are on the screen, across line ends, and return the screen's text."""
    end = time.monotonic() + PATIENCE
    while not all(each in screen(pilot.app) or each in " ".join(screen(pilot.app).split()) for each in words):
        assert time.monotonic() < end, f"{words} not on\n{screen(pilot.app)}"
        assert pilot.app.is_running, f"gone before {words}\n{screen(pilot.app)}"
        await pilot.pause()
        await asyncio.sleep(0.01)
    return screen(pilot.app)


async def until_true(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Wait until a condition is true; the assertion error has the screen."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, screen(pilot.app)
        await pilot.pause()
        await asyncio.sleep(0.01)


async def typed(pilot: Pilot[None], text: str, *keys: str) -> None:
    """Type a text into the line that has the cursor, then press keys."""
    names = {
        " ": "space",
        "/": "slash",
        ":": "colon",
        "_": "underscore",
        "-": "minus",
        ".": "full_stop",
        "*": "asterisk",
    }
    await pilot.press(*(names.get(sign, sign) for sign in text), *keys)


def screens(pilot: Pilot[None]) -> Screens:
    """The application under a pilot."""
    assert isinstance(pilot.app, Screens)
    return pilot.app


def screen(app: Any) -> str:
    """The text of the lines on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def rows(app: Screens, width: int = 80) -> list[str]:
    """Every row of the view as written, in sight or not."""
    return [str(entry.line(width)).strip() for entry in app.readout.shown.entries.every]


def again(desk: MadeDesk, values: Mapping[str, Answer]) -> MadeDesk:
    """The same session with a second reading, in which nodes report these facts."""
    return replace(desk, later=second(desk, values), replays=False)
