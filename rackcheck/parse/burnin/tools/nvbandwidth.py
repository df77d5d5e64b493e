"""Results of nvbandwidth: rate and integrity of each copy between the host and a GPU, or between two GPUs.

This parser is based on the source of nvbandwidth (NVIDIA/nvbandwidth json_output.cpp, output.cpp, memcpy.cpp) and, for
text output, on published outputs of v0.4 (8 x H100) and v0.6 (GH200, microsoft/superbenchmark tests/data); it is not
verified on our own hardware. All versions of nvbandwidth report the same matrix of rates, as JSON or as text; the
format is detected from the output. The `min` that nvbandwidth reports counts a pair that was not measured as 0, so the
minimum is computed from the matrix of rates. The sum of the matrix is compared with the sum that nvbandwidth reports.

nvbandwidth checks every copy it makes, and ends at the first wrong value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rackcheck.model.catalogue import Kind, collection, quantity, text, version
from rackcheck.model.fact import Class, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import MOST, ToolFacts, ToolRecord, answer, decimal, document, nothing, number

_MEASURED = Class.MEASUREMENT

GIVES: Mapping[str, Kind] = {
    "burnin.nvbandwidth.version": version("dotted", "The version of nvbandwidth that ran."),
    "burnin.nvbandwidth.verified": text("Whether every copy arrived intact.", _MEASURED, ("pass", "fail")),
    "burnin.nvbandwidth.test": collection("The copies that were to be measured, as nvbandwidth names them."),
    "burnin.nvbandwidth.test/*.sum": quantity("B/s", "The sum of the rates of all pairs.", _MEASURED),
    "burnin.nvbandwidth.test/*.min": quantity("B/s", "The rate of the slowest pair.", _MEASURED),
    "burnin.nvbandwidth.test/*.pair": collection("The pairs that were measured, as row:column."),
    "burnin.nvbandwidth.test/*.pair/*.rate": quantity("B/s", "The rate of the pair.", _MEASURED),
}

WRONG = "Invalid value when checking the pattern"
"""nvbandwidth's message for a copy that did not arrive intact."""

WAIVED = Unknown(Reason.NOT_TESTED, "nvbandwidth skipped the test (Waived)")
"""The reading of a test that nvbandwidth left out because the node cannot run it: a single GPU has no peer."""

_NAME = regex(r"[a-z][a-z0-9_]{0,79}")


@dataclass(frozen=True, slots=True)
class Copy:
    """The rates of one test in B/s, by pair as `row:column`; pairs that were not measured are left out."""

    cells: Mapping[str, float]

    @property
    def sum(self) -> float:
        """The sum of the rates of all measured pairs, in B/s."""
        return float(f"{sum(self.cells.values()):.12g}")


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of nvbandwidth; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if WRONG in tool_record.out or WRONG in tool_record.err:
        yield from _nothing(tool_record.failed or Unknown(Reason.NOT_TESTED, "a copy arrived corrupted"), "fail")
        return
    if tool_record.failed is not None:
        yield from _nothing(tool_record.failed)
        return
    if tool_record.cut:
        raise Unreadable(f"nvbandwidth's output was cut off by {tool_record.cut} bytes", Reason.TOO_LARGE)
    tests = (
        _from_json(tool_record)
        if re.search(r"^\s{0,100}\{", tool_record.out, re.MULTILINE)
        else _from_text(tool_record.out)
    )
    missing = [name for name in _test_names(tool_record) if name not in tests]
    # Text output does not name waived tests: if as many tests are waived as are missing, the missing ones were waived.
    waived = len(re.findall(r"^Waived:", tool_record.out, re.MULTILINE)) >= len(missing)
    tests.update(
        dict.fromkeys(missing, WAIVED if waived else Unknown(Reason.NOT_TESTED, "nvbandwidth did not report the test"))
    )
    yield "burnin.nvbandwidth.version", tool_record.dotted()
    unknown = [test for test in tests.values() if isinstance(test, Unknown) and test != WAIVED]
    if not unknown and all(test == WAIVED for test in tests.values()):
        unknown = [WAIVED]
    yield "burnin.nvbandwidth.verified", unknown[0] if unknown else "pass"
    yield "burnin.nvbandwidth.test", tuple(tests)
    for name, test in tests.items():
        at = f"burnin.nvbandwidth.test/{name}"
        if isinstance(test, Unknown):
            yield from ((f"{at}.{leaf}", test) for leaf in ("sum", "min", "pair"))
            continue
        yield f"{at}.sum", test.sum
        yield f"{at}.min", min(test.cells.values())
        yield f"{at}.pair", tuple(test.cells)
        yield from ((f"{at}.pair/{spell_key(pair)}.rate", rate) for pair, rate in test.cells.items())


def _nothing(why: Unknown, verified: str = "") -> ToolFacts:
    for path, reading in nothing(GIVES, why):
        yield path, verified if verified and path.endswith(".verified") else reading


def _test_names(record: ToolRecord) -> tuple[str, ...]:
    """Return the names of the tests that follow the option `-t` in the arguments of nvbandwidth."""
    after = record.argv[record.argv.index("-t") + 1 :] if "-t" in record.argv else ()
    return tuple(name for name in after if _NAME.fullmatch(name))


