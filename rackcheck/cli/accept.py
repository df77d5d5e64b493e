"""`rackcheck accept`: collects the runs of one sign-off, and shows the first result next to the last result."""

import getpass
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.accept_remove import remove
from rackcheck.cli.choice import NearestChoice
from rackcheck.cli.lazy import NearestGroup
from rackcheck.cli.tables import table
from rackcheck.inventory import Node
from rackcheck.model.fold import fold
from rackcheck.model.profile import Phase
from rackcheck.parse.burnin.plan import Tier
from rackcheck.profile import library, reviewed
from rackcheck.report.fingerprints import canonical
from rackcheck.report.merge_runs import reworked
from rackcheck.report.report_model import Rework
from rackcheck.report.run_data import CollectedRun
from rackcheck.run import store
from rackcheck.run.job import now
from rackcheck.session import cli_choices, last_run, subject
from rackcheck.session.adding_runs import added, require_open
from rackcheck.session.output import is_plain, note, print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance
from rackcheck.signoff.removed_run import removed_text
from rackcheck.signoff.steps import LONGEST, AgreedSteps, ordered
from rackcheck.signoff.waivers import File
from rackcheck.views import machine, terminal
from rackcheck.views.steps import Step, next_command
from rackcheck.views.summary import exit_code, several, waiver_notes
from rackcheck.views.terminal import Line


@dataclass(frozen=True, slots=True)
class NewOptions:
    """Arguments and options of `rackcheck accept new`."""

    name: str
    profile: str | None
    file: Path | None
    rack: str | None
    values: tuple[str, ...]
    folders: tuple[Path, ...]
    waiver_files: tuple[Path, ...]
    planes: str | None
    supersedes: str | None
    tiers: tuple[str, ...]
    no_burn_in: str | None
    no_counters: str | None


@click.group(cls=NearestGroup)
def accept() -> None:
    """Collect the runs of one sign-off: audit, rework, re-audit."""


accept.add_command(remove)


