"""No test is lost between the tiers."""

import re
import subprocess
import sys

import pytest
from places import ROOT

FILES = ("tests/evaluate/test_waiver.py", "tests/probes/bmc/test_less.py", "tests/sim/test_hall.py")
"""A property, long properties, and tests with the slow mark."""


def collected(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-n", "0", *words, *FILES],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.fixture(scope="module")
def tiers() -> dict[str, set[str]]:
    return {tier: collected("--tier", tier) for tier in ("quick", "test", "full")}


def test_test_and_full_together_are_every_test(tiers: dict[str, set[str]]) -> None:
    every = collected()
    assert len(every) > 30
    assert tiers["test"] | tiers["full"] == every
    assert tiers["quick"] <= tiers["test"]


def test_only_a_property_runs_in_both_and_at_full_strength_in_full(tiers: dict[str, set[str]]) -> None:
    both = {each.rpartition("::")[2].partition("[")[0] for each in tiers["test"] & tiers["full"]}
    text = "".join((ROOT / file).read_text("utf-8") for file in FILES)
    assert both
    assert [name for name in both if not re.search(rf"@given\([^\n]*\n(?:    [^\n]*\n)*\)?\n?def {name}\(", text)] == []
