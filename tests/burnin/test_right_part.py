"""The GPU that a record names is the GPU that was tested: NVML and CUDA are bound by UUID, whatever their order is."""

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import depth
import pytest
from burn_nodes import Node, libraries
from burn_nvml import uuid
from burn_racks import job, tree
from joined import joined

from rackcheck.burnin.node.gpu_parts import gpu_stay_near
from rackcheck.evaluate.verdict import judge
from rackcheck.model.burn_record import Burn
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Unknown
from rackcheck.model.tree import Leaf
from rackcheck.parse.burnin.plan import START, START_GPU, START_GPUS, START_MOST, Tier, document

MPS, PROCESS = "proc/77/comm", "proc/1000/comm"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries(tmp_path_factory.mktemp("nvidia"))


@pytest.fixture
def node(built: Path, tmp_path: Path) -> Node:
    return Node(built, tmp_path)


@dataclass(frozen=True)
class Seen:
    """A burn-in of a node: its records, its facts, and the status and reason of each rule."""

    burn: Burn
    leaves: Mapping[str, Leaf]
    rules: Mapping[str, tuple[Status, str]]

    def faults(self) -> set[tuple[str, str]]:
        return {(fault.of, fault.name) for fault in self.burn.faults}

    def done(self) -> set[str]:
        return {stage.of for stage in self.burn.stages if stage.done}

    def why(self, of: str) -> str:
        """The one reason for which a part was not tested; fails if it has several, or did any work."""
        (why,) = {stage.why if not stage.done else "done" for stage in self.burn.work_of(of)}
        return why

    def status(self, rule: str) -> Status:
        return self.rules[rule][0]


