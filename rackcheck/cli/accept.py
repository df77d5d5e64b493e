"""`rackcheck accept`: collects the runs of one sign-off, and shows the first result next to the last result."""

import getpass
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from rackcheck import __version__
from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.tables import table
from rackcheck.inventory import Node
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.profile import library, reviewed
from rackcheck.report.merge_runs import reworked
from rackcheck.report.report_model import Rework
from rackcheck.report.run_data import CollectedRun, canonical, machine_serial
from rackcheck.run import store
from rackcheck.run.job import now
from rackcheck.session import cli_choices, subject
from rackcheck.session.output import is_plain, note, print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance
from rackcheck.signoff.waivers import File
from rackcheck.views import machine, terminal
from rackcheck.views.summary import exit_code, several, waiver_notes
from rackcheck.views.terminal import Line


def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an acceptance."""
    return [CompletionItem(name) for name in acceptance.names() if name.startswith(incomplete)]


@click.group()
def accept() -> None:
    """Collect the runs of one sign-off: audit, rework, re-audit."""


@accept.command("new")
@click.argument("name")
@options.profile_option(required=True)
@options.inventory_option
@options.rack_option
@options.set_option
@options.profile_path_option
@options.waivers_option
@click.option(
    "--planes", metavar="os,bmc", help="The agreed planes (default: both); a plane that no run has read is unknown."
)
@click.option(
    "--supersedes", metavar="NAME", shell_complete=complete, help="The acceptance that this new one replaces."
)
def new(
    name: str, profile: str, file: Path | None, rack: str | None, values: tuple[str, ...], folders: tuple[Path, ...],
    waiver_files: tuple[Path, ...], planes: str | None, supersedes: str | None,
) -> int:  # fmt: skip
    """Create an acceptance: the nodes of an inventory, and the profile that all its runs are judged by.

    \b
    rackcheck accept new pod7 -p h100-dgx -i pod7.yaml --set driver=570.86.15
    rackcheck accept new pod7 -p h100-dgx --rack sim:dgx-h100          to try it
    rackcheck accept new pod7b -p h100-dgx -i pod7.yaml --supersedes pod7
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    given = cli_choices.pairs(values)
    files = cli_choices.waiver_files(waiver_files, found=False)
    old = acceptance.find(supersedes) if supersedes is not None else None
    loaded = library.load(profile, known().catalogue, given, folders)
    waiting = reviewed.unreviewed(loaded.files)
    if waiting:
        raise UserError(reviewed.review_notice(waiting))
    nodes, origin = cli_choices.choose((), file, rack)
    rows = [_node(node, rack) for node in nodes]
    head = {
        "time": now(), "by": getpass.getuser(), "version": __version__, "law": loaded.law,
        "profile": {"name": loaded.name, "version": loaded.version, "digest": loaded.digest, "set": given,
                    "machines": loaded.machines},
        "inventory": {"origin": origin, "digest": _digest(rows)},
        "planes": sorted(plane.value for plane in cli_choices.planes(planes)), "nodes": rows,
    }  # fmt: skip
    made = acceptance.create(name, head, loaded.files)
    if files:
        _waive(made, files)
    if old is not None:
        acceptance.append(old.folder, {"event": "superseded", "time": now(), "by": name})
    rules = several(len(loaded.own), "rule")
    click.echo(f"acceptance {name}: {several(len(nodes), 'node')}, {loaded.name} {loaded.version}, {rules}")
    where = f"--rack {rack}" if rack else f"-i {file}" if file else ""
    note(f"Next: rackcheck audit --accept {name} {where}".rstrip())
    return 0


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
@click.argument("name", shell_complete=complete)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--kind",
    type=click.Choice(acceptance.KINDS),
    help="Kind of the run (default: audit for the first run, then re-audit).",
)
@click.option("--note", "text", metavar="TEXT", default="", help="What was done, for the rework log.")
@options.waivers_option
def add(name: str, runs: tuple[str, ...], kind: str | None, text: str, waiver_files: tuple[Path, ...]) -> int:
    """Add stored runs, or waivers that apply from now on; nothing is removed.

    For a run that is already part of the acceptance, --kind and --note change its entry.

    \b
    rackcheck accept add pod7 last --kind rework --note "GPU 3 swapped, RMA 4711"
    rackcheck accept add pod7 --waivers waivers.yaml
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if not runs and not waiver_files:
        raise click.UsageError("nothing to add: give RUN, or --waivers FILE")
    found = acceptance.find(name)
    _open(found)
    files = cli_choices.waiver_files(waiver_files, found=False)
    stored = [store.find(run) for run in runs]
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


def _open(found: Acceptance) -> None:
    if found.state == "superseded":
        raise UserError(f"acceptance {found.name} is superseded by {found.superseded}: nothing can be added to it")


def added(found: Acceptance, stored: store.Stored, kind: str | None = None, text: str = "") -> None:
    """Add a run to an acceptance; `text` is its note, `kind` is by default "audit" for the first run, else "re-audit".

    Raises UserError if the run has other nodes, roles, profile or machines than the acceptance, is dated in the
    future or was added before, or if the acceptance is superseded.
    """
    _open(found)
    nodes, began = subject.held(stored), stored.started()
    if any(member.run == began.run for member in found.runs):
        stated = f"; to describe a rework: rackcheck accept add {found.name} {began.run} --kind rework --note TEXT"
        raise UserError(f"run {began.run} is part of acceptance {found.name} already{stated}")
    _require_scope(found, stored)
    roles = {str(node["name"]): str(node["role"]) for node in found.nodes}
    strangers = [node for node in began.nodes if node not in roles]
    if strangers:
        raise UserError(f"run {began.run} has nodes that are not in {found.name}'s inventory: {fold(strangers)}")
    others = [node.name for node in nodes if roles[node.name] != node.role]
    if others:
        raise UserError(f"run {began.run} has {fold(others)} in another role than {found.name}'s inventory")
    if began.time > (latest := _later(now())):
        raise UserError(
            f"run {began.run} began at {clean(began.time, 40)}, in the future; the latest start allowed is {latest}"
        )
    run = subject.judged_by(found, stored)  # before it is added: an added run cannot be removed
    machines = {node: serial for node in began.nodes if (serial := machine_serial(run.trees[node]))}
    if kind != "rework":
        _same_machines(found, began.run, machines)
    newer = [member.run for member in found.runs if acceptance.run_of(member).started().time > began.time]
    if newer:
        note(f"rackcheck: run {began.run} is older than {newer[-1]}; the readings of the newer run are still used")
    if stored.done() is None:
        note(f"rackcheck: run {began.run} was cut off: facts that it did not read are unknown")
    event = {
        "event": "run added", "time": now(), "by": getpass.getuser(), "run": began.run,
        "folder": str(stored.folder.resolve()), "digest": acceptance.digest_of(stored),
        "kind": kind or ("re-audit" if found.runs else "audit"), "note": text, "machines": machines,
    }  # fmt: skip
    acceptance.append(found.folder, event)


SKEW = timedelta(minutes=5)
"""Maximum time by which the start of a run may be later than the local clock."""


def _later(time: str) -> str:
    return (datetime.fromisoformat(time) + SKEW).strftime("%Y-%m-%dT%H:%M:%SZ")


def _require_scope(found: Acceptance, stored: store.Stored) -> None:
    """Raise UserError if a run was made with a profile that is not the acceptance's profile and does not extend it.

    Such a run may lack facts that the rules of the acceptance need, so its nodes would become unknown.
    """
    own = stored.head.get("profile")
    lineage = own.get("lineage") if isinstance(own, dict) else None
    names = [str(step).partition("@")[0] for step in lineage] if isinstance(lineage, list) else []
    wanted = found.head["profile"]["name"]
    if wanted not in names:
        made_by = clean(names[-1], 60) if names else "another profile"
        text = f"run {stored.started().run} was made with {made_by} and read only the facts of that profile"
        raise UserError(
            f"{text}; acceptance {found.name} needs runs of {wanted}: rackcheck audit --accept {found.name}"
        )


def _same_machines(found: Acceptance, run: str, machines: Mapping[str, str]) -> None:
    """Raise UserError if a node of a run has another system serial number than in earlier runs of the acceptance."""
    others = [node for node, serial in machines.items() if found.machines.get(node, serial) != serial]
    if others:
        was, now_ = clean(found.machines[others[0]], 80), clean(machines[others[0]], 80)
        text = f"run {run} has read other machines than before: {fold(others)} ({others[0]}: serial {was}, now {now_})"
        raise UserError(
            f"{text}; if they were replaced: rackcheck accept add {found.name} {run} --kind rework --note TEXT"
        )


def _short(found: subject.RunSubject) -> None:
    readings = list(found.evaluate())
    summary = subject.summary(found, readings)
    first, last = readings[0].done.outcome.value, summary.done.outcome.value
    then = f"first {first}, now {last}" if len(readings) > 1 else last
    click.echo(f"acceptance {found.name} ({found.state}): {several(len(readings), 'run')}, {then}")
    if summary.reason:
        print_lines(terminal.why(summary, width()))
    for text in waiver_notes(summary.waivers):
        note(text)


@accept.command("show")
@click.argument("name", required=False, shell_complete=complete)
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
            click.echo(machine.text({"acceptance": name, "state": found.state, "runs": []}))
        else:
            click.echo(f"acceptance {name} ({found.state}): no run yet; rackcheck accept add {name} RUN")
        return 3
    about = subject.find(name)
    readings = list(about.evaluate())
    summary = subject.summary(about, readings)
    log = list(reworked(readings, about.profile.rules))
    if as_json:
        doc = machine.document(summary) | {
            "acceptance": name, "state": found.state, "superseded": found.superseded,
            "runs": [asdict(member) for member in found.runs],
            "rework": [asdict(one) for one in log], "signed": [dict(one) for one in found.signed],
        }  # fmt: skip
        click.echo(machine.text(doc))
    else:
        print_lines(_lines(found, readings))
        print_lines(_log(log))
        print_lines(terminal.lines(summary, width=width(), plain=is_plain(), every=every))
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


LOGGED = 24
"""Maximum number of lines of the rework log that are shown; the report lists all."""


def _log(log: list[Rework]) -> list[Line]:
    if not log:
        return []
    lines = [Line((("changed between runs", "bold"),))]
    for one in log[:LOGGED]:
        steps = " -> ".join(step for _, _, step in one.steps)
        lines.append(
            Line(((f"  {one.rule or one.fact}", "bold"), (f"  {steps}", ""), (f"  {fold(one.nodes)}", "cyan")))
        )
    if len(log) > LOGGED:
        lines.append(Line(((f"  and {len(log) - LOGGED} more: the report lists all", "dim"),)))
    return [*lines, Line()]


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
