"""Checks of NVIDIA and causes of Meta's interruptions: the table of our rules for them, and the tables of its page.

`python tests/support/makers_checks.py` writes the page's tables anew, after a change of the CSV file.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from places import ROOT

TABLE = ROOT / "docs" / "reference" / "makers-checks.csv"
PAGE = TABLE.with_suffix(".md")
COLUMNS = ("source", "check", "their_condition", "their_severity", "rule", "our_severity", "reason")

PUBLISHED = {
    "NVIDIA Health Validation": 62,
    "NVIDIA DCAHC": 102,
    "Meta Llama 3 405B": 18,
    "NVIDIA Xid catalogue": 172,
}
"""The sources, each a section of the page, and how many checks each of them has."""
XIDS = "NVIDIA Xid catalogue"

LOAD = "needs a load: "
REASONS = frozenset(
    {"not a fact of a node", "no fact yet", "site value", "program's own error", "fabric-wide"},
)
"""Why no rule fails; the only other reason is LOAD, and the rule of a burn-in after it."""

WARNS = frozenset({"planned work"})
"""Why a rule about a check that is critical there only warns here."""

FAILS = frozenset({"blocker", "major", "minor"})
DECIDES = frozenset({"blocker", "major"})
CRITICAL = frozenset({"CRITICAL", "job interrupted"})
REPAIRS = frozenset(
    {
        *("RESET_GPU", "RESTART_BM", "CONTACT_SUPPORT", "CHECK_MECHANICALS", "UPDATE_SWFW"),
        *("WORKFLOW_XID_48", "WORKFLOW_NVLINK_ERR", "WORKFLOW_NVLINK5_ERR"),
    }
)
"""Immediate actions of the Xid catalogue that are a reset, a repair or a support case."""


@dataclass(frozen=True)
class Check:
    """One row: a check of theirs, and the rules that fail in its condition or the reason why none does."""

    source: str
    check: str
    condition: str
    severity: str
    rules: tuple[str, ...]
    ours: str
    reason: str

    @classmethod
    def of(cls, row: Mapping[str, str]) -> Self:
        """Read a row of the CSV file."""
        source, check, condition, severity, rule, ours, reason = (row[column] for column in COLUMNS)
        return cls(source, check, condition, severity, tuple(rule.split()), ours, reason)

    @property
    def critical(self) -> bool:
        """Whether the maker takes a node out of service, or the job ended."""
        return self.severity in CRITICAL | REPAIRS

    @property
    def state(self) -> str:
        """How rackcheck reports the condition: fails, warns, or not."""
        if not self.rules:
            return "not"
        return "fails" if self.ours in FAILS else "warns"

    @property
    def result(self) -> str:
        """The last two cells of a row of the page: rules and their severity, or the reason."""
        if self.rules:
            why = f": {self.reason}" if self.reason else ""
            return f"{', '.join(f'`{rule}`' for rule in self.rules)} | {self.ours}{why}"
        load = self.reason.removeprefix(LOAD)
        return f"- | {self.reason if load == self.reason else f'{LOAD}`{load}`'}"


def checks() -> Sequence[Check]:
    """Every row of the CSV file."""
    with TABLE.open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened)
        assert tuple(reader.fieldnames or ()) == COLUMNS
        return [Check.of(row) for row in reader]


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in short: 1 to 3, 7, 8."""
    found = list[list[int]]()
    for number in sorted(numbers):
        if found and found[-1][-1] == number - 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in found)


def summary(rows: Sequence[Check]) -> list[str]:
    """The head's table: what is covered of each source."""
    lines = [
        "| source | checks | read | a rule fails | a rule warns | no rule | not read |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for source, published in PUBLISHED.items():
        states = [row.state for row in rows if row.source == source]
        counts = (len(states), *(states.count(state) for state in ("fails", "warns", "not")))
        cells = (source, published, *counts, published - len(states))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def listed(rows: Sequence[Check]) -> list[str]:
    """The table of a source, one line for each check."""
    head = ["| check | condition | severity there | rule | severity here, or why none |", "| --- " * 5 + "|"]
    return [*head, *(f"| {row.check} | {row.condition} | {row.severity} | {row.result} |" for row in rows)]


def grouped(rows: Sequence[Check]) -> list[str]:
    """The table of Xids, one line for each action and result."""
    lines = ["| immediate action | Xids | number | rule | severity here, or why none |", "| --- " * 5 + "|"]

    def key(row: Check) -> tuple[str, str]:
        return row.severity, row.result

    for (action, result), found in groupby(sorted(rows, key=key), key):
        codes = [int(row.check.removeprefix("Xid ")) for row in found]
        lines.append(f"| {action} | {ranges(codes)} | {len(codes)} | {result} |")
    return lines


def written(text: str, rows: Sequence[Check]) -> str:
    """The page with its tables as the rows give them: the first in the head, one in each source's section."""

    def table(section: str, lines: Sequence[str]) -> str:
        return re.sub(r"(?:^\|.*\n)+", lambda _: "\n".join(lines) + "\n", section, count=1, flags=re.MULTILINE)

    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    parts = [table(head, summary(rows))]
    for section in sections:
        source = section.partition("\n")[0].removeprefix("## ")
        own = [row for row in rows if row.source == source]
        parts.append(table(section, grouped(own) if source == XIDS else listed(own)) if own else section)
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), checks()), encoding="utf-8")
