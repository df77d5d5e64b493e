"""`rackcheck merge`: judges the results of a plan's shards together, as one run."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck.cli import options
from rackcheck.cli.show_run import show
from rackcheck.model.fold import fold
from rackcheck.run import store
from rackcheck.session import shard_merge
from rackcheck.session.output import note
from rackcheck.views.summary import exit_code, several, summarize


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """Arguments and options of `rackcheck merge`."""

    plan: Path
    results: tuple[Path, ...]
    output: Path | None
    strict: bool
    every: bool
    quiet: bool
    as_json: bool


@click.command(epilog="Exit: 0 pass, 1 fail, 2 usage error, 3 unknown.")
@click.argument("plan", type=click.Path(path_type=Path, file_okay=False), metavar="PLAN")
@click.argument("results", nargs=-1, type=click.Path(path_type=Path), metavar="[RESULT]...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for the run (default: in the state folder)."
)
@click.option("--strict", is_flag=True, help="Exit 1 on any warning, 3 on any unknown.")
@click.option("--all", "every", is_flag=True, help="Also show rules that pass or do not apply.")
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@options.json_option
@options.collected(MergeOptions)
def merge(given: MergeOptions) -> int:
    """Judge the results of a plan's shards together, as one run. Default: all files in PLAN/results.

    The order and the number of results make no difference. Of two answers of a plane, the first whole one counts. What
    no result has is unknown. A result of another plan is refused.

    \b
    rackcheck merge hall
    rackcheck merge hall from-bastion-a/* from-bastion-b/* -o hall-run
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    _, job = shard_merge.run_of(given.plan)
    profile = job.profile
    assert profile is not None
    target = given.output or store.runs_folder() / job.id
    results = given.results or shard_merge.results_of(given.plan)
    with shard_merge.scratch(target) as scratch:
        found = shard_merge.merged(given.plan, results, Path(scratch))
        for line in notes(found, shard_merge.missing(job, found), results):
            note(line)
        summary = summarize(shard_merge.events(given.plan, job, found, target, Path(scratch)), profile, job.waivers)
    show(summary, every=given.every, as_json=given.as_json)
    if not given.quiet:
        note(f"Run:  {target}")
        note(f"Next: rackcheck tui {shlex.quote(str(target) if given.output else job.id)}")
    return exit_code(summary, strict=given.strict)


def notes(found: shard_merge.Merged, missing: Sequence[str], results: Sequence[Path]) -> list[str]:
    """Return what was found in the results: damage, planes that were asked more than once, and what is missing."""
    lines = [f"rackcheck: {path}: {what}" for path, what in sorted(found.damaged.items())]
    if found.twice:
        planes = several(len(found.twice), "plane")
        lines.append(f"rackcheck: {planes} with more than one answer, of {fold({key[0] for key in found.twice})}")
    if missing:
        lines.append(f"rackcheck: not asked, and so unknown: {fold(missing)}")
    return [*lines, f"{several(len(results), 'result')}, {several(len(found.answers), 'answer')}"]
