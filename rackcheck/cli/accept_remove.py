"""`rackcheck accept remove`: removes a run that is missing, damaged or cut off from an acceptance."""

import click

from rackcheck.cli import options
from rackcheck.session import cli_choices
from rackcheck.session.output import note
from rackcheck.session.removing_runs import removed
from rackcheck.signoff import acceptance
from rackcheck.signoff.removed_run import removed_text
from rackcheck.signoff.steps import LONGEST


@click.command()
@click.argument("name", shell_complete=options.complete_acceptances)
@click.argument("run")
@click.option("--reason", required=True, metavar="TEXT", help="Why the run is removed; the document contains TEXT.")
def remove(name: str, run: str, reason: str) -> None:
    """Remove a run that is missing, was changed or was cut off; any other run stays.

    RUN is the id or the folder of the run, as `accept show` lists it. `accept show`, the document and `verify` show
    that it was removed, when, by whom, and why. Nothing is removed from an acceptance that was signed.

    \b
    rackcheck accept remove pod7 20261121T101500Z-3f1c --reason "killed, T-7"
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    cli_choices.one_line("reason", reason)
    if not reason.strip() or len(reason) > LONGEST:
        raise click.UsageError(f"--reason: give a reason of 1 to {LONGEST} characters; the document contains it")
    gone = removed(acceptance.find(name), run, reason.strip())
    left = len(acceptance.find(name).runs)
    click.echo(f"acceptance {name}: {removed_text(gone)}")
    note(f"Next: rackcheck accept show {name}" if left else f"Next: rackcheck audit --accept {name}")
