"""Makes pictures of the screens for the documents: `python -m rackcheck_tui.pictures docs/screens`.

A simulated rack is audited and burnt in, both runs are stored in a folder, and the screens are opened on the runs
without a terminal. Everything that differs between builds is replaced by fixed values: the ids and times in the stored
runs, and the moments of the pictures during a running audit.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.pilot import Pilot

from rackcheck.model.fact import Plane
from rackcheck.probe.group import is_group
from rackcheck.run.event import Answered, Burning, Event, FactsRead, Judged, NodeRequested, RunStarted
from rackcheck.session import subject
from rackcheck.session.run_session import RunSession
from rackcheck.views.signs import Signs
from rackcheck_tui.app import Screens

AUDIT = ("audit", "--rack", "sim:dgx-h100", "-p", "h100-dgx", "-q", "-o")
BURNIN = ("burnin", "--rack", "sim:dgx-h100", "--seed", "4242", "-q", "-o")
"""The commands that create the runs; the folder is appended to them."""

RUN, BURNT = "20261101T060000Z-1a2b", "20261101T070000Z-3c4d"
MOMENT = "2026-11-01T06:00:00Z"
"""Replacements of the runs' ids and times."""

FONTS = "'DejaVu Sans Mono', Menlo, Consolas, monospace"
"""Common fonts; a picture loads no fonts."""

PATIENCE = 60.0
"""Maximum time for the handling of a key, in seconds."""

NOW = 6.2
"""The picture of a reading is taken this many seconds after the reading's start."""

LOADED = 9.0
"""The picture of a load is taken after the nodes were under load for this many seconds."""

