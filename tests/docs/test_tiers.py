"""No test is lost between the tiers."""

import re
import subprocess
import sys

import pytest
from places import ROOT

FILES = (
    "tests/report/test_formats.py",
    "tests/evaluate/test_waiver.py",
    "tests/probes/bmc/test_less.py",
    "tests/sim/test_hall.py",
)
"""Properties, deep searches, and tests with the slow mark."""


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


def test_only_properties_and_modules_with_deep_searches_run_in_both(tiers: dict[str, set[str]]) -> None:
    deep = [file for file in FILES if "\nimport depth\n" in (ROOT / file).read_text("utf-8")]
    both = {each for each in tiers["test"] & tiers["full"] if each.partition("::")[0] not in deep}
    names = {each.rpartition("::")[2].partition("[")[0] for each in both}
    text = "".join((ROOT / file).read_text("utf-8") for file in FILES)
    assert names
    assert [
        name for name in names if not re.search(rf"@given\([^\n]*\n(?:    [^\n]*\n)*\)?\n?def {name}\(", text)
    ] == []


def test_full_runs_every_test_of_a_module_with_deep_searches(tiers: dict[str, set[str]]) -> None:
    """A search that is quick in a usual run may take minutes with all of its cases, and was measured in a usual run."""
    deep = [file for file in FILES if "\nimport depth\n" in (ROOT / file).read_text("utf-8")]
    assert deep
    for file in deep:
        assert collected_of(file, tiers["test"]) <= collected_of(file, tiers["full"])


def collected_of(file: str, found: set[str]) -> set[str]:
    return {each for each in found if each.startswith(f"{file}::")}
