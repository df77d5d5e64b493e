"""Tables of partition keys: each key once, in order."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck_probes.nic import rdma_pkeys as pkey_tables


def test_a_port_has_its_keys_in_order_and_each_once() -> None:
    answer = "mlx5_0/ports/1 0xffff 0x7fff 0xffff\nmlx5_1/ports/2\n"
    assert list(pkey_tables.ports(answer)) == [
        pkey_tables.PkeyPort("mlx5_0", "1", ("0x7fff", "0xffff")),
        pkey_tables.PkeyPort("mlx5_1", "2", ()),
    ]


def test_a_key_that_could_not_be_read_is_no_lack_of_one_and_ports_before_it_stand() -> None:
    ports = pkey_tables.ports("mlx5_0/ports/1 0xffff\nmlx5_1/ports/1 0xffff ?\n")
    assert next(ports).device == "mlx5_0"
    with pytest.raises(Unreadable, match=r"expected a port and its keys, got: 'mlx5_1"):
        next(ports)


@given(st.text() | st.from_regex(r"\A[a-z0-9/]{0,9}/ports/[0-9]{1,3}( 0x[0-9a-f]{3,5}){0,3}\n\Z"))
def test_nonsense_is_ports_or_unreadable(answer: str) -> None:
    with suppress(Unreadable):
        assert all(port.device for port in pkey_tables.ports(answer))
