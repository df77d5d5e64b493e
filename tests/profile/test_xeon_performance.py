"""The profile xeon-performance: a tuned server passes all of it, and only a changed setting is reported."""

import csv
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from mockup_server import Mockup
from recordings import shared
from trees import DELL, bmc_probes, read, resource, tree
from xeon_changes import CHANGES

from rackcheck.evaluate.verdict import judge
from rackcheck.model import operator
from rackcheck.model.capture import BmcCapture
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.profile import Profile, Rule, Severity
from rackcheck.model.tree import Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.profile import library

BIOS = "/redfish/v1/Systems/System.Embedded.1/Bios"
REGISTRY = f"{BIOS}/BiosRegistry"


ELSEWHERE = frozenset({"MemFrequency", "IntelSgx"})
"""Attributes whose current value is the only one in this machine's registry."""


@cache
def profile() -> Profile:
    return library.load("xeon-performance", registry().catalogue)


def rule(rule_id: str) -> Rule:
    return next(r for r in profile().own if r.id == rule_id)


@cache
def capture() -> BmcCapture:
    """An audit's capture of the recorded server, read once over HTTPS."""
    return read(DELL, None, "bmc_bios")


def judged(changes: Mapping[str, object] | None = None) -> dict[str, Verdict]:
    """Every rule's verdict on the recorded server with some BIOS attributes changed."""
    body = capture().bodies[BIOS]
    assert isinstance(body, Mapping)
    attributes = body["Attributes"]
    assert set(changes or {}) <= set(attributes)
    bodies = {**capture().bodies, BIOS: {**body, "Attributes": {**attributes, **(changes or {})}}}
    leaves = collect([bmc_probes()["bmc_bios"]], BmcCapture(bodies))
    return {v.rule: v for v in judge(profile().own, Tree(leaves))}


@cache
def values() -> dict[str, set[str]]:
    """The values that the server's registry allows for each attribute."""
    entries: Any = resource(DELL, REGISTRY)["RegistryEntries"]
    return {e["AttributeName"]: {v["ValueName"] for v in e.get("Value", ())} for e in entries["Attributes"]}


def test_the_tuned_server_passes_every_rule() -> None:
    assert {rule_id: v.reason for rule_id, v in judged().items() if v.status is not Status.PASS} == {}
    assert len(CHANGES) >= 12
    assert set(CHANGES) | {"bios.none_pending"} == {r.id for r in profile().own}


@pytest.mark.parametrize("rule_id", CHANGES)
def test_one_changed_setting_fails_its_own_rule_and_moves_no_other(rule_id: str) -> None:
    attribute, value, _ = CHANGES[rule_id]
    assert value in values()[attribute] or attribute in ELSEWHERE
    before, after = judged(), judged({attribute: value})
    assert {i for i, v in after.items() if v.status is not before[i].status} == {rule_id}
    assert after[rule_id].status is Status.FAIL


@pytest.mark.parametrize("rule_id", CHANGES)
def test_a_finding_names_the_setting_its_attribute_what_was_seen_and_what_is_wanted(rule_id: str) -> None:
    attribute, value, word = CHANGES[rule_id]
    found = judged({attribute: value})[rule_id]
    (evidence,) = found.evidence
    (clause,) = rule(rule_id).clauses
    (test,) = clause.tests
    assert evidence.source == f"{BIOS}#/Attributes/{attribute} = {value}"
    assert (evidence.item, evidence.observed) == (str(clause.fact), word)
    assert found.reason.startswith(f"{clause.fact} is {word}, must be")
    assert wanted(test) in evidence.expected
    assert len(rule(rule_id).fix) > 20


def wanted(test: operator.Test) -> str:
    return ", ".join(test.operand) if isinstance(test.operand, tuple) else str(test.operand)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule_id", CHANGES)
@pytest.mark.parametrize("value", [None, "", "An unknown word", ["Enabled"]])
def test_an_unreadable_value_is_unknown_and_never_passes(rule_id: str, value: object) -> None:
    attribute, _, _ = CHANGES[rule_id]
    after = judged({attribute: value})
    assert after[rule_id].status is Status.UNKNOWN
    assert attribute in after[rule_id].reason
    assert {i for i, v in after.items() if v.status is not Status.PASS} - {"bios.none_pending"} == {rule_id}


