"""Links of `rdma -j link show`: which network interface belongs to which port."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck_probes.nic import rdma_links as rdma_link


def test_every_recorded_link_has_its_interface() -> None:
    found = list(rdma_link.links(shared_text("infiniband/rdma-link.json")))
    assert found[0] == rdma_link.RdmaLink("ionic_0", 1, "benic8p1")
    assert len({link.interface for link in found}) == len(found) == 4


def test_a_link_without_an_interface_has_none_and_an_odd_one_is_unknown() -> None:
    bare, odd = rdma_link.links('[{"ifname": "mlx5_0", "port": 1}, {"ifname": "mlx5_1", "port": 1, "netdev": 7}]')
    assert bare.interface == Absent("no network interface")
    assert odd.interface == Unknown(Reason.UNPARSABLE, "not a name: 7")


@pytest.mark.parametrize("link", ['{"port": 1}', '{"ifname": "", "port": 1}', '{"ifname": "a", "port": true}', "7"])
def test_links_before_one_without_a_name_and_a_port_stand(link: str) -> None:
    links = rdma_link.links(f'[{{"ifname": "mlx5_0", "port": 1}}, {link}]')
    assert next(links).device == "mlx5_0"
    with pytest.raises(Unreadable, match="a link without a valid name or port"):
        next(links)


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("ifname", "port", "netdev")), inner),
)


@given(st.text() | NONSENSE.map(json.dumps))
def test_nonsense_is_links_or_unreadable(answer: str) -> None:
    with suppress(Unreadable):
        assert all(link.device for link in rdma_link.links(answer))
