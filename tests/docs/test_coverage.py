"""The coverage page is correct: its rows are the catalogue's, its facts exist, its counts match its tables."""

import re
from collections import Counter
from dataclasses import dataclass

import pytest
from places import ROOT
from recordings import shared

from rackcheck.model.fact import Plane
from rackcheck.model.path import BadPath, parse
from rackcheck.probe.registry import registry

PAGE = ROOT / "docs" / "reference" / "coverage.md"
BAR = 85
GROUPS = {f"2.{number}" for number in (*range(2, 17), 19)}
STATES = ("out", "covered", "not")
FACT = r"`([^`]+)`"
CELLS = {
    "out": r"out, (?:load|act|plane|nodes): \S.*",
    "not": r"not: \S.*",
    "covered": rf"{FACT}(?:, {FACT})*(?:; \S.*)?",
}
"""The forms of a row's last cell: facts alone, with a remark, or a reason."""


@dataclass(frozen=True)
class Row:
    """One row of a group's table."""

    group: str
    name: str
    cell: str

    @property
    def state(self) -> str:
        """Out, covered or not; raises ValueError for any other cell."""
        found = [state for state in STATES if re.fullmatch(CELLS[state], self.cell)]
        if len(found) != 1:
            raise ValueError(f"{self.name}: neither facts nor a reason: {self.cell!r}")
        return found[0]

    @property
    def facts(self) -> list[str]:
        """Every fact that the row names, including near ones."""
        return [path for word in re.findall(FACT, self.cell) for path in expanded(word)]


def expanded(word: str) -> list[str]:
    """Expand braces: `a.{b,c}` is a.b and a.c."""
    found = re.search(r"\{([^{}]*)\}", word)
    if found is None:
        return [word]
    return [
        path for part in found[1].split(",") for path in expanded(word[: found.start()] + part + word[found.end() :])
    ]


def sections(text: str, mark: str) -> dict[str, str]:
    """The sections of a text that begin with this mark and a number, by their whole heading."""
    parts = re.split(rf"^{mark} (?=\d)", text, flags=re.MULTILINE)[1:]
    return {heading: body for heading, _, body in (part.partition("\n") for part in parts)}


def rows(text: str) -> list[Row]:
    """Every row of a page's tables; a table line without three cells is a failure."""
    found = []
    for group, body in sections(text, "##").items():
        lines = [line for line in body.splitlines() if line]
        assert lines[:2] == ["| row | what it checks | facts, or why not |", "| --- | --- | --- |"], group
        for line in lines[2:]:
            row = re.fullmatch(r"\| ([a-z0-9]+\.\w+) \| ([^|]+) \| ([^|]+) \|", line)
            assert row is not None, line
            found.append(Row(group, row[1], row[3]))
    return found


def unknown(path: str) -> bool:
    """Whether no probe and no join gives a fact; a family such as sysctl.** counts only under its own name."""
    try:
        entry = registry().catalogue.entries.get(path) or registry().catalogue.find(parse(path))
    except BadPath:
        return True
    return entry is None or (entry.pattern.endswith(".**") and entry.pattern != path)


def counted(found: list[Row]) -> list[str]:
    """The line of the head's table for these rows: rows, out, covered, not, share."""
    states = Counter(row.state for row in found)
    share = 100 * states["covered"] // (len(found) - states["out"])
    return [str(len(found)), *(str(states[state]) for state in STATES), f"{share} %"]


ROWS = rows(PAGE.read_text(encoding="utf-8"))


def test_every_row_of_the_catalogues_groups_stands_once_and_no_other() -> None:
    catalogue = shared("../research/check-catalogue.md").read_text(encoding="utf-8")
    groups = {heading: body for heading, body in sections(catalogue, "###").items() if heading.split()[0] in GROUPS}
    theirs = [
        (heading, name)
        for heading, body in groups.items()
        for name in re.findall(r"^\| `([a-z0-9]+\.\w+)` \|", body.partition("\n## ")[0], re.MULTILINE)
    ]
    assert len(groups) == len(GROUPS)
    assert [(row.group, row.name) for row in ROWS] == theirs


def test_no_row_stands_twice() -> None:
    assert [name for name, times in Counter(row.name for row in ROWS).items() if times > 1] == []


def test_the_page_has_the_groups_of_the_host() -> None:
    assert {row.group.split()[0] for row in ROWS} == GROUPS


def test_every_row_names_facts_or_a_reason() -> None:
    assert {row.state for row in ROWS} == set(STATES)


def test_every_fact_of_the_page_is_one() -> None:
    assert [(row.name, path) for row in ROWS for path in row.facts if unknown(path)] == []


def test_a_covered_row_rests_on_no_facts_of_the_bmc() -> None:
    catalogue = registry().catalogue
    covered = [(row.name, path) for row in ROWS if row.state == "covered" for path in row.facts]
    planes = {pair: catalogue.entries.get(pair[1]) or catalogue.find(parse(pair[1])) for pair in covered}
    assert [pair for pair, entry in planes.items() if entry is not None and entry.plane is Plane.BMC] == []


def test_the_counts_of_the_head_are_those_of_the_tables() -> None:
    head = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    lines = re.findall(r"^\| ((?:2\.|in all).*) \|$", head, re.MULTILINE)
    groups = dict.fromkeys(row.group for row in ROWS)
    wanted = [[group, *counted([row for row in ROWS if row.group == group])] for group in groups]
    assert [line.split(" | ") for line in lines] == [*wanted, ["in all", *counted(ROWS)]]


def test_the_bar_is_met_and_is_the_one_of_the_page() -> None:
    states = Counter(row.state for row in ROWS)
    assert f"**{BAR} %**" in PAGE.read_text(encoding="utf-8")
    assert 100 * states["covered"] >= BAR * (len(ROWS) - states["out"])


@pytest.mark.parametrize(
    "cell",
    [
        "see `gpu/*.uuid`",
        "out, cost: dear",
        "out: no reason",
        "not:",
        "not covered",
        "`gpu/*.uuid` and more",
        "`gpu/*.uuid`;",
        "-",
    ],
)
def test_a_cell_that_is_neither_facts_nor_a_reason_is_seen(cell: str) -> None:
    with pytest.raises(ValueError, match=r"gpu\.count"):
        _ = Row("2.5 GPU", "gpu.count", cell).state


@pytest.mark.parametrize("path", ["gpu/*.nothing", "sysctl.kernel.nothing", "gpu/*.ecc.mode.", "nvidia-smi"])
def test_a_fact_that_no_probe_gives_is_detected(path: str) -> None:
    assert unknown(path)


def test_braces_are_spelled_out_wherever_they_stand() -> None:
    assert expanded("a.{b,c}_{d,e.f}") == ["a.b_d", "a.b_e.f", "a.c_d", "a.c_e.f"]