@accept.command("new")
@click.argument("name")
@options.profile_option()
@options.inventory_option
@options.rack_option
@options.set_option
@options.profile_path_option
@options.waivers_option
@click.option(
    "--planes", metavar="os,bmc", help="The agreed planes (default: both); a plane that no run has read is unknown."
)
@click.option(
    "--supersedes",
    metavar="NAME",
    shell_complete=options.complete_acceptances,
    help="The acceptance that this new one replaces.",
)
@click.option(
    "--burn-in", "tiers", metavar="TIER", multiple=True, type=NearestChoice([tier.value for tier in Tier]),
    help="The agreed burn-in: smoke, validate or soak (default: validate; may be repeated). A longer one counts, too.",
)  # fmt: skip
@click.option("--no-burn-in", metavar="REASON", help="Decline the burn-in; the document contains REASON.")
@click.option(
    "--no-counters", metavar="REASON",
    help="Decline the comparison of counters before and after the burn-in; the document contains REASON.",
)  # fmt: skip
@options.collected(NewOptions)
def new(given: NewOptions) -> int:
    """Create an acceptance: its nodes, the profile that judges all its runs, and the steps that lead to a signature.

    The steps are an audit, a burn-in, and an audit after the burn-in that compares the counters of errors. The verdict
    is INCOMPLETE until every step is done on every node. A step is left out only with a reason.

    \b
    rackcheck accept new pod7 -p h100-dgx -i pod7.yaml --set driver=570.86.15
    rackcheck accept new pod7 -p h100-dgx -i pod7.yaml --burn-in soak
    rackcheck accept new pod7 -p h100-dgx -i pod7.yaml \\
      --no-burn-in "no power budget before May, agreed with Example Ltd"
    rackcheck accept new pod7 -p h100-dgx --rack sim:dgx-h100          to try it
    rackcheck accept new pod7b -p h100-dgx -i pod7.yaml --supersedes pod7

    Without -p, the nodes are read, and their machine proposes the profile.
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    site = cli_choices.pairs(given.values)
    steps = _steps(given)
    files = cli_choices.waiver_files(given.waiver_files, found=False)
    old = acceptance.find(given.supersedes) if given.supersedes is not None else None
    loaded = library.load(given.profile or _proposed(given), known().catalogue, site, given.folders)
    waiting = reviewed.unreviewed(loaded.files)
    if waiting:
        raise UserError(reviewed.review_notice(waiting))
    if steps.tiers and not any(rule.phase is Phase.BURN_IN for rule in loaded.own):
        hint = "include: [burn-in] adds them, or --no-burn-in REASON declines the burn-in"
        raise UserError(f"{loaded.name} has no rules for the results of a burn-in; {hint}")
    nodes, origin = cli_choices.choose((), given.file, given.rack)
    rows = [_node(node, given.rack) for node in nodes]
    head = {
        "time": now(), "by": getpass.getuser(), "version": __version__, "law": loaded.law,
        "profile": {"name": loaded.name, "version": loaded.version, "digest": loaded.digest, "set": site,
                    "machines": loaded.machines},
        "inventory": {"origin": origin, "digest": _digest(rows)},
        "planes": sorted(plane.value for plane in cli_choices.planes(given.planes)), "nodes": rows,
        "steps": steps.document(),
    }  # fmt: skip
    made = acceptance.create(given.name, head, loaded.files)
    if files:
        _waive(made, files)
    if old is not None:
        acceptance.append(old.folder, {"event": "superseded", "time": now(), "by": given.name})
    rules = several(len(loaded.own), "rule")
    click.echo(f"acceptance {given.name}: {several(len(nodes), 'node')}, {loaded.name} {loaded.version}, {rules}")
    click.echo(f"steps: {_agreed(steps)}")
    where = f"--rack {given.rack}" if given.rack else f"-i {given.file}" if given.file else ""
    note(f"Next: rackcheck audit --accept {given.name} {where}".rstrip())
    return 0


def _steps(given: NewOptions) -> AgreedSteps:
    """Return the steps to agree on; raises a usage error if the options contradict each other."""
    no_burn_in, no_counters = _reason("no-burn-in", given.no_burn_in), _reason("no-counters", given.no_counters)
    if no_burn_in:
        if given.tiers or no_counters:
            raise click.UsageError("--no-burn-in cannot be combined with --burn-in or --no-counters")
        return AgreedSteps(no_burn_in=no_burn_in)
    return AgreedSteps(ordered(map(Tier, given.tiers or (Tier.VALIDATE,))), no_counters=no_counters)


def _reason(option: str, words: str | None) -> str:
    """Return the reason why a step is declined; empty if the option was not given."""
    if words is None:
        return ""
    cli_choices.one_line(option, words)
    if not words.strip() or len(words) > LONGEST:
        raise click.UsageError(f"--{option}: give a reason of 1 to {LONGEST} characters; the document contains it")
    return words.strip()


def _proposed(given: NewOptions) -> str:
    from rackcheck.session import proposal  # noqa: PLC0415  most acceptances name a profile

    nodes, _ = cli_choices.choose((), given.file, given.rack)
    return proposal.accepted(nodes, given.folders, "Judge with", ask=sys.stdin.isatty())


def _agreed(steps: AgreedSteps) -> str:
    """Format agreed steps: `audit, burn-in validate, counters after the burn-in`."""
    burn_in = [f"burn-in {tier}" for tier in steps.tiers] or [f"burn-in declined ({steps.no_burn_in})"]
    after = [f"counters declined ({steps.no_counters})"] if steps.no_counters else ["counters after the burn-in"]
    return ", ".join(["audit", *burn_in, *(after if steps.tiers else ())])


def _node(node: Node, rack: str | None) -> dict[str, object]:
    # A simulated rack has other addresses each time it is started.
    host, bmc = ("", "") if rack else (node.host, node.bmc.url if node.bmc else "")
    place = {"rack": node.rack, "u": node.u, "height": node.height, "slot": node.slot}
    place |= {"pdu": node.pdu} if node.pdu else {}
    return {"name": node.name, "role": node.role, "host": host, "bmc": bmc, **place}


def _digest(nodes: Iterable[dict[str, object]]) -> str:
    import hashlib  # noqa: PLC0415

    return hashlib.sha256(canonical(list(nodes))).hexdigest()


def _waive(found: Acceptance, files: tuple[File, ...]) -> None:
    kept = acceptance.keep(found, files)
    acceptance.append(found.folder, {"event": "waivers", "time": now(), "by": getpass.getuser(), "files": dict(kept)})


@accept.command("add")
@click.argument("name", shell_complete=options.complete_acceptances)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--kind",
    type=NearestChoice(acceptance.KINDS),
    help="Kind of the run (default: audit for the first run, then re-audit).",
)
@click.option("--note", "text", metavar="TEXT", default="", help="What was done, for the rework log.")
@options.waivers_option
def add(name: str, runs: tuple[str, ...], kind: str | None, text: str, waiver_files: tuple[Path, ...]) -> int:
    """Add stored runs, or waivers that apply from now on.

    For a run that is already part of the acceptance, --kind and --note change its entry.

    \b
    rackcheck accept add pod7 last --kind rework --note "GPU 3 swapped, RMA 4711"
    rackcheck accept add pod7 --waivers waivers.yaml
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if not runs and not waiver_files:
        raise click.UsageError("nothing to add: give RUN, or --waivers FILE")
    found = acceptance.find(name)
    require_open(found)
    files = cli_choices.waiver_files(waiver_files, found=False)
    need = last_run.made_with(found.head["profile"]["name"], f"rackcheck audit --accept {name}")
    stored = [store.find(last_run.named(run, need)) for run in runs]
    for run in stored:
        member = next((m for m in found.runs if m.run == run.started().run), None)
        if member is not None and (kind or text):
            values = {"run": member.run, "kind": kind or member.kind, "note": text or member.note}
            acceptance.append(found.folder, {"event": "noted", "time": now(), "by": getpass.getuser(), **values})
        else:
            added(found, run, kind, text)
        found = acceptance.read(found.folder)
    if files:
        _waive(found, files)
    if acceptance.read(found.folder).runs:
        _short(subject.find(name))
    else:
        click.echo(f"acceptance {name} (draft): no run yet")
    return 0


