"""Peaks of clocks, units and links, compared with published ones; and possible reasons for a gap."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from burn_racks import capture, job, tree
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.evaluate.verdict import judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.parse.burnin.light import (
    GIGATRANSFERS,
    Observed,
    explanations,
    memory,
    nvlink,
    pcie,
    reached,
    reasons,
    tensor,
)


@pytest.mark.parametrize(
    ("clock", "width", "published"),
    [(1593e6, 5120, 2.04e12), (2619e6, 5120, 3.35e12), (3996e6, 7680, 7.67e12)],
    ids=["A100 80GB", "H100 SXM", "B200 by its clock and width"],
)
def test_memory_clock_and_width_give_the_published_bandwidth(clock: float, width: int, published: float) -> None:
    assert memory(clock, width) == pytest.approx(published, rel=0.002)


@pytest.mark.parametrize(
    ("capability", "sms", "clock", "kind", "published"),
    [
        ("8.0", 108, 1410e6, "bf16", 312e12),
        ("8.0", 108, 1410e6, "tf32", 156e12),
        ("8.0", 108, 1410e6, "int8", 624e12),
        ("9.0", 132, 1830e6, "bf16", 989e12),
        ("9.0", 132, 1830e6, "fp8", 1979e12),
        ("9.0", 132, 1830e6, "tf32", 494.5e12),
        ("9.0", 114, 1620e6, "fp16", 756e12),
    ],
)
def test_sms_and_clock_give_the_published_peaks(
    capability: str, sms: int, clock: float, kind: str, published: float
) -> None:
    assert tensor(capability, sms, clock, kind) == pytest.approx(published, rel=0.002)


def test_a_pcie_link_carries_its_lanes_less_the_coding() -> None:
    assert GIGATRANSFERS == (2.5, 5.0, 8.0, 16.0, 32.0, 64.0)
    assert pcie(1, 1) == 250e6
    assert pcie(4, 16) == pytest.approx(31.508e9, rel=1e-4)
    assert pcie(5, 16) == pytest.approx(63.015e9, rel=1e-4)


@pytest.mark.parametrize(
    "limit",
    [
        memory(None, 5120), memory(2619e6, None), memory(10e9, 384), memory(0, 5120), memory(math.nan, 5120),
        tensor("10.0", 148, 1.8e9), tensor("", 132, 1.8e9), tensor("9.0", None, 1.8e9), tensor("9.0", 132, None),
        tensor("8.0", 108, 1.4e9, "fp8"), tensor("9.0", 132, 1.8e9, "fp3"), tensor("9.0", 132, math.inf),
        pcie(0, 16), pcie(7, 16), pcie(None, 16), pcie(5, None), pcie(5, 0),
        nvlink(None, 25e9), nvlink(18, None), nvlink(0, 25e9),
    ],
)  # fmt: skip
def test_where_a_number_or_a_source_is_missing_there_is_no_limit(limit: float | None) -> None:
    assert limit is None


def test_a_share_needs_a_valid_limit_and_rate() -> None:
    assert reached(4.4e12, 4.8e12) == pytest.approx(0.9167, rel=1e-3)
    assert reached(5.0, 4.0) == 1.25
    assert reached(0.0, 4.0) == 0
    assert [reached(None, 1.0), reached(1.0, None), reached(math.nan, 1.0), reached(1.0, 0.0), reached(-1.0, 1.0)] == [
        None
    ] * 5


def test_each_reason_has_its_word_and_a_bit_without_one_its_number() -> None:
    assert reasons(0) == ()
    assert reasons(0x4 | 0x80) == ("software power cap", "hardware power brake")
    assert reasons(0x1FF | 0x400)[-2:] == ("display clocks are set", "reason 0x400")


def test_a_narrow_and_slow_link_explains_copies_and_nothing_else() -> None:
    seen = Observed(gen=4, gen_max=5, width=8, width_max=16)
    assert explanations("pcie", seen) == (
        "the link ran as PCIe 4, its maximum is PCIe 5",
        "the link used 8 of 16 lanes",
    )
    assert explanations("compute", seen) == explanations("memory", seen) == explanations("nvlink", seen) == ()


def test_a_low_cap_and_a_low_clock_with_its_reasons_explain_compute() -> None:
    seen = Observed(clock=1.4e9, clock_max=1.98e9, limit=500, limit_default=700, reasons=0x4)
    assert explanations("compute", seen) == (
        "the power cap is 500 W, its default is 700 W",
        "the clock was 1400 MHz, its maximum is 1980 MHz: software power cap",
    )


def test_a_low_clock_without_reasons_states_that_none_was_reported() -> None:
    assert explanations("compute", Observed(clock=1.4e9, clock_max=1.98e9)) == (
        "the clock was 1400 MHz, its maximum is 1980 MHz, reason not reported",
    )
    assert explanations("compute", Observed(clock=1.4e9, clock_max=1.98e9, reasons=0)) == (
        "the clock was 1400 MHz, its maximum is 1980 MHz",
    )


def test_memory_is_explained_by_its_clock_and_ecc_and_nvlink_by_links_that_are_down() -> None:
    seen = Observed(memory_clock=1.6e9, memory_clock_max=2.619e9, ecc=True, nvlinks=17, nvlinks_max=18)
    assert explanations("memory", seen) == (
        "the memory clock was 1600 MHz, its maximum is 2619 MHz",
        "ECC is on, which costs bandwidth if check bits are stored among the data",
    )
    assert explanations("nvlink", seen) == ("17 of 18 NVLinks were up",)


@pytest.mark.parametrize("of", ["memory", "compute", "pcie", "nvlink"])
def test_what_is_at_its_most_or_near_it_explains_nothing(of: str) -> None:
    whole = Observed(1.97e9, 1.98e9, 2.6e9, 2.619e9, 700, 700, 0, 5, 5, 16, 16, 18, 18, ecc=False)
    assert explanations(of, whole) == ()


@pytest.mark.parametrize("of", ["memory", "compute", "pcie", "nvlink"])
def test_an_absent_observation_explains_nothing(of: str) -> None:
    assert explanations(of, Observed()) == ()


def test_a_rate_of_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'fan'.*memory, compute, pcie, nvlink"):
        explanations("fan", Observed())


@given(st.integers(), st.integers(), st.floats() | st.none(), st.text())
def test_a_limit_is_a_positive_number_or_none(gen: int, width: int, clock: float | None, word: str) -> None:
    for limit in (pcie(gen, width), tensor(word, width, clock), memory(clock, width), nvlink(width, clock)):
        assert limit is None or limit > 0


def records(share: float, uplinks: Sequence[str]) -> list[Mapping[str, Any]]:
    """The records of a healthy node whose copies from and to the host reach a share of their rate, with these uplinks."""
    found: list[Mapping[str, Any]] = []
    for one in capture(1, 1).records:
        record = dict(one)
        if "gpus" in record:
            record["gpus"] = {n: {**each, "uplink": uplinks[int(n) % len(uplinks)]} for n, each in one["gpus"].items()}
        if record.get("test") in {"h2d", "d2h"}:
            record["rate"] = one["rate"] * share
        found.append(record)
    return found


@pytest.mark.parametrize(
    ("share", "uplinks", "status"),
    [
        (1.0, [f"0000:{bus:02x}:01.0" for bus in range(8)], Status.PASS),
        (0.5, [f"0000:{bus:02x}:01.0" for bus in range(8)], Status.FAIL),
        (0.5, [f"0000:{bus:02x}:01.0" for bus in range(4)], Status.PASS),  # two GPUs each
        (0.1, [f"0000:{bus:02x}:01.0" for bus in range(4)], Status.FAIL),
    ],
)
def test_gpus_below_one_root_port_share_the_rate_of_its_link(share: float, uplinks: list[str], status: Status) -> None:
    facts = tree(1, 1, BurnCapture(tuple(records(share, uplinks))))
    profile = job(1).profile
    assert profile is not None
    (rule,) = [rule for rule in profile.rules if rule.id == "burnin.gpu_host_limit"]
    (verdict,) = judge([rule], facts)
    assert verdict.status is status, verdict.reason
    gap = facts.leaves["burnin.gpu/0.light.link.h2d.gap"].reading
    assert ("2 GPUs share one PCIe uplink" in str(gap)) == (len(uplinks) == 4)


def test_a_gpu_that_copied_nothing_takes_no_share_of_the_link() -> None:
    """Of two GPUs below each root port, one was not tested: half of the rate is slow for the other."""
    ports = [f"0000:{bus:02x}:01.0" for bus in range(4)]
    idle = {f"gpu/{n}" for n in range(4, 8)}
    kept = [one for one in records(0.5, ports) if not (one.get("of") in idle and one.get("test") in {"h2d", "d2h"})]
    facts = tree(1, 1, BurnCapture(tuple(kept)))
    assert facts.leaves["burnin.gpu/0.light.link.h2d.gap"].reading == ()
    reached = facts.leaves["burnin.gpu/0.light.link.h2d.reached"].reading
    assert isinstance(reached, float)
    assert reached < 60
