"""The report as one HTML file without network requests; all essential content is readable without script."""

import base64
import hashlib
from functools import partial
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold
from rackcheck.model.profile import Severity
from rackcheck.report import chart, hardware_groups
from rackcheck.report.burn_words import again, ended, unverified
from rackcheck.report.html import burn, overview, reading, text
from rackcheck.report.html.data import script_data
from rackcheck.report.qr import svg
from rackcheck.report.redacted_parts import missing
from rackcheck.report.report_model import LETTERS, OUT, Brand, Dossier
from rackcheck.report.shared_causes import gaps, in_short, things
from rackcheck.report.waiver_counts import in_force
from rackcheck.views import locations
from rackcheck.views.other_machines import apart
from rackcheck.views.reasons import LONGEST, MOST, is_alone, minor_note
from rackcheck.views.signs import OUTCOME
from rackcheck.views.simulation import SIMULATED
from rackcheck.views.summary import COUNTED, several
from rackcheck.views.terminal import GLYPHS, MINOR, is_minor

PLANES = {"bmc", "os"}
"""Planes of a full audit; if one of them was not collected, the verdict shows this."""

BOUNDS = {
    "nodes": 200,
    "parts": 400,
    "rows": 300,
    "evidence": 200,
    "baseline": 64,
    "set": 200,
    "faults": 100,
    "things": 64,
}
"""Maximum number of rows of each list in the page; `report.json` contains all rows.

`set` is the number of characters above which a node set is collapsed.
"""

UNREAD = "not read"
"""Text for an empty serial, which could not be read; a withheld serial is not empty, because it has a pseudonym."""


def page(dossier: Dossier, digest: str) -> str:
    """Render the whole report; `digest` is the SHA-256 of the record, in hex. Deterministic."""
    style, script = _file("report.css") + _print_head(dossier, digest), _file("report.js")
    chapters, left_out = reading.chapters(dossier)
    firmware = hardware_groups.firmware(dossier.firmware)
    gone = gaps(dossier.unchecked)
    return _environment(dossier).get_template("page.html.j2").render(
        d=dossier, digest=digest, style=Markup(style), script=Markup(script),  # noqa: S704  our own two files
        csp=_policy(style, script), logo=_logo(dossier.brand), title=_title(dossier),
        qr=Markup(svg(_mark(dossier, digest))), mark=_mark(dossier, digest),  # noqa: S704  drawn by us
        chapters=chapters, left_out=left_out, matrix=overview.matrix(dossier), racks=overview.racks(dossier.nodes),
        kinds=reading.kinds(dossier.parts), grid=reading.grid(dossier, firmware.odd), truths=reading.truths(dossier),
        unread=UNREAD, data=script_data(dossier, chapters, UNREAD), gaps=gone, shorts=in_short(gone),
        things=things(dossier.unchecked), firmware=firmware,
        part_gaps=hardware_groups.gaps(dossier.unlisted),
        shelves=reading.by_node(dossier.parts) if len(dossier.parts) <= BOUNDS["parts"] else (),
        drawn=burn.drawn(dossier), unverified=unverified(dossier),
        whys=[(names, clean(why, LONGEST)) for why, names in dossier.reasons[:MOST]],
        minor_note=minor_note(dossier.tally.minor_failures),
        alone=is_alone(dossier.reasons, dossier.whole),
        aside=apart(dossier.findings, dossier.others).text("findings.csv lists them"),
        as_whole={group.name: group.outcome for group in dossier.groups}, together=hardware_groups.together(dossier),
    )  # fmt: skip


def _environment(dossier: Dossier) -> Environment:
    made = Environment(
        loader=PackageLoader(__name__, ""), autoescape=True, undefined=StrictUndefined, finalize=text.finalize,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    of = dossier.whole
    made.filters.update(
        n=text.number, bounded=lambda value: clean(value, LONGEST),
        prose=text.prose, fold=fold, where=lambda names: text.where(names, of), several=several,
        share=lambda names: locations.share(names, of), nodes_text=locations.names_text, in_force=in_force,
        origin=lambda source: source.removeprefix("from "), again=again, ended=ended, spans=chart.spans,
    )  # fmt: skip
    made.globals.update(
        Status=Status, COUNTED=COUNTED, GLYPHS=GLYPHS, MINOR=MINOR, is_minor=is_minor,
        LETTERS=LETTERS, OUT=OUT, Outcome=Outcome, OUTCOME=OUTCOME,
        Severity=Severity, BOUNDS=BOUNDS, PLANES=PLANES, by_letter={v: k for k, v in LETTERS.items()},
        missing=missing, anchor=text.anchor, covered=reading.covered, among=locations.among,
        passing=locations.passing, SIMULATED=SIMULATED, failing=partial(_failing, dossier),
    )  # fmt: skip
    return made


def _failing(dossier: Dossier, vector: str) -> str:
    """Return `minor` if a node fails only verdicts of minor rules, else an empty text."""
    severities = {
        gate.severity for gate, letter in zip(dossier.gates, vector, strict=True) if letter == LETTERS[Status.FAIL]
    }
    return Severity.MINOR.value if severities == {Severity.MINOR} else ""


def _file(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return the page's Content-Security-Policy: only its own style and script, inline images, no requests."""
    given = {"style-src": style, "script-src": script}
    hashes = {key: base64.b64encode(hashlib.sha256(value.encode()).digest()).decode() for key, value in given.items()}
    allowed = "; ".join(f"{key} 'sha256-{value}'" for key, value in hashes.items())
    return f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def _logo(brand: Brand) -> str:
    if brand.logo is None:
        return ""
    return f"data:image/{brand.logo.kind};base64,{base64.b64encode(brand.logo.data).decode()}"


def _title(dossier: Dossier) -> str:
    return dossier.brand.title or f"{dossier.title} {dossier.subject.name}"


def _mark(dossier: Dossier, digest: str) -> str:
    """Return the identification in the page's QR code; the document's name is cut, so that the text fits."""
    return f"rackcheck:{text.shown(dossier.subject.name, 100)}:{dossier.level}:sha256:{digest}"


def _print_head(dossier: Dossier, digest: str) -> str:
    """Return CSS that prints the document's title and digest in the margins of every page."""
    head, foot = text.css_string(_title(dossier)), text.css_string(f"sha256:{digest}")
    made_up = '@page { @top-center { content: "SIMULATION"; } }\n' if dossier.simulated else ""
    return f"@page {{ @top-left {{ content: {head}; }} @bottom-left {{ content: {foot}; }} }}\n{made_up}"
