"""The HTML report as text: complete, escaped, self-contained, the same every time."""

import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from dossiers import HOSTILE, sample
from places import ROOT, SUPPORT

from rackcheck.evaluate.verdict import Status
from rackcheck.model.fact import visible
from rackcheck.report import qr
from rackcheck.report.html import overview, page, reading, text
from rackcheck.report.record_schema import shapes
from rackcheck.report.report_model import Dossier, Logo, NodeRow
from rackcheck.views.locations import Whole

DIGEST = hashlib.sha256(b"record").hexdigest()
SECTIONS = (
    "Verdict", "Scope and method", "Gates agreed beforehand", "Inventory", "Firmware and software", "Settings",
    "Findings", "Performance", "Exceptions", "Punch list", "Rework", "Baseline", "Signatures", "Evidence index",
    "Rule catalogue",
)  # fmt: skip
PROSE = "Every collective waits for its slowest member, so one link at half its rate halves the job on all of the nodes that take part in it, in every single step."


class Reader(HTMLParser):
    """The page as a browser parses it: tags with attributes, the visible text, the two scripts and the style."""

    def __init__(self, written: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.shown: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(written)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.raw.get(self._inside, self.shown).append(data)

    @property
    def text(self) -> str:
        return "".join(self.shown)


def wordy(dossier: Dossier) -> Dossier:
    return replace(dossier, gates=tuple(replace(gate, why=PROSE, fix=PROSE) for gate in dossier.gates))


def empty(dossier: Dossier) -> Dossier:
    none: dict[str, object] = {name: () for name in shapes(Dossier) if isinstance(getattr(dossier, name), tuple)}
    subject = replace(dossier.subject, readings=(), params={}, lineage=())
    return replace(dossier, **none, bill=None, performance="", subject=subject)  # type: ignore[arg-type]


@pytest.mark.parametrize("dossier", [sample(), empty(sample())], ids=["full", "empty"])
def test_every_section_is_in_its_order_and_an_empty_one_states_why(dossier: Dossier) -> None:
    written = page(dossier, DIGEST)
    assert tuple(re.findall(r"<h2[^>]*>([^<]*)</h2>", written)) == SECTIONS
    for section in written.split("<section ")[1:]:
        body = Reader(f"<section {section.split('</section>')[0]}").text.split("\n", 2)
        assert re.search(r"\w{3}", "".join(body[1:])), section[:80]


@pytest.mark.parametrize(
    ("runs", "message"),
    [(2, "No verdict and no tracked part changed between runs."), (1, "One run: nothing to compare.")],
)
def test_an_empty_rework_states_whether_there_was_anything_to_compare(runs: int, message: str) -> None:
    dossier = sample()
    subject = replace(dossier.subject, readings=dossier.subject.readings[:runs])
    written = page(replace(dossier, rework=(), subject=subject), DIGEST)
    assert message in Reader(written.partition('<section id="rework"')[2].partition("</section>")[0]).text


def test_the_verdict_has_its_denominator_and_what_was_not_checked() -> None:
    shown = Reader(page(sample(1000, 180), DIGEST)).text
    assert "260 of 1,000 nodes pass; 177,819 of 180,000 verdicts pass." in shown
    assert "3 things were not checked" in shown
    assert "no site value set" in shown
    assert "Draft until signed." in shown


@pytest.mark.parametrize("size", [(8, 40), (72, 120)])
def test_hostile_texts_print_literally_and_open_no_tag(size: tuple[int, int]) -> None:
    tame, wild = (Reader(page(sample(*size, hostile=hostile), DIGEST)) for hostile in (False, True))
    for output in HOSTILE[: size[0]]:
        assert visible(output) in wild.text, output
    for tag in ("script", "style", "img", "iframe", "link"):
        assert sum(name == tag for name, _ in wild.tags) == sum(name == tag for name, _ in tame.tags), tag
    assert not [attrs for _, attrs in wild.tags if any(name.startswith("on") for name in attrs)]


def test_no_control_or_direction_character_is_in_the_file() -> None:
    written = page(sample(16, 60, hostile=True), DIGEST)
    assert {c for c in written if not c.isprintable()} == {"\n"}
    written.encode("utf-8")


def test_the_scripts_data_reads_back_with_all_text_of_a_hostile_node() -> None:
    reader = Reader(page(sample(13, 40, hostile=True), DIGEST))
    data = json.loads(reader.raw["script"][0])
    assert [row[6] for row in data["nodes"]] == [visible(HOSTILE[n % len(HOSTILE)]) for n in range(13)]
    assert len(reader.raw["script"]) == 2


def test_the_policy_lets_only_this_style_and_this_script_run() -> None:
    reader = Reader(page(sample(), DIGEST))
    (policy,) = (a["content"] for t, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    hashes = [
        base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()
        for s in ("".join(reader.raw["style"]), reader.raw["script"][1])
    ]
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{hashes[0]}'" in policy
    assert f"script-src 'sha256-{hashes[1]}'" in policy
    assert "unsafe" not in policy
    assert not [attrs for _, attrs in reader.tags if "style" in attrs]


def test_nothing_in_the_page_can_be_fetched() -> None:
    logo = Logo("png", b"\x89PNG\r\n\x1a\n")
    made = sample(8, 40, hostile=True)
    reader = Reader(page(replace(made, brand=replace(made.brand, logo=logo)), DIGEST))
    for _, attrs in reader.tags:
        for name in ("src", "href", "action", "srcset", "poster", "data", "background"):
            assert attrs.get(name, "#").startswith(("#", "data:image/")), attrs
    assert "url(" not in "".join(reader.raw["style"])
    assert "@import" not in "".join(reader.raw["style"])
    assert [a["src"] for t, a in reader.tags if t == "img"] == ["data:image/png;base64,iVBORw0KGgo="]


def test_every_link_inside_leads_somewhere_and_no_name_stands_twice() -> None:
    reader = Reader(page(sample(72, 120), DIGEST))
    names = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(names) == len(set(names))
    gone = {a["href"][1:] for _, a in reader.tags if a.get("href", "").startswith("#")} - set(names)
    assert gone == set()


def test_a_thousand_nodes_by_180_rules_stay_below_two_million_bytes() -> None:
    for hostile in (False, True):
        assert len(page(wordy(sample(1000, 180, hostile=hostile)), DIGEST).encode()) < 2_000_000


def test_a_flood_of_findings_is_bounded_and_counted() -> None:
    made = sample(8, 40)
    noisy = next(f for f in made.findings if f.status is Status.FAIL)
    flood = tuple(replace(noisy, reason=f"reason {n} " + "x" * 10_000) for n in range(3000))
    written = page(replace(made, findings=flood), DIGEST)
    assert len(written.encode()) < 4_000_000
    assert "and 2,500 more: <code>findings.csv</code>" in written


def test_the_same_bytes_come_in_other_processes_places_and_tongues(tmp_path: Path) -> None:
    code = (
        "import sys; from dossiers import sample; from rackcheck.report.html import page;"
        "sys.stdout.buffer.write(page(sample(12, 40, hostile=True), 'ab' * 32).encode())"
    )
    made = []
    for seed, zone, tongue in (("1", "UTC", "C"), ("77", "Asia/Tokyo", "de_DE.UTF-8")):
        path = os.pathsep.join([str(SUPPORT), str(ROOT)])
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LANG": tongue, "LC_ALL": tongue, "PYTHONPATH": path}
        made.append(
            subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, check=True).stdout
        )
    assert made[0] == made[1]


@pytest.mark.parametrize("level", ["full", "customer", "public"])
def test_a_missing_serial_is_stated_and_never_left_blank(level: str) -> None:
    made = sample(8, 40, level=level)
    blank = replace(
        made,
        nodes=tuple(replace(node, serial="") for node in made.nodes),
        parts=tuple(replace(p, serial="") for p in made.parts),
    )
    written = page(blank, DIGEST)
    assert written.count("</span> not read</span>") >= 8
    assert written.count("</span> serial not read</span>") == 8 * 2
    bare = replace(blank, parts=tuple(replace(p, other={}) for p in blank.parts))
    assert page(bare, DIGEST).count("</span> not read</span>") >= 8 + 8 * 2
    assert f"<dt>Level</dt><dd>{level}" in written


def test_nodes_beyond_the_bound_are_counted_and_the_file_that_has_them_is_named() -> None:
    assert "The first 200 of 1,000 nodes: <code>nodes.csv</code>" in page(sample(1000, 40), DIGEST)


def test_digest_and_name_stand_on_the_signature_page_and_in_its_code() -> None:
    written = page(sample(), DIGEST)
    mark = f"rackcheck:pod7:full:sha256:{DIGEST}"
    assert f"<code>{mark}</code>" in written
    assert qr.svg(mark) in written
    assert qr.svg(mark) != qr.svg(mark + "0")


def test_a_name_of_any_length_still_fits_the_code_and_the_printed_head() -> None:
    made = sample()
    for output in (*HOSTILE, "\u202e" * 5000):
        named = replace(made, subject=replace(made.subject, name=output), brand=replace(made.brand, title=output))
        assert f"sha256:{DIGEST}" in page(named, DIGEST)


def test_a_title_cannot_leave_its_string_in_the_style_sheet() -> None:
    assert re.fullmatch(r'"([A-Za-z0-9]|\\[0-9a-f]{6})*"', text.css_string('"; } </style> \\ \n 東京'))


def test_an_unknown_is_never_green_nor_a_pass() -> None:
    made = sample(8, 40)
    written = page(made, DIGEST)
    firmware = written.split('id="firmware"')[1].split("</section>")[0]
    assert "not read 1 component on dgx8: denied" in Reader(html.unescape(firmware)).text
    assert "1 of 4 components differ" in firmware
    assert "2 of 4 components are the same on every node" in firmware


def test_the_file_has_no_word_of_the_machine_it_was_made_on() -> None:
    written = page(sample(), DIGEST)
    assert str(ROOT) not in written
    assert str(Path.home()) + "/" not in written


def row(name: str, vector: str) -> NodeRow:
    return replace(sample().nodes[0], name=name, vector=vector)


def test_the_most_common_pattern_is_usual_and_a_tie_has_none() -> None:
    usual = {
        c.node.name: c.usual for r in overview.racks([row("a", "p"), row("b", "p"), row("c", "F")]) for c in r.cells
    }
    assert usual == {"a": True, "b": True, "c": False}
    tie = overview.racks([row("a", "p"), row("b", "F")])
    assert not any(cell.usual for rack in tie for cell in rack.cells)


def test_the_matrix_counts_what_it_leaves_out() -> None:
    made = sample(1000, 180)
    matrix = overview.matrix(made)
    drawn = sum(len(p.nodes) for p in (*matrix.common, *matrix.rare))
    assert drawn + matrix.nodes_between == 1000
    assert matrix.patterns == len({node.vector for node in made.nodes})
    assert sum(len(c.gates) for c in matrix.columns) + matrix.passing + matrix.more_rules == 180


def test_findings_gather_by_rule_and_none_is_lost() -> None:
    made = sample(72, 120)
    chapters, left = reading.chapters(made)
    loud = [f for f in made.findings if f.status not in {Status.PASS, Status.NA}]
    assert left == 0
    assert sorted(map(id, loud)) == sorted(id(i.found) for c in chapters for i in c.instances)


def test_parts_fold_by_make_with_the_odd_node_out_named() -> None:
    parts = sample(8).parts[:-1]
    gpus = next(kind for kind in reading.kinds(parts) if kind.kind == "gpu")
    assert gpus.spread == "8 on each of dgx[1-7]; 7 on dgx8"
    assert gpus.count == 63


@pytest.mark.parametrize(
    ("nodes", "message"),
    [((), "no node"), (("a1",), "a1"), (("a1", "a2"), "2 of 3: a[1-2]"), (("a1", "a2", "a3"), "all 3")],
)
def test_where_states_how_many_of_how_many(nodes: tuple[str, ...], message: str) -> None:
    assert text.where(nodes, Whole(3)) == message