def burnt(node: Node, *stages: str, files: Mapping[str, str] | None = None, seconds: float = 0.3, **how: Any) -> Seen:
    """Burn in a node; `files` are files below its root, other than those that `Node` writes."""
    for name, text in (files or {}).items():
        (node.folder / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (node.folder / "root" / name).write_text(text)
    slots = [{"of": "gpu", "stage": stage, "from": 0.0, "until": 0.0} for stage in stages or ("scalar",)]
    found = node.burn(seconds=seconds, stages=slots, **{"deadline": 30.0, "round": 0.05, **how})
    found.end(60)
    assert found.process.stderr is not None
    assert found.process.stderr.read() == b""
    capture = BurnCapture(tuple(found.records))
    assert (capture.burn.unread, capture.burn.whole) == (0, True), capture.burn.odd
    profile = job(1).profile
    assert profile is not None
    alone = [rule for rule in profile.rules if ".among." not in "".join(map(str, rule.facts()))]
    facts = tree(1, 1, capture)
    return Seen(capture.burn, facts.leaves, {v.rule: (v.status, v.reason) for v in judge(alone, facts)})


def on_bus(count: int) -> dict[str, str]:
    """The files by which a node with this many NVIDIA GPUs on its PCI bus lists them."""
    folder = "sys/bus/pci/devices/0000:{:02x}:00.0"
    made = {f"{folder.format(0x17 + 16 * n)}/vendor": "0x10de\n" for n in range(count)}
    return made | {f"{folder.format(0x17 + 16 * n)}/class": "0x030200\n" for n in range(count)}


# -- two lists of the same GPUs ----------------------------------------------------------------------------------------

LISTS: Mapping[str, tuple[Sequence[int], str, str, Mapping[int, str]]] = {
    "NVML keeps the index of a lost GPU": ((0, 1, 2, 3), "1.lost=15", "0,2,3", {0: "0", 2: "2", 3: "3"}),
    "both renumber": ((0, 2, 3), "", "0,2,3", {0: "0", 2: "1", 3: "2"}),
    "CUDA has another order": ((0, 2, 3), "", "3,0,2", {0: "0", 2: "1", 3: "2"}),
    "NVML has another order": ((3, 1, 0), "", "0,1,3", {3: "0", 1: "1", 0: "2"}),
}
"""The physical GPUs in NVML's order, a line of NVML's state, CUDA's order, and each GPU's NVML index."""


WRONG = [(name, (number + turn) % 3) for turn in range(3) for number, name in enumerate(LISTS)]
"""A list and which of its GPUs is wrong: in the usual run each list once and each of the GPUs, in `make full` all."""


@pytest.mark.parametrize(("name", "ill"), depth.first(len(LISTS), WRONG))
def test_a_wrong_gpu_is_named_by_its_own_index_and_serial_number_in_whatever_order(
    node: Node, name: str, ill: int
) -> None:
    numbers, line, order, indices = LISTS[name]
    physical = sorted(indices)[ill]
    index = indices[physical]
    seen = burnt(
        replace(node, gpus=4, numbers=tuple(numbers)), nvml=line, cuda=f"order={order} wrong={physical}:-1:fp32:2"
    )
    assert {of for of, name in seen.faults() if name == "mismatch"} == {f"gpu/{index}"}
    assert seen.burn.gpus[index]["uuid"] == uuid(physical)
    leaf = seen.leaves[f"burnin.gpu/{index}.mismatches"]
    assert f"gpu/{index} (serial number {1650000000000 + physical} 0000:" in leaf.source
    assert f" module {physical + 1}) mismatch" in leaf.source
    assert seen.done() == {f"gpu/{index}" for index in indices.values()}
    assert seen.leaves[f"burnin.gpu/{index}.module"].reading == physical + 1
    assert seen.leaves[f"burnin.gpu/{index}.pci"].reading == f"0000:{0x17 + 16 * physical:02x}:00.0"


@pytest.mark.parametrize("name", LISTS)
def test_a_bad_copy_is_found_between_the_gpus_that_it_connects(node: Node, name: str) -> None:
    numbers, line, order, indices = LISTS[name]
    (first, _, last) = sorted(indices)
    seen = burnt(
        replace(node, gpus=4, numbers=tuple(numbers)), "links", seconds=1.0, nvml=line,
        cuda=f"order={order} peer={last}:{first}",
    )  # fmt: skip
    pairs = {f"peer/{a}-{b}" for a in indices.values() for b in indices.values() if a != b}
    assert {of for of in seen.done() if of.startswith("peer/")} == pairs
    assert {of for of, name in seen.faults() if name == "mismatch"} == {f"peer/{indices[last]}-{indices[first]}"}


def test_beside_a_gpu_that_is_on_the_bus_alone_a_wrong_gpu_still_fails_and_is_named(node: Node) -> None:
    seen = burnt(
        replace(node, gpus=4, numbers=(0, 2, 3)), files=on_bus(4), cuda="order=0,2,3 wrong=3:-1:fp32:2", ready_gpu=0.0
    )
    assert seen.faults() == {("gpu/2", "mismatch")}
    status, reason = seen.rules["burnin.gpu_correct"]
    assert status is Status.FAIL
    assert "gpu/2" in reason
    assert "gpu/1" not in reason
    assert "4 NVIDIA GPUs on the PCI bus, NVML reports 3" in seen_reason(seen, "burnin.gpu").detail


def test_with_the_healthy_gpus_renumbered_nothing_is_found(node: Node) -> None:
    seen = burnt(replace(node, gpus=4, numbers=(3, 1, 0)), "memory", "scalar", cuda="order=1,0,3")
    assert seen.faults() == set()
    assert seen.status("burnin.no_crash") is Status.PASS


# -- a GPU that only one of the two lists ------------------------------------------------------------------------------


def test_a_gpu_that_cuda_does_not_list_is_not_tested_and_no_other_is_tested_in_its_place(node: Node) -> None:
    seen = burnt(replace(node, gpus=4), cuda="order=0,3 wrong=3:-1:fp32:2")
    assert seen.done() == {"gpu/0", "gpu/3"}
    assert seen.faults() == {("gpu/3", "mismatch")}
    for index in (1, 2):
        assert seen.why(f"gpu/{index}") == f"not listed: CUDA lists no GPU with the UUID {uuid(index)}"
        assert seen_reason(seen, f"burnin.gpu/{index}.mismatches").detail == seen.why(f"gpu/{index}")


def seen_reason(seen: Seen, path: str) -> Unknown:
    reading = seen.leaves[path].reading
    assert isinstance(reading, Unknown)
    return reading


def test_a_gpu_that_nvml_does_not_list_is_reported_and_the_others_are_tested(node: Node) -> None:
    seen = burnt(replace(node, gpus=3, numbers=(0, 2)), cuda="order=0,1,2 wrong=1:-1:fp32:2")
    assert seen.done() == {"gpu/0", "gpu/1"}
    assert seen.faults() == set()
    why = f"not identified: CUDA lists a GPU that NVML does not list: {uuid(1)} at 0000:27:00.0"
    assert seen.burn.troubles == (("node", why),)
    assert why in seen_reason(seen, "burnin.gpu").detail


@pytest.mark.parametrize(
    ("cuda", "nvml", "why"),
    [
        ("at=1:0x99", "", f"not identified: {uuid(1)} is at 0000:27:00.0 for NVML, and at 0000:99:00.0 for CUDA"),
        ("", "1.pci=00000000:99:00.0", f"not identified: {uuid(1)} is at 0000:99:00.0 for NVML, and at 0000:27:00.0 for CUDA"),
        ("", f"1.uuid={uuid(7)}", f"not listed: CUDA lists no GPU with the UUID {uuid(7)}; at 0000:27:00.0 it lists {uuid(1)}"),
        ("twin=1:2", "", f"not listed: CUDA lists no GPU with the UUID {uuid(1)}; at 0000:27:00.0 it lists {uuid(2)}"),
        ("twin=0:1", "", f"not identified: CUDA lists 2 GPUs with the UUID {uuid(1)}"),
        ("", f"0.uuid={uuid(1)}", f"not identified: NVML lists more than one GPU with the UUID {uuid(1)}"),
        ("", "1.uuid=!3", "not identified: NVML reports no UUID for this GPU"),
        ("blank=1:999", "", f"not listed: CUDA lists no GPU with the UUID {uuid(1)}; CUDA does not identify its device 1"),
        ("slice=1", "", f"not listed: CUDA lists no GPU with the UUID {uuid(1)}; at 0000:27:00.0 it lists GPU-31313131-"),
    ],
)  # fmt: skip
def test_a_gpu_on_which_nvml_and_cuda_disagree_is_not_tested_and_not_blamed(
    node: Node, cuda: str, nvml: str, why: str
) -> None:
    seen = burnt(replace(node, gpus=4), cuda=f"wrong=1:-1:fp32:2 {cuda}", nvml=nvml)
    assert seen.why("gpu/1").startswith(why)
    assert seen.faults() == set()
    assert "gpu/3" in seen.done()
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN
    assert seen.status("burnin.no_crash") is Status.PASS


# -- a GPU that must not be tested -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nvml", "cuda", "why"),
    [
        ("1.mig=1", "slice=1", "unsupported: MIG on gpu/1"),
        ("1.compute_mode=3", "", "unsupported: compute mode exclusive process on gpu/1"),
        ("1.compute_mode=2", "", "unsupported: compute mode prohibited on gpu/1"),
        ("1.processes=1", "", "foreign process: pid 1000 (python3)"),
        (
            "1.memory_used=75161927680",
            "",
            "foreign process: none is visible here, but 70.0 GiB of its memory are in use",
        ),
        ("1.processes=!999", "", "unsupported: NVML does not report whether other processes use the GPU"),
        ("1.processes=1\n1.mig=1", "slice=1", "unsupported: MIG on gpu/1"),
    ],
)
def test_a_gpu_that_must_not_be_tested_has_its_own_reason_and_is_left_alone(
    node: Node, nvml: str, cuda: str, why: str
) -> None:
    seen = burnt(
        replace(node, gpus=3), "scalar", "links", seconds=0.6, nvml=nvml, cuda=f"stuck=1:0:1 peer=0:1 {cuda}",
        files={PROCESS: "python3\n"},
    )  # fmt: skip
    assert seen.why("gpu/1") == why
    assert seen.done() == {"gpu/0", "gpu/2", "peer/0-2", "peer/2-0"}
    assert seen.faults() == set()
    assert [of for of, _ in seen.burn.troubles if of == "node"] == []
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN
    assert seen.status("burnin.no_crash") is Status.PASS


