"""INCOMPLETE comes with its reason in every output, and none has a fix for a machine that the profile is not for."""

import csv
import io
import json
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from incomplete import OTHER, UNKNOWN, document, node, other, profile, summary
from rendering import rendered

from rackcheck.cli import groups as groups_cli
from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.filter.where import EVERYTHING
from rackcheck.model.fit import Match
from rackcheck.model.profile import Profile
from rackcheck.report import annex, junit, markdown, record
from rackcheck.report.hardware_groups import likenesses
from rackcheck.report.html import page
from rackcheck.report.outcome import punch
from rackcheck.report.pdf.model import model
from rackcheck.report.redact import redacted
from rackcheck.report.report_model import Dossier
from rackcheck.run.event import Judged
from rackcheck.views import machine, reasons, terminal
from rackcheck.views.census import Census
from rackcheck.views.finding_groups import groups
from rackcheck.views.locations import Whole
from rackcheck.views.summary import Summary

DIGEST = "0" * 64
FIX = "power the node off and on"
HOSTILE = "not <b>this</b> \x1b[31m one\n\u202e" + "w" * 5000


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile(tmp_path_factory.mktemp("made"))


def rack(rules: Profile, reason: str = OTHER) -> Summary:
    """Eight nodes: one passes, seven are other machines."""
    return summary(rules, node("dgx01", Outcome.PASS), *(other(f"dgx0{n}", reason) for n in range(2, 9)))


def shown(of: Summary, width: int = 200, *, every: bool = False) -> list[str]:
    return [str(line) for line in terminal.lines(of, width=width, plain=True, every=every)]


# Reasons


@given(st.lists(st.tuples(st.sampled_from(["n1", "n2", "n3", "n4", "n5"]), st.sampled_from(Outcome), st.text())))
def test_every_incomplete_node_is_listed_under_its_own_reason_and_no_other_node_is(
    values: list[tuple[str, Outcome, str]],
) -> None:
    made = reasons.gathered(values)
    wanted = {(name, reason) for name, outcome, reason in values if outcome is Outcome.INCOMPLETE and reason}
    assert {(name, reason) for reason, names in made for name in names} == wanted
    assert [len(names) for _, names in made] == sorted((len(names) for _, names in made), reverse=True)


@given(
    st.lists(st.tuples(st.text(min_size=1), st.just(("n1",))), min_size=1, max_size=20, unique_by=lambda one: one[0])
)
def test_reasons_are_bounded_in_number_and_length_and_move_no_terminal(
    found: list[tuple[str, tuple[str, ...]]],
) -> None:
    rows = list(reasons.lines(tuple(found), Whole(8)))
    assert len(rows) <= reasons.MOST + 1
    assert all(len(why) <= reasons.LONGEST and why.isprintable() for _, why in rows)
    if len(found) > reasons.MOST:
        assert rows[-1][1].startswith(f"and {len(found) - reasons.MOST} more reason")


# The terminal


def test_the_terminal_states_below_the_verdict_why_and_the_next_command(rules: Profile) -> None:
    lines = shown(summary(rules, other("me")))
    at = lines.index("Verdict: INCOMPLETE")
    assert lines[at + 1] == f"Why:     {OTHER}"


def test_nodes_with_one_reason_are_one_line_with_their_number(rules: Profile) -> None:
    lines = shown(rack(rules))
    assert lines[-1] == f"Why:     7 of 8 nodes, dgx[02-08]: {OTHER}"


def test_the_findings_of_another_machine_are_one_line_and_nothing_is_to_be_mended(rules: Profile) -> None:
    text = "\n".join(shown(rack(rules)))
    assert "1 rule fails and 1 is unknown there; they do not affect the outcome: --all lists them" in text
    assert "gpu.some" not in text
    everything = "\n".join(shown(rack(rules), every=True))
    assert "gpu.some" in everything
    assert FIX not in text + everything


def test_failures_on_a_machine_of_the_profile_are_reported_without_the_others(rules: Profile) -> None:
    of = summary(rules, node("dgx01", Outcome.FAIL), other("dgx02"))
    text = "\n".join(shown(of))
    assert "1 of 2: dgx01" in text
    assert FIX in text
    assert "Verdict: FAIL" in text
    assert f"INCOMPLETE 1 of 2 nodes, dgx02: {OTHER}" in text


