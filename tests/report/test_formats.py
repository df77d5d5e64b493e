"""The formats for machines: the record and its schema, JUnit, the annexes, Markdown."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from typing import Any, get_args, get_origin
from xml.etree import ElementTree as ET

import jsonschema
import junitparser
import pytest
from dossiers import HOSTILE, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from places import ROOT, SUPPORT
from rendering import DOSSIERS, rendered

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Status
from rackcheck.model.fact import visible
from rackcheck.model.formula_guard import guarded, unguarded
from rackcheck.report import annex, junit, markdown, record
from rackcheck.report.record_schema import LATER, optional, schema, shapes
from rackcheck.report.report_model import LETTERS, Dossier, Logo, Unchecked

FORMATS = ("record", "junit", "annex", "markdown")

EMPTY = replace(
    sample(1, 5), nodes=(), gates=(), findings=(), parts=(), bill=None, firmware=(), compliance=(), exemptions=(),
    punch=(), rework=(), evidence=(), unchecked=(), changes=(), sources=(), notes=(),
)  # fmt: skip


@settings(max_examples=60)
@given(DOSSIERS)
def test_a_record_read_back_is_the_dossier_and_conforms_to_its_schema(dossier: Dossier) -> None:
    text = record.text(dossier)
    assert record.read(text) == dossier
    assert record.text(record.read(text)) == text
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(json.loads(text))) == []
    assert all(c == "\n" or c.isprintable() for c in text)
    text.encode()


@settings(max_examples=60)
@given(DOSSIERS)
def test_no_dossier_breaks_a_rendering(dossier: Dossier) -> None:
    for name, text in rendered(dossier).items():
        text.encode()
        assert all(c in "\r\n\ufeff" or c.isprintable() for c in text), name


def objects(doc: Any, cls: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document that is a dataclass of the model."""
    inner = optional(cls) or cls
    if doc is None:
        return
    if is_dataclass(inner):
        assert isinstance(inner, type)
        yield doc
        for name, shape in shapes(inner).items():
            yield from objects(doc[name], shape)
    elif get_origin(inner) is tuple:
        args = get_args(inner)
        for item, shape in zip(doc, [args[0]] * len(doc) if args[-1] is ... else args, strict=True):
            yield from objects(item, shape)


def kept_one_of_each(dossier: Dossier) -> Dossier:
    """The same with one item at most in every list of things."""
    lists = {name: getattr(dossier, name)[:1] for name in shapes(Dossier) if isinstance(getattr(dossier, name), tuple)}
    return replace(dossier, **lists, brand=replace(dossier.brand, logo=Logo("png", b"\x89")))


def test_a_record_with_any_key_removed_or_renamed_fails_in_the_schema_and_in_reading() -> None:
    whole = json.loads(record.text(kept_one_of_each(sample())))
    validator = jsonschema.Draft202012Validator(schema())
    tried = 0
    for found in [whole, *objects(whole["report"], Dossier)]:
        for key in list(found):
            value = found.pop(key)
            later = [names for names in LATER.values() if key in names and found.keys() >= names - {key}]
            for strange in ({}, {f"{key}_": value})[len(later) :]:
                found.update(strange)
                assert not validator.is_valid(whole), key
                with pytest.raises(UserError):
                    record.read(json.dumps(whole))
                for name in strange:
                    del found[name]
            found[key] = value
            tried += 1
    assert validator.is_valid(whole)
    assert tried > 150


WRONG: tuple[Any, ...] = (None, True, 7, "x", [], {}, ["x", "y"], {"x": 1})


