"""Changes recorded BMCs at random, and checks that each fact keeps its value, or is unknown for the changed part alone.

    python benchmarks/changed_trees.py --trees 1000 --seed 1 [TREE...]

`--trees` is the number of changed trees for each recorded tree. Prints every wrong fact, and for each kind of change:
changed trees, facts compared, same, unknown for the part alone, wrong. The exit status is 1 if a fact is wrong that is
not listed as a known fault. The recorded trees are found as by the tests (`RACKCHECK_RECORDINGS`). The output of the
last run is in `benchmarks/measured/changed_trees.txt`.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "tests" / "support")]  # not this folder, whose redfish.py is no library

import changed_trees  # noqa: E402  from tests/support
import tree_changes  # noqa: E402  from tests/support
import trees  # noqa: E402  from tests/support

from changed_trees import Outcome  # noqa: E402  isort: skip

COLUMNS = ("trees", "compared", *(outcome.value for outcome in Outcome))


def main(arguments: list[str]) -> int:
    """Change, compare, print and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=int, default=100, help="changed trees for each recorded tree")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="TREE", help="recorded trees, instead of all")
    chosen = parser.parse_args(arguments)
    rows: dict[str, Counter[str]] = {kind: Counter() for kind in tree_changes.KINDS}
    for name in chosen.names or trees.ALL:
        known = changed_trees.base(name)
        for kind, change in tree_changes.changes(known, chosen.seed, chosen.trees):
            rows[kind]["trees"] += 1
            for each in changed_trees.compared(known, change):
                rows[kind]["compared"] += 1
                rows[kind][each.outcome] += 1
                if each.outcome is Outcome.WRONG:
                    print(f"{name}: {kind}: {change.what}: {each}", flush=True)
    print(
        f"{chosen.trees} changed trees of each of {len(chosen.names or trees.ALL)} recorded trees, seed {chosen.seed}"
    )
    print(f"{'change':34}" + "".join(f"{title:>{max(10, len(title) + 2)}}" for title in COLUMNS))
    for kind, row in {**rows, "all": sum(rows.values(), Counter[str]())}.items():
        print(f"{kind:34}" + "".join(f"{row[title]:>{max(10, len(title) + 2)},}" for title in COLUMNS))
    print(f"{time.process_time():.0f} s of CPU", file=sys.stderr)
    return 1 if sum(row[Outcome.WRONG] for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