def _from_json(record: ToolRecord) -> dict[str, Copy | Unknown]:
    whole = document(record).get("nvbandwidth")
    cases = whole.get("testcases") if isinstance(whole, dict) else None
    if not isinstance(whole, dict) or not isinstance(cases, list) or len(cases) > MOST:
        raise Unreadable(f"nvbandwidth reports no valid list of tests: {clean(record.out, 80)!r}")
    if "error" in whole:
        raise Unreadable(f"nvbandwidth: {clean(str(whole['error']), 120)}", Reason.NOT_TESTED)
    found: dict[str, Copy | Unknown] = {}
    for case in cases:
        name = case.get("name") if isinstance(case, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in found:
            raise Unreadable(f"a test of nvbandwidth without a unique name: {clean(repr(case), 80)}")
        found[name] = _case(case)
    return found


def _case(case: Mapping[str, Any]) -> Copy | Unknown:
    if case.get("status") == "Waived":
        return WAIVED
    if case.get("status") != "Passed":
        return Unknown(Reason.NOT_TESTED, clean(f"nvbandwidth: {case.get('status')} {case.get('error', '')}"))
    rows = case.get("bandwidth_matrix")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return Unknown(Reason.UNPARSABLE, "the test has no matrix")
    if any(not isinstance(cell, str) for row in rows for cell in row):
        return Unknown(Reason.UNPARSABLE, "a cell of the test's matrix is not a text")
    return _copy(str(case.get("bandwidth_description", "")), rows, number(case.get("sum")))


def _copy(description: str, rows: list[list[str]], total: float | None) -> Copy | Unknown:
    """Convert a matrix from GB/s to B/s; unknown if a cell is invalid, or the cells do not add up to `total`."""
    if not description.rstrip().endswith("(GB/s)"):
        return Unknown(Reason.UNPARSABLE, f"the test's unit is not GB/s: {clean(description, 80)!r}")
    if len(rows) > 256 or any(len(row) != len(rows[0]) or len(row) > 256 for row in rows):
        return Unknown(Reason.UNPARSABLE, "the matrix has more than 256 rows or columns, or rows of different lengths")
    square = len(rows) > 1 and len(rows) == len(rows[0])
    cells: dict[str, float] = {}
    for row, texts in enumerate(rows):
        for column, cell in enumerate(texts):
            rate = decimal(cell)
            if rate is None and cell != "N/A":
                return Unknown(Reason.UNPARSABLE, f"invalid rate {clean(cell, 40)!r}")
            # Older versions write 0.00 for a GPU paired with itself, which they do not measure.
            if rate is not None and not (square and row == column and rate == 0):
                cells[f"{row}:{column}"] = rate
    if not cells:
        return Unknown(Reason.NOT_TESTED, "no pair was measured")
    off = 0.0051 * len(cells) + 1e-5 * sum(cells.values())  # each cell is rounded to two places, or to six digits
    if total is None or abs(total - sum(cells.values())) > off:
        return Unknown(Reason.UNPARSABLE, f"the rates in the matrix do not add up to {total}")
    return Copy({pair: float(f"{rate * 1e9:.12g}") for pair, rate in cells.items()})


def _from_text(out: str) -> dict[str, Copy | Unknown]:
    """Read the rates of all tests from nvbandwidth's text output.

    The output of one test has a line `Running NAME.`, a description, a row of column numbers, the rows of rates, and a
    line `SUM NAME` with the sum of the rates.
    """
    found: dict[str, Copy | Unknown] = {}
    lines = [line.rstrip() for line in out.splitlines()]
    if len(lines) > MOST:
        raise Unreadable(f"nvbandwidth printed {len(lines)} lines; the maximum is {MOST}", Reason.TOO_LARGE)
    for at, line in enumerate(lines):
        begun = re.fullmatch(r"Running ([a-z][a-z0-9_]{0,79})\.", line)
        if begun is None:
            continue
        name, rest = begun[1], lines[at + 1 :]
        end = next((n for n, one in enumerate(rest) if re.match(rf"(?:SUM {name} |Running )", one)), None)
        if name in found:
            raise Unreadable(f"nvbandwidth reports {name} twice")
        if end is None or not rest[end].startswith("SUM "):
            found[name] = Unknown(Reason.NOT_TESTED, "nvbandwidth did not finish the test")
            continue
        table = [one.split() for one in rest[1:end] if one]
        head, rows = (table[0], table[1:]) if table else ([], [])
        numbered = head == [str(n) for n in range(len(head))] and head != []
        if not numbered or [row[0] for row in rows] != [str(n) for n in range(len(rows))]:
            found[name] = Unknown(Reason.UNPARSABLE, "the table's rows or columns are not numbered")
            continue
        cells = [row[1:] for row in rows]
        if any(len(row) != len(head) for row in cells):
            found[name] = Unknown(Reason.UNPARSABLE, "the matrix has rows of different lengths")
            continue
        found[name] = _copy(rest[0], cells, decimal(rest[end].rpartition(" ")[2]))
    if not found:
        raise Unreadable(f"nvbandwidth reports no test: {clean(out, 80)!r}")
    return found
