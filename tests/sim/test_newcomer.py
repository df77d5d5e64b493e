"""From an empty folder to a signed, verified bundle with a burn-in, as a newcomer types it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from newcomer import LONGEST, Typed, walk

from rackcheck.sim import scenario

MOST = 12
"""Maximum number of commands of the whole way."""

EIGHT = "rackcheck: 1\nscenario: eight\nload: { pace: 12, seed: 5 }\nnodes: { 'dgx[01-08]': { machine: dgx-h100 } }\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("newcomer")


@pytest.fixture(scope="module")
def typed(folder: Path) -> Mapping[str, Typed]:
    """What was typed, by the command's first words; the burn-in runs at twelve times the speed."""
    (folder / "eight.yaml").write_text(EIGHT)
    done = list(walk(scenario.load(folder / "eight.yaml"), folder))
    assert [each.status for each in done] == [0] * len(done), done[-1]
    assert len(done) <= MOST
    assert sum(each.seconds for each in done) < LONGEST
    return {
        " ".join(each.words[:2]): each for each in done if each.words[1] != "accept"
    } | {" ".join(each.words[1:3]): each for each in done if each.words[1] == "accept"}  # fmt: skip


def test_all_keys_are_shown_before_they_are_trusted_with_one_yes(typed: Mapping[str, Typed]) -> None:
    done = typed["rackcheck init"]
    assert done.out.count("SHA256:") == 8
    assert "Trust 8 host keys and 8 certificates, as shown?" in done.err
    assert done.out.index("8 of 8 ready") < done.out.index("Verdict: PASS")


def test_the_machine_itself_proposes_the_profile_with_a_reason(typed: Mapping[str, Typed]) -> None:
    assert "h100-dgx (product DGXH100)" in typed["rackcheck init"].err
    assert "Audit with -p h100-dgx?" in typed["rackcheck init"].err


def test_each_step_names_the_next_command_until_all_are_done(typed: Mapping[str, Typed]) -> None:
    assert "Next: rackcheck burnin --accept pod7 --tier validate" in typed["accept add"].err
    assert "added to acceptance pod7" in typed["rackcheck burnin"].err
    shown = typed["accept show"]
    assert "Next:" not in shown.err
    assert [
        line.split()[-1] for line in shown.out.splitlines() if line.startswith(("audit ", "burn-in ", "counters "))
    ] == ["PASS"] * 3
    assert "Next: rackcheck sign pod7" in typed["rackcheck report"].err
    assert "Next: rackcheck verify pod7 --key key.pub" in typed["rackcheck sign"].err


def test_the_bundle_is_verified_and_contains_the_burn_in(typed: Mapping[str, Typed], folder: Path) -> None:
    assert "Verdict: PASS" in typed["rackcheck verify"].out
    assert "Verified: 1 signature by 1 key" in typed["rackcheck verify"].out
    bundle = folder / "pod" / "pod7" / "report.json"
    report = json.loads(bundle.read_text())["report"]
    assert [(step["kind"], step["tier"], step["outcome"]) for step in report["steps"]] == [
        ("audit", "", "PASS"), ("burn-in", "validate", "PASS"), ("counters", "", "PASS"),
    ]  # fmt: skip
    assert report["tally"]["outcome"] == "PASS"
    assert [run["tier"] for run in report["burned"]["runs"]] == ["validate"]


def test_a_burn_in_does_not_mention_what_only_an_audit_judges(typed: Mapping[str, Typed]) -> None:
    out = typed["rackcheck burnin"].out
    assert "config rules not run" in out
    assert not any(text in out for text in ("without a site value", "second reading", "not all nodes were read"))


def test_an_audit_without_a_finding_names_no_rule_to_explain(typed: Mapping[str, Typed]) -> None:
    assert "profile explain" not in typed["rackcheck audit"].err
