"""The profile mi300x-oam: eight healthy GPUs pass it, and each fault is found by its rule.

No machine with MI300X was recorded file by file: the facts are written by hand, with the words that the probes of AMD's
GPUs read from the recordings of their tests; product id, power limit and partitions are those of a recorded rocm-smi.
"""

import re
from collections.abc import Mapping

import pytest
from recordings import shared_text

from rackcheck.evaluate.verdict import judge
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.profile import Phase, Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library

GPUS = tuple(f"0000:{bus}:00.0" for bus in ("05", "26", "46", "65", "85", "a6", "c6", "e5"))
NICS = tuple(f"0000:{bus}:00.0" for bus in ("09", "2a", "4a", "69", "89", "aa", "ca", "e9"))
GPU: Mapping[str, Reading] = {
    "driver": "amdgpu",
    "memory.total": 191.984375,
    "memory.used": 0.277,
    "power.limit": 750.0,
    "power.default": 750.0,
    "vbios": "113-M3000100-102",
    "firmware": ("mec", "rlc", "sdma", "smc", "sos"),
    "firmware/mec.version": "0x000000a4",
    "firmware/rlc.version": "0x0000004b",
    "firmware/sdma.version": "0x00000018",
    "firmware/smc.version": "0x00557300",
    "firmware/sos.version": "0x00360256",
    "partition.compute": "SPX",
    "partition.memory": "NPS1",
    "xgmi.peers": 7,
    "xgmi.hive": "0000000000000009",
    "ecc.uncorrected": 0,
    "ecc.deferred": 0,
    "ecc.block": ("gfx", "sdma", "umc"),
    **{f"ecc.block/{block}.{kind}": 0 for block in ("gfx", "sdma", "umc") for kind in ("uncorrected", "deferred")},
    "bad_pages.pending": 0,
    "bad_pages.failed": 0,
}
HOST: Mapping[str, Reading] = {
    "cpu.hypervisor": Absent("bare metal"),
    "module": ("amdgpu",),
    "module/amdgpu.loaded": True,
    "iommu.translated": 3,
    "numa.nodes": 2,
    "sysctl.kernel.numa_balancing": 0,
    "mount": ("/dev/shm",),
    'mount/"/dev/shm".size': 1024.0,
    "log.kernel.amdgpu": (),
    "pcie": (*GPUS, *NICS),
    **{f'pcie/"{gpu}".device': "0x74a1" for gpu in GPUS},
    **{f'pcie/"{nic}".device': "0x1021" for nic in NICS},
    **{f'pcie/"{gpu}".class': "0x120000" for gpu in GPUS},
    **{f'pcie/"{nic}".class': "0x020700" for nic in NICS},
    **{f'pcie/"{each}".iommu.type': "identity" for each in (*GPUS, *NICS)},
    **{f'pcie/"{each}".link.width': 16 for each in (*GPUS, *NICS)},
    **{f'pcie/"{each}".link.max_speed': 32.0 for each in (*GPUS, *NICS)},
    **{f'pcie/"{each}".link.speed': 32.0 for each in (*GPUS, *NICS)},
    "nic": (),
    "gpu.amd": GPUS,
    **{f'gpu.amd/"{gpu}".{leaf}': reading for gpu in GPUS for leaf, reading in GPU.items()},
}


@pytest.fixture(scope="module")
def profile() -> Profile:
    return library.load("mi300x-oam", registry().catalogue, {"nic_device": "0x1021"})


def at(number: int, leaf: str) -> str:
    return f'gpu.amd/"{GPUS[number]}".{leaf}'


def verdicts(profile: Profile, changes: Mapping[str, Reading] | None = None) -> dict[str, Verdict]:
    """Verdicts of the rules in the profile's own file on a host with some facts changed."""
    known = registry().catalogue
    leaves: dict[str, Leaf] = {}
    for path, reading in {**HOST, **(changes or {})}.items():
        entry = known.find(parse(path))
        assert entry is not None, path
        leaves[path] = Leaf(reading, entry.kind, entry.plane, "by hand")
    own = [r for r in profile.own if "mi300x-oam.yaml" in r.place and r.across is None and r.phase is Phase.CONFIG]
    return {v.rule: v for v in judge(own, Tree(leaves))}


def failing(found: Mapping[str, Verdict]) -> set[str]:
    return {rule for rule, verdict in found.items() if verdict.status in {Status.FAIL, Status.WARN}}


def test_eight_gpus_in_order_pass(profile: Profile) -> None:
    found = verdicts(profile)
    assert {i: v.reason for i, v in found.items() if v.status not in {Status.PASS, Status.NA}} == {}
    assert sum(v.status is Status.PASS for v in found.values()) >= 25


def test_expectations_for_every_gpu_match_a_recorded_machine() -> None:
    shown = shared_text("amd/rocm-smi-table-8xmi300x.txt")
    assert len(re.findall(r"\[0x74a1 : 0x00\].*NPS1, SPX.* 750\.0W ", shown)) == 8