def test_a_fragment_shows_its_rules_and_states_that_it_gives_no_verdict(rules: Profile) -> None:
    output = "made-up is a fragment and gives no verdict on a machine; did you mean h100-hgx?"
    text = "\n".join(shown(summary(rules, node("me", Outcome.INCOMPLETE, output, Match.FRAGMENT))))
    assert "gpu.some" in text
    assert text.endswith(f"Verdict: INCOMPLETE\nWhy:     {output}")


def test_an_unjudged_node_has_a_reason_among_all_that_were_requested(rules: Profile) -> None:
    assert shown(summary(rules, node("n1", Outcome.PASS), asked=("n2",)))[-1] == (
        f"Why:     1 of 2 nodes, n2: {reasons.NEVER_READ}"
    )
    assert summary(rules).reason == reasons.NO_NODE


def test_a_run_that_passes_has_no_reason(rules: Profile) -> None:
    of = summary(rules, node("n1", Outcome.PASS))
    assert of.reason == ""
    assert "Why:" not in "\n".join(shown(of))
    assert "reason" not in machine.document(of)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_reason_never_leaves_the_width_and_sends_nothing_to_the_terminal(rules: Profile, width: int) -> None:
    lines = shown(rack(rules, HOSTILE), width)
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)


# JSON and documents


def test_json_has_the_reason_of_the_run_and_of_each_node_and_what_machine_it_is(rules: Profile) -> None:
    doc = json.loads(machine.text(machine.document(rack(rules))))
    assert doc["reason"] == f"7 of 8 nodes, dgx[02-08]: {OTHER}"
    assert doc["nodes"]["dgx02"]["reason"] == OTHER
    assert doc["nodes"]["dgx02"]["fit"] == {"match": "other", "words": "ThinkPad X1, board 20XW"}
    assert not {"reason", "fit"} & doc["nodes"]["dgx01"].keys()


def test_a_rack_or_the_fleet_has_its_reason_too(rules: Profile) -> None:
    fleet = Judged("@fleet", "fleet", Outcome.INCOMPLETE, (), reason="3 serials are unknown; rackcheck facts n1")
    of = summary(rules, node("n1", Outcome.PASS), groups=(fleet,))
    assert of.reason == "the fleet: 3 serials are unknown; rackcheck facts n1"
    assert machine.document(of)["groups"]["@fleet"]["reason"] == fleet.reason


def texts(dossier: Dossier) -> dict[str, str]:
    """Every rendering, as text without marks where a line may break."""
    return rendered(dossier) | {"pdf": json.dumps(model(dossier, DIGEST), ensure_ascii=False)}


def test_every_rendering_holds_the_reason_with_its_nodes() -> None:
    dossier = document(UNKNOWN)
    for name, text in texts(dossier).items():
        if name.endswith(".csv") and name != "nodes.csv":
            continue
        assert "rackcheck doctor shows why" in text, name


def test_no_rendering_is_broken_by_a_reason_of_nonsense() -> None:
    dossier = document(HOSTILE)
    assert record.read(record.text(dossier)) == dossier
    html = page(dossier, DIGEST)
    assert "<b>this</b>" not in html
    ET.fromstring(junit.text(dossier))
    assert len(markdown.text(dossier, DIGEST).encode()) <= markdown.LIMIT
    for name, text in texts(dossier).items():
        assert "\x1b" not in text, name
        if name.endswith((".md", ".xml")):
            assert "w" * (reasons.LONGEST + 1) not in text, name


def cases(dossier: Dossier) -> Iterator[tuple[str, ET.Element]]:
    for case in ET.fromstring(junit.text(dossier)).iter("testcase"):
        yield case.attrib["name"], case


def test_an_incomplete_node_is_no_pass_for_a_build_server_and_its_rules_are_no_failures() -> None:
    found = dict(cases(document(nodes=3)))
    error = found["verdict [dgx2]"].find("error")
    assert error is not None
    assert error.attrib["message"] == OTHER
    assert "verdict [dgx1]" not in found
    assert not [name for name, case in found.items() if case.find("failure") is not None]
    assert any(
        "without effect on the outcome" in each.attrib["message"]
        for case in found.values()
        for each in case.iter("skipped")
    )


