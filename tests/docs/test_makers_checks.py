"""The page of makers' checks is correct: its rules exist and can fail, its Xids are judged, its counts are its rows'."""

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest
from fact_tables import SHIPPED, profile, rules
from h100_nodes import node
from makers_checks import (
    COLUMNS,
    CRITICAL,
    DECIDES,
    LOAD,
    PAGE,
    PUBLISHED,
    REASONS,
    REPAIRS,
    WARNS,
    XIDS,
    Check,
    checks,
    ranges,
    written,
)
from places import ROOT
from recordings import answering, facts, os_probes

from rackcheck.evaluate.verdict import judge
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Reading
from rackcheck.model.profile import Rule, Severity

ROWS = checks()
MACHINES = [name for name in SHIPPED if not profile(name).fragment]
JUDGED = ("h100-dgx", "gb200-nvl72")
"""The profiles that judge each Xid; the result of a row is the strictest of theirs."""

BOOT = "[    0.000000] Linux version 5.15.0-1053-nvidia (buildd@lcy02) (gcc 11.4.0) #54-Ubuntu SMP\n"
FATAL = "RLW_RXPIPE Fatal    XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)"
MILD = FATAL.replace("Fatal   ", "Nonfatal")
DETAILS = {
    **dict.fromkeys(range(144, 151), FATAL),
    154: "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
}
"""What a line with this Xid contains in the row's condition."""


def severities(rule: str) -> set[str]:
    """The severities of a rule in the machine profiles."""
    return {str(rules(name)[rule].severity) for name in MACHINES if rule in rules(name)}


def faults(row: Check) -> list[str]:
    """What is wrong in a row."""
    found = [f"{rule}: not {row.ours} in any machine profile" for rule in row.rules if row.ours not in severities(rule)]
    less = row.critical and row.ours not in DECIDES and row.reason in WARNS
    if (bool(row.rules) == bool(row.reason) and not less) or bool(row.rules) != bool(row.ours):
        found.append("not either rules with their severity or a reason")
    burnin = row.reason.removeprefix(LOAD)
    if (
        row.reason
        and row.reason not in (WARNS if row.rules else REASONS)
        and (burnin == row.reason or not severities(burnin))
    ):
        found.append(f"no such reason: {row.reason}")
    if burnin != row.reason and not burnin.startswith("burnin."):
        found.append(f"not a rule of a burn-in: {burnin}")
    if row.critical and row.ours not in DECIDES and not row.reason:
        found.append("critical there, and neither a blocker or major rule nor a reason here")
    if not (row.check and row.condition and row.severity):
        found.append("an empty cell")
    return found


def read(line: str) -> Mapping[str, Reading]:
    """The facts of a node whose kernel's log contains this Xid since its boot."""
    found = dict[str, Reading]()
    for name in ("kernel_log", "xid_meaning", "xid_detail"):
        probe = os_probes()[name]
        found |= facts(probe, answering(probe, BOOT + line))
    return found


@cache
def about_xids() -> Mapping[str, Rule]:
    """The rules about the kernel's Xids, by id; the same rule has one severity in all of these profiles."""
    own = [r for name in JUDGED for r in profile(name).own if r.look and str(r.look.collection) == "log.xid"]
    assert len({(rule.id, rule.severity) for rule in own}) == len({rule.id for rule in own})
    return {rule.id: rule for rule in own}


def strictest(code: int, detail: str = "") -> tuple[str, str]:
    """The strictest rule about Xids that does not pass on a node with this one, and its severity."""
    given = read(
        f"[ 12.5] NVRM: Xid (PCI:0000:1b:00): {code}, pid=7, name=python, {detail or DETAILS.get(code, 'x')}\n"
    )
    own = about_xids()
    bad = {v.rule for v in judge([*own.values()], node(given)) if v.status in {Status.FAIL, Status.WARN}}
    rule = min(bad, key=lambda rule: list(Severity).index(own[rule].severity))
    return rule, str(own[rule].severity)


def test_every_row_is_right() -> None:
    assert {f"{row.source}, {row.check}": faults(row) for row in ROWS if faults(row)} == {}


def test_every_source_has_rows_and_no_check_stands_twice() -> None:
    assert {row.source for row in ROWS} == set(PUBLISHED)
    assert [name for name, times in Counter((row.source, row.check) for row in ROWS).items() if times > 1] == []
    assert all(sum(row.source == source for row in ROWS) <= number for source, number in PUBLISHED.items())


