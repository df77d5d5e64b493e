"""The PDF: every section is there, a node's text is never markup, and the same record gives the same bytes."""

import hashlib
import importlib
import io
import os
import re
import subprocess
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dossiers import HOSTILE, sample
from places import SUPPORT

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import visible
from rackcheck.report.pdf import TEMPLATE, Pdf, document
from rackcheck.report.pdf.words import MARKS, by_code_point, pieces, where
from rackcheck.report.report_model import Dossier, Logo
from rackcheck.views.locations import Whole


def needed(name: str) -> Any:
    """Return a module; where the extra is not installed these tests are skipped, except where they must run."""
    return importlib.import_module(name) if os.environ.get("CI") else pytest.importorskip(name)


needed("typst")
pypdfium2 = needed("pypdfium2")

DIGEST = hashlib.sha256(b"record").hexdigest()

SECTIONS = (
    "Verdict", "Not checked", "Scope and method", "Gates agreed beforehand", "Inventory", "Bill of materials",
    "Firmware and software", "Settings", "Findings", "Performance", "Exceptions", "Punch list", "Rework",
    "Baseline", "Signatures", "Evidence index", "Appendix: rule catalogue",
)  # fmt: skip


def pages(data: bytes) -> list[str]:
    """Return the text of each page."""
    with pypdfium2.PdfDocument(data) as read:
        return [page.get_textpage().get_text_range() for page in read]


def packed(text: str) -> str:
    """Remove blanks and line ends, because a long word may break anywhere."""
    return re.sub(r"\s", "", text)


def whole(data: bytes) -> str:
    return packed("".join(pages(data)))


@pytest.fixture(scope="module")
def plain() -> Pdf:
    return document(sample(), DIGEST)


@pytest.fixture(scope="module")
def hostile() -> Pdf:
    return document(sample(hostile=True), DIGEST)


def test_every_section_stands_in_its_order_and_the_outline_leads_to_it(plain: Pdf) -> None:
    with pypdfium2.PdfDocument(plain.data) as read:
        toc = [(re.sub(r"^[0-9. ]+", "", mark.get_title()).strip(), mark) for mark in read.get_toc()]
        marks = [(title, mark.get_dest().get_index()) for title, mark in toc]
    assert {title for title, mark in toc if mark.level == 0} <= set(SECTIONS)
    assert [title for title, _ in marks if title in SECTIONS] == list(SECTIONS)
    rows = pages(plain.data)
    assert all(packed(title) in packed(rows[page]) for title, page in marks)


def test_a_document_without_content_states_for_each_section_that_it_is_empty() -> None:
    full = sample()
    tally = replace(full.tally, nodes={}, counts={}, severe={}, total=0)
    empty = replace(
        full, nodes=(), findings=(), gates=(), changes=(), sources=(), unchecked=(), notes=(), parts=(), bill=None,
        firmware=(), compliance=(), performance="", exemptions=(), punch=(), rework=(), evidence=(), tally=tally,
        subject=replace(full.subject, readings=(), params={}, given={}, lineage=()),
        baseline=replace(full.baseline, facts=0, nodes={}), brand=replace(full.brand, parties=(), title="", customer=""),
    )  # fmt: skip
    text = whole(document(empty, DIGEST).data)
    for words in (
        "No rule was judged", "No waivers.", "No version was read", "No bill of materials to compare",
        "No answers: none was collected", "No part with an identity was read", "No burn-in was run", "No party was named",
        "No runs: this document has no data", "One run: nothing to compare", "The profile has no rules", "No open items.", "Acceptance report", "not set",
    ):  # fmt: skip
        assert packed(words) in text, words


def test_two_runs_without_a_change_between_them_state_it() -> None:
    text = whole(document(replace(sample(2, 5), rework=()), DIGEST).data)
    assert packed("No verdict and no tracked part changed between runs.") in text
    assert packed("nothing to compare") not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_node_is_printed_letter_by_letter(hostile: Pdf, text: str) -> None:
    shown = packed(visible(text.strip()))
    if text == "東京データセンター":
        shown = packed(f"[{' '.join(f'U+{ord(c):04X}' for c in text)}]")
    assert shown in whole(hostile.data)


def test_markup_of_the_template_in_a_text_reads_no_file(hostile: Pdf) -> None:
    text = whole(hostile.data)
    assert '#read("/etc/passwd")' in text
    assert "root:x:0" not in text


