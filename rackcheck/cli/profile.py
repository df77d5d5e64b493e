"""`rackcheck profile`: list, show and check profiles; explain a rule; compare two profiles; learn one from a run."""

import click

from rackcheck.cli.lazy import LazyGroup

MEMBERS = {
    "check": ("profile_check", "check"),
    "diff": ("profile_diff", "command"),
    "explain": ("explain", "command"),
    "learn": ("learn", "command"),
    "list": ("profile_list", "command"),
    "schema": ("profile_schema", "command"),
    "show": ("profile_show", "show"),
}


@click.group(cls=LazyGroup, members=MEMBERS)
def profile() -> None:
    """List, show, check and compare profiles; explain a rule; learn a profile from a run."""