def test_the_xids_are_those_of_the_table_with_its_actions() -> None:
    place = ROOT / "probes" / "rackcheck_probes" / "data" / "xid.csv"
    with place.open(encoding="utf-8", newline="") as opened:
        table = [(f"Xid {r['xid']}", r["catalog_immediate_action"] or "none given") for r in csv.DictReader(opened)]
    assert [(row.check, row.severity) for row in ROWS if row.source == XIDS] == table
    assert len(table) == PUBLISHED[XIDS]
    assert {action for _, action in table} >= REPAIRS


def test_a_node_with_an_xid_gets_the_rule_and_the_severity_of_its_row() -> None:
    own = {int(row.check.removeprefix("Xid ")): ((*row.rules,), row.ours) for row in ROWS if row.source == XIDS}
    found = {code: strictest(code) for code in own}
    assert {code: ((rule,), severity) for code, (rule, severity) in found.items()} == own


def test_the_xid_checks_of_health_validation_get_the_rule_of_their_row() -> None:
    own = {row.check: (*row.rules, row.ours) for row in ROWS if row.check.startswith("gpu_xid_")}
    assert {name: strictest(int(name[8:])) for name in own if name[8:].isdigit()} == {
        name: result for name, result in own.items() if name[8:].isdigit()
    }
    assert strictest(13) == own["gpu_xid_warning"]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        *((code, MILD) for code in range(144, 151)),
        (154, DETAILS[154].replace("to 0x1 (GPU Reset Required)", "to 0x0 (None)")),
    ],
)
def test_an_xid_outside_the_condition_of_its_row_only_warns(code: int, detail: str) -> None:
    assert strictest(code, detail) == ("log.no_xid", "advisory")


def test_the_causes_of_interruptions_are_all_of_them() -> None:
    counts = [row.condition.partition(" of 419 ")[0] for row in ROWS if row.source == "Meta Llama 3 405B"]
    assert len(counts) == PUBLISHED["Meta Llama 3 405B"]
    assert sum(map(int, counts)) == 419


def test_the_tables_and_counts_of_the_page_are_those_of_the_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert written(text, ROWS) == text
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == list(PUBLISHED)
    assert written(text, ROWS[1:]) != text


def test_the_page_names_no_rule_that_no_machine_profile_has() -> None:
    ids = {rule for name in MACHINES for rule in rules(name)}
    rooms = {rule.partition(".")[0] for rule in ids}
    words = PAGE.read_text(encoding="utf-8").split("`")[1::2]
    facts_of_page = {"numa.nodes"}
    named = {word for word in words if word.partition(".")[0] in rooms and "/" not in word and "." in word}
    assert named - facts_of_page - ids == set()


RIGHT = Check("s", "c", "x", "CRITICAL", ("gpu.count",), "blocker", "")


@pytest.mark.parametrize(
    "row",
    [
        replace(RIGHT, rules=("gpu.nothing",)),
        replace(RIGHT, ours="minor"),
        replace(RIGHT, rules=("log.no_xid",), ours="advisory"),
        replace(RIGHT, reason="site value"),
        replace(RIGHT, reason="planned work"),
        replace(RIGHT, rules=(), ours="", reason="planned work"),
        replace(RIGHT, rules=(), ours=""),
        replace(RIGHT, rules=(), ours="", reason="too dear"),
        replace(RIGHT, rules=(), ours="", reason=LOAD + "burnin.nothing"),
        replace(RIGHT, rules=(), ours="", reason=LOAD + "gpu.count"),
        replace(RIGHT, rules=(), reason="site value"),
        replace(RIGHT, condition=""),
    ],
)
def test_a_wrong_row_is_found(row: Check) -> None:
    assert faults(RIGHT) == []
    assert faults(row) != []


def test_a_row_of_the_file_has_its_columns_in_order() -> None:
    row = Check.of(dict(zip(COLUMNS, ("s", "c", "x", "CRITICAL", "a.b c.d", "major", ""), strict=True)))
    assert (row.rules, row.ours, row.state) == (("a.b", "c.d"), "major", "fails")
    assert row.severity in CRITICAL


def test_runs_of_numbers_are_shortened() -> None:
    assert ranges([7, 1, 3, 2, 8, 10]) == "1 to 3, 7, 8, 10"