def test_no_character_leaves_its_page(hostile: Pdf) -> None:
    with pypdfium2.PdfDocument(hostile.data) as read:
        for page in read:
            width, _ = page.get_size()
            text = page.get_textpage()
            boxes = [text.get_charbox(i) for i in range(text.count_chars())]
            assert all(left >= 40 and right <= width - 40 for left, _, right, _ in boxes if right > left)


def test_a_character_without_a_glyph_is_written_by_code_point_and_noted(hostile: Pdf, plain: Pdf) -> None:
    assert plain.notes == ()
    (note,) = hostile.notes
    assert note.startswith("7 characters are not in the PDF's fonts")
    assert "U+6771" in note
    assert "report.html" in note
    assert packed("fonts and are written by code point") in packed(pages(hostile.data)[0])


def test_every_printable_letter_of_a_plane_can_be_set() -> None:
    every = "".join(c for c in map(chr, range(0xA1, 0x1000)) if c.isprintable())
    full = sample(2, 5)
    made = document(replace(full, notes=tuple(every[i : i + 200] for i in range(0, len(every), 200))), DIGEST)
    assert len(made.notes) == 1


def test_a_pile_of_combining_marks_stays_on_its_line() -> None:
    pile = "a" + "\u0301" * 9
    shown = by_code_point(pile, frozenset())
    assert sum(unicodedata.category(c) == "Mn" for c in shown) == MARKS
    assert shown.count("U+0301") == 9 - MARKS


def test_pieces_put_together_are_the_text() -> None:
    for output in (*HOSTILE, "", " ", "a" * 15 + "  " + "b" * 40, "dgx[001-062,064,066-072]", "x " * 30):
        cut = pieces(output)
        assert (cut if isinstance(cut, str) else "".join(cut)) == output
        assert isinstance(cut, str) or all(len(word) <= 24 for piece in cut for word in piece.split())


def test_a_long_node_set_is_cut_between_names_and_keeps_its_count() -> None:
    output = where([f"dgx{n:04}" for n in range(1, 1000, 2)], Whole(1000))
    assert output.startswith("500 of 1000: dgx[0001,0003,")
    assert output.endswith(",…]")
    assert len(output) < 180


def test_a_thousand_nodes_are_fewer_than_sixty_pages_and_name_their_annexes() -> None:
    made = document(sample(1000, 180, hostile=True), DIGEST)
    rows = pages(made.data)
    assert len(rows) < 60
    assert len(made.data) < 3_000_000
    body = packed("".join(rows))
    for annex in ("inventory.csv", "evidence.csv", "verdicts.csv", "findings.csv"):
        assert annex in body


def test_an_endless_list_is_cut_and_states_how_much_more_there_is() -> None:
    full = sample()
    many = replace(full, notes=tuple(f"note number {n}" for n in range(5000)), findings=full.findings * 400)
    made = document(many, DIGEST)
    assert len(pages(made.data)) < 60
    assert packed("and 4,970 more: report.json") in whole(made.data)


def test_an_unread_serial_is_marked_as_not_read() -> None:
    full = sample(2, 5)
    made = document(replace(full, parts=tuple(replace(part, serial="") for part in full.parts)), DIGEST)
    text = whole(made.data)
    assert packed(f"{len(full.parts)} serials were not read") in text
    assert text.count("serialnotread") == 5  # both makes on both nodes, and the head of a column
    bare = replace(full, parts=tuple(replace(part, serial="", other={}) for part in full.parts))
    assert whole(document(bare, DIGEST).data).count("notread") >= 2 * 2


def test_each_page_has_its_number_and_the_digest_and_the_signature_page_all_of_it(plain: Pdf) -> None:
    rows = pages(plain.data)
    for number, page in enumerate(rows, 1):
        assert f"{number} of {len(rows)}" in page
        assert DIGEST[:16] in page
    (signed,) = [page for page in rows if "The parties sign" in page]
    assert f"rackcheck:pod7:full:sha256:{DIGEST}" in packed(signed)
    assert all(role in signed for role in ("Integrator", "Customer", "Witness", "Jo Doe"))


@pytest.mark.parametrize("level", ["full", "customer", "public"])
def test_the_level_stands_on_every_page_after_the_cover(level: str) -> None:
    rows = pages(document(sample(2, 5, level=level), DIGEST).data)
    assert all(f"level: {level}" in page for page in rows[1:])
    assert packed(f"Level{level}") in packed(rows[0])


