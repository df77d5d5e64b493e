"""lldpctl's output about neighbours: names, ids, single items without a list."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.network import lldpctl

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["lldp", "interface", "chassis", "port", "vlan", "id", "value", "pvid", "mfs"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


def neighbour(value: object) -> dict[str, Reading]:
    (only,) = lldpctl.heard(json.dumps({"lldp": {"interface": {"eth0": value}}}))["eth0"]
    return dict(only)


def test_a_recorded_switch_is_read_under_its_name() -> None:
    found = lldpctl.heard(shared_text("ethernet/lldpctl-clnet36.json"))
    ((values,),) = [several for name, several in found.items() if name == "eth0"]
    assert tuple(values) == lldpctl.LEAVES
    assert (values["switch"], values["port"], values["port_mtu"]) == ("CL-RLF233", "FourHundredGigE1/0/98", 9216)


def test_a_switch_without_a_name_is_read_under_its_id() -> None:
    values = neighbour({"chassis": {"id": {"type": "mac", "value": "00:00:00:00:00:0c"}}})
    assert values["switch"] == Absent("the switch does not send it")
    assert values["switch_id"] == "00:00:00:00:00:0c"


@pytest.mark.parametrize(
    ("vlans", "own"),
    [
        ({"vlan-id": "7", "pvid": True}, "7"),
        ([{"vlan-id": "7", "pvid": True}, {"vlan-id": "8", "pvid": False}], "7"),
        (
            [{"vlan-id": "7", "pvid": True}, {"vlan-id": "8", "pvid": True}],
            Absent("none or several VLANs are marked as PVID"),
        ),
        ({"vlan-id": 7, "pvid": True}, Unknown(Reason.UNPARSABLE, "not a text: 7")),
    ],
)
def test_the_ports_own_vlan_is_the_one_that_is_marked(vlans: object, own: Reading) -> None:
    assert neighbour({"vlan": vlans})["vlan"] == own


def test_interfaces_that_lldpctl_lists_twice_have_two_neighbours() -> None:
    two: list[object] = [{"eth0": {"port": {}}}, {"eth1": {"port": {}}}, {"eth0": {"port": {}}}]
    found = lldpctl.heard(json.dumps({"lldp": {"interface": two}}))
    assert {name: len(several) for name, several in found.items()} == {"eth0": 2, "eth1": 1}


@pytest.mark.parametrize(
    "answer", ["", "[]", '{"lldp": []}', '{"lldp": {"interface": 7}}', '{"lldp": {"interface": {"e": 7}}}']
)
def test_what_lldpctl_does_not_write_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        lldpctl.heard(answer)


@given(
    st.text() | JSON.map(json.dumps) | JSON.map(lambda values: json.dumps({"lldp": {"interface": {"eth0": values}}}))
)
def test_nonsense_is_a_table_or_unreadable(answer: str) -> None:
    with suppress(Unreadable):
        assert all(tuple(values) == lldpctl.LEAVES for several in lldpctl.heard(answer).values() for values in several)