def test_a_setting_that_waits_for_a_reboot_is_no_tuned_machine() -> None:
    bodies = dict(capture().bodies)
    later = next(uri for uri in bodies if uri.startswith(f"{BIOS}/") and uri.endswith("Settings"))
    bodies[later] = {**resource(DELL, later), "Attributes": {"ProcCStates": "Enabled"}}
    leaves = collect([bmc_probes()["bmc_bios"]], BmcCapture(bodies))
    found = {v.rule: v for v in judge(profile().own, Tree(leaves))}
    assert {i for i, v in found.items() if v.status is Status.FAIL} == {"bios.none_pending"}


def test_a_site_sets_clusters_by_a_param() -> None:
    own = library.load("xeon-performance", registry().catalogue, {"sub_numa": "2"})
    (clause,) = next(r for r in own.own if r.id == "bios.snc").clauses
    assert [t.operand for t in clause.tests] == ["2"]


@pytest.mark.parametrize("rule_id", [*CHANGES, "bios.none_pending"])
def test_every_rule_states_why_and_a_fix_and_names_a_source(rule_id: str) -> None:
    one = rule(rule_id)
    assert one.title
    assert one.why.endswith(".")
    assert one.fix
    assert one.refs
    assert not one.from_memory


CAPTURES = frozenset({"r750.capture", "dgx-h100.capture", "supermicro.capture"})


@pytest.mark.parametrize("rule_id", CHANGES)
def test_what_captured_machines_alone_show_fails_no_server(rule_id: str) -> None:
    assert not set(rule(rule_id).refs) <= CAPTURES or rule(rule_id).severity is Severity.MINOR


@pytest.mark.parametrize(
    ("rule_id", "row"),
    [
        ("bios.power_profile", "BIO-048"),
        ("bios.c_states", "BIO-049"),
        ("bios.c1e", "BIO-049"),
        ("bios.p_state_control", "BIO-050"),
        ("bios.uncore_frequency", "BIO-051"),
        ("bios.energy_bias", "BIO-052"),
        ("bios.pcie_aspm", "BIO-053"),
        ("bios.upi_link_power", "BIO-054"),
        ("bios.memory_speed", "BIO-055"),
        ("bios.snc", "BIO-056"),
        ("bios.above_4g", "BIO-057"),
        ("bios.sr_iov", "BIO-057"),
        ("bios.patrol_scrub", "BIO-058"),
    ],
)
def test_what_the_tuned_server_shows_is_a_row_of_the_fact_base(rule_id: str, row: str) -> None:
    with shared("../facts/sbios.csv").open(encoding="utf-8", newline="") as opened:
        found = next(r for r in csv.DictReader(opened) if r["id"] == row)
    attribute, _, _ = CHANGES[rule_id]
    assert attribute in re.split(r"[\s,]+", found["how_to_read"])
    assert (found["op"], found["confidence"]) == ("==", "read in source")
    assert "r750.capture" in rule(rule_id).refs


def audit(folder: Path, bodies: Mapping[str, object] | None, *words: str) -> tuple[int, str]:
    """The real command against the server over HTTPS, the BMC's plane alone, by a site's profile of this fragment."""
    ours = folder / "ours.yaml"
    ours.write_text("rackcheck: 1\nprofile: ours\nversion: 1\ninclude: [xeon-performance]\n")
    with Mockup(tree(DELL), bodies=bodies) as bmc:
        (folder / "inventory.yaml").write_text(
            "rackcheck: 1\ndefaults:\n  bmc: { user: root, password: 'env:BMC_PASSWORD' }\n"
            f'nodes:\n  n1: {{ bmc: {{ url: "{bmc.url}", fingerprint: "{bmc.fingerprint}" }} }}\n'
        )
        done = rackcheck("audit", "-p", ours, "-i", folder / "inventory.yaml", "--planes", "bmc", "-q", *words)
    return done.status, done.out


def test_the_audit_of_the_tuned_server_passes_and_of_an_untuned_copy_states_the_fixes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BMC_PASSWORD", "calvin")
    status, out = audit(tmp_path, None, "--json")
    verdicts = json.loads(out)["nodes"]["n1"]["verdicts"]
    assert (status, {v["status"] for v in verdicts}) == (0, {"pass"})
    body = resource(DELL, BIOS)
    attributes: Any = body["Attributes"]
    status, out = audit(tmp_path, {BIOS: {**body, "Attributes": attributes | {"ProcCStates": "Enabled"}}})
    text = " ".join(out.split())
    assert status == 1
    assert "bios.c_states is enabled, must be disabled" in text
    assert rule("bios.c_states").fix in text
    assert f"{BIOS}#/Attributes/ProcCStates=Enabled" in "".join(out.split())
    assert {r.id for r in profile().own if f"FAIL {r.id} " in text} == {"bios.c_states"}
