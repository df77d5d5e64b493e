"""Every format reads each field of the report model, and what it names is there."""

import re
from collections.abc import Callable

import pytest
from dossiers import sample
from places import ROOT

from rackcheck.report import annex, markdown
from rackcheck.report.html import page
from rackcheck.report.pdf.model import model
from rackcheck.report.record_schema import shapes
from rackcheck.report.report_model import Dossier

REPORT = ROOT / "rackcheck" / "report"
FULL = sample(2, 5)

FORMATS: dict[str, Callable[[Dossier], object]] = {
    "HTML": lambda dossier: page(dossier, ""), "PDF": lambda dossier: model(dossier, ""),
    "Markdown": lambda dossier: markdown.text(dossier, ""), "CSV": annex.files,
}  # fmt: skip

LEFT_OUT = {
    "Markdown": {"brand", "changes", "sources", "notes", "parts", "bill", "firmware", "compliance", "performance",
                 "baseline", "evidence", "unlisted"},
    "CSV": {"level", "brand", "version", "subject", "tally", "changes", "sources", "notes", "compliance", "performance",
            "baseline", "removed"},
    "HTML": {"removed"}, "PDF": {"removed"},
}  # fmt: skip
"""What a format leaves to the others: Markdown is a summary, and an annex is a table.

HTML and PDF write a removed run as one of the notes, which they read.
"""


def read_by(render: Callable[[Dossier], object]) -> set[str]:
    """The fields of a dossier that a rendering reads."""
    seen = set[str]()

    class Watched(Dossier):
        def __getattribute__(self, name: str) -> object:
            seen.add(name)
            return super().__getattribute__(name)

    render(Watched(**{name: getattr(FULL, name) for name in shapes(Dossier)}))
    return seen


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_reads_each_field_of_the_model_that_it_does_not_leave_out(form: str) -> None:
    assert shapes(Dossier).keys() - read_by(FORMATS[form]) == LEFT_OUT.get(form, set())


def test_the_template_of_the_pdf_uses_all_that_it_is_given() -> None:
    template = "".join(file.read_text() for file in (REPORT / "pdf").glob("*.typ"))
    assert set(model(FULL, "")) - set(re.findall(r"\bdata\.(\w+)", template)) == set()


def test_the_contents_of_the_page_are_its_sections() -> None:
    written = page(FULL, "")
    contents = written.partition("<nav")[2].partition("</nav>")[0]
    assert re.findall(r'href="#([^"]+)"', contents) == re.findall(r'<section id="([^"]+)"', written)


def test_each_annex_that_a_format_names_is_written() -> None:
    files = [REPORT / "markdown.py", *(REPORT / "html").glob("*.j2"), *(REPORT / "pdf").glob("*.typ")]
    named = {name for file in files for name in re.findall(r"[\w-]+\.csv", file.read_text())}
    assert named - set(annex.files(FULL)) == set()