def places(doc: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(doc) if isinstance(doc, dict) else range(len(doc)):
        yield doc, key
        if isinstance(doc[key], dict | list):
            yield from places(doc[key])


def test_reading_refuses_with_its_place_exactly_what_the_schema_refuses() -> None:
    whole = json.loads(record.text(kept_one_of_each(sample(2, 5))))
    validator = jsonschema.Draft202012Validator(schema())
    seen = set()
    for holder, key in list(places(whole)):
        kept = holder[key]
        for wrong in WRONG:
            holder[key] = wrong
            valid = validator.is_valid(whole)
            seen.add(valid)
            if valid:
                record.read(json.dumps(whole))
            else:
                with pytest.raises(UserError) as error:
                    record.read(json.dumps(whole))
                assert len(str(error.value).splitlines()) == 1
        holder[key] = kept
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"), ("[" * 100_000, "not JSON"), ('{"rackcheck": 2}', "format 1"), ("[1]", "format 1"),
        ('{"rackcheck": true, "report": {}}', "format 1"), ('{"rackcheck": 1, "rackcheck": 1}', "twice"),
        ('{"rackcheck": 1, "report": []}', "report must be an object, not a list"),
        ('{"rackcheck": 1, "report": {"\\u001b[2J": 1}}', r"report lacks level"), ("9" * 9999, "not JSON"),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_text_that_is_no_record_is_one_printable_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        record.read(text)
    assert str(caught.value).isprintable()


def test_equal_dossiers_are_equal_bytes_whatever_the_order_of_their_mappings() -> None:
    one = sample()
    turned = replace(one.tally, counts=dict(reversed(list(one.tally.counts.items()))))
    other = replace(
        one, tally=turned, subject=replace(one.subject, params=dict(reversed(list(one.subject.params.items()))))
    )
    assert record.text(one) == record.text(other)


def test_the_committed_schema_is_the_generated_one_and_has_no_one_of() -> None:
    committed = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
    assert committed == json.loads(json.dumps(schema()))
    jsonschema.Draft202012Validator.check_schema(committed)
    assert not any(word in json.dumps(committed) for word in ("oneOf", "anyOf"))


def test_renderings_are_the_same_bytes_in_processes_of_another_hash_seed_zone_and_language() -> None:
    code = (
        "import hashlib, sys; sys.path[:0] = sys.argv[1:]\n"
        "from dossiers import sample; from rackcheck.report.redact import redacted\n"
        "import rendering as formats\n"
        "for dossier in (sample(hostile=True), redacted(sample(), 'public')):\n"
        "    for name, text in formats.rendered(dossier).items():\n"
        "        print(name, hashlib.sha256(text.encode()).hexdigest())\n"
    )
    value = set()
    for seed, zone, language in (("1", "UTC", "C"), ("2", "Asia/Tokyo", "de_DE.UTF-8")):
        changed = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LANG": language}
        command = [sys.executable, "-c", code, str(SUPPORT)]
        value.add(subprocess.run(command, env=changed, capture_output=True, text=True, check=True).stdout)
    assert len(value) == 1
    assert len(value.pop().splitlines()) == 2 * len(rendered(EMPTY))


# JUnit


@pytest.mark.parametrize("hostile", [False, True])
def test_junit_is_read_by_a_parser_with_the_counts_of_the_verdicts(hostile: bool) -> None:
    dossier = sample(80, 40, hostile=hostile)
    suites = junitparser.JUnitXml.fromstring(junit.text(dossier).encode())
    counts = dossier.tally.counts
    wanted = (
        dossier.tally.total,
        counts[Status.FAIL],
        counts[Status.UNKNOWN],
        counts[Status.WAIVED] + counts[Status.NA],
    )
    assert min(counts.values()) > 0
    assert (suites.tests, suites.failures, suites.errors, suites.skipped) == wanted
    read: dict[str, int] = {}
    for suite, node in zip(suites, dossier.nodes, strict=True):
        assert suite.name == node.name
        assert (suite.tests, suite.time) == (len(node.vector), 0)
        for case in suite:
            for result in case.result:
                read[type(result).__name__] = read.get(type(result).__name__, 0) + 1
    assert read == {"Failure": wanted[1], "Error": wanted[2], "Skipped": wanted[3]}


def test_junit_has_the_form_that_build_servers_read() -> None:
    dossier = sample(hostile=True)
    root = ET.fromstring(junit.text(dossier, "0" * 64))
    assert root.tag == "testsuites"
    names = set()
    for suite in root:
        assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped", "time"}
        assert [child.tag for child in suite][:2] == ["properties", "testcase"]
        properties = {p.attrib["name"]: p.attrib["value"] for p in suite[0]}
        assert properties["rackcheck.record.sha256"] == "0" * 64
        assert properties["rackcheck.outcome"] == "FAIL"
        for case in suite.iter("testcase"):
            assert set(case.attrib) == {"classname", "name", "time"}
            assert case.attrib["classname"].startswith("h100-dgx.")
            assert len(case) <= 1
            names.add((case.attrib["classname"], case.attrib["name"]))
    assert len(names) == dossier.tally.total  # GitLab keeps one of equal names


def test_junit_shows_the_true_verdict_and_end_of_a_waiver_and_marks_a_warning_as_one() -> None:
    root = ET.fromstring(junit.text(sample()))
    skipped = [e.attrib["message"] for e in root.iter("skipped")]
    assert any(m.startswith("the true verdict is fail; waived until 2027-02-01") for m in skipped)
    assert all(m.count("waived until") <= 1 for m in skipped)
    assert any(m.startswith("n/a: ") for m in skipped)
    assert all((e.text or "").startswith("WARN ") for e in root.iterfind(".//testcase/system-out"))
    (failure, *_) = root.iter("failure")
    assert "must be 17" in failure.attrib["message"]
    assert "\nwhy: " in (failure.text or "")
    assert "\nfix: " in (failure.text or "")


def test_a_node_on_which_nothing_was_judged_is_a_suite_with_an_error() -> None:
    dossier = sample(2, 5)
    silent = replace(dossier, nodes=(replace(dossier.nodes[0], vector="-----"), replace(dossier.nodes[1], vector="")))
    for suite in junitparser.JUnitXml.fromstring(junit.text(silent).encode()):
        assert (suite.tests, suite.errors) == (1, 1)


# CSV


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix(annex.BOM), newline=""), strict=True))


