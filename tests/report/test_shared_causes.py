"""One cause is printed once, and different causes are never merged."""

import json
import re
from dataclasses import replace

import pytest
from dossiers import sample

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.profile import Severity
from rackcheck.report import annex, hardware_groups, markdown
from rackcheck.report.html import page
from rackcheck.report.redacted_parts import HIDDEN, MISSING, WITHHELD, missing
from rackcheck.report.report_model import Dossier, Exhibit, FindingEntry, Hardware, Unchecked, Versions
from rackcheck.report.shared_causes import Block, blocks, gaps

DIGEST = "ab" * 32
DENIED = "denied: login: HTTP 401"


def unknown(rule: str, cause: str, *nodes: str, more: int = 0) -> FindingEntry:
    exhibit = Exhibit(Status.UNKNOWN, "bmc.x", f"unknown: {cause}", "must be 1", "")
    return FindingEntry(rule, Status.UNKNOWN, f"bmc.x unknown ({cause})", nodes, (exhibit,), more)


def rules(made: tuple[Block, ...]) -> list[tuple[str, ...]]:
    return [block.rules for block in made]


def test_rules_that_one_cause_leaves_unknown_on_the_same_nodes_are_one_block() -> None:
    (block,) = blocks([unknown(f"bmc.r{i}", DENIED, "n1", "n2") for i in range(20)])
    assert block.causes == (DENIED,)
    assert len(block.rules) == 20
    assert block.nodes == ("n1", "n2")


@pytest.mark.parametrize(
    "other",
    [
        unknown("b", "timeout: silent for 5 s", "n1"),
        unknown("b", DENIED, "n2"),
        unknown("b", DENIED, "n1", more=1),
        replace(unknown("b", DENIED, "n1"), status=Status.FAIL),
        replace(unknown("b", DENIED, "n1"), evidence=()),
        replace(unknown("b", DENIED, "n1"), evidence=(*unknown("b", DENIED, "n1").evidence, *unknown("b", "x", "n1").evidence)),
    ],
    ids=["other cause", "other nodes", "evidence not shown", "other verdict", "no evidence", "two causes"],
)  # fmt: skip
def test_what_differs_in_anything_stands_for_itself(other: FindingEntry) -> None:
    made = blocks([unknown("a", DENIED, "n1"), other])
    assert [block.causes for block in made] == [(), ()]
    assert [block.findings for block in made] == [(unknown("a", DENIED, "n1"),), (other,)]


def test_rules_blocked_by_a_rule_of_a_block_are_listed_with_it() -> None:
    held = FindingEntry("c", Status.UNKNOWN, "blocked by b", ("n1",))
    further = FindingEntry("d", Status.UNKNOWN, "blocked by c", ("n1",))
    elsewhere = FindingEntry("e", Status.UNKNOWN, "blocked by b", ("n2",))
    made = blocks([further, elsewhere, held, unknown("a", DENIED, "n1"), unknown("b", DENIED, "n1")])
    assert rules(made) == [("d", "c", "a", "b"), ("e",)]


def test_rules_that_hold_each_other_up_end_and_are_kept() -> None:
    ring = [
        FindingEntry("a", Status.UNKNOWN, "blocked by b", ("n1",)),
        FindingEntry("b", Status.UNKNOWN, "blocked by a", ("n1",)),
    ]
    assert rules(blocks(ring)) == [("a",), ("b",)]


def test_nodes_that_keep_silent_for_one_kind_of_reason_are_one_block_with_each_cause() -> None:
    rows = [unknown(rule, f"timeout: 10.0.0.{n}", f"n{n}") for rule in ("a", "b") for n in (1, 2)]
    (block,) = blocks(rows)
    assert block.causes == ("timeout: 10.0.0.1", "timeout: 10.0.0.2")
    assert block.cause() == "; ".join(f"{n[0]}: {c}" for c, n in zip(block.causes, block.spread, strict=True))
    assert [len(nodes) for nodes in block.spread] == [1, 1]
    assert block.nodes == ("n1", "n2")
    many = blocks([unknown(rule, f"timeout: 10.0.0.{n}", f"n{n}") for rule in ("a", "b") for n in range(9)])
    assert many[0].cause().endswith("; and 6 more like these")


def test_every_finding_is_in_exactly_one_block() -> None:
    rows = [*sample(72, 120).findings, *(unknown(f"r{i}", DENIED, "dgx01") for i in range(5))]
    assert sorted(id(f) for block in blocks(rows) for f in block.findings) == sorted(map(id, rows))


def silent(nodes: int = 8) -> Dossier:
    """A document in which the last node's BMC returned nothing: all rules of that plane are unknown."""
    made = sample(nodes, 40)
    bmc = [gate for gate in made.gates if gate.planes == ("bmc",)]
    return replace(made, findings=(*made.findings, *(unknown(gate.id, DENIED, made.nodes[-1].name) for gate in bmc)))


