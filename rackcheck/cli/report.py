"""`rackcheck report`: the report of a run or of an acceptance, in one format or as a bundle to be signed."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.cli.choice import NearestChoice
from rackcheck.profile.reviewed import unreviewed
from rackcheck.report import annex, bundle, cover, junit, markdown, record, redact
from rackcheck.report.build import build
from rackcheck.report.report_model import Dossier
from rackcheck.run.job import now
from rackcheck.session import cli_choices, last_run, subject
from rackcheck.session.output import is_plain, note
from rackcheck.session.subject import RunSubject
from rackcheck.signoff import acceptance, bom
from rackcheck.signoff.signing import bundles, manifest
from rackcheck.views import machine
from rackcheck.views.summary import several

FORMATS = ("html", "pdf", "json", "junit", "csv", "markdown")
LEVELS = ("full", *redact.LEVELS)
ENDS = {"html": "html", "pdf": "pdf", "json": "json", "junit": "xml", "csv": "", "markdown": "md"}

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Arguments and options of `rackcheck report`."""

    run: str
    form: str | None
    whole: bool
    level: str
    output: Path | None
    bill_file: Path | None
    brand_file: Path | None
    template: Path | None
    waiver_files: tuple[Path, ...]
    quiet: bool
    as_json: bool


@click.command(epilog="Exit: 0 success, 2 usage error. The verdict does not affect the exit status.")
@options.run_argument
@click.option("--format", "form", type=NearestChoice(FORMATS), help="Format of the report (default: html).")
@click.option("--bundle", "whole", is_flag=True, help="All formats and all evidence in a folder, ready to be signed.")
@click.option(
    "--level",
    type=NearestChoice(LEVELS),
    default="full",
    show_default=True,
    help="Level of redaction; full means that nothing is redacted.",
)
@click.option(
    "-o", "--output", metavar="PATH", type=click.Path(path_type=Path), help="File, or folder for a bundle; - is stdout."
)
@click.option(
    "--bill", "bill_file", metavar="FILE", type=_FILE, help="Bill of materials (CSV) to compare the hardware with."
)
@click.option("--brand", "brand_file", metavar="FILE", type=_FILE, help="Names, parties and logo for the cover (YAML).")
@click.option(
    "--template", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False), help="Your own typst template."
)
@options.waivers_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@options.json_option
@options.collected(ReportOptions)
def report(given: ReportOptions) -> int:
    """Write the report of a run, or of an acceptance with all its runs; contacts no node.

    RUN is a run's id or folder, `last`, or the name of an acceptance.

    \b
    rackcheck report last                                 one HTML file
    rackcheck report last --format pdf -o handover.pdf
    rackcheck report last --format junit -o -             for a pipeline
    rackcheck report pod7 --bundle --brand site.yaml --bill shipped.csv
    rackcheck report pod7 --bundle --level customer       no addresses
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if given.whole and given.form:
        raise click.UsageError("--bundle contains every format: omit --format")
    if given.whole and given.output == Path("-"):
        raise click.UsageError("a bundle is a folder: use -o FOLDER, or omit -o for the default folder")
    if given.template is not None and not given.whole and given.form != "pdf":
        raise click.UsageError("--template needs --format pdf or --bundle")
    files = cli_choices.waiver_files(given.waiver_files, found=False) if given.waiver_files else None
    found = subject.find(last_run.named(given.run), files)
    if files is not None and found.acceptance is not None:
        raise UserError(
            f"an acceptance has its own waivers: rackcheck accept add {found.name} --waivers {given.waiver_files[0]}"
        )
    say = (lambda _: None) if given.quiet else _progress()
    ordered = found.order(
        bom.load(given.bill_file) if given.bill_file is not None else None,
        cover.load(given.brand_file) if given.brand_file is not None else None,
    )
    readings = []
    for run in found.evaluate(fingerprints=True):
        readings.append(run)
        say(f"read {run.started.run}: {several(len(run.started.nodes), 'node')}")
    full = build(readings, ordered)
    dossier = full if given.level == "full" else redact.redacted(full, given.level)
    if given.whole:
        read = [path for path in (given.bill_file, given.brand_file, *given.waiver_files) if path is not None]
        inputs = {path.name: path.read_bytes() for path in read} if given.level == "full" else {}
        return _bundled(found, dossier, given.level, given.output, given.template, inputs, say, as_json=given.as_json)
    if given.as_json:
        raise click.UsageError("--json needs --bundle; for the report as JSON use --format json -o -")
    return _single(dossier, given.form or "html", given.output, given.template, found.name, say)


def _progress() -> Callable[[str], None]:
    return lambda text: note(f"  {text}")


def _single(
    dossier: Dossier, form: str, output: Path | None, template: Path | None, name: str, say: Callable[[str], None]
) -> int:
    if form == "csv":
        return _tables(dossier, output, name, say)
    digest = "" if form == "json" else record.digest_of(dossier)
    content: str | bytes
    match form:
        case "json":
            content = record.text(dossier)
        case "junit":
            content = junit.text(dossier, digest)
        case "markdown":
            content = markdown.text(dossier, digest)
        case "html":
            from rackcheck.report import html  # noqa: PLC0415  templates are loaded only if needed

            content = html.page(dossier, digest)
        case _:
            from rackcheck.report import pdf  # noqa: PLC0415

            made = pdf.document(dossier, digest, template)
            content = made.data
            for message in made.notes:
                note(f"rackcheck: {message}")
    return _written(content, form, output, name, dossier.level)


def _written(content: str | bytes, form: str, output: Path | None, name: str, level: str) -> int:
    data = content if isinstance(content, bytes) else content.encode()
    piped = output is None and form in {"json", "junit", "markdown"}
    if piped or output == Path("-"):
        if isinstance(content, bytes) and sys.stdout.isatty():
            raise UserError(f"a {form} cannot be written to a terminal: use -o FILE")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return 0
    target = output or Path(f"{name}{'' if level == 'full' else f'-{level}'}.{ENDS[form]}")
    if target.is_dir():
        raise UserError(f"{target} is a folder; name a file")
    _replaced(target, data)
    note(f"Written: {target} ({len(data) / 1024:.0f} KiB)")
    return 0


def _replaced(target: Path, data: bytes) -> None:
    """Write a file completely or not at all: if the disk is full, the older file stays."""
    if target.exists() and not target.is_file():  # a named pipe or a device
        target.write_bytes(data)
        return
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_bytes(data)
        fresh.replace(target.resolve())
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UserError(f"cannot write {target}: {error.strerror}") from None


def _tables(dossier: Dossier, output: Path | None, name: str, say: Callable[[str], None]) -> int:
    if output == Path("-"):
        raise UserError(f"csv is several files, not one stream; use -o FOLDER: {', '.join(annex.files(dossier))}")
    target = output or Path(f"{name}-csv")
    if target.exists() and not target.is_dir():
        raise UserError(f"{target} is a file; the tables need a folder")
    tables = annex.files(dossier)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".tables-", dir=target) as scratch:
            for file, text in tables.items():
                (Path(scratch) / file).write_bytes(text.encode())
                say(file)
            for file in tables:  # if the disk is full, all older tables stay
                (Path(scratch) / file).replace(target / file)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    note(f"Written: {several(len(tables), 'table')} in {target}")
    return 0


def _bundled(
    found: RunSubject, dossier: Dossier, level: str, output: Path | None, template: Path | None,
    inputs: Mapping[str, bytes], say: Callable[[str], None], *, as_json: bool,
) -> int:  # fmt: skip
    full = ""
    if level != "full":
        # The copy of an acceptance is made from the bundle of the acceptance's current state, not of an earlier state.
        of_run = "" if found.acceptance is not None else str(bundles.folder() / found.name)
        place = found.acceptance.bundles.get("full", "") if found.acceptance is not None else of_run
        if not place or not (Path(place) / manifest.NAME).is_file():
            made_by = f"rackcheck report {found.name} --bundle"
            raise UserError(f"a redacted copy needs its full bundle, which does not exist; first: {made_by}")
        full = hashlib.sha256((Path(place) / manifest.NAME).read_bytes()).hexdigest()
    kept = found.acceptance.bundles.get("full") if found.acceptance is not None and output is None else None
    if level == "full" and kept and found.state == "signed":
        note(f"acceptance {found.name} is unchanged since it was signed: {kept}; -o FOLDER writes another bundle")
        return 0
    target = output or _place(found.name, level)
    runs = {job.id: stored.folder for stored, job, _ in found.jobs} if level == "full" else {}
    accepted = found.acceptance.folder if found.acceptance is not None and level == "full" else None
    made = bundle.write(
        target, dossier, full=full, runs=runs, accepted=accepted, inputs=inputs,
        unreviewed=unreviewed(found.profile.files), template=template, tell=say,
    )  # fmt: skip
    if found.acceptance is not None:
        event = {
            "event": "bundle",
            "time": now(),
            "level": level,
            "folder": str(target.resolve()),
            "digest": made.digest,
        }
        acceptance.append(found.acceptance.folder, event)
    for message in made.notes:
        note(f"rackcheck: {message}")
    outcome = dossier.tally.outcome.value
    if as_json:
        doc = {
            "bundle": str(target),
            "manifest": made.digest,
            "level": level,
            "outcome": outcome,
            "notes": list(made.notes),
        }
        click.echo(machine.text(doc))
        return 0
    count = sum(1 for path in target.rglob("*") if path.is_file())
    dash = "-" if is_plain() else "·"
    click.echo(f"{target}  {dash} {several(count, 'file')} {dash} {outcome} {dash} SHA256SUMS {made.digest[:16]}")
    name = found.name if output is None and level == "full" else target
    note(f"Next: rackcheck sign {name} --key ~/.ssh/id_ed25519 --as integrator")
    return 0


def _place(name: str, level: str) -> Path:
    """Return the folder for a new bundle; a signed bundle is kept, and the next one gets the suffix -r2, -r3, ..."""
    base = bundles.folder() / (name if level == "full" else f"{name}-{level}")
    place, number = base, 1
    while (place / manifest.SIGNATURES).is_dir():
        number += 1
        place = base.with_name(f"{base.name}-r{number}")
    return place
