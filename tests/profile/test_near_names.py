"""Intended names: parts in another order, and the profile behind a fragment's name."""

from pathlib import Path

import pytest
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.base.names import FEW, PARTS, differences, either, meant, similar, transposed
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


RULES = ["bios.smt", "bios.turbo", "cpu.smt", "gpu.idle_temperature", "gpu.memory", "memory.swappiness", "nic.rate"]
NODES = [f"dgx{number:02d}" for number in range(1, 9)]


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("bios.hyperthreading", ["bios.smt"]), ("bios.boost", ["bios.turbo"]), ("hyperthreading", ["bios.smt", "cpu.smt"]),
        ("vm.swappiness", ["memory.swappiness"]), ("nic.bandwidth", ["nic.rate"]), ("hca.speed", ["nic.rate"]),
        ("gpu.temp", ["gpu.idle_temperature"]), ("temperature", ["gpu.idle_temperature"]),
        ("memory.swapines", ["memory.swappiness"]), ("nic.rtae", ["nic.rate"]), ("NIC.RAET", ["nic.rate"]),
    ],
)  # fmt: skip
def test_synonyms_single_parts_and_slips_name_the_right_ones(typed: str, right: list[str]) -> None:
    assert list(similar(typed, RULES)) == right


@pytest.mark.parametrize("typed", ["", ".", "x", "fan.speed", "xid.", "gb300", "q", "0" * 10_000, "a." * 5_000, "ü.☃"])
def test_a_word_that_is_like_no_name_has_no_suggestion(typed: str) -> None:
    assert similar(typed, [*RULES, "gh200", "gb200-nvl72", "a", "n1"]) == ()


def test_no_node_is_suggested_for_a_number_that_several_differ_from_alike() -> None:
    assert similar("dgx30", NODES) == ("dgx03",)
    assert similar("dgx99", NODES) == ()


def test_several_names_are_a_choice_of_at_most_three() -> None:
    known = ["a100-dgx", "b200-dgx", "h100-dgx", "h200-dgx"]
    assert did_you_mean("dgx", known) == "; did you mean a100-dgx, b200-dgx or h100-dgx?"
    assert [either(known[:n]) for n in range(3)] == ["", "a100-dgx", "a100-dgx or b200-dgx"]


@given(st.text(max_size=12), st.text(max_size=12), st.integers(0, 12))
def test_the_number_of_differences_is_symmetric_and_bounded(one: str, other: str, most: int) -> None:
    count = differences(one, other, most)
    assert count == differences(other, one, most) <= most + 1
    assert (count == 0) == (one == other)


@given(st.text(max_size=20), st.lists(st.text(max_size=20)))
def test_suggestions_are_known_names_in_a_small_number(word: str, known: list[str]) -> None:
    found = similar(word, known)
    assert len(found) <= FEW
    assert set(found) <= set(known)


def test_a_profile_is_suggested_before_a_fragment() -> None:
    assert "did you mean a100-dgx, b200-dgx or h100-dgx?" in rackcheck("profile", "show", "dgx").err


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


def test_a_node_is_named_whatever_zeros_are_before_its_number() -> None:
    nodes = [f"dgx{number:02}" for number in range(1, 31)]
    assert similar("dgx3", nodes) == ("dgx03",)
    assert similar("dgx003", nodes) == ("dgx03",)
