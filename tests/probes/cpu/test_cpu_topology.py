"""Cores and threads of CPU packages."""

from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.text import Files
from rackcheck.parse.host.cpu import percpu
from rackcheck_probes.cpu.packages import packages

FOLDER = "/sys/devices/system/cpu/cpu*/topology"


def test_a_recorded_machine_with_one_thread_offline_has_cores_that_differ() -> None:
    files = Files(recorded(OURS / "cpu_packages" / "one-thread-offline.json")[0].files, {})
    by_cpu = percpu.numbers(percpu.by_cpu(files, f"{FOLDER}/physical_package_id"))
    found = packages(by_cpu, percpu.by_cpu(files, f"{FOLDER}/thread_siblings_list"))
    assert sum(package.threads() for package in found.values()) == len(by_cpu)
    assert (1, 2) in {package.per_core() for package in found.values()}


def test_threads_that_share_their_siblings_are_one_core() -> None:
    (package,) = packages({0: 0, 1: 0, 2: 0, 3: 0}, {0: "0,2", 2: "0,2", 1: "1,3", 3: "1,3"}).values()
    assert (package.threads(), len(package.cores), package.per_core()) == (4, 2, (2,))


def test_a_cpu_without_siblings_leaves_only_the_cores_of_its_package_unknown() -> None:
    found = packages({0: 0, 1: 1}, {1: "1"})
    assert (found[0].threads(), found[0].per_core()) == (1, None)
    assert found[1].per_core() == (1,)


@given(
    st.dictionaries(st.integers(0, 99), st.integers(-1, 9)), st.dictionaries(st.integers(0, 99), st.text(max_size=3))
)
def test_no_cpu_is_lost_and_none_is_counted_twice(by_cpu: dict[int, int], siblings: dict[int, str]) -> None:
    found = packages(by_cpu, siblings)
    assert set(found) == set(by_cpu.values())
    assert sum(package.threads() for package in found.values()) == len(by_cpu)