@pytest.mark.parametrize("dossier", [sample(), sample(hostile=True), EMPTY], ids=["plain", "hostile", "empty"])
def test_annexes_are_csv_with_a_header_crlf_and_a_byte_order_mark(dossier: Dossier) -> None:
    for name, text in annex.files(dossier).items():
        assert text.startswith(annex.BOM), name
        assert text.count("\n") == text.count("\r\n") == len(rows(text)), name
        assert len({len(row) for row in rows(text)}) == 1, name


def test_the_annexes_hold_every_verdict_part_and_answer() -> None:
    dossier = sample(20, 40)
    files = {name: rows(text) for name, text in annex.files(dossier).items()}
    assert len(files["inventory.csv"]) == 1 + len(dossier.parts)
    assert len(files["evidence.csv"]) == 1 + len(dossier.evidence)
    header, *matrix = files["verdicts.csv"]
    assert header == ["node", *(gate.id for gate in dossier.gates)]
    for status in LETTERS:
        assert sum(row[1:].count(status.value) for row in matrix) == dossier.tally.counts[status]


def test_an_unread_value_is_marked_and_never_empty() -> None:
    dossier = sample(1, 5)
    silent = replace(
        dossier,
        nodes=(replace(dossier.nodes[0], serial="", vector="-----"),),
        parts=(replace(dossier.parts[0], serial=""),),
    )
    files = {name: rows(text) for name, text in annex.files(silent).items()}
    assert "not read" in files["inventory.csv"][1]
    assert "not read" in files["nodes.csv"][1]
    assert files["verdicts.csv"][1][1] == "not in scope"
    assert "not known" in annex.files(sample())["firmware.csv"]


