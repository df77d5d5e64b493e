"""Distinct wording: rules that pass wherever they apply, nodes that were never read, and which node reported what."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from command import rackcheck
from rack_runs import accepted

from rackcheck.evaluate.verdict import Status
from rackcheck.session import subject
from rackcheck.session.run_session import RunSession
from rackcheck.views.causes import detail_lines
from rackcheck.views.signs import Signs
from rackcheck.views.state import Board
from rackcheck_tui.widgets.words import about


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))


def output_of(*words: str) -> str:
    return " ".join(rackcheck(*words).out.split())


def test_a_rule_counts_as_passing_only_where_it_fails_on_no_node() -> None:
    assert accepted("pod", "first").status == 0
    findings = subject.shown(subject.find("pod")).findings
    met: dict[str, set[Status]] = {}
    for finding in findings:
        met.setdefault(finding.rule.id, set()).add(finding.status)
    mixed = [rule for rule, statuses in met.items() if Status.PASS in statuses and statuses - {Status.PASS, Status.NA}]
    fine = [rule for rule, statuses in met.items() if Status.PASS in statuses and rule not in mixed]
    assert mixed
    assert f"{len(fine)} of {len(met)} rules pass wherever they apply" in output_of("accept", "show", "pod")


def test_nodes_that_no_run_read_are_incomplete_and_folded() -> None:
    assert accepted("pod", "one").status == 0
    shown = output_of("accept", "show", "pod")
    assert "INCOMPLETE 2 n[2-3]: not judged" in shown
    assert "not read by any run: 2 nodes, n[2-3]" in shown


def test_junit_states_how_many_of_its_cases_are_no_verdicts(tmp_path: Path) -> None:
    assert accepted("pod", "one").status == 0
    target = tmp_path / "junit.xml"
    assert rackcheck("report", "pod", "--format", "junit", "-o", target, "-q").status == 0
    root = ET.fromstring(target.read_text())
    properties = [{p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")} for suite in root]
    verdicts = [int(found["rackcheck.node.verdicts"]) for found in properties]
    assert verdicts[1:3] == [0, 0]  # the nodes that were not read; then the fleet, as far as it was
    assert min(verdicts[0], *verdicts[3:]) > 0
    assert {found["rackcheck.verdicts"] for found in properties} == {str(sum(verdicts))}
    assert int(root.attrib["tests"]) == sum(verdicts) + 2
    assert (
        root.attrib["name"]
        == f"rackcheck pod: {sum(verdicts)} verdicts and 2 cases for INCOMPLETE or unjudged nodes, racks and fleet"
    )


def test_the_screens_of_an_acceptance_show_its_first_and_its_newest_run() -> None:
    assert accepted("pod", "first", "os").status == 0
    found = subject.find("pod")
    began = [stored.started().time for stored, _, _ in found.jobs]
    desk = RunSession(found=found)
    board = Board(desk.profile, desk.nodes, desk.racks, desk.waivers)
    for event in desk.events():
        board.take(event)
    assert list(desk.began) == began
    lines = [" ".join(str(line).split()) for line in about(board, Signs(plain=False), 200, desk.name, desk.began)]
    assert "name pod" in lines
    assert f"first run {began[0]}" in lines
    assert f"newest {began[-1]}" in lines
    assert not any(line.startswith("began") for line in lines)


def test_without_a_terminal_the_screens_of_an_acceptance_name_the_command_that_shows_it() -> None:
    assert accepted("pod", "first").status == 0
    done = rackcheck("tui", "pod")
    assert done.status == 2
    assert "`rackcheck groups pod` prints the first screen" in done.err


def test_of_different_details_each_names_its_nodes() -> None:
    assert detail_lines({"silent for 5 s": ("n1", "n2"), "silent for 30 s": ("n3",)}) == (
        "n[1-2]: silent for 5 s",
        "n3: silent for 30 s",
    )
    assert detail_lines({"silent for 5 s": ("n1", "n2")}) == ("silent for 5 s",)
    assert detail_lines({"a": tuple(f"n{i}" for i in range(0, 60, 2)), "b": ("n1",)}) == ("a", "n1: b")
