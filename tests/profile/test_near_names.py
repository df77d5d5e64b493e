"""Intended names: parts in another order, and the profile behind a fragment's name."""

from pathlib import Path

import pytest
from command import rackcheck

from rackcheck.base.names import PARTS, meant, transposed
from rackcheck.profile.layers import did_you_mean

KNOWN = ["h100-dgx", "h100-hgx", "h200-hgx", "linux-server", "linux-gpu-node", "gpu.count", "A100-DGX"]


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("dgx-h100", "h100-dgx"),
        ("hgx-h100", "h100-hgx"),
        ("server-linux", "linux-server"),
        ("dgx_h100", "h100-dgx"),
        ("h100dgx", "h100-dgx"),
        ("dgxh100", "h100-dgx"),
        ("DGX-H100", "h100-dgx"),
        ("node-gpu-linux", "linux-gpu-node"),
        ("count.gpu", "gpu.count"),
        ("dgx-a100", "A100-DGX"),
    ],
)
def test_parts_in_another_order_name_the_right_one(typed: str, right: str) -> None:
    assert transposed(typed, KNOWN) == right
    assert did_you_mean(typed, KNOWN) == f"; did you mean {right}?"


@pytest.mark.parametrize("typed", ["", "-", "h100", "dgx-h200", "dgx-h100-x", "001h-xgd", "dgx-dgx"])
def test_letters_in_another_order_and_parts_that_are_missing_are_no_other_order(typed: str) -> None:
    assert transposed(typed, KNOWN) == ""


def test_the_order_wins_over_a_name_that_only_looks_alike_and_a_begun_one_over_both() -> None:
    assert did_you_mean("dgx-h100", ["dgx-h200", "h100-dgx"]) == "; did you mean h100-dgx?"
    assert did_you_mean("h100", ["100h", "h100-dgx"]) == "; did you mean h100-dgx?"


def test_a_name_of_very_many_parts_costs_nothing() -> None:
    long = "-".join(f"p{n}" for n in range(PARTS + 20))
    assert transposed("-".join(reversed(long.split("-"))), [long]) == ""


VERDICTS = {
    "h100-hgx": {"hgx-h100", "hgx-oem", "nodes-alike"},
    "h200-hgx": {"hgx-oem", "nodes-alike"},
    "a100-dgx": {"nodes-alike"},
    "xeon-server": {"nodes-alike"},
}


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        ("hgx-h100", "h100-hgx"),
        ("hgx-oem", "h100-hgx or h200-hgx"),
        ("nodes-alike", "a100-dgx, h100-hgx or h200-hgx"),
        ("roce", ""),
    ],
)
def test_a_fragment_s_name_means_the_same_parts_else_the_first_that_include_it(fragment: str, text: str) -> None:
    assert meant(fragment, VERDICTS) == text
    assert meant(fragment, dict(reversed(VERDICTS.items()))) == text


@pytest.mark.parametrize(("typed", "right"), [("dgx-h100", "h100-dgx"), ("server-linux", "linux-server")])
def test_an_unknown_profile_is_a_user_error_that_suggests_the_right_name(
    typed: str, right: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    done = rackcheck("audit", "-p", typed)
    assert (done.status, f"no profile {typed}; did you mean {right}?" in done.err) == (2, True)
