"""The copies of a real bundle: no file contains what its level withholds, or loses what the level keeps."""

import csv
import io
import json
import os
import re
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from command import rackcheck

from rackcheck.report import record
from rackcheck.report.report_model import Dossier

RACK = "sim:dgx-h100"
LEVELS = ("full", "customer", "public")

SITE = """\
rackcheck: 1
brand:
  title: Handover Waterfront
  integrator: Rackwright GmbH
  customer: Elbeforschung AG
  site: Altona
  hall: Hall Q7
  contract: PO-47110815
  footer: Strictly between Rackwright and Elbeforschung
  parties:
    - { role: integrator, name: Joachim Doering }
    - { role: customer, name: Kimberly Elbmann }
"""
BRAND = ("Waterfront", "Rackwright", "Elbeforschung", "Altona", "Hall Q7", "PO-47110815", "Doering", "Elbmann")
WAIVER = ("Petra Waiverer", "TICKET-90125", "optics ordered on Friday")

_IDS = re.compile(
    r"GPU-[0-9a-f]{8}-[0-9a-f-]{20,}|\b[0-9a-f]{4}(?::[0-9a-f]{4}){3}\b|\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b",
    re.IGNORECASE,
)
_HOST = re.compile(r"\b127\.\d+\.\d+\.\d+\b|https?://\d")


