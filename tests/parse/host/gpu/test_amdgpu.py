"""Files of the amdgpu driver: its units, its words, its pages; no other text is accepted as one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.gpu import amdgpu

READERS = (
    amdgpu.gibibytes,
    amdgpu.watts,
    amdgpu.degrees,
    amdgpu.percent,
    amdgpu.hexadecimal,
    amdgpu.words,
    amdgpu.bad_pages,
)


@pytest.mark.parametrize(
    ("reader", "content", "value"),
    [
        (amdgpu.gibibytes, "206141652992\n", 191.984375),
        (amdgpu.watts, "750000000\n", 750.0),
        (amdgpu.degrees, "43000\n", 43.0),
        (amdgpu.degrees, "-2500\n", -2.5),
        (amdgpu.percent, "100\n", 100.0),
        (amdgpu.hexadecimal, "0x0000004b\n", "0x0000004b"),
    ],
)
def test_a_number_is_returned_in_the_unit_that_people_use(
    reader: Callable[[str], object], content: str, value: object
) -> None:
    assert reader(content) == value


@pytest.mark.parametrize("content", ["101\n", "-1\n", "65535\n"])
def test_a_share_of_more_than_all_is_none(content: str) -> None:
    with pytest.raises(Unreadable, match="not a percentage"):
        amdgpu.percent(content)


@pytest.mark.parametrize("content", ["SPX, DPX, QPX, CPX\n", "SPX DPX QPX CPX\n"])
def test_ways_to_divide_a_gpu_are_read_with_commas_and_without(content: str) -> None:
    assert amdgpu.words(content) == ("SPX", "DPX", "QPX", "CPX")


def test_every_bad_page_has_its_letter_and_an_empty_file_has_none() -> None:
    assert amdgpu.bad_pages("0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n") == "RP"
    assert amdgpu.bad_pages("") == ""


@pytest.mark.parametrize("content", ["0x00000001 : 0x00001000 : X\n", "0x00000001 : 0x00001000 : R", "\n", "R\n"])
def test_a_page_with_another_letter_and_a_list_that_was_cut_are_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        amdgpu.bad_pages(content)


@pytest.mark.parametrize("reader", READERS)
@given(content=st.text())
def test_nonsense_is_a_value_or_unreadable(reader: Callable[[str], object], content: str) -> None:
    for whole in (content, f"{content}\n"):
        try:
            assert reader(whole) is not None
        except Unreadable as error:
            assert str(error)
