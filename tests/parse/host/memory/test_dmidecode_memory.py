"""Channels and ECC from the lines of dmidecode's memory devices: never a guess where the text does not state it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Reason, Unknown
from rackcheck.parse.host.memory import dmidecode_memory
from rackcheck.parse.host.os import dmidecode


def slot(locator: str, bank: str = "", **fields: str) -> dmidecode.Structure:
    named = {key.replace("_", " "): value for key, value in fields.items()}
    return dmidecode.Structure("0x0040", 17, {"Locator": locator, "Bank Locator": bank, **named})


@pytest.mark.parametrize(
    ("locator", "bank", "channel"),
    [
        ("ChannelA-DIMM0", "BANK 0", "ChannelA"),
        ("DIMM 0", "P0 CHANNEL A", "P0 CHANNEL A"),
        ("P1-DIMMA1", "P0_Node0_Channel0_Dimm0", "P0_Node0_Channel0"),
    ],
)
def test_a_channel_is_read_from_one_of_the_slots_names(locator: str, bank: str, channel: str) -> None:
    assert dmidecode_memory.channel(slot(locator, bank)) == channel


def test_a_slot_whose_names_contain_no_channel_has_an_unknown_one() -> None:
    reading = dmidecode_memory.channel(slot("A1", "Not Specified"))
    assert reading == Unknown(Reason.NOT_COLLECTED, "the slot's name contains no channel: A1, Not Specified")


def test_bits_beyond_the_data_are_for_ecc() -> None:
    rows = [slot("A1", Total_Width=f"{total} bits", Data_Width="64 bits") for total in (72, 80, 64)]
    assert [dmidecode_memory.corrects(one) for one in rows] == [True, True, False]
    assert isinstance(dmidecode_memory.corrects(slot("A1", Total_Width="72 bits", Data_Width="Unknown")), Unknown)


def test_every_module_of_a_recorded_server_is_made_for_ecc() -> None:
    table = dmidecode.structures(shared_text("memory/dmidecode-dell-c4140.txt"))
    modules = [one for one in table if one.kind == 17 and one.first("Size")]
    assert modules
    assert {dmidecode_memory.corrects(one) for one in modules} == {True}


@given(st.text(), st.text(), st.text(), st.text())
def test_nonsense_is_a_value_or_unknown(locator: str, bank: str, total: str, data: str) -> None:
    structure = slot(locator, bank, Total_Width=total, Data_Width=data)
    assert isinstance(dmidecode_memory.channel(structure), str | Unknown)
    assert isinstance(dmidecode_memory.corrects(structure), bool | Unknown)
