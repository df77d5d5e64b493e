"""Progress of a burn-in on stderr: an updating line on a terminal, else a few lines; findings appear immediately."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rackcheck.model.fact import clean
from rackcheck.parse.burnin.plan import Tier
from rackcheck.run.event import Answered, Burning, Event
from rackcheck.session.output import Watch, note
from rackcheck.views.summary import several

SHOWN = 20
"""Maximum number of findings that are printed while nodes are under load; the verdict contains all of them."""


@dataclass
class _Seen:
    """Sums up the burn-in records of all nodes so far.

    `t` is the elapsed time in seconds; `power` (watts) and `temp` (degrees Celsius) contain the newest value of each
    GPU.
    """

    tier: Tier
    nodes: int
    t: float = 0.0
    started: int = 0
    stage: str = ""
    done: int = 0
    verified: int = 0
    wrong: int = 0
    gpus: bool = False
    real: bool = True
    power: dict[str, float] = field(default_factory=dict)
    temp: dict[str, float] = field(default_factory=dict)

    def take(self, node: str, record: Mapping[str, Any]) -> str:
        """Add a record of a node; returns the line to print if the record is an error, else ""."""
        of, t = record.get("of"), record.get("t")
        if isinstance(t, int | float):
            self.t = max(self.t, min(float(t), 1e6))
        match record.get("k"):
            case "hello":
                self.real = record.get("simulated") is not True
                self.started += 1
            case "about":
                self.gpus = self.gpus or bool(record.get("gpus"))
            case "stage":
                self.stage = clean(str(record.get("stage", "")), 20)
                self.verified += record.get("status") == "done"
            case "sample":
                for name, into in (("power", self.power), ("temp", self.temp)):
                    value = record.get(name)
                    if isinstance(value, int | float) and str(of).startswith("gpu/"):
                        into[f"{node} {of}"] = float(value)
            case "error":
                self.wrong += 1
                return f"{node}: {clean(str(of), 40)}: {clean(str(record.get('name', '')), 40)}"
        return ""

    def words(self) -> str:
        """Describe the progress in one line."""
        done = several(self.verified, "test")
        parts = [f"{min(self.t, self.tier.seconds):.0f} s of {self.tier.seconds:.0f}", self.stage, f"{done} done"]
        if self.started < self.nodes:
            parts.insert(1, f"{self.started} of {several(self.nodes, 'node')} started")
        if self.power:
            parts.append(f"{sum(self.power.values()) / 1000:.1f} kW in {several(len(self.power), 'GPU')}")
        if self.temp:
            parts.append(f"hottest {max(self.temp.values()):.0f} C")
        parts.append(several(self.wrong, "finding") if self.wrong else "no finding")
        return ", ".join(part for part in parts if part)


@contextmanager
def watching(tier: Tier, nodes: int, *, quiet: bool) -> Iterator[Watch]:
    """Show the progress while the context is open; yields a function to call with each event."""
    seen = _Seen(tier, nodes)
    if quiet:
        yield lambda _: None
    elif not sys.stderr.isatty():
        yield _few_lines(seen)
    else:
        yield from _moving(seen)
    if seen.gpus and seen.real and not quiet:
        note("The GPU part was verified on one H100 and one H200: docs/reference/unverified.md")


def _moving(seen: _Seen) -> Iterator[Watch]:
    from rich.console import Console  # noqa: PLC0415  a tenth of a second, not for `--help`
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (BarColumn(bar_width=20), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=seen.tier.seconds)

        def watch(event: Event) -> None:
            for line in _heard(seen, event):
                bar.console.print(escape(line), highlight=False)
            bar.update(task, completed=min(seen.t, seen.tier.seconds), description=escape(seen.words()))

        yield watch


def _heard(seen: _Seen, event: Event) -> Iterator[str]:
    if isinstance(event, Burning):
        for record in event.records:
            line = seen.take(event.node, record)
            if line and seen.wrong <= SHOWN:
                yield line
    if isinstance(event, Answered):
        seen.done += 1
        if event.trouble is not None:
            yield f"{event.node}: {event.trouble}"


def _few_lines(seen: _Seen) -> Watch:
    shown_at = 0.0

    def watch(event: Event) -> None:
        nonlocal shown_at
        for line in _heard(seen, event):
            note(line)
        if seen.t - shown_at >= seen.tier.seconds / 3 or (seen.verified and not shown_at):
            shown_at = max(seen.t, 0.001)
            note(seen.words())

    return watch