TRAPS: Mapping[str, Mapping[str, Reading]] = {
    "its GPUs idle at Gen1": {f'pcie/"{gpu}".link.speed': 2.5 for gpu in GPUS},
    "the driver lists fewer blocks": {
        at(n, f"firmware/{block}.version"): Absent("not listed") for n in range(8) for block in ("sdma", "sos")
    },
    "the kernel cannot divide GPUs": {
        at(n, leaf): Absent("no file") for n in range(8) for leaf in ("partition.compute", "partition.memory")
    },
    "the kernel counts no errors": {at(n, "ecc.uncorrected"): Absent("no file") for n in range(8)},
    "it is a guest": {
        "cpu.hypervisor": "kvm",
        **{f'pcie/"{gpu}".device': "0x74b5" for gpu in GPUS},
        **{at(n, leaf): Absent("no file") for n in range(8) for leaf in ("power.limit", "power.default")},
    },
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_a_machine_in_order_may_show_fails_nothing(trap: str, profile: Profile) -> None:
    assert failing(verdicts(profile, TRAPS[trap])) == set()


WRONG: Mapping[str, tuple[Mapping[str, Reading], set[str]]] = {
    "a GPU is off the bus": ({f'pcie/"{GPUS[3]}".device': "0x0000"}, {"gpu.on_bus"}),
    "the driver is not loaded": ({"module/amdgpu.loaded": False}, {"gpu.module"}),
    "a GPU has less memory": ({at(2, "memory.total"): 128.0}, {"gpu.memory", "gpu.memory_alike"}),
    "a GPU is capped": ({at(2, "power.limit"): 600.0}, {"gpu.power_limit", "gpu.power_default"}),
    "a GPU lost lanes": ({f'pcie/"{GPUS[3]}".link.width': 8}, {"gpu.width"}),
    "a slot is of Gen4": ({f'pcie/"{GPUS[3]}".link.max_speed': 16.0}, {"gpu.generation"}),
    "a GPU has another VBIOS": ({at(5, "vbios"): "113-M3000100-103"}, {"gpu.vbios_alike"}),
    "a GPU has another MEC": ({at(5, "firmware/mec.version"): "0x000000a5"}, {"gpu.firmware_alike"}),
    "a GPU has another SMC": ({at(5, "firmware/smc.version"): "0x00557301"}, {"gpu.firmware_alike_power"}),
    "a GPU is divided": (
        {at(5, "partition.compute"): "CPX", at(5, "partition.memory"): "NPS4"},
        {"gpu.undivided", "gpu.divided_alike", "gpu.memory_divided_alike"},
    ),
    "a link is gone": ({at(1, "xgmi.peers"): 6, at(4, "xgmi.peers"): 6}, {"xgmi.peers"}),
    "a GPU is in no hive": ({at(1, "xgmi.hive"): Absent("the driver reports no XGMI group")}, {"xgmi.one_hive"}),
    "a GPU lost data": ({at(1, "ecc.uncorrected"): 1}, {"gpu.no_uncorrected"}),
    "a page waits": ({at(1, "bad_pages.pending"): 1}, {"gpu.no_bad_pages_pending"}),
    "a page could not be retired": ({at(1, "bad_pages.failed"): 1}, {"gpu.no_bad_pages_failed"}),
    "the IOMMU translates for a GPU": ({f'pcie/"{GPUS[3]}".iommu.type': "DMA"}, {"iommu.passthrough"}),
    "the IOMMU translates for a NIC": ({f'pcie/"{NICS[3]}".iommu.type': "DMA-FQ"}, {"iommu.passthrough"}),
    "a GPU has broken data": ({at(1, "ecc.deferred"): 1}, {"gpu.no_deferred"}),
    "a block lost data": ({at(1, "ecc.block/umc.uncorrected"): 1}, {"gpu.blocks_sound"}),
    "NUMA balancing is on": ({"sysctl.kernel.numa_balancing": 1}, {"numa.balancing_off"}),
    "shared memory is small": ({'mount/"/dev/shm".size': 0.0625}, {"mount.shared_memory"}),
    "a job left memory": ({at(6, "memory.used"): 120.0}, {"gpu.memory_free"}),
    "a NIC lost lanes": ({f'pcie/"{NICS[3]}".link.width': 8}, {"nic.lanes"}),
    "a NIC is at Gen4": ({f'pcie/"{NICS[3]}".link.speed': 16.0}, {"nic.speed"}),
}


@pytest.mark.parametrize("what", WRONG)
def test_each_fault_is_reported_by_its_rule(what: str, profile: Profile) -> None:
    changes, source = WRONG[what]
    assert failing(verdicts(profile, changes)) == source


def test_a_gpu_that_no_driver_runs_is_missing_and_not_judged_alike(profile: Profile) -> None:
    gone = Unknown(Reason.NOT_READY, "not bound to amdgpu")
    lost: dict[str, Reading] = {at(7, leaf): gone for leaf in GPU if leaf != "driver"}
    found = verdicts(profile, {**lost, at(7, "driver"): Absent("not bound to amdgpu")})
    assert found["gpu.count"].reason.startswith("count of gpu.amd")
    assert failing(found) == {"gpu.count"}
    assert found["gpu.memory"].status is Status.UNKNOWN


def test_default_partitions_are_known_from_memory_and_only_warn(profile: Profile) -> None:
    (rule,) = (r for r in profile.own if r.id == "gpu.undivided")
    assert rule.from_memory
    divided = {at(n, "partition.compute"): "CPX" for n in range(8)}
    assert verdicts(profile, divided)["gpu.undivided"].status is Status.WARN
