"""Character devices of RDMA: their owner, and whether they exist."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.nic import ib_nodes

ROWS = (
    "port - mlx5_1 1", "port - mlx5_0 1", "port - mlx5_0 2", "umad0 yes mlx5_0 1", "issm0 no mlx5_0 1",
    "uverbs0 yes mlx5_0 -", "uverbs1 no mlx5_1 -", "rdma_cm yes - -",
)  # fmt: skip


def test_a_node_belongs_to_the_device_or_port_that_the_kernel_names() -> None:
    found = ib_nodes.nodes("".join(f"{row}\n" for row in ROWS))
    assert found.connection
    assert found.devices == ("mlx5_1", "mlx5_0")
    assert found.ports == (("mlx5_1", "1"), ("mlx5_0", "1"), ("mlx5_0", "2"))
    assert [found.has("uverbs", device) for device in found.devices] == [False, True]
    assert [found.has("umad", *port) for port in found.ports] == [False, True, False]
    assert not found.has("issm", "mlx5_0", "1")


def test_a_device_has_one_verbs_node_whatever_port_is_named_beside_it() -> None:
    assert ib_nodes.nodes("port - mlx5_0 1\nuverbs0 yes mlx5_0 1\nrdma_cm no - -\n").has("uverbs", "mlx5_0")


@pytest.mark.parametrize(
    ("rows", "why"),
    [(ROWS[:-1], "no row for rdma_cm"), ((*ROWS, "umad0 perhaps mlx5_0 1"), "not a device and its node")],
)
def test_an_answer_that_was_cut_or_spoilt_is_unreadable(rows: tuple[str, ...], why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        ib_nodes.nodes("".join(f"{row}\n" for row in rows))


@given(
    st.text()
    | st.lists(st.sampled_from(ROWS) | st.text(), max_size=12).map(lambda rows: "".join(f"{r}\n" for r in rows))
)
def test_nonsense_is_nodes_or_unreadable(answer: str) -> None:
    with suppress(Unreadable):
        ib_nodes.nodes(answer)
