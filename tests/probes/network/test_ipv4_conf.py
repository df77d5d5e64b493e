"""Settings of IPv4: the larger of the interface's value and that of `all` is effective."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.text import Files
from rackcheck_probes.network import interface_arp as ipv4_conf

OWN, OF_ALL = (ipv4_conf.PLACE.format(name, "rp_filter") for name in ("eth0", "all"))
DENIED = Unknown(Reason.DENIED, "Permission denied")


@pytest.mark.parametrize(("own", "of_all", "larger"), [("2", "0", 2), ("0", "1", 1), ("0", "0", 0)])
def test_the_larger_is_in_force_and_the_interfaces_file_is_its_source(own: str, of_all: str, larger: int) -> None:
    sourced = ipv4_conf.in_force(Files({OWN: f"{own}\n", OF_ALL: f"{of_all}\n"}, {}), "eth0", "rp_filter")
    assert (sourced.reading, sourced.source) == (larger, OWN)


def test_an_interface_without_ipv4_has_none_whatever_all_have() -> None:
    sourced = ipv4_conf.in_force(Files({OF_ALL: "1\n"}, {}), "eth0", "rp_filter")
    assert isinstance(sourced.reading, Absent)


def test_where_all_is_not_known_nothing_is_known() -> None:
    assert ipv4_conf.in_force(Files({OWN: "2\n"}, {OF_ALL: DENIED}), "eth0", "rp_filter").reading == DENIED


@given(st.text(), st.text())
def test_nonsense_is_a_number_or_unknown(own: str, of_all: str) -> None:
    reading = ipv4_conf.in_force(Files({OWN: own, OF_ALL: of_all}, {}), "eth0", "rp_filter").reading
    assert isinstance(reading, int | Unknown)