def test_the_counts_of_junit_are_those_of_its_cases() -> None:
    root = ET.fromstring(junit.text(document(nodes=5)))
    for suite in root:
        for word, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[word]) == len(list(suite.iter(tag))), suite.attrib["name"]
        assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))


def test_the_table_of_nodes_has_the_reason_and_the_machine() -> None:
    text = annex.files(document())["nodes.csv"].removeprefix(annex.BOM)
    first, second, *_ = csv.DictReader(io.StringIO(text, newline=""))
    assert (first["reason"], first["fit"]) == ("", "not stated")
    assert (second["reason"], second["fit"], second["fit words"]) == (OTHER, "other", "ThinkPad X1, board 20XW")


def test_documents_fold_the_findings_of_other_machines_into_one_line() -> None:
    dossier = document(nodes=8)
    folded = "2 rules fail and 1 is unknown there; they do not affect the outcome: findings.csv lists them"
    value = model(dossier, DIGEST)["findings"]
    assert value["aside"][0]["text"] == folded
    assert {row["status"] for row in value["rows"]} <= {"warn", "waived"} or not value["rows"]
    assert folded in page(dossier, DIGEST)
    assert folded in markdown.text(dossier, DIGEST)


def test_other_machines_are_alike_for_their_reason_whatever_their_rules_are() -> None:
    alike = likenesses(document(nodes=8))
    assert [(len(each.nodes), each.reason) for each in alike] == [(7, OTHER), (1, "")]
    assert alike[0].rules == ()


def test_a_page_of_other_machines_alone_claims_no_rule_that_passes() -> None:
    html = page(document(nodes=2, alone=True), DIGEST)
    assert "The profile is not for any of these nodes: no rule decides." in html
    assert "wherever they apply" not in html


def test_the_punch_list_has_the_reason_and_no_rule_of_another_machine(rules: Profile) -> None:
    of = rack(rules)
    lines = list(punch(of.findings, {}, {}, of.judged, (), cut=False))
    assert [(line.cls, line.what, len(line.nodes)) for line in lines if line.cls == "A"] == [("A", OTHER, 7)]


@pytest.mark.parametrize("level", ["customer", "public"])
def test_a_copy_keeps_the_product_and_loses_hosts_and_addresses(level: str) -> None:
    made = document("not a DGX H100 (product ThinkPad X1, board 20XW); dgx2.mgmt at 10.1.2.3 refused: ssh dgx2.mgmt")
    copy = redacted(made, level)
    row = copy.nodes[1]
    assert "ThinkPad X1, board 20XW" in row.reason
    assert row.fit.words == "ThinkPad X1, board 20XW"
    assert row.fit.match is Match.OTHER
    assert "10.1.2.3" not in row.reason
    assert "dgx2.mgmt" not in row.reason


# Groups


def test_nodes_of_one_reason_are_the_first_group_and_their_rules_are_in_none(rules: Profile) -> None:
    first, *rest = groups(rack(rules), Census())
    assert (first.number, first.status, first.title, first.got) == (1, Status.UNKNOWN, "INCOMPLETE", OTHER)
    assert first.nodes == tuple(f"dgx0{n}" for n in range(2, 9))
    assert all(group.quiet for group in rest)
    narrowed = first.narrowed(frozenset({"dgx02"}))
    assert narrowed is not None
    assert narrowed.nodes == ("dgx02",)


def test_a_reason_that_an_unknown_rule_gives_makes_no_group_of_its_own(rules: Profile) -> None:
    of = summary(rules, node("n1", Outcome.INCOMPLETE, UNKNOWN))
    assert "INCOMPLETE" not in {group.title for group in groups(of, Census())}


def test_groups_on_the_command_line_end_with_the_reason(rules: Profile, capsys: pytest.CaptureFixture[str]) -> None:
    of = rack(rules)
    rows = groups(of, Census())
    lines = [str(line) for line in groups_cli._lines(of, rows, len(rows), 0, EVERYTHING)]
    assert any("7 of 8" in line or "INCOMPLETE" in line for line in lines[:4])
    assert lines[-2:][0].startswith("Why:") or lines[-1].startswith("Why:")
    assert groups_cli._document(of, rows, ())["reason"] == of.reason