def test_a_block_states_its_plane_and_its_gravest_severity() -> None:
    made = silent()
    gates = {gate.id: gate for gate in made.gates}
    (block,) = (block for block in blocks(made.findings) if block.causes)
    assert block.title(gates) == "8 rules of the bmc plane"
    assert block.severity(gates) is Severity.BLOCKER


def test_pages_and_summaries_state_the_cause_once_and_the_tables_for_each_rule() -> None:
    made = silent()
    bmc = [gate.id for gate in made.gates if gate.planes == ("bmc",)]
    html = page(made, DIGEST).split('id="findings"')[1].split("</section>")[0]
    assert html.count(DENIED) == 1
    assert all(f">{rule}</a>" in html for rule in bmc)
    assert markdown.text(made, DIGEST).count(DENIED) == 1
    assert annex.files(made)["findings.csv"].count(DENIED) == len(bmc)


def test_the_script_finds_the_block_from_each_of_its_nodes() -> None:
    written = page(silent(), DIGEST)
    data = json.loads(re.search(r'id="data">(.*?)</script>', written, re.DOTALL)[1])  # type: ignore[index]
    (entry,) = (one for one in data["findings"] if one[2].startswith("cause-"))
    assert entry[1:] == ["u", entry[2], [7, 7]]
    assert f'id="{entry[2]}"' in written


def test_gaps_with_one_reason_are_one_and_their_counts_add_up() -> None:
    rows = [Unchecked("site value", name, "no value set", 8) for name in ("a", "b")]
    rows += [Unchecked("plane", "bmc", DENIED, 20, ("n8",)), Unchecked("phase", "burn-in", "not run", 1)]
    made = gaps(rows)
    assert [(gap.what, gap.counted) for gap in made] == [
        ("a, b", "16 verdicts"),
        ("bmc", "20 verdicts"),
        ("burn-in", "1 rule"),
    ]
    assert [gap.short() for gap in made] == ["2 site values", "bmc plane of n8", "burn-in"]


def test_components_that_differ_come_apart_from_the_unread_and_the_even_ones() -> None:
    even = [Versions(f"gpu/{g}.vbios", "os", (("96", ("a", "b")),)) for g in range(8)]
    unread = Versions("firmware.bmc", "bmc", (("24", ("a",)), ("", ("b",))), "denied")
    never = Versions("firmware.x", "bmc", (("", ("a", "b")),), "not collected")
    odd = Versions("driver.version", "os", (("570", ("a",)), ("550", ("b",))))
    matrix = hardware_groups.firmware([*even, unread, never, odd])
    assert [(one.label, len(one.facts), one.version) for one in matrix.even] == [("gpu/[0-7].vbios", 8, "96")]
    assert [one.versions for one in matrix.odd] == [odd]
    assert [(one.nodes, one.why, one.count) for one in matrix.unread] == [
        (("b",), "denied", 1),
        (("a", "b"), "not collected", 1),
    ]
    assert matrix.evens == 8


def test_no_component_is_lost_and_an_unknown_version_is_never_even() -> None:
    made = sample(8, 40).firmware
    matrix = hardware_groups.firmware(made)
    rows = [*matrix.odd, *matrix.even, *(one for silent in matrix.unread for one in silent.components)]
    assert sorted(fact for one in rows for fact in one.facts) == sorted(one.fact for one in made)
    assert all(version for one in matrix.even for version, _ in one.versions.groups)


def test_parts_of_one_make_share_a_shelf_and_the_unread_stand_apart() -> None:
    read = [Hardware("n1", f"gpu/{g}", "gpu", "H100", "", f"16500{g}") for g in range(7)]
    other = Hardware("n1", "gpu/7", "gpu", "H100", "", "", {"serial": "not read (denied)", "uuid": "GPU-7"})
    nothing = Hardware("n1", "psu/0", "psu", "", "", "", {"serial": "not read (denied)"})
    made = hardware_groups.shelves([*read, other, nothing])
    assert [(one.label, one.identity, one.why) for one in made] == [
        ("gpu/[0-6]", "serial", ""), ("gpu/7", "uuid", "not read (denied)"), ("psu/0", "", "not read (denied)"),
    ]  # fmt: skip
    assert made[0].identities[3] == ("3", "165003")
    assert hardware_groups.unread([*read, other, nothing]) == (("gpu", 1, "uuid"), ("psu", 1, ""))


def test_the_odd_nodes_come_before_the_many_that_are_alike() -> None:
    made = hardware_groups.likenesses(sample(72, 120))
    outcomes = [one.outcome for one in made]
    assert outcomes == sorted(outcomes, key=(Outcome.FAIL, Outcome.INCOMPLETE, Outcome.PASS).index)
    assert sorted(node for one in made for node in one.nodes) == sorted(node.name for node in sample(72, 120).nodes)
    assert len(made[0].nodes) == 1


def test_a_value_withheld_at_a_level_is_never_shown_as_none() -> None:
    assert all(missing(level, what) == WITHHELD for level, hidden in HIDDEN.items() for what in hidden)
    assert not any(missing("full", what) == WITHHELD for what in MISSING)
    assert set(MISSING) >= HIDDEN["public"] >= HIDDEN["customer"]