def test_with_mps_no_gpu_is_tested(node: Node) -> None:
    seen = burnt(node, files={MPS: "nvidia-cuda-mps\n", PROCESS: "nvidia-persiste\n"})
    assert seen.done() == set()
    for index in range(2):
        assert seen.why(f"gpu/{index}") == "unsupported: MPS is running on the node (pid 77)"
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN


def test_a_process_with_another_name_is_not_mps(node: Node) -> None:
    assert burnt(node, files={MPS: "nvidia-cuda-mpz\n"}).done() == {"gpu/0", "gpu/1"}


def test_a_gpu_in_default_mode_without_mig_is_tested(node: Node) -> None:
    assert burnt(node, nvml="1.mig=!3\n1.compute_mode=!3").done() == {"gpu/0", "gpu/1"}


# -- a GPU or a driver that cannot run it ------------------------------------------------------------------------------


def test_a_gpu_older_than_the_kernels_is_unsupported_and_not_faulty(node: Node) -> None:
    seen = burnt(node, cuda="older=1:75")
    assert seen.why("gpu/1") == "unsupported: compute capability 7.5; the kernels need 8.0"
    assert (seen.done(), seen.faults()) == ({"gpu/0"}, set())
    assert seen.status("burnin.no_crash") is Status.PASS
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN


