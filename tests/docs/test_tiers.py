"""No test is lost between the tiers."""

import re
import subprocess
import sys

import pytest
from places import ROOT
from tiers import DEAR, costs, share

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


@pytest.fixture(scope="module")
def shares() -> list[set[str]]:
    return [collected("--share", f"{number}/3") for number in (1, 2, 3)]


def test_three_shares_together_are_every_test_and_a_dear_test_is_in_one(shares: list[set[str]]) -> None:
    every, known = collected(), costs()
    dear = {test for test in every if known.get(test, 0.0) > DEAR}
    assert len(dear) > 5
    assert set.union(*shares) == every
    in_all = set.intersection(*shares)
    assert in_all == every - dear
    assert sum(map(len, shares)) == 3 * len(in_all) + len(dear)


def test_a_test_with_the_mark_landing_is_in_every_share() -> None:
    file = "tests/evaluate/test_poison.py"
    assert any(cost > DEAR for test, cost in costs().items() if test.startswith(file))
    found = [collected_of(file, collected("--share", f"{number}/3", file)) for number in (1, 2, 3)]
    assert found[0] == found[1] == found[2] != set()


@pytest.mark.parametrize("text", ["3/2", "0/3", "2", "a/3", "1/3/3", ""])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no share"):
        share(text)


def collected_of(file: str, found: set[str]) -> set[str]:
    return {each for each in found if each.startswith(f"{file}::")}