def test_same_record_same_bytes_wherever_it_is_set(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from dossiers import sample;"
        "from rackcheck.report.pdf import document;"
        f"sys.stdout.buffer.write(document(sample(6, 20, hostile=True), '{DIGEST}').data)"
    )
    made = set()
    for seed, zone, lang, epoch in (("1", "UTC", "C", "1"), ("2", "Asia/Tokyo", "de_DE.UTF-8", "1700000000")):
        values = {"PYTHONHASHSEED": seed, "TZ": zone, "LANG": lang, "SOURCE_DATE_EPOCH": epoch, "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", script, str(SUPPORT)],
            cwd=tmp_path, env={**os.environ, **values}, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        made.add(done.stdout)
    assert len(made) == 1
    assert made.pop().startswith(b"%PDF")


def test_its_dates_are_those_of_the_newest_run_and_it_names_no_place(plain: Pdf) -> None:
    with pypdfium2.PdfDocument(plain.data) as read:
        value = read.get_metadata_dict()
    assert value["Title"] == "Acceptance of pod 7: pod7"
    assert value["CreationDate"].startswith("D:20261121100000")
    assert str(TEMPLATE).encode() not in plain.data
    assert b"<pdfaid:part>2</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>" in plain.data


def test_a_time_that_is_none_gives_no_date_and_no_error() -> None:
    full = sample(2, 5)
    readings = tuple(replace(reading, time="yesterday") for reading in full.subject.readings)
    made = document(replace(full, subject=replace(full.subject, readings=readings)), DIGEST)
    assert "yesterday" in whole(made.data)


def site(tmp_path: Path, text: str) -> Path:
    """Return a site's own template folder with the main file `text`."""
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "report.typ").write_text(f"#set document(date: datetime(year: 2026, month: 1, day: 1))\n{text}")
    return folder


def test_a_site_sets_its_own_template(tmp_path: Path) -> None:
    folder = site(tmp_path, "#let data = json(bytes(sys.inputs.data))\nOurs: #data.level")
    assert "Ours: full" in pages(document(sample(2, 5), DIGEST, folder).data)[0]


def test_a_copy_of_the_template_is_the_template(tmp_path: Path, plain: Pdf) -> None:
    for file in TEMPLATE.glob("*.typ"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert document(sample(), DIGEST, tmp_path).data == plain.data


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.txt", "/../secret.txt"])
def test_a_template_reads_nothing_outside_its_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("hunter2")
    with pytest.raises(UserError, match=r"typst cannot compile ours/report\.typ"):
        document(sample(2, 5), DIGEST, site(tmp_path, f'#read("{path}")'))


def test_a_template_that_would_load_a_package_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"report\.typ:2: loads a package"):
        document(sample(2, 5), DIGEST, site(tmp_path, '#import "@preview/cetz:0.3.0": canvas'))


def test_a_folder_without_a_template_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no report\.typ"):
        document(sample(2, 5), DIGEST, tmp_path)


def branded(kind: str, data: bytes) -> Dossier:
    full = sample(2, 5)
    return replace(full, brand=replace(full.brand, logo=Logo(kind, data)))


@pytest.mark.parametrize("kind", ["png", "jpeg", "svg+xml"])
def test_a_logo_is_on_the_cover(kind: str) -> None:
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    if kind == "svg+xml":
        out.write(
            b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20"/></svg>'
        )
    else:
        image.new("RGB", (40, 20), (200, 0, 0)).save(out, kind)
    without = document(sample(2, 5), DIGEST).data
    made = document(branded(kind, out.getvalue()), DIGEST).data
    with pypdfium2.PdfDocument(made) as new, pypdfium2.PdfDocument(without) as old:
        assert new[0].render().to_pil().tobytes() != old[0].render().to_pil().tobytes()


def test_a_logo_that_is_no_picture_is_one_clear_line() -> None:
    with pytest.raises(UserError, match="logo"):
        document(branded("png", b"not a picture"), DIGEST)
    with pytest.raises(UserError, match="gif"):
        document(branded("gif", b"GIF89a"), DIGEST)


def test_without_the_extra_there_is_one_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(UserError, match=r"pip install 'rackcheck\[pdf\]'.*html"):
        document(sample(2, 5), DIGEST)
