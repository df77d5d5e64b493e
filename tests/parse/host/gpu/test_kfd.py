"""The compute driver's topology: nodes, links, and which link is the nearest between two GPUs."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import tree

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.gpu import kfd

NODE = "cpu_cores_count 0\nsimd_count 160\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id 1281\nhive_id 9\n"


def way(start: int, end: int, weight: int, kind: str = "xgmi") -> kfd.KfdLink:
    return kfd.KfdLink(start, end, kind, weight, 0, 0)


def test_a_node_that_computes_has_its_address_and_a_cpu_is_none() -> None:
    assert kfd.node(NODE) == kfd.KfdNode("0000:05:00.1", "gfx942", 40, 9)
    assert kfd.node("cpu_cores_count 64\nsimd_count 0\nlocation_id 0\n") is None


def test_every_link_of_a_recorded_topology_has_its_kind_and_one_without_a_name_its_number() -> None:
    files = tree("amd/kfd-topo-mi210-xgmi-pcie", "")
    nodes = [kfd.node(text) for place, text in files.items() if place.count("/") == 3 and place.endswith("properties")]
    links = [kfd.link(text) for place, text in files.items() if "_links/" in place and place.endswith("properties")]
    assert {node.target for node in nodes if node} == {"gfx90a"}
    assert {link.kind for link in links} == {"pcie", "xgmi", "type 1"}


def test_the_link_of_least_weight_is_the_nearest_and_of_two_the_first() -> None:
    pcie, near, also = way(1, 2, 40, "pcie"), way(1, 2, 15), way(1, 2, 15, "pcie")
    assert kfd.nearest([pcie, near, also], {1: "a", 2: "b"}) == {"a": {"b": near}, "b": {}}


def test_links_to_a_cpu_and_within_a_divided_gpu_are_left_out() -> None:
    links = [way(0, 1, 20, "pcie"), way(1, 0, 20, "pcie"), way(1, 2, 13), way(2, 3, 15)]
    assert kfd.nearest(links, {1: "a", 2: "a", 3: "b"}) == {"a": {"b": links[-1]}, "b": {}}


@pytest.mark.parametrize("reader", [kfd.node, kfd.link])
@given(
    content=st.text()
    | st.lists(
        st.tuples(
            st.sampled_from(["simd_count", "simd_per_cu", "location_id", "type", "node_from", "node_to", "weight"]),
            st.integers(-1, 1 << 64),
        ).map(lambda pair: f"{pair[0]} {pair[1]}\n")
    ).map("".join)
)
def test_nonsense_is_a_value_or_unreadable(reader: Callable[[str], object], content: str) -> None:
    try:
        reader(content)
    except Unreadable as error:
        assert str(error)
