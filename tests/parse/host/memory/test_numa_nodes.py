"""NUMA nodes over CPU packages: how many there are of each, unknown where the kernel does not report it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Reason, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.cpu import percpu
from rackcheck.parse.host.memory import numa_nodes
from rackcheck.parse.host.memory.numa_nodes import NumaNode

PACKAGE = "/sys/devices/system/cpu/cpu*/topology/physical_package_id"


def files(**cpus: str) -> Files:
    return Files({numa_nodes.CPUS.replace("node*", name): f"{text}\n" for name, text in cpus.items()}, {})


def recorded_nodes(case: str) -> list[NumaNode]:
    capture, _ = recorded(OURS / "numa_shape" / f"{case}.json")
    found = Files(capture.files, {})
    return list(numa_nodes.nodes(found, percpu.by_cpu(found, PACKAGE)))


def test_of_two_nodes_a_package_two_are_counted_and_nodes_without_cpus_are_no_packages() -> None:
    found = recorded_nodes("nps2-and-memory")
    assert [node.packages for node in found[:2]] == [frozenset("0"), frozenset("0")]
    assert numa_nodes.per_package(found) == (2, 2)


def test_one_node_over_two_packages_counts_for_both() -> None:
    (node,) = recorded_nodes("nps0")
    assert node.packages == frozenset("01")
    assert numa_nodes.per_package([node]) == (1, 1)


def test_a_cpu_whose_package_is_unreported_leaves_the_shape_unknown() -> None:
    found = list(numa_nodes.nodes(files(node0="0-1", node1="2"), {0: "0", 1: "0"}))
    assert found == [NumaNode("0", frozenset("0")), NumaNode("1", None)]
    assert numa_nodes.per_package(found) is None


def test_more_nodes_or_cpus_than_a_kernel_has_are_too_large() -> None:
    every = f"0-{numa_nodes.MOST_CPUS - 1}"
    many = files(**{f"node{number}": "" for number in range(numa_nodes.MOST + 1)})
    for found in (files(node0=every, node1="0"), many):
        with pytest.raises(Unreadable) as caught:
            list(numa_nodes.nodes(found, {}))
        assert caught.value.reason is Reason.TOO_LARGE


def test_as_many_nodes_and_cpus_as_a_kernel_may_have_are_read() -> None:
    every = f"0-{numa_nodes.MOST_CPUS - 1}"
    most = files(node0=every, **{f"node{number}": "" for number in range(1, numa_nodes.MOST)})
    assert len(list(numa_nodes.nodes(most, {}))) == numa_nodes.MOST


LISTS = st.sampled_from(["", "0", "0-3", "3-1", "x", "0,0", "0-99999", "1-2,7", "-", "9" * 30]) | st.text(max_size=5)


@given(st.dictionaries(st.sampled_from(["node0", "node1", "node²", "nodex"]), LISTS))
def test_nonsense_is_read_or_unreadable(values: dict[str, str]) -> None:
    try:
        found = list(numa_nodes.nodes(files(**values), {cpu: str(cpu // 2) for cpu in range(8)}))
        assert {node.number for node in found} <= {"0", "1"}
        numa_nodes.per_package(found)
    except Unreadable:
        pass
