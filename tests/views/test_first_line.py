"""The first line about a fault names the node and the part, with slot and serial; what follows from it is below it."""

from collections.abc import Sequence

import pytest
import single_faults
from damaged import clean
from single_faults import BAD, FAULTS

from rackcheck.evaluate.verdict import Status
from rackcheck.views.part_findings import PartFinding, by_part
from rackcheck.views.summary import Summary
from rackcheck.views.terminal import lines

LOUD = (Status.FAIL, Status.UNKNOWN, Status.WARN)


def text(summary: Summary) -> str:
    return "\n".join(map(str, lines(summary, width=160, plain=False)))


def rows(summary: Summary) -> Sequence[PartFinding]:
    """The rows about the node with the fault alone: findings that every node has are those of the clean machine."""
    found = [f for f in summary.findings if f.status in LOUD and not f.excused and f.nodes == (BAD,)]
    return by_part(found, summary.named)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_line_names_the_node_and_the_part_and_at_most_two_other_rows_follow(fault: str) -> None:
    answers, first = FAULTS[fault]
    summary = single_faults.summary(answers())
    shown = text(summary)
    assert f"✘ FAIL    {first}\n" in shown, shown
    assert shown.index(first) == min(shown.index(line) for line in shown.splitlines() if line.startswith("✘")) + 10
    found = rows(summary)
    assert len(found) <= 3, [row.finding.rule.id for row in found]
    for row in found:
        for other in row.also:
            assert f"also {other.rule.id}" in shown


def test_a_clean_fleet_names_no_part() -> None:
    assert single_faults.summary(clean()).named == {}
