"""Files of an RDMA port: its state, its rate, and counters that stop at their maximum."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import tree

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.nic import ib_port

RDMA = "/sys/class/infiniband"
WIDTHS = {
    "symbol_error": 16, "link_error_recovery": 8, "link_downed": 8, "port_rcv_errors": 16,
    "port_rcv_remote_physical_errors": 16, "port_rcv_switch_relay_errors": 16, "port_xmit_discards": 16,
    "port_xmit_constraint_errors": 8, "port_rcv_constraint_errors": 8, "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4, "VL15_dropped": 16,
}  # fmt: skip


def counted(**changed: Reading) -> dict[str, Reading]:
    return {**dict.fromkeys(WIDTHS, 0), **changed}


def test_every_recorded_port_has_a_state_and_a_rate() -> None:
    files = tree("infiniband/sysfs-infiniband-procfs", RDMA)
    states = [ib_port.state(text) for place, text in files.items() if place.endswith("/state")]
    rates = [ib_port.rate(text) for place, text in sorted(files.items()) if place.endswith("/rate")]
    assert states == ["ACTIVE"] * 4
    assert rates == [ib_port.Rate(*rate) for rate in ((100.0, "4X"), (40.0, "4X"), (40.0, "4X"), (25.0, "1X"))]


@pytest.mark.parametrize(
    ("content", "rate"),
    [
        ("400 Gb/sec (4X NDR)\n", (400.0, "4X")),
        ("2.5 Gb/sec (1X)\n", (2.5, "1X")),
        ("40 Gb/sec (4X QDR)", (40.0, "4X")),
    ],
)
def test_a_rate_is_its_speed_and_its_lanes(content: str, rate: tuple[float, str]) -> None:
    assert ib_port.rate(content) == ib_port.Rate(*rate)


@pytest.mark.parametrize(
    "content",
    [
        "٤٠٠ Gb/sec (4X NDR)",
        "400 Gb/sec (٤X NDR)",
        "2.٣ Gb/sec (1X)",
        "4_0 Gb/sec (4X)",
        "40 Gb/sec (4X Q_R)",
        "40",
        "",
    ],
)
def test_a_rate_in_other_than_ascii_digits_is_none(content: str) -> None:
    with pytest.raises(Unreadable, match=r"not a rate|not one line"):
        ib_port.rate(content)


@pytest.mark.parametrize("content", ["٤: ACTIVE", "²: ACTIVE", "4_0: ACTIVE", ": ACTIVE", "4:", "ACTIVE", ""])
def test_a_state_without_a_number_in_ascii_digits_is_none(content: str) -> None:
    with pytest.raises(Unreadable, match=r"not a numbered state|not one line"):
        ib_port.state(content)


@pytest.mark.parametrize(("content", "number"), [("0x96\n", 150), ("0xFFFF", 65535), ("96\n", 96), ("0x0", 0)])
def test_an_id_is_hexadecimal_by_its_mark_alone(content: str, number: int) -> None:
    assert ib_port.hexadecimal(content) == number


def test_a_guid_is_half_of_the_first_gid_and_ethernet_has_none() -> None:
    port = f"{RDMA}/mlx5_0/ports/1"
    files = {f"{port}/link_layer": "InfiniBand\n", f"{port}/gids/0": "fe80:0000:0000:0000:0002:c903:0000:1234\n"}
    assert ib_port.guid(Files(files, {}), port).reading == "0002:c903:0000:1234"
    files[f"{port}/link_layer"] = "Ethernet\n"
    assert ib_port.guid(Files(files, {}), port).reading == Absent("Ethernet")


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("Global tclass=106\n", 106),
        ("tclass=0\n", 0),
        ("\n", Absent("no traffic class is set")),
        ("", Absent("no traffic class is set")),
    ],
)
def test_a_traffic_class_is_a_number_and_an_empty_file_means_none_is_set(content: str, values: Reading) -> None:
    assert ib_port.traffic_class(Files({"/x": content}, {}), "/x").reading == values
    assert isinstance(ib_port.traffic_class(Files({"/x": "dscp=3\n"}, {}), "/x").reading, Unknown)


@pytest.mark.parametrize("name", WIDTHS)
def test_a_counter_is_full_at_its_own_width_and_not_one_before(name: str) -> None:
    top = (1 << WIDTHS[name]) - 1
    assert ib_port.full(counted(**{name: top})) == (name.lower(),)
    assert ib_port.full(counted(**{name: top - 1})) == ()


def test_one_unknown_counter_leaves_the_full_ones_unknown() -> None:
    denied = Unknown(Reason.DENIED, "Permission denied")
    assert ib_port.full(counted(link_downed=denied, symbol_error=65535)) == denied
    assert ib_port.full(counted(link_downed=Absent("no file"), symbol_error=65535)) == ("symbol_error",)
    assert isinstance(ib_port.full(dict.fromkeys(WIDTHS, Absent("no file"))), Absent)


def test_without_an_agent_a_counter_is_absent_and_not_zero() -> None:
    place = f"{RDMA}/rxe0/ports/1/counters/symbol_error"
    assert isinstance(ib_port.counter(Files({place: "N/A (no PMA)\n"}, {}), place).reading, Absent)
    assert isinstance(ib_port.counter(Files({place: "N/A\n"}, {}), place).reading, Unknown)


@given(st.text() | st.from_regex(r"\A[0-9.²]{0,6}:? ?[A-Za-z/]{0,7} ?\(?[0-9²]{0,2}X?( [A-Z]+)?\)?\Z"))
def test_nonsense_is_a_value_or_unreadable(content: str) -> None:
    for reader in (ib_port.state, ib_port.rate, ib_port.hexadecimal, ib_port.first_guid):
        with suppress(Unreadable):
            reader(content)
    ib_port.counter(Files({"/x": content}, {}), "/x")
    ib_port.traffic_class(Files({"/x": content}, {}), "/x")
