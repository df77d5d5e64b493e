"""`rackcheck audit`: read nodes, judge them, store and show the run; or judge a stored run again."""

import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rackcheck import __version__
from rackcheck.cli import options
from rackcheck.cli.interrupt import stopped_by_ctrl_c
from rackcheck.cli.show_run import show
from rackcheck.evaluate.verdict import Status
from rackcheck.model.fact import Plane
from rackcheck.model.profile import LAW
from rackcheck.run import store
from rackcheck.run.captured import Captured
from rackcheck.run.engine import replay
from rackcheck.run.event import Event
from rackcheck.session import captures, cli_choices, last_run
from rackcheck.session.audit_setup import Prepared, Request, left_of, noting, prepare
from rackcheck.session.joined_acceptance import JoinedAcceptance, add, chosen, joining, not_added
from rackcheck.session.output import Watch, note, progress
from rackcheck.session.stored import stored_job
from rackcheck.signoff import waivers
from rackcheck.signoff.waivers import File
from rackcheck.views.locations import names_text
from rackcheck.views.summary import Summary, exit_code, several, summarize, unless_lost


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Arguments and options of `rackcheck audit`; all times are in seconds.

    `seconds` limits one plane of one node, `deadline` limits the whole run, and `again` is the time between two
    readings. `memory` limits the replies in flight, in bytes.
    """

    targets: tuple[str, ...]
    profile: str | None
    file: Path | None
    rack: str | None
    run: str | None
    resume: str | None
    engine: str | None
    by: str
    values: tuple[str, ...]
    folders: tuple[Path, ...]
    waiver_files: tuple[Path, ...]
    accept: str | None
    planes: str | None
    output: Path | None
    seconds: float | None
    deadline: float | None
    again: float | None
    memory: int
    strict: bool
    every: bool
    fragment: bool
    quiet: bool
    as_json: bool


@click.command(epilog="Exit: 0 pass, 1 fail, 2 usage error, 3 unknown, 74 pass but not stored, 130 interrupted.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@options.profile_option()
@options.inventory_option
@options.rack_option
@options.from_option
@options.resume_option
@options.engine_option()
@options.by_option
@options.set_option
@options.profile_path_option
@options.waivers_option
@options.accept_option
@click.option(
    "--planes",
    metavar="os,bmc",
    shell_complete=options.complete_planes,
    help="Read and judge these planes only; the verdict names them.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for the run (default: in the state folder)."
)
@options.timeout_option
@options.deadline_option
@options.again_option
@options.memory_option
@click.option("--strict", is_flag=True, help="Exit 1 on any warning, 3 on any unknown.")
@click.option("--all", "every", is_flag=True, help="Also show rules that pass or do not apply.")
@click.option(
    "--fragment",
    is_flag=True,
    help="Allow a fragment as the profile; no machine then gets an overall verdict.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.json_option
@options.collected(AuditOptions)
def audit(given: AuditOptions) -> int:
    """Check nodes against a profile; changes nothing on them.

    TARGET is a node, a node set (dgx[01-18]) or a group (@rack:a01). Default: all nodes of the inventory; without an
    inventory, this machine.

    \b
    rackcheck audit -p linux-server
    rackcheck audit 'dgx[01-08]' -p linux-server -i pod7.yaml
    rackcheck audit -p linux-server --set full_share="80 %"
    rackcheck audit --rack sim:dgx-h100 -p h100-dgx      a simulated rack
    rackcheck audit --from last -p my-profile.yaml       judge again, offline
    rackcheck audit --resume last -i pod7.yaml           a run that broke off
    rackcheck audit -p h100-dgx -i hall.yaml --on slurm  a shard for each rack

    A new audit uses ./waivers.yaml, if it exists and --waivers is not given.
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    planes = cli_choices.planes(given.planes)
    if given.resume is not None:
        return _resumed(given, given.resume)
    if given.run is not None:
        return _stored(given, given.run, planes)
    joined = joining(given.accept, given.profile, given.values, given.waiver_files)
    if joined is not None:
        given = replace(given, profile=joined.profile, values=joined.values)
    if given.profile is None:
        given = replace(given, profile=_proposed(given))
    assert given.profile is not None
    files = joined.files if joined is not None else cli_choices.waiver_files(given.waiver_files, found=True)
    request = Request(
        given.profile, planes, given.values, given.folders, files, given.output, given.seconds,
        given.deadline, given.again, memory=given.memory, asks=given.engine is None,
        fragment=given.fragment,
    )  # fmt: skip
    return _fresh(given, request, joined)