UNABLE = {
    34: "no driver", 46: "foreign process", 2: "no memory", 100: "no driver", 102: "unsupported", 209: "unsupported",
    218: "unsupported", 221: "unsupported", 222: "unsupported", 223: "unsupported", 804: "no driver",
    805: "foreign process",
}  # fmt: skip


@pytest.mark.parametrize("code", UNABLE)
def test_what_a_driver_cannot_run_is_not_tested_and_no_part_is_swapped_for_it(node: Node, code: int) -> None:
    seen = burnt(node, cuda=f"context=1:{code}")
    assert seen.why("gpu/1").startswith(f"{UNABLE[code]}: cuDevicePrimaryCtxRetain: code {code}, ")
    assert (seen.done(), seen.faults()) == ({"gpu/0"}, set())
    assert seen.status("burnin.no_crash") is Status.PASS
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN


@pytest.mark.parametrize("code", [101, 214, 719, 999])
def test_an_error_that_is_a_fault_stays_one_and_names_the_gpu_alone(node: Node, code: int) -> None:
    seen = burnt(node, cuda=f"context=1:{code}")
    assert seen.faults() == {("gpu/1", "cuda")}
    assert seen.status("burnin.no_crash") is Status.FAIL
    assert seen.done() == {"gpu/0"}


@pytest.mark.parametrize("code", [101, 999])
def test_a_cuda_that_does_not_start_is_one_fault_of_the_node_and_of_no_gpu(node: Node, code: int) -> None:
    seen = burnt(replace(node, gpus=3), nvml="0.mig=1", cuda=f"init={code}")
    assert [(fault.of, fault.name) for fault in seen.burn.faults] == [("node", "cuda")]
    assert seen.status("burnin.no_crash") is Status.FAIL
    assert seen.why("gpu/1").startswith(f"no driver: cuInit: code {code}, ")
    assert seen.leaves["burnin.gpu/2.faults"].reading == ()


@pytest.mark.parametrize("code", [100, 304, 800, 803, 804])
def test_a_driver_that_cannot_start_cuda_is_no_fault(node: Node, code: int) -> None:
    seen = burnt(node, cuda=f"init={code}")
    assert (seen.faults(), seen.done()) == (set(), set())
    assert f"cuInit: code {code}, " in seen.why("gpu/1")
    assert seen.status("burnin.no_crash") is Status.PASS
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN


# -- a slow start ------------------------------------------------------------------------------------------------------

listing = joined("node_files", "nvml_driver", "gpu_listing")


