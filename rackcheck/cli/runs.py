"""`rackcheck runs`: list and show stored runs, and rebuild their index."""

import re
from collections.abc import Iterator, Sequence

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.lazy import NearestGroup
from rackcheck.cli.tables import table
from rackcheck.evaluate.verdict import Status
from rackcheck.run import store
from rackcheck.run.index import catching, file, queries
from rackcheck.run.simulated_run import is_simulated
from rackcheck.session.output import is_plain, note, print_lines, width
from rackcheck.views import machine, terminal
from rackcheck.views.summary import exit_code, summarize
from rackcheck.views.terminal import Line, within

RunRow = tuple[str, str, str, str, str, str, str, str]
"""The texts of one run, in the order of `NAMES`."""

NAMES = ("run", "time", "profile", "nodes", "verdict", "fail", "unknown", "targets")

WIDE = 100
"""Minimum width of the terminal, in characters, at which the times of runs are always shown."""

SLOW = 8
"""Minimum number of runs to read at which progress is printed."""


@click.group(cls=NearestGroup)
def runs() -> None:
    """List and show stored runs; rebuild their index."""


@runs.command("list")
@click.option("--limit", type=click.IntRange(1), default=50, help="How many runs, the newest first (default: 50).")
@options.json_option
def list_(limit: int, as_json: bool) -> None:
    """List stored runs, the newest first."""
    catching.closed()  # before the index is opened: its error would not name an unreadable folder
    try:
        rows, more = _indexed(limit)
    except file.Unusable as error:
        note(f"rackcheck: {error}; reading the folders of the runs instead")
        rows, more = _folders(limit)
    if as_json:
        click.echo(machine.text([_document(*row) for row in rows]))
    elif not rows:
        note(f"no run yet in {store.runs_folder()}; create one: rackcheck audit -p linux-server")
    else:
        print_lines(
            [*_laid([row for row, _ in rows]), *_simulated([row[0] for row, made_up in rows if made_up], len(rows))]
        )
    if more:
        note(f"and {more} more; --limit {len(rows) + more} shows all")


def _simulated(names: Sequence[str], of: int) -> Iterator[Line]:
    """Yield the lines that name the simulated runs; a column would be cut on a narrow terminal."""
    if names:
        which = "all runs" if len(names) == of else ", ".join(names)
        yield from within(Line((("SIMULATION  ", "bold red"), (which, ""))), width(), 12)


def _document(row: RunRow, simulated: bool) -> dict[str, object]:
    return {**dict(zip(NAMES, row, strict=True)), **({"simulated": True} if simulated else {})}


def _laid(rows: Sequence[Sequence[str]]) -> list[Line]:
    """Lay out the runs in columns; on a narrow terminal, the times are left out if the runs' names contain them."""
    styles = ("bold", "", "", "", "bold", "", "", "dim")
    keep = list(range(len(NAMES)))
    if width() < WIDE and all(name.startswith(re.sub("[-:]", "", time)) for name, time, *_ in rows):
        keep.remove(1)
    return table(
        [NAMES[i] for i in keep], [[row[i] for i in keep] for row in rows],
        width=width(), styles=[styles[i] for i in keep],
    )  # fmt: skip


def _indexed(limit: int) -> tuple[list[tuple[RunRow, bool]], int]:
    """Return the newest runs from the index, each with whether it is simulated, and the number of older runs.

    Raises Unusable before any output.
    """
    with file.opened(file.place()) as db:
        damaged = catching.catch_up(db, progress)
        rows = [
            (
                (r.name, r.time, r.profile, str(r.nodes), r.outcome, str(r.fails), str(r.unknowns), r.targets),
                bool(r.simulated),
            )
            for r in queries.runs(db, limit)
        ]
        more = queries.count(db) - len(rows)
    for why in damaged:
        note(f"rackcheck: {why}")
    return rows, more


def progress(done: int, of: int) -> None:
    """Print the number of runs read so far, about ten times in total; print nothing if the total (`of`) is small."""
    if of >= SLOW and (done == of or done % max(1, of // 10) == 0):
        note(f"{done} of {of} runs read into the index")


def _folders(limit: int) -> tuple[list[tuple[RunRow, bool]], int]:
    """Return from the folders of the runs what `_indexed` returns from the index."""
    for name in catching.closed():
        note(f"rackcheck: {catching.barred(name)}")
    known = store.ids()
    rows: list[tuple[RunRow, bool]] = []
    for run in known[: -limit - 1 : -1]:
        try:
            stored = store.find(str(store.runs_folder() / run))
            started, done, judged = stored.started(), stored.done(), stored.judged()
        except UserError as error:
            note(f"rackcheck: {error}")
            continue
        fails = sum(v.status is Status.FAIL for node in judged for v in node.verdicts)
        unknown = sum(v.status is Status.UNKNOWN for node in judged for v in node.verdicts)
        outcome = done.outcome.value if done is not None else "CUT OFF"
        nodes = str(len(started.nodes))
        row = (run, started.time, started.profile, nodes, outcome, str(fails), str(unknown), started.targets)
        rows.append((row, is_simulated([stored])))
    return rows, max(0, len(known) - limit)


@runs.command("rebuild")
@options.json_option
def rebuild(as_json: bool) -> None:
    """Rebuild the index from the folders of the runs."""
    made = catching.rebuild(file.place(), progress)
    for why in made.damaged:
        note(f"rackcheck: {why}")
    if as_json:
        doc = {"index": str(made.path), "runs": made.runs, "rows": made.rows, "bytes": made.size}
        click.echo(machine.text({**doc, "damaged": list(made.damaged)}))
    else:
        click.echo(f"{made.path}: {made.runs} runs, {made.rows} rows of nodes, {made.size / 1e6:.1f} MB")


@runs.command("show")
@options.run_argument
@click.option("--all", "every", is_flag=True, help="Also show rules that pass or do not apply.")
@options.json_option
def show(run: str, every: bool, as_json: bool) -> int:
    """Show a stored run, judged again from its raw answers; exits with the status of the run."""
    from rackcheck.run.engine import replay  # noqa: PLC0415  a list of runs needs neither transports nor profiles
    from rackcheck.session import last_run  # noqa: PLC0415
    from rackcheck.session.earlier_parts import with_earlier  # noqa: PLC0415
    from rackcheck.session.stored import stored_job  # noqa: PLC0415

    try:
        run = last_run.named(run)
        stored = store.find(run)
    except (UserError, OSError):
        shut = catching.closed()
        if shut and run in {last_run.LAST, *shut}:
            raise UserError(catching.barred(shut[-1] if run == last_run.LAST else run)) from None
        raise
    job = stored_job(stored)
    assert job.profile is not None
    summary = summarize(replay(job, stored.answers(), stored.done()), job.profile, job.waivers)
    if as_json:
        click.echo(machine.text(machine.document(summary)))
    else:
        print_lines(terminal.lines(with_earlier(summary), width=width(), plain=is_plain(), every=every))
    return exit_code(summary, strict=False)