def _stored(given: AuditOptions, run: str, planes: frozenset[Plane]) -> int:
    """Judge a stored run or a capture again, and show it."""
    if given.targets or given.file or given.rack or given.output or given.accept or given.again:
        message = "omit TARGET, -i, --rack, --accept, -o and --again"
        raise click.UsageError(f"--from reads a stored run: {message}")
    files = cli_choices.waiver_files(given.waiver_files, found=False) if given.waiver_files else None
    run = last_run.named(run, last_run.AUDIT)
    kept = captures.find(run)
    summary = (
        _again(store.find(run), given, files, planes) if kept is None else _captured(kept, given, files or (), planes)
    )
    show(summary, every=given.every, as_json=given.as_json)
    return exit_code(summary, strict=given.strict)


def _proposed(given: AuditOptions) -> str:
    """Return the profile that the user accepts for the nodes."""
    from rackcheck.session import proposal  # noqa: PLC0415  most audits have a profile

    nodes = cli_choices.chosen(given.targets, given.file, given.rack).nodes
    return proposal.accepted(nodes, given.folders, "Audit with", ask=sys.stdin.isatty() and not given.as_json)


def _fresh(given: AuditOptions, request: Request, joined: JoinedAcceptance | None) -> int:
    """Read nodes, judge them, store the run and show it."""
    ready = prepare(lambda: chosen(joined, given.targets, given.file, given.rack), request)
    job, profile = ready.job, ready.profile
    if profile.fragment and not given.fragment and joined is None:
        meant = "--fragment allows it"
        note(f"rackcheck: {given.profile} is a fragment and gives no verdict on a machine; {meant}")
    if not given.quiet:
        rules = len(profile.own)
        note(f"rackcheck {__version__}: {job.targets}, profile {profile.name} {profile.version}, {rules} rules")
        if job.again is not None:
            twice = several(sum(rule.twice for rule in profile.rules), "rule")
            note(f"nodes are read twice, {job.again.seconds:g} s apart, for {twice} that compare two readings")
        for kept in (*ready.own, *request.files):
            note(f"waivers: {several(len(kept.waivers), 'entry')} of {kept.name}".replace("entrys", "entries"))
    return _run(given, ready, joined) if given.engine is None else _on_engine(given, ready, joined, given.engine)


def _on_engine(given: AuditOptions, ready: Prepared, joined: JoinedAcceptance | None, engine: str) -> int:
    """Run a prepared audit in shards on an engine, and show it."""
    from rackcheck.cli.audit_on import on_engine  # noqa: PLC0415  few audits are divided

    summary = on_engine(ready, engine, given.by, quiet=given.quiet)
    if summary is None:
        return 130
    show(summary, every=given.every, as_json=given.as_json)
    if not given.quiet:
        note(f"Run:  {ready.folder}")
    return unless_lost(exit_code(summary, strict=given.strict), lost=not add(joined, ready))


def _resumed(given: AuditOptions, run: str) -> int:
    """Ask what is missing of a run that was cut off or interrupted, and judge the whole run."""
    from rackcheck.session import resuming  # noqa: PLC0415  few audits are continued

    own = {
        "TARGET": given.targets, "-p": given.profile, "--from": given.run, "--set": given.values,
        "--profile-path": given.folders, "--waivers": given.waiver_files, "--accept": given.accept,
        "--planes": given.planes, "-o": given.output, "--again": given.again, "--fragment": given.fragment,
        "--on": given.engine,
    }  # fmt: skip
    wrong = [name for name, value in own.items() if value]
    if wrong:
        raise click.UsageError(f"--resume continues a run as it was begun: omit {', '.join(wrong)}")
    stored = store.find(last_run.named(run, last_run.CUT_OFF))
    ready = resuming.prepare(
        stored, lambda names: cli_choices.chosen(names, given.file, given.rack), simulated=given.rack is not None
    )
    job = replace(ready.job, seconds=given.seconds, deadline=given.deadline, memory=given.memory)
    ready = replace(ready, job=job)
    if not given.quiet:
        note(f"rackcheck {__version__}: continues run {job.id} of {job.time}, profile {ready.profile.name}")
        note(f"asks {resuming.left(ready)}")
    return _run(given, ready, None)


