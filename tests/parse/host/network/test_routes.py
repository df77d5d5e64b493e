"""The kernel's tables of routes: the default is the one that packets take."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.network import routes

HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
ZERO = "0" * 32


def v4(interface: str, metric: int, *, flags: str = "0003", to: str = "00000000", mask: str = "00000000") -> str:
    return f"{interface}\t{to}\tFE00000A\t{flags}\t0\t0\t{metric}\t{mask}\t0\t0\t0\n"


def v6(interface: str, metric: int, *, flags: str = "00000003", to: str = f"{ZERO} 00") -> str:
    return f"{to} {ZERO} 00 {ZERO} {metric:08x} 00000001 00000000 {flags} {interface:>8}\n"


def test_of_several_default_routes_the_lowest_metric_is_taken_as_a_number() -> None:
    assert routes.ipv4(HEAD + v4("slow", 100) + v4("fast", 20)) == ("fast", "FE00000A")
    assert routes.by_ipv6(v6("eth0", 1024) + v6("eth1", 256)) == "eth1"


def test_a_router_is_written_from_its_last_byte_to_its_first() -> None:
    assert routes.dotted("FE00000A") == "10.0.0.254"
    assert (routes.dotted("00000000"), routes.dotted("")) == ("0.0.0.0", "")


def test_a_route_to_somewhere_is_not_the_default_nor_is_one_that_rejects_or_is_down() -> None:
    rows = v4("net", 1, to="0000000A", mask="0000FFFF") + v4("rejects", 1, flags="0203") + v4("down", 1, flags="0002")
    assert routes.ipv4(HEAD + rows) == ("", "")
    assert routes.by_ipv4(HEAD + rows + v4("eth0", 9)) == "eth0"
    # Half of all addresses begin with a zero too.
    assert routes.by_ipv4(HEAD + v4("half", 1, mask="00000080")) == ""
    six = v6("net", 1, to=f"{'fe80'.ljust(32, '0')} 40") + v6("rejects", 1, flags="00200203") + v6("lo", 1)
    assert routes.by_ipv6(six) == ""
    assert routes.by_ipv6(six + v6("eth0", 9)) == "eth0"


@pytest.mark.parametrize("row", ["eth0\n", v4("eth0", 1, flags="3"), v4("eth0", 1, to="0.0.0.0"), "eth 0" + v4("", 1)])
def test_a_row_that_is_no_route_is_not_passed_over(row: str) -> None:
    with pytest.raises(Unreadable, match="not a route"):
        routes.ipv4(HEAD + v4("eth1", 1) + row)


def test_a_table_without_its_head_is_none_and_a_machine_without_ipv6_has_no_default() -> None:
    with pytest.raises(Unreadable, match="not a table of routes"):
        routes.ipv4("")
    assert routes.by_ipv6("") == ""


@given(
    st.text() | st.lists(st.sampled_from((v4("a", 1), v6("b", 1))) | st.text()).map(lambda rows: HEAD + "".join(rows))
)
def test_nonsense_is_a_route_or_unreadable(content: str) -> None:
    for reader in (routes.by_ipv4, routes.by_ipv6):
        with suppress(Unreadable):
            reader(content)
        with suppress(Unreadable):
            reader(content.removeprefix(HEAD))