def ready_time(plan: dict[str, Any]) -> float:
    return float(listing.GpuListing(plan, lambda: 0.0).ready)


def test_the_time_to_start_grows_with_the_gpus_on_the_bus_up_to_a_limit(tmp_path: Path) -> None:
    plan = {**document(Tier.SMOKE, seed=7), "root": str(tmp_path)}
    assert ready_time(plan) == START
    for count in (8, 16, 64):
        for name, text in on_bus(count).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        assert ready_time(plan) == min(START + START_GPU * count, START_MOST)
    assert START + START_GPU * 8 > 40
    assert START_MOST == START + START_GPU * START_GPUS


def test_a_late_list_moves_the_deadline_by_its_delay_and_an_early_one_does_not() -> None:
    plan = {**document(Tier.SMOKE, seed=7), "ready_gpu": 0.0}
    for listed_at, more in ((1.0, 0.0), (START + 12.0, 12.0)):
        found = listing.GpuListing(plan, lambda at=listed_at: at)
        found.done()
        assert found.deadline == plan["deadline"] + more


def test_a_driver_that_starts_slowly_is_waited_for_as_the_number_of_gpus_needs(node: Node) -> None:
    late: dict[str, Any] = {"nvml": "slow_init=4", "ready": 0.4, "ready_gpu": 9.0, "ready_most": 30.0, "deadline": 3.9}
    seen = burnt(node, files=on_bus(2), **late)
    assert (seen.done(), seen.faults()) == ({"gpu/0", "gpu/1"}, set())


@pytest.mark.parametrize(
    ("nvml", "why"),
    [
        ("slow_init=60", "slow start: the driver did not list the GPUs within 3 s"),
        ("1.late.handle=60", "slow start: the driver did not list the GPUs within 3 s; gpu/1 is being opened"),
    ],
)
def test_a_driver_that_starts_too_slowly_is_not_tested_and_is_no_hang(node: Node, nvml: str, why: str) -> None:
    seen = burnt(node, nvml=nvml, files=on_bus(2), ready=0.4, ready_gpu=1.3, ready_most=9.0)
    assert (seen.done(), seen.faults()) == (set(), set())
    assert seen.burn.troubles == (("node", why),)
    assert seen_reason(seen, "burnin.gpu").detail == why
    assert seen.status("burnin.gpu_correct") is Status.UNKNOWN
    assert seen.status("burnin.no_crash") is Status.PASS


def test_a_gpu_that_is_open_and_never_described_hangs_and_no_other_gpu_is_named(node: Node) -> None:
    seen = burnt(node, nvml="1.hangs=1", ready=2.0)
    assert seen.faults() == {("gpu/1", "hang")}
    assert seen.done() == set()
    assert seen.burn.troubles[0][1].startswith("hang: NVML opened gpu/1, and did not describe it within 2 s")
    assert seen.status("burnin.no_crash") is Status.FAIL


def test_a_slow_start_of_cuda_is_not_tested_and_no_gpu_hangs(node: Node) -> None:
    seen = burnt(node, cuda="slow_init=60", slow=0.5, hang=0.5, ready=3.0)
    assert (seen.done(), seen.faults()) == (set(), set())
    for index in range(2):
        assert seen.why(f"gpu/{index}") == "slow start: cuInit did not complete within 3 s"


@pytest.mark.parametrize(("text", "near"), [("0", {0}), ("0-0,9999", {0}), ("9999", None), ("x", None), ("", None)])
def test_a_gpus_process_runs_on_the_processors_near_it_or_where_it_may(
    text: str, near: set[int] | None, tmp_path: Path
) -> None:
    file = tmp_path / "sys/bus/pci/devices/0000:17:00.0/local_cpulist"
    file.parent.mkdir(parents=True)
    file.write_text(f"{text}\n")
    found: list[set[int]] = []

    def run() -> None:  # the processors are a property of the thread
        gpu_stay_near("0000:17:00.0", str(tmp_path))
        found.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    everywhere = os.sched_getaffinity(0)
    assert found == [everywhere if near is None else near & everywhere]