def _run(given: AuditOptions, ready: Prepared, joined: JoinedAcceptance | None) -> int:
    """Run a prepared audit, and show it."""
    job, profile, quiet = ready.job, ready.profile, given.quiet
    stop, lost = threading.Event(), list[str]()
    with stopped_by_ctrl_c(stop), progress(len(job.nodes), quiet=quiet) as watch:
        summary = summarize(_watched(ready.run(stop, noting(lost)), watch), profile, job.waivers)
    show(summary, every=given.every, as_json=given.as_json)
    if lost:
        note(left_of(ready.folder) + not_added(joined))
        return unless_lost(exit_code(summary, strict=given.strict), lost=True)
    is_added = add(joined, ready)
    if not quiet:
        note(f"Run:  {ready.folder}")
        name = ready.folder.name if ready.folder.parent == store.runs_folder() else str(ready.folder)
        if stop.is_set() and summary.done.interrupted:
            note(f"To continue it: rackcheck audit --resume {shlex.quote(name)}{_same_nodes(given)}")
        for number, line in enumerate(_next(summary, [node.name for node in job.nodes])):
            note(f"{'      ' if number else 'Next: '}rackcheck {line} {shlex.quote(name)}")
    return unless_lost(exit_code(summary, strict=given.strict), lost=not is_added)


def _same_nodes(given: AuditOptions) -> str:
    """Return the options with which the same nodes are found again."""
    if given.rack is not None:
        return f" --rack {shlex.quote(given.rack)}"
    return f" -i {shlex.quote(str(given.file))}" if given.file is not None else ""


def _next(summary: Summary, nodes: Sequence[str]) -> Iterator[str]:
    """Yield the commands that show a run, a node with the worst finding, and the rule of this finding.

    The caller appends the run to each command.
    """
    loud = (each for each in summary.findings if each.status in {Status.FAIL, Status.UNKNOWN} and not each.excused)
    worst = next(loud, None)
    bad = [name for name in nodes if worst is not None and name in worst.nodes]
    yield "tui"
    yield f"facts {shlex.quote((bad or nodes)[0])} --from"
    if worst is not None:
        yield f"profile explain {worst.rule.id} --from"


def _watched(events: Iterator[Event], watch: Watch) -> Iterator[Event]:
    """Pass the events of a run on, and show the progress with each event."""
    for event in events:
        watch(event)
        yield event


def _again(
    stored: store.Stored, given: AuditOptions, files: tuple[File, ...] | None, planes: frozenset[Plane]
) -> Summary:
    """Judge a stored run again, by its own profile, waivers and planes unless the options name others.

    Contacts no node and writes nothing.
    """
    waived = None if files is None else tuple(waiver for file in files for waiver in file.waivers)
    job = stored_job(stored, given.profile, cli_choices.pairs(given.values), given.folders, waived, LAW)
    if planes != cli_choices.PLANES:
        job = replace(job, planes=planes)
    assert job.profile is not None
    summary = summarize(replay(job, stored.answers(), stored.done()), job.profile, job.waivers)
    if given.profile is None:
        summary = replace(summary, notes=(*_since(stored, summary), *summary.notes))
    return summary


def _since(stored: store.Stored, summary: Summary) -> Iterator[str]:
    """Yield notes on nodes whose current outcome differs from the stored outcome.

    Outcomes can differ if rackcheck has changed, or if its law (the criteria by which a node's verdicts decide its
    outcome) has changed.
    """
    began, now = stored.started(), {each.node: each for each in summary.everyone}
    turned: dict[tuple[str, str, str], list[str]] = {}
    for was in stored.judged():
        each = now.get(was.node)
        if each is not None and each.outcome is not was.outcome:
            turned.setdefault((was.outcome.value, each.outcome.value, each.reason), []).append(was.node)
    law = f" by law {began.law}" if began.law != LAW else ""
    for (before, after, reason), nodes in turned.items():
        why = f": {reason}" if reason else ""
        yield f"{names_text(nodes)}: stored as {before}{law}, {after} by the current criteria (law {LAW}){why}"
    if law and not turned:
        yield f"this run was judged{law}; the current criteria (law {LAW}) give the same outcomes"


def _captured(kept: Captured, given: AuditOptions, files: tuple[File, ...], planes: frozenset[Plane]) -> Summary:
    """Judge a capture by the profile that the options name, because a capture contains no profile.

    Contacts no node and writes nothing.
    """
    waived = [waiver for file in files for waiver in file.waivers]
    job = captures.judging(kept, given.profile, cli_choices.pairs(given.values), given.folders, waived)
    if planes != cli_choices.PLANES:
        job = replace(job, planes=planes)
    profile = job.profile
    assert profile is not None
    job = replace(job, waivers=(*waivers.own(profile.files), *job.waivers))
    return summarize(replay(job, kept.answers(), captures.done(kept)), profile, job.waivers)
