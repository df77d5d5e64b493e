"""Prints the result of a run that a command has judged."""

import click

from rackcheck.session.earlier_parts import with_earlier
from rackcheck.session.output import is_plain, print_lines, width
from rackcheck.views import machine, terminal
from rackcheck.views.summary import Summary


def show(summary: Summary, *, every: bool, as_json: bool) -> None:
    """Print the result of a run: as text, or as one JSON document; `every` includes rules that pass or are n/a."""
    if as_json:
        click.echo(machine.text(machine.document(summary)))
    else:
        print_lines(terminal.lines(with_earlier(summary), width=width(), plain=is_plain(), every=every))