def _short(found: subject.RunSubject) -> None:
    readings = list(found.evaluate())
    summary = subject.summary(found, readings)
    first, last = readings[0].done.outcome.value, summary.done.outcome.value
    then = f"first {first}, now {last}" if len(readings) > 1 else last
    click.echo(f"acceptance {found.name} ({found.state}): {several(len(readings), 'run')}, {then}")
    if summary.reason:
        print_lines(terminal.why(summary, width()))
    print_lines(terminal.minor_note(summary.minor_failures, width(), plain=is_plain()))
    for text in waiver_notes(summary.waivers):
        note(text)
    if command := next_command(summary.steps, found.name):
        note(f"Next: {command}")


@accept.command("show")
@click.argument("name", required=False, shell_complete=options.complete_acceptances)
@click.option("--all", "every", is_flag=True, help="Show rules that pass or do not apply, too.")
@options.json_option
def show(name: str | None, every: bool, as_json: bool) -> int:
    """Show an acceptance: its runs, the verdicts that changed between them, the current result; without NAME, list all.

    The exit status is the same as for a run with this verdict.
    """
    if name is None:
        return _list(as_json=as_json)
    found = acceptance.find(name)
    if not found.runs:
        if as_json:
            doc = {
                "acceptance": name,
                "state": found.state,
                "runs": [],
                "removed": [asdict(one) for one in found.removed],
            }
            click.echo(machine.text(doc))
        else:
            click.echo(f"acceptance {name} ({found.state}): no run yet; rackcheck accept add {name} RUN")
            for one in found.removed:
                click.echo(f"  {removed_text(one)}")
        return 3
    about = subject.find(name)
    readings = list(about.evaluate())
    summary = subject.summary(about, readings)
    log = list(reworked(readings, about.profile.rules))
    if as_json:
        doc = machine.document(summary) | {
            "acceptance": name, "state": found.state, "superseded": found.superseded,
            "runs": [asdict(member) for member in found.runs], "removed": [asdict(one) for one in found.removed],
            "steps": [_step_document(step) for step in summary.steps],
            "rework": [asdict(one) for one in log], "signed": [dict(one) for one in found.signed],
        }  # fmt: skip
        click.echo(machine.text(doc))
    else:
        print_lines(_lines(found, readings))
        print_lines(_step_lines(summary.steps))
        print_lines(_log(log))
        print_lines(terminal.lines(summary, width=width(), plain=is_plain(), every=every))
        if command := next_command(summary.steps, name):
            note(f"Next: {command}")
    return exit_code(summary, strict=False)