@pytest.mark.parametrize(
    "text",
    ["=cmd()", "-1+1", "+1", "@SUM(A1)", " =1", "\u00a0=1", "\u200b=1", "\uff1d1+1", "\ufe63" + "1", "\u22121", "x;=1", "x; \uff20a", "'=1", "\t=1", "\r=1"],
    ids=ascii,
)  # fmt: skip
def test_a_text_that_a_spreadsheet_would_compute_is_guarded_and_the_guard_can_be_undone(text: str) -> None:
    assert guarded(text) != text
    assert unguarded(guarded(text)) == text
    for part in guarded(text).split(";"):
        assert part.strip("\u200b \u00a0\t\r")[:1] not in set("=+-@\uff1d\uff20\ufe63\u2212")


@settings(max_examples=300)
@given(st.text(st.sampled_from("=+-@';, \"\t\uff1dab1")))
def test_the_guard_loses_nothing(text: str) -> None:
    assert unguarded(guarded(text)) == text


def test_numbers_of_ours_and_harmless_texts_stay_what_they_are() -> None:
    assert rows(annex.table(("n", "text"), [(-5, "-5"), (7, "a-b=c"), (0, "it's")])) == [
        ["n", "text"], ["-5", "'-5"], ["7", "a-b=c"], ["0", "it's"],
    ]  # fmt: skip


def test_hostile_texts_stand_in_the_annexes_letter_by_letter() -> None:
    cells = {unguarded(c) for text in annex.files(sample(20, 40, hostile=True)).values() for r in rows(text) for c in r}
    assert {visible(text) for text in HOSTILE} <= cells


# Markdown


def tokens(text: str) -> list[Any]:
    parsed = MarkdownIt("gfm-like").parse(text)
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def test_hostile_texts_in_markdown_are_code_and_nothing_else() -> None:
    dossier = sample(14, 40, hostile=True)
    text = markdown.text(dossier, "0" * 64)
    found = tokens(text)
    kinds = {token.type for token in found}
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "fence", "code_block", "em_open", "s_open"}
    spans = "\n".join(token.content for token in found if token.type == "code_inline")
    assert [output for output in HOSTILE if visible(output) not in spans] == []
    bare = "".join(token.content for token in found if token.type == "text")
    assert not any(c in bare for c in "<@`")


@given(st.text(st.sampled_from("`ab |\\<@\n")))
def test_any_text_as_code_reads_as_itself(text: str) -> None:
    shown = visible(text.strip())
    found = [token for token in tokens(f"- x {markdown.code(text)}") if token.type == "code_inline"]
    assert [token.content for token in found] == ([shown] if shown else [])


def test_markdown_is_bounded_and_counts_what_it_leaves_out() -> None:
    dossier = sample(300, 180, hostile=True)
    long = tuple(Unchecked("node", f"n{i}", f"{i}" + "\U0001f4a5" * 400, 1) for i in range(500))
    text = markdown.text(replace(dossier, unchecked=long), "0" * 64)
    assert len(text.encode()) <= markdown.LIMIT
    shown = sum(line.startswith("- node `n") for line in text.splitlines())
    assert 0 < shown < 500
    assert f"- and {500 - shown} more: unchecked.csv\n" in text
    assert all(f"### {word}" in text for word in ("Not checked", "Findings", "Exceptions", "Punch list", "Rework"))
    assert text.count("more: findings.csv") == 1


def test_markdown_states_the_verdict_with_its_denominator_and_why_a_section_is_empty() -> None:
    assert markdown.text(sample(), "0" * 64).startswith("## ❌ FAIL: 2 of 8 nodes pass\n")
    text = markdown.text(EMPTY, "0" * 64)
    for words in (
        "Everything in scope was checked.",
        "No findings: all rules that apply pass.",
        "No waivers.",
        "No open items.",
    ):
        assert words in text


def test_an_empty_rework_states_whether_there_was_anything_to_compare() -> None:
    several = replace(sample(), rework=())
    one = replace(several, subject=replace(several.subject, readings=several.subject.readings[-1:]))
    written = {
        count: markdown.text(dossier, "0" * 64).partition("### Rework\n\n")[2]
        for count, dossier in ((2, several), (1, one))
    }
    assert written == {
        2: "No verdict and no tracked part changed between runs.\n\n", 1: "One run: nothing to compare.\n\n",
    }  # fmt: skip
