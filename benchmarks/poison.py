"""Poisons every sign of damage on clean machines, and checks that a blocker or major rule catches it.

    python benchmarks/poison.py [PROFILE...]

Prints one line for each poison: the profile, the fact, its bad value, and the rule that fails. The last line has the
numbers. Without PROFILE, the simulated DGX H100 and every shipped profile are poisoned. The exit status is 1 if one
is missed. The output of the last run is in `benchmarks/measured/poison.txt`.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import poison  # noqa: E402  from tests/support


def main(names: list[str]) -> int:
    """Poison, print and count."""
    done = [*(() if names and "h100-dgx" not in names else poison.on_dgx()), *poison.on_others(*names)]
    for each in done:
        print(each)
    print(poison.summary(done))
    return 0 if all(each.caught or each.spared for each in done) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