WIDE, SMALL = (100, 30), (80, 24)


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its file name, the screen's size, the keys, and the kind of terminal.

    A key that begins with `=` is text to type. If `half` is true, the picture shows a run half done, as if it were
    still in progress. If `load` is true, the picture shows the burn-in instead of the audit.
    """

    name: str
    size: tuple[int, int]
    keys: Sequence[str]
    plain: bool = False
    half: bool = False
    load: bool = False


NODE = ("4", "/", "=node:dgx05", "enter")
"""Keys that move to the row of a node with a failure."""

SHOTS = (
    Shot("groups", WIDE, ()),
    Shot("groups-80x24", SMALL, ()),
    Shot("groups-ascii", SMALL, (), plain=True),
    Shot("rack", SMALL, ("2",)),
    Shot("odd", WIDE, ("3",)),
    Shot("node", WIDE, (*NODE, "enter")),
    Shot("evidence", WIDE, (*NODE, "enter", "e")),
    Shot("diff", WIDE, (*NODE, "d")),
    Shot("live", SMALL, ("5",), half=True),
    Shot("help", WIDE, ("?",)),
    Shot("burnin", WIDE, ("5",), half=True, load=True),
    Shot("burnin-gpu", WIDE, ("5", "enter", "j"), half=True, load=True),
)


def made(home: Path, run: str = RUN, words: Sequence[str] = AUDIT) -> Path:
    """Run a rackcheck command on the simulated rack, and return the run's folder below `home`.

    The run's id and times are replaced by fixed values.
    """
    folder = home / "runs" / run
    environment = {**os.environ, "RACKCHECK_HOME": str(home)}
    done = subprocess.run(  # noqa: S603  our own program, with its arguments in a list
        [sys.executable, "-m", "rackcheck", *words, str(folder)],
        env=environment,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode not in {0, 1, 3}:
        raise SystemExit(f"rackcheck {' '.join(words)} ended with {done.returncode}")
    name = re.compile(r"\b\d{8}T\d{6}Z-[0-9a-f]{5}\b")
    moment = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
    for file in (folder / "run.json", folder / "events.jsonl"):
        file.write_text(moment.sub(MOMENT, name.sub(run, file.read_text("utf-8"))), "utf-8")
    return folder


class Halfway:
    """A session whose run is half done: its events have fixed times, and the rest of them never arrive."""

    def __init__(self, desk: RunSession) -> None:
        self._desk = desk

    def __getattr__(self, name: str) -> object:
        return getattr(self._desk, name)

    def events(self) -> Iterator[Event]:
        """Yield no event, because the pictures take their events from `timed_events`."""
        yield from ()

    def timed_events(self) -> Iterator[tuple[Event, float]]:
        """Yield the events before the time `NOW`, each with its time.

        All nodes are contacted at once, and each node's BMC replies after its OS.
        """
        for event in self._desk.events():
            if isinstance(event, RunStarted):
                yield event, 0.0
                yield from (
                    (NodeRequested(node, plane), 0.0) for node in event.nodes for plane in (Plane.BMC, Plane.OS)
                )
            elif isinstance(event, Answered | FactsRead | Judged) and not is_group(event.node):
                number = self._number(event.node)
                quick = isinstance(event, Answered) and event.plane is Plane.OS
                at = number * 0.3 + 0.9 if quick else number * 1.1 + 1.3
                if at < NOW:
                    yield event, at

    def _number(self, node: str) -> int:
        return list(self._desk.nodes).index(node)


class Loaded(Halfway):
    """A session whose burn-in is half done, without the BMC records, whose times differ between builds."""

    replays = False

    def timed_events(self) -> Iterator[tuple[Event, float]]:
        """Yield the events of the first seconds of the load, with their times."""
        for event in self._desk.events():
            if isinstance(event, RunStarted):
                yield event, 0.0
                yield from ((NodeRequested(node, Plane.BURNIN), 0.0) for node in event.nodes)
            elif isinstance(event, Burning):
                early = tuple(r for r in event.records if r.get("t", 0.0) <= LOADED and r.get("of") != "bmc")
                yield replace(event, records=early), NOW


async def taken(shot: Shot) -> str:
    """Open the run, press the keys, and return the picture as SVG."""
    run = BURNT if shot.load else RUN
    desk = RunSession(found=subject.find(run))
    held = Loaded(desk) if shot.load else Halfway(desk)
    os.environ.pop("NO_COLOR", None)
    if shot.plain:
        os.environ["NO_COLOR"] = "1"
    app = Screens(lambda: held if shot.half else desk, Signs(plain=shot.plain), name=run)  # type: ignore[arg-type, return-value]
    async with app.run_test(size=shot.size) as pilot:
        await _quiet(pilot, app)
        if shot.half:
            app.readout.clock = lambda: NOW
            for event, at in held.timed_events():
                app.context.board.take(event, at)
                app.context.burns.take(event)
        for key in shot.keys:
            if key.startswith("="):
                app.panes.line.value = key[1:]
            else:
                await pilot.press(key)
            await _quiet(pilot, app)
        return settled(app.export_screenshot(title=f"rackcheck tui {run}", simplify=True))


async def _quiet(pilot: Pilot[None], app: Screens) -> None:
    """Wait until all background work is done and drawn."""
    async with asyncio.timeout(PATIENCE):
        while not app.ready or app.feed.running or any(not worker.is_finished for worker in app.workers):
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        await pilot.pause()


def settled(svg: str) -> str:
    """Remove references to external resources from a picture."""
    svg = re.sub(r"\s*@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", FONTS).replace("font-family: arial", f"font-family: {FONTS}")
    return re.sub(r"\s*<!-- .*? -->", "", svg) + "\n"


def main(folder: Path) -> None:
    """Make every picture."""
    with TemporaryDirectory() as kept:
        os.environ["RACKCHECK_HOME"] = kept
        made(Path(kept))
        made(Path(kept), BURNT, BURNIN)
        for shot in SHOTS:
            file = folder / f"tui-{shot.name}.svg"
            file.write_text(asyncio.run(taken(shot)), "utf-8")
            print(f"{file}  {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
