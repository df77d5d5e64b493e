"""Link modes of ethtool, which span lines."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Unreadable
from rackcheck.parse.host.nic import ethtool

SUPPORTED, PARTNER = "Supported link modes", "Link partner advertised link modes"


def test_recorded_modes_go_on_until_the_next_name_and_each_list_is_one_of_its_own() -> None:
    text = shared_text("ethernet/ethtool-link-partner.txt")
    of_partner = ("10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full")
    assert ethtool.modes(text, PARTNER) == of_partner
    assert ethtool.modes(text, SUPPORTED) == (*of_partner, "1000baseT/Half", "1000baseT/Full")


@pytest.mark.parametrize(
    "text", ["\tSupported link modes:  Not reported\n", "\tSupported link modes: None\n", "", "Port: x\n"]
)
def test_modes_that_the_driver_does_not_know_are_absent_and_no_list_of_words(text: str) -> None:
    assert ethtool.modes(text, SUPPORTED) == Absent("not reported")


@given(st.text() | st.text().map(lambda text: f"Settings for eth0:\n\t{SUPPORTED}: {text}\nRX: {text}\n"))
def test_nonsense_is_a_value_or_unreadable(text: str) -> None:
    ethtool.modes(text, SUPPORTED)
    ethtool.number(text)
    for reader in (ethtool.answered, ethtool.pairs, ethtool.halves, ethtool.statistics):
        with suppress(Unreadable):
            reader(text)
