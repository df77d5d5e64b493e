"""Rows and first line of single faults of a DGX H100, without and with the parts that findings are about.

    python benchmarks/first_line.py

The faults are those of `tests/support/single_faults.py`, each on one of four nodes. `before` counts the findings of the
node that fail, warn or are unknown, as the terminal listed them; `now` the rows that are left when findings about one
part are one row. The output is the table in `docs/reference/parts.md`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from single_faults import BAD, FAULTS, summary

from rackcheck.evaluate.verdict import Status
from rackcheck.views.part_findings import by_part

LOUD = (Status.FAIL, Status.UNKNOWN, Status.WARN)


def main() -> None:
    """Print the table."""
    print("| fault | before | now | first line before | first line now |")
    print("| --- | --- | --- | --- | --- |")
    for name, (answers, _) in FAULTS.items():
        whole = summary(answers())
        found = [f for f in whole.findings if f.status in LOUD and not f.excused and f.nodes == (BAD,)]
        rows = by_part(found, whole.named)
        only = rows[0].only
        reason = found[0].reason.replace("|", "\\|")
        now = f"{only[0]}: {only[1]}" if only is not None else f"{found[0].rule.id} on {BAD}: {reason}"
        print(f"| {name} | {len(found)} | {len(rows)} | `{found[0].rule.id}` on {BAD}: {reason} | {now} |")


if __name__ == "__main__":
    main()
