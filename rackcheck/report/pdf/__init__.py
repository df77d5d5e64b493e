"""The sign-off document as PDF/A, typeset by typst (the optional extra `pdf`)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.report.pdf.burn import drawings
from rackcheck.report.pdf.model import model, token
from rackcheck.report.pdf.words import spelt, strings
from rackcheck.report.qr import svg
from rackcheck.report.report_model import Dossier, Logo

__all__ = ["Pdf", "document"]

TEMPLATE = Path(__file__).parent
MAIN = "report.typ"

TRIES = 3
"""Maximum number of typesetting runs; a run is repeated if typst rejects a character that passed the test alone."""

KINDS = {"png": "png", "jpeg": "jpg", "svg+xml": "svg"}
"""The formats of a logo, each with typst's name for the format."""

_PACKAGE = re.compile(r'"@[a-z]+/')

_TRY_LOGO = b"#image(bytes(json(bytes(sys.inputs.logo))), format: sys.inputs.logo-kind)"


@dataclass(frozen=True, slots=True)
class Pdf:
    """A PDF document, and notes for the user."""

    data: bytes
    notes: tuple[str, ...]


def document(dossier: Dossier, digest: str, template: Path | None = None) -> Pdf:
    """Typeset a dossier; `digest` is the SHA-256 of `report.json`, `template` a site's copy of the template folder.

    The same dossier and template always give the same bytes. Typst reads no file outside the template's folder, and
    uses no network. Raises UserError if typst is not installed, or if it cannot typeset the template or the logo.
    """
    try:
        import typst  # noqa: PLC0415
    except ImportError:
        raise UserError(
            "the PDF report needs typst, which is not installed: pip install 'rackcheck[pdf]'; "
            "or use --format html, which prints well"
        ) from None
    from rackcheck.report.pdf import letters  # noqa: PLC0415

    folder = TEMPLATE if template is None else _checked(template)
    shown = model(dossier, digest)
    rows = list(strings(shown))
    lacking = letters.lacking(rows)
    began = _moment(dossier.subject.time)
    drawn = drawings(dossier)
    fixed = {"qr": svg(token(dossier, digest)), **_logo(dossier.brand.logo)}
    for last in (False,) * (TRIES - 1) + (True,):
        missed = sorted({char for text in rows if not text.isascii() for char in text} & lacking)
        page = {**spelt(shown, lacking), "missed": len(missed), "date": _day(began), "drawings": drawn}
        try:
            data = typst.compile(
                str(folder / MAIN), root=str(folder), ignore_system_fonts=True, format="pdf",
                pdf_standards=letters.STANDARD, timestamp=0 if began is None else int(began.timestamp()),
                sys_inputs={"data": json.dumps(page), **fixed},
            )  # fmt: skip
        except typst.TypstError as error:
            more = letters.named(error.diagnostic) - lacking
            if last or not more:
                raise UserError(f"typst cannot compile {folder.name}/{MAIN}: {error.message}") from error
            lacking |= more
            continue
        return Pdf(data, _notes(missed))
    raise AssertionError("the last attempt returns or raises")


def _checked(template: Path) -> Path:
    """Return the resolved folder; raise UserError if it has no `report.typ`, or loads a package from the network."""
    folder = template.resolve()
    if not (folder / MAIN).is_file():
        raise UserError(
            f"{template}: no {MAIN} in this template folder; copy {TEMPLATE.name}/*.typ of rackcheck and edit the copy"
        )
    for file in sorted(folder.rglob("*.typ")):
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
            if _PACKAGE.search(line):
                raise UserError(
                    f"{file}:{number}: loads a package from the network; copy its files into the template's folder"
                )
    return folder


def _logo(logo: Logo | None) -> Mapping[str, str]:
    """Return a logo in the template's form (a JSON list of bytes); raises UserError if typst cannot draw the logo."""
    if logo is None:
        return {"logo": "", "logo-kind": ""}
    if logo.kind not in KINDS:
        raise UserError(f"the logo is {logo.kind}; the PDF report supports {', '.join(KINDS)}")
    given = {"logo": json.dumps(list(logo.data)), "logo-kind": KINDS[logo.kind]}
    import typst  # noqa: PLC0415

    try:
        typst.compile(_TRY_LOGO, ignore_system_fonts=True, timestamp=0, sys_inputs=given)
    except typst.TypstError as error:
        raise UserError(f"the logo ({logo.kind}) cannot be drawn: {error.message}") from error
    return given


def _moment(time: str) -> datetime | None:
    """Return the time of a run, which is read from a file; None if it is not a valid time, or is before 1970."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if moment.year >= 1970 else None


def _day(moment: datetime | None) -> Mapping[str, int] | None:
    if moment is None:
        return None
    at = moment.astimezone(UTC)
    return {
        "year": at.year,
        "month": at.month,
        "day": at.day,
        "hour": at.hour,
        "minute": at.minute,
        "second": at.second,
    }


def _notes(missed: list[str]) -> tuple[str, ...]:
    if not missed:
        return ()
    shown = " ".join(f"U+{ord(char):04X}" for char in missed[:12]) + (" …" if len(missed) > 12 else "")
    message = "1 character is not in the PDF's fonts and is" if len(missed) == 1 else (
        f"{len(missed)} characters are not in the PDF's fonts and are"
    )  # fmt: skip
    return (f"{message} written by code point ({shown}); report.html shows them",)
