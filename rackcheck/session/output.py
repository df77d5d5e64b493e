"""Prints results on stdout, and progress and notes on stderr; colours are used only where supported and enabled."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

from rackcheck.probe.group import is_group
from rackcheck.run.event import Answered, Event, FactsRead, Judged
from rackcheck.views.signs import Signs, signs_for
from rackcheck.views.terminal import Line


def note(text: str) -> None:
    """Print a note on stderr, separate from the results on stdout."""
    click.echo(_signs().piece(text), err=True)


def is_plain() -> bool:
    """Whether only ASCII can be printed (LANG=C, or an encoding without Unicode)."""
    return _signs().plain


def _signs() -> Signs:
    signs = signs_for(os.environ)
    # While screens are shown, stdout may be replaced by another kind of object.
    encoding = getattr(sys.stdout, "encoding", None) or ""
    return signs if "utf" in encoding.casefold() else Signs(plain=True)


def width() -> int:
    """Return the maximum width of a line; the maximum is smaller in ASCII, where an ellipsis takes three characters."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120) - (4 if is_plain() else 0)


def print_lines(lines: Iterable[Line]) -> None:
    """Print styled lines; if stdout is not a terminal or NO_COLOR is set, print plain text."""
    from rich.console import Console  # noqa: PLC0415  a tenth of a second, not for `--help`
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    signs = _signs()
    for line in lines:
        pieces = [(signs.piece(text), style) for text, style in line.pieces]
        if console.is_terminal and console.color_system is not None:
            console.print(Text.assemble(*pieces, no_wrap=True))
        else:
            click.echo("".join(text for text, _ in pieces).rstrip())


Watch = Callable[[Event], None]


@contextmanager
def progress(nodes: int, *, quiet: bool, judging: bool = True) -> Iterator[Watch]:
    """Show the progress of a run on stderr: a progress bar on a terminal, else at most about ten lines.

    If `judging` is false, a node is done when its facts are read.
    """
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        yield from _moving(nodes, Judged if judging else FactsRead)
    else:
        yield _few_lines(nodes, judging=judging)


def _few_lines(nodes: int, *, judging: bool) -> Watch:
    done = 0
    step = max(1, nodes // 10)

    def watch(event: Event) -> None:
        nonlocal done
        if isinstance(event, Answered) and event.trouble is not None:
            note(f"{event.node}: {event.plane.value} plane: {event.trouble}")
        warning = _warning(event)
        if warning:
            note(warning)
        if isinstance(event, Judged) and not is_group(event.node):
            done += 1
            if done % step == 0 or done == nodes:
                note(f"{done} of {nodes} judged ({event.node}: {event.outcome.value})")
        if isinstance(event, FactsRead) and not judging and not is_group(event.node):
            done += 1
            if done % step == 0 or done == nodes:
                note(f"{done} of {nodes} read ({event.node})")

    return watch


def _warning(event: Event) -> str:
    """Return the note of a reply, such as a session that the BMC did not close, as one line; empty without a note."""
    if not isinstance(event, Answered) or not event.note:
        return ""
    return f"{event.node}: {event.plane.value} plane: warning: {event.note}"


def _moving(nodes: int, done: type[Judged | FactsRead]) -> Iterator[Watch]:
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking", total=nodes)

        def watch(event: Event) -> None:
            warning = _warning(event)
            if warning:
                bar.console.print(escape(warning))
            if isinstance(event, Answered):
                bar.update(task, description=escape(f"{event.node} {event.plane.value}"))
            if isinstance(event, done) and not is_group(event.node):
                bar.advance(task)

        yield watch
