"""`rackcheck runs`: what was run, and what came of it."""

import click

from rackcheck import store
from rackcheck.cli import options
from rackcheck.cli.output import is_plain, note, print_lines, width
from rackcheck.cli.stored import stored_job
from rackcheck.cli.tables import table
from rackcheck.core.verdict import Status
from rackcheck.mistake import Mistake
from rackcheck.report import machine, terminal
from rackcheck.report.summary import exit_code, summarize
from rackcheck.run import replay


@click.group()
def runs() -> None:
    """List and show stored runs."""


@runs.command("list")
@options.json_option
def list_(as_json: bool) -> None:
    """List stored runs, the newest first."""
    rows = []
    for run in reversed(store.ids()):
        try:
            stored = store.find(run)
            started, done, judged = stored.started(), stored.done(), stored.judged()
            fails = sum(v.status is Status.FAIL for node in judged for v in node.verdicts)
            unknown = sum(v.status is Status.UNKNOWN for node in judged for v in node.verdicts)
            outcome = done.outcome.value if done is not None else "CUT OFF"
            rows.append(
                (run, started.profile, str(len(started.nodes)), outcome, str(fails), str(unknown), started.targets)
            )
        except Mistake as error:
            note(f"rackcheck: {error}")
    names = ("run", "profile", "nodes", "verdict", "fail", "unknown", "targets")
    if as_json:
        click.echo(machine.text([dict(zip(names, row, strict=True)) for row in rows]))
    elif not rows:
        note(f"no run yet in {store.runs_folder()}; make one: rackcheck audit -p linux-server")
    else:
        print_lines(table(names, rows, width=width(), styles=("bold", "", "", "bold", "", "", "dim")))


@runs.command("show")
@options.run_argument
@click.option("--all", "every", is_flag=True, help="Show rules that pass or do not apply, too.")
@options.json_option
def show(run: str, every: bool, as_json: bool) -> int:
    """Show a stored run again, from its raw answers; exits as the run did."""
    stored = store.find(run)
    job = stored_job(stored)
    assert job.profile is not None
    summary = summarize(replay(job, stored.answers(), stored.done()), job.profile)
    if as_json:
        click.echo(machine.text(machine.document(summary)))
    else:
        print_lines(terminal.lines(summary, width=width(), plain=is_plain(), every=every))
    return exit_code(summary, strict=False)
