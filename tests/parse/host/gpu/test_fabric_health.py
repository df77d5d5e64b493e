"""NVML's mask of the fabric's health: every part at its bits, and absent where the fabric does not report it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.parse.host.gpu import fabric_health


@given(st.integers(0, (1 << 64) - 1))
def test_every_mask_gives_a_word_a_flag_or_nothing_for_every_part(mask: int) -> None:
    found = fabric_health.parts(mask)
    assert list(found) == list(fabric_health.PARTS)
    assert all(isinstance(reading, bool | str | Absent) for reading in found.values())


def test_parts_of_a_mask_do_not_touch_each_other() -> None:
    bits = [part.start + n for part in fabric_health.PARTS.values() for n in range(part.bits)]
    assert sorted(bits) == list(range(12))


@pytest.mark.parametrize(
    ("mask", "part", "reading"),
    [
        (0b01, "degraded_bandwidth", True),
        (0b10, "degraded_bandwidth", False),
        (0b10_00, "route_recovery", False),
        (0b01_00_00, "route_unhealthy", True),
        (0b11_00_00_00, "access_timeout_recovery", "number 3"),
        (1 << 8, "configuration", "good"),
        (5 << 8, "configuration", "insufficient nvlinks"),
        (15 << 8, "configuration", "number 15"),
    ],
)
def test_one_part_is_read_and_the_others_are_absent(mask: int, part: str, reading: Reading) -> None:
    found = fabric_health.parts(mask)
    assert found.pop(part) == reading
    assert {type(other) for other in found.values()} == {Absent}


def test_every_flag_is_raised_by_one_and_denied_by_two() -> None:
    flags = [name for name in fabric_health.PARTS if name != "configuration"]
    assert [fabric_health.parts(0b01010101)[name] for name in flags] == [True] * 4
    assert [fabric_health.parts(0b10101010)[name] for name in flags] == [False] * 4


def test_the_summary_is_a_word_and_a_new_one_is_its_number() -> None:
    assert [fabric_health.summary(n) for n in (1, 2, 3, 4)] == [
        "healthy",
        "unhealthy",
        "limited capacity",
        "number 4",
    ]
    assert isinstance(fabric_health.summary(0), Absent)


@pytest.mark.parametrize("why", [Absent("no fabric"), Unknown(Reason.DENIED, "root only")])
def test_why_there_is_no_mask_is_why_there_is_no_part(why: Absent | Unknown) -> None:
    assert set(fabric_health.parts(why).values()) == {why}
    assert fabric_health.summary(why) == why
