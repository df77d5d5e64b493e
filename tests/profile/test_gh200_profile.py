"""The profile gh200: a healthy server of four modules passes it, and each fault is found by its rule."""

from collections.abc import Mapping

import pytest

from rackcheck.evaluate.verdict import judge
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Reading
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library

HOST: Mapping[str, Reading] = {
    "cpu.hypervisor": Absent("bare metal"),
    "cpu.sockets": 4,
    "cpu.cores": 288,
    "cpu.threads": 288,
    "kernel.release": "6.8.0-1030-nvidia-64k",
    "memory.page_size": 64.0,
    "cmdline.argument": (),
    "log.xid": (),
    "nic": (),
    "pcie": tuple(f"000{n}:01:00.0" for n in range(4)),
    **{f'pcie/"000{n}:01:00.0".device': "0x2342" for n in range(4)},
    **{f'pcie/"000{n}:01:00.0".class': "0x030200" for n in range(4)},
    **{f'pcie/"000{n}:01:00.0".iommu.type': "identity" for n in range(4)},
    "gpu": tuple("0123"),
    **{f"gpu/{n}.name": "NVIDIA GH200 120GB" for n in range(4)},
    **{f"gpu/{n}.vbios": "96.00.84.00.01" for n in range(4)},
    **{f"gpu/{n}.addressing": "ATS" for n in range(4)},
    **{f"gpu/{n}.power.module.default": 680.0 for n in range(4)},
    **{f"gpu/{n}.power.module.limit": 680.0 for n in range(4)},
}
"""Facts of a server of four modules, written by hand: none was recorded."""


@pytest.fixture(scope="module")
def profile() -> Profile:
    return library.load("gh200", registry().catalogue, {"gpus": "4"})


def tree(values: Mapping[str, Reading]) -> Tree:
    known = registry().catalogue
    leaves: dict[str, Leaf] = {}
    for path, reading in values.items():
        entry = known.find(parse(path))
        assert entry is not None, path
        leaves[path] = Leaf(reading, entry.kind, entry.plane, "by hand")
    return Tree(leaves)


def verdicts(profile: Profile, changes: Mapping[str, Reading] | None = None) -> dict[str, Verdict]:
    """Verdicts of the rules in the profile's own file, and in grace-gpu, on a host with some facts changed."""
    own = [r for r in profile.own if ("gh200" in r.place or "grace-gpu" in r.place) and r.across is None]
    return {v.rule: v for v in judge(own, tree({**HOST, **(changes or {})}))}


def failing(found: Mapping[str, Verdict]) -> set[str]:
    return {rule for rule, verdict in found.items() if verdict.status in {Status.FAIL, Status.WARN}}


def test_four_modules_in_order_pass(profile: Profile) -> None:
    found = verdicts(profile)
    assert {i: v.reason for i, v in found.items() if v.status not in {Status.PASS, Status.NA}} == {}
    assert sum(v.status is Status.PASS for v in found.values()) >= 10


WRONG: Mapping[str, tuple[Mapping[str, Reading], set[str]]] = {
    "it is another machine": ({f'pcie/"000{n}:01:00.0".device': "0x2330" for n in range(4)}, {"gpu.kind"}),
    "modules are of two kinds": ({"gpu/3.name": "NVIDIA GH200 144G HBM3e"}, {"gpu.alike"}),
    "a Grace did not start": ({"cpu.sockets": 3}, {"cpu.one_per_gpu"}),
    "GPUs copy the slow way": ({"gpu/2.addressing": "None"}, {"gpu.coherent"}),
    "a module is capped": ({"gpu/2.power.module.limit": 500.0}, {"gpu.module_power"}),
    "the kernel has small pages": ({"kernel.release": "6.8.0-1030-nvidia"}, {"kernel.flavour"}),
    "NVLink-C2C had errors": ({"log.xid": ("0008:01:00.0",), 'log.xid/"0008:01:00.0".codes': ("121",)}, {"log.no_c2c_xid"}),
    "the SMMU translates": ({'pcie/"0001:01:00.0".iommu.type': "DMA-FQ"}, {"iommu.passthrough"}),
    "a VBIOS is another": ({"gpu/1.vbios": "96.00.84.00.02"}, {"gpu.vbios_alike"}),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_each_fault_is_reported_by_its_rule(what: str, profile: Profile) -> None:
    changes, source = WRONG[what]
    assert failing(verdicts(profile, changes)) == source


def test_a_gpu_that_is_missing_is_counted(profile: Profile) -> None:
    three = {path: reading for path, reading in HOST.items() if not path.startswith("gpu/3.")}
    (rule,) = (r for r in profile.own if r.id == "gpu.count")
    (found,) = judge([rule], tree({**three, "gpu": tuple("012")}))
    assert (found.status, found.reason) == (Status.FAIL, "count of gpu is 3, must be 4")


def test_the_number_of_modules_of_a_server_is_a_site_value() -> None:
    unset = library.load("gh200", registry().catalogue)
    found = {v.rule: v for v in judge([r for r in unset.own if r.id in {"gpu.count", "cpu.one_per_gpu"}], Tree({}))}
    assert {v.reason for v in found.values()} == {"site value not set: gpus"}
