"""A bundle: one folder with all renderings of a document and its source data, to be signed and handed over.

A full bundle contains the runs and the acceptance's log. A redacted copy contains only renderings, and the digest of
the full bundle's manifest. If typst is not installed, a bundle contains no PDF, and the user gets a note.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import visible
from rackcheck.report import annex, junit, markdown, record
from rackcheck.report.report_model import Dossier
from rackcheck.signoff.signing import files, manifest

FORMAT = 1
HEAD = "bundle.json"
RUN = ("run.json", "events.jsonl", "raw", "profile", "waivers")
"""Files and folders in a run's folder that are copied into a full bundle."""

INPUTS = "inputs"
"""Folder in a full bundle for the bill of materials, brand and waiver files from which its document is made."""

NOTHING: Mapping[str, bytes] = {}

LOG = "acceptance.jsonl"
ACCEPTANCE = (LOG, "profile", "waivers")


@dataclass(frozen=True, slots=True)
class WrittenBundle:
    """A written bundle: its folder, the digest of its manifest, and notes for the user."""

    folder: Path
    digest: str
    notes: tuple[str, ...]


def renderings(
    dossier: Dossier, *, template: Path | None = None, tell: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[str, bytes | str]]:
    """Yield every rendering as (file name, content); if the file name is empty, the content is a note for the user.

    Raises UserError if a rendering cannot be made. If typst is not installed and no `template` is given, yields a note
    instead of the PDF.
    """
    from rackcheck.report import html, pdf  # noqa: PLC0415  templates are only read when needed

    text = record.text(dossier)
    digest = record.digest(text)
    yield "report.json", text
    tell("report.html")
    yield "report.html", html.page(dossier, digest)
    yield "report.md", markdown.text(dossier, digest)
    yield "junit.xml", junit.text(dossier, digest)
    yield from sorted(annex.files(dossier).items())
    if template is None and find_spec("typst") is None:
        yield "", "report.pdf is not in the bundle, because typst is not installed: pip install 'rackcheck[pdf]'"
        return
    tell("report.pdf")
    made = pdf.document(dossier, digest, template)
    yield "report.pdf", made.data
    for note in made.notes:
        yield "", f"report.pdf: {note}"


def write(
    target: Path, dossier: Dossier, *, full: str = "", runs: Mapping[str, Path], accepted: Path | None = None,
    inputs: Mapping[str, bytes] = NOTHING, unreviewed: Sequence[str] = (), template: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> WrittenBundle:  # fmt: skip
    """Write a bundle to a new folder, or over an unsigned bundle; the folder is never left half-written.

    `runs` (each run's folder by its name), `accepted` (the acceptance's folder) and `inputs` (file content by file
    name) are only set for a full bundle. `unreviewed` names the profiles that no person has reviewed; as long as there
    are any, neither the bundle nor a redacted copy of it can be signed. Raises UserError if it cannot be written.
    """
    _free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _written(target), tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        made.mkdir()
        notes, digest = [], ""
        for name, content in renderings(dossier, template=template, tell=tell):
            if not name:
                notes.append(str(content))
                continue
            if name == "report.json":
                digest = record.digest(str(content))
            (made / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        for run, folder in runs.items():
            _copy(folder, made / "runs" / run, RUN)
        for name, data in inputs.items():
            (made / INPUTS).mkdir(exist_ok=True)
            (made / INPUTS / name).write_bytes(data)
        if accepted is not None:
            _copy(accepted, made / "acceptance", ACCEPTANCE)
            _content(made / "acceptance" / LOG)
        head = {
            "rackcheck": FORMAT, "bundle": dossier.subject.name, "kind": dossier.subject.kind, "level": dossier.level,
            "time": dossier.subject.time, "version": dossier.version, "record": digest,
        }  # fmt: skip
        head |= {"full": full} if full else {}
        head |= {"unreviewed": list(unreviewed)} if unreviewed else {}
        (made / HEAD).write_text(json.dumps(head, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
        sums = manifest.write(made)
        if target.exists():
            shutil.rmtree(target)
        made.replace(target)
    return WrittenBundle(target, sums, tuple(notes))


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Raise UserError in place of the error of a write, which has no file name; other errors name what was not read."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise UserError(f"cannot write {target}: {error.strerror}") from None


def _content(log: Path) -> None:
    """Remove the events `bundle` and `signed` from a copied log: an unchanged acceptance must give the same bundle."""
    rows = (b'{"event":"bundle",', b'{"event":"signed",')
    kept = [line for line in log.read_bytes().splitlines(keepends=True) if not line.startswith(rows)]
    log.write_bytes(b"".join(kept))


def _free(target: Path) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or target.is_symlink():
        raise UserError(f"{target} exists and is not a folder")
    inside = {path.name for path in target.iterdir()}
    if manifest.SIGNATURES in inside and any((target / manifest.SIGNATURES).iterdir()):
        raise UserError(f"{target} is signed; a signed bundle is never overwritten: choose another folder with -o")
    if inside and not {HEAD, manifest.NAME} <= inside:
        raise UserError(f"{target} contains other files; choose a new or empty folder")


def _copy(source: Path, target: Path, names: tuple[str, ...]) -> None:
    """Copy the named files and folders; raise UserError for a link, because following it could copy any local file."""
    target.mkdir(parents=True)
    for path, wrong in files.walk(source, frozenset()):
        if path.partition("/")[0] in names:
            if wrong:
                raise UserError(f"{source / visible(path)} {wrong}: it cannot be copied into a bundle")
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target / path, follow_symlinks=False)
