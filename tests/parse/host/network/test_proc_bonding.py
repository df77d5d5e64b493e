"""The bonding driver's report: the bond and its members, and what a mode leaves out."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.network import proc_bonding

HEAD = "Ethernet Channel Bonding Driver: v6.1\n\n"
WORDS = (
    "Slave Interface: eth1",
    "Slave Interface:",
    "MII Status: up",
    "Speed: 25000 Mbps",
    "Speed: x",
    ": ",
    "Speed: ",
)


def member(*rows: str) -> proc_bonding.Section:
    bond = proc_bonding.bond(HEAD + "Slave Interface: eth0\n" + "".join(f"{row}\n" for row in rows))
    return bond.members[0][1]


def test_a_recorded_bond_is_parted_from_its_members() -> None:
    bond = proc_bonding.bond(shared_text("ethernet/bonding-mode4-1.txt"))
    assert [name for name, _ in bond.members] == ["eth1", "eth2"]
    assert bond.own.text("Bonding Mode") == "IEEE 802.3ad Dynamic link aggregation"
    assert [section.number("Aggregator ID") for _, section in bond.members] == [3, 2]
    # The bond's own section names an aggregator too, in a separate line.
    assert bond.own.number("Aggregator ID") == 3


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("25000 Mbps", 25.0),
        ("Unknown", Absent("no link")),
        ("fast", Unknown(Reason.UNPARSABLE, "Speed 'fast'")),
        ("9999999999 Mbps", Unknown(Reason.UNPARSABLE, "Speed '9999999999 Mbps'")),
    ],
)
def test_a_members_speed_is_in_gigabits_and_without_a_link_there_is_none(text: str, speed: Reading) -> None:
    assert member(f"Speed: {text}").speed() == speed


def test_a_line_missing_in_a_mode_is_absent_and_none_is_an_empty_choice() -> None:
    own = proc_bonding.bond(HEAD + "Primary Slave: None\nCurrently Active Slave: eth1\n").own
    assert own.chosen("Primary Slave") == Absent("no Primary Slave")
    assert own.chosen("Currently Active Slave") == "eth1"
    assert own.number("Number of ports") == Absent("no Number of ports")
    assert own.text("Partner Mac Address", lacking="no LACP") == Absent("no LACP")


def test_the_first_of_duplicate_names_counts() -> None:
    assert member("port key: 9", "port key: 1").number("port key") == 9


def test_a_member_named_twice_is_unreadable_and_neither_of_the_two() -> None:
    rows = "Slave Interface: eth0\nMII Status: up\nSlave Interface: eth1\nSlave Interface: eth0\nMII Status: down\n"
    with pytest.raises(Unreadable, match="a member is listed twice: 'eth0'"):
        proc_bonding.bond(HEAD + rows)


def test_more_members_than_a_bond_has_are_too_many() -> None:
    rows = [f"Slave Interface: eth{n}\n" for n in range(proc_bonding.MEMBERS + 1)]
    assert len(proc_bonding.bond(HEAD + "".join(rows[1:])).members) == proc_bonding.MEMBERS
    with pytest.raises(Unreadable) as caught:
        proc_bonding.bond(HEAD + "".join(rows))
    assert caught.value.reason is Reason.TOO_LARGE


@given(st.text() | st.lists(st.sampled_from(WORDS) | st.text(), max_size=20).map(lambda rows: HEAD + "\n".join(rows)))
def test_nonsense_is_a_bond_or_unreadable(content: str) -> None:
    with suppress(Unreadable):
        bond = proc_bonding.bond(content)
        for value in (bond.own, *(section for _, section in bond.members)):
            value.speed()
            value.number("MII Status")
            value.chosen("MII Status")