def made(*words: object) -> str:
    """Run a command that must write something."""
    done = rackcheck(*words)
    assert done.status in {0, 1, 3}, done.err
    return done.out


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A bundle of each level, of an acceptance with rework, waiver, brand and bill."""
    place = tmp_path_factory.mktemp("bundles")
    kept = os.environ.get("RACKCHECK_HOME")
    os.environ["RACKCHECK_HOME"] = str(place / "home")
    try:
        made("accept", "new", "waterfront7", "-p", "h100-dgx", "--rack", RACK)
        made("audit", "--accept", "waterfront7", "--rack", RACK, "-q")
        made("audit", "dgx03", "--accept", "waterfront7", "--rack", "sim:clean", "-q")
        by, ticket, reason = WAIVER
        until = (datetime.now(UTC).date() + timedelta(days=200)).isoformat()
        rows = ("--by", by, "--ticket", ticket, "--reason", reason, "--until", until)
        made("waive", "nic.rate", "--from", "waterfront7", "--nodes", "dgx02", *rows, "--file", place / "waivers.yaml")
        made("accept", "add", "waterfront7", "--waivers", place / "waivers.yaml")
        (place / "site.yaml").write_text(SITE)
        (place / "shipped-to-altona.csv").write_text(
            "node,item,kind,serial\n"
            "dgx01,gpu/module-7,gpu,1650001000002\ndgx01,gpu/module-5,gpu,1650001000001\ndgx01,gpu/module-9,gpu,MISSING4711\n"
        )
        given = ("--brand", place / "site.yaml", "--bill", place / "shipped-to-altona.csv", "-q")
        for level in LEVELS:
            made("report", "waterfront7", "--bundle", "--level", level, *given, "-o", place / level)
    finally:
        os.environ.pop("RACKCHECK_HOME")
        if kept is not None:
            os.environ["RACKCHECK_HOME"] = kept
    return {level: place / level for level in LEVELS}


@cache
def texts(bundle: Path) -> dict[str, str]:
    """Every file of a bundle as one text without blanks at its line ends; of a PDF its pages and its metadata."""
    found = {}
    for path in sorted(path for path in bundle.rglob("*") if path.is_file()):
        if path.suffix == ".pdf":
            pypdfium2 = pytest.importorskip("pypdfium2")
            with pypdfium2.PdfDocument(path) as read:
                pages = "".join(page.get_textpage().get_text_range() for page in read)
                found[path.name] = re.sub(r"\s", "", pages) + json.dumps(read.get_metadata_dict())
        else:
            found[path.name] = path.read_text(encoding="utf-8", errors="replace")
    return found


def full(bundles: dict[str, Path]) -> Dossier:
    """The document before redaction."""
    return record.read((bundles["full"] / "report.json").read_text())


def identities(dossier: Dossier) -> set[str]:
    """Names of nodes, things and persons of the site."""
    names = {node.name for node in dossier.nodes} | {node.serial for node in dossier.nodes}
    for part in dossier.parts:
        names |= {part.serial, *(part.other.get(word, "") for word in ("uuid", "guid", "serial", "mac"))}
    assert dossier.bill is not None
    names |= {billed.serial for billed in dossier.bill.differences}
    names |= set(dossier.baseline.nodes.values()) | {
        dossier.baseline.digest,
        dossier.subject.inventory,
    }
    return {text for text in names if text and not text.startswith("not read")}


def hosts(dossier: Dossier) -> set[str]:
    """Addresses of nodes and BMCs."""
    return {text for node in dossier.nodes for text in (node.host, node.bmc) if text}


def left(bundle: Path, words: set[str]) -> list[tuple[str, str]]:
    """Return each file that still has one of these words, in any case, with the word."""
    bare = {word: re.sub(r"\s", "", word).casefold() for word in words}
    found = []
    for name, text in texts(bundle).items():
        packed = (text if name.endswith(".pdf") else re.sub(r"[ \t]", "", text)).casefold()
        found += [(name, word) for word, sought in bare.items() if sought in packed]
    return found


def test_no_file_for_the_public_names_a_node_a_thing_a_place_or_a_person(bundles: dict[str, Path]) -> None:
    dossier = full(bundles)
    sought = identities(dossier) | hosts(dossier) | {*BRAND, *WAIVER, "waterfront7", "shipped-to", "waivers.yaml"}
    assert len(sought) > 200
    assert left(bundles["full"], sought)
    assert left(bundles["public"], sought) == []
    for name, text in texts(bundles["public"]).items():
        assert not _IDS.search(text), name
        assert not _HOST.search(text), name


def test_no_run_of_the_public_copy_is_called_as_it_is(bundles: dict[str, Path]) -> None:
    runs = {reading.run for reading in full(bundles).subject.readings}
    assert left(bundles["public"], runs) == []


def test_no_file_for_the_customer_reveals_how_nodes_are_reached_or_who_logged_in(bundles: dict[str, Path]) -> None:
    dossier = full(bundles)
    logins = {reading.operator for reading in dossier.subject.readings if len(reading.operator) > 3}
    names = {node.name for node in dossier.nodes}
    assert left(bundles["customer"], hosts(dossier) - names) == []
    for name, text in texts(bundles["customer"]).items():
        assert not _HOST.search(text), name
    copy = record.read((bundles["customer"] / "report.json").read_text())
    assert {reading.operator for reading in copy.subject.readings} == {""}
    assert {login for login in logins if any(login in note for note in copy.notes)} == set()
    assert left(bundles["customer"], {*BRAND, "dgx01", "1650001000001"})


@pytest.mark.parametrize("file", ["report.html", "report.pdf"])
def test_withheld_values_are_marked_as_withheld(bundles: dict[str, Path], file: str) -> None:
    if file.endswith(".pdf") and not (bundles["public"] / file).is_file():
        pytest.skip("typst is not installed")
    output = re.sub(r"\s", "", "withheld at this level")
    counts = [re.sub(r"\s", "", texts(bundles[level])[file]).count(output) for level in LEVELS]
    assert counts[0] == 0
    assert counts[1] >= 2  # the operator of each run
    assert counts[2] >= 10


def test_models_makers_and_verdicts_stay_in_every_copy(bundles: dict[str, Path]) -> None:
    whole = full(bundles)
    for level in LEVELS[1:]:
        copy = record.read((bundles[level] / "report.json").read_text())
        assert [(part.kind, part.model) for part in copy.parts] == [(part.kind, part.model) for part in whole.parts]
        assert [node.vendor for node in copy.nodes] == [node.vendor for node in whole.nodes]
        assert [one.fact for one in copy.firmware] == [one.fact for one in whole.firmware]
        assert [gate.fix for gate in copy.gates] == [gate.fix for gate in whole.gates]
        assert copy.tally.counts == whole.tally.counts


def test_no_table_has_two_columns_of_one_name(bundles: dict[str, Path]) -> None:
    for path in bundles["full"].glob("*.csv"):
        header = next(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
        assert len(header) == len(set(header)), path.name
