"""A pluggable module's own alarms: their names, and whether it has any."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Unknown, Unreadable
from rackcheck.parse.host.nic import module_eeprom

ROWS = (
    "Identifier : 0x03 (SFP)",
    "Laser rx power(Channel 2) : 1.0 mW",
    "Laser tx power high alarm : On",
    "Module voltage : x",
)


def module(*rows: str) -> module_eeprom.Module:
    return module_eeprom.module("Identifier : 0x11 (QSFP28)\n" + "".join(f"{row}\n" for row in rows))


def test_a_recorded_module_names_its_alarms_of_the_light_and_raises_none() -> None:
    found = module_eeprom.module(shared_text("ethernet/ethtool-m-ddm.txt"))
    assert found.alarm("tx_power", "low") == 1.9953
    assert found.alarm("rx_power", "high") == 0.1995
    assert found.flags() == ()


def test_a_recorded_module_without_sensors_has_no_alarms_rather_than_none_raised() -> None:
    found = module_eeprom.module(shared_text("ethernet/ethtool-m-no-ddm.txt"))
    assert isinstance(found.flags(), Absent)
    assert found.alarm("tx_power", "high") == Absent(module_eeprom.UNMEASURED)


def test_the_alarm_of_the_light_it_sends_has_two_names_and_the_first_counts() -> None:
    old, new = (
        f"{word} high alarm threshold : {value} mW"
        for word, value in (("Laser output power", "1.0"), ("Laser tx power", "2.0"))
    )
    assert [module(*rows).alarm("tx_power", "high") for rows in ((old,), (new,), (new, old))] == [1.0, 2.0, 1.0]
    assert isinstance(module("Laser output power high alarm threshold : much", new).alarm("tx_power", "high"), Unknown)


def test_an_active_alarm_is_raised_whatever_the_module_states_of_its_flags() -> None:
    assert module("Module voltage high alarm : On").flags() == ("Module voltage high alarm",)
    assert module("Alarm/warning flags implemented : Yes").flags() == ()


@given(st.text() | st.lists(st.sampled_from(ROWS) | st.text(), max_size=12).map("\n".join))
def test_nonsense_is_a_module_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        found = module_eeprom.module(text)
        found.flags()
        found.alarm("rx_power", "low")
        found.temperature()