def _lines(found: Acceptance, readings: list[CollectedRun]) -> list[Line]:
    by = f", superseded by {found.superseded}" if found.superseded else ""
    lines = [Line(((f"acceptance {found.name}", "bold"), (f"  {found.state}{by}", "")))]
    notes = {member.run: member.note for member in found.runs}
    rows = [
        (
            t.started.time,
            t.started.run,
            t.kind,
            t.done.outcome.value,
            fold(t.started.nodes),
            notes.get(t.started.run, ""),
        )
        for t in readings
    ]
    lines += table(
        ("time", "run", "kind", "verdict", "nodes", "note"),
        rows,
        width=width(),
        styles=("", "bold", "", "bold", "", "dim"),
    )
    for sign in found.signed:
        message = f"signed by {sign.get('party', '')} ({sign.get('name', '')}) at {sign.get('time', '')}"
        later = "" if found.state != "draft" else "; runs or waivers were added since"
        lines.append(Line(((message + later, ""),)))
    return [*lines, Line()]


def _step_document(step: Step) -> dict[str, object]:
    return {"step": step.name, "state": step.state, "details": list(step.details())}


def _step_lines(steps: Sequence[Step]) -> list[Line]:
    if not steps:
        return []
    rows = [(step.name, step.state, "; ".join(step.details())) for step in steps]
    return [*table(("step", "state", ""), rows, width=width(), styles=("bold", "bold", "")), Line()]


LOGGED = 24
"""Maximum number of lines of the rework log that are shown; the report lists all."""

FEW = 3
"""Number of rules that a line of the rework log names, if many changed alike."""


def _log(log: list[Rework]) -> list[Line]:
    """Format the changes between runs; many rules that changed alike on the same nodes share one line."""
    alike: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Rework]] = {}
    for one in log:
        changed = tuple(step for _, _, step in one.steps)
        alike.setdefault((one.fact, changed, one.nodes), []).append(one)
    lines = [Line((("changed between runs", "bold"),))] if log else []
    for (fact, changed, nodes), some in list(alike.items())[:LOGGED]:
        rules = [one.rule for one in some]
        more = f", {len(rules) - FEW} more" if len(rules) > FEW + 1 else ""
        what = fact or ", ".join(rules[: FEW if more else None]) + more
        lines.append(Line(((f"  {what}", "bold"), (f"  {' -> '.join(changed)}", ""), (f"  {fold(nodes)}", "cyan"))))
    if len(alike) > LOGGED:
        lines.append(Line(((f"  and {len(alike) - LOGGED} more: the report lists all", "dim"),)))
    return [*lines, Line()] if log else []


def _list(*, as_json: bool) -> int:
    rows = []
    for name in acceptance.names():
        try:
            found = acceptance.find(name)
        except UserError as error:
            note(f"rackcheck: {error}")
            continue
        profile = f"{found.head['profile']['name']} {found.head['profile']['version']}"
        rows.append((name, found.state, str(len(found.runs)), str(len(found.nodes)), profile, str(found.head["time"])))
    head = ("acceptance", "state", "runs", "nodes", "profile", "begun")
    if as_json:
        click.echo(machine.text([dict(zip(head, row, strict=True)) for row in rows]))
    elif rows:
        print_lines(table(head, rows, width=width(), styles=("bold", "", "", "", "", "dim")))
    else:
        note(f"no acceptance yet in {acceptance.home()}; create one: rackcheck accept new NAME -p PROFILE -i INVENTORY")
    return 0
