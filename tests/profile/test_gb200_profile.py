"""The profile gb200-nvl72 on recorded trays: only what the recordings show fails, and what x86 rules would wrongly fail
passes; each fault in a tray is found by its rule."""

import re
from collections.abc import Mapping

import pytest
from judged_racks import judged
from nvl72 import Leaves, absent, altered, rack, tray
from recordings import shared_text
from trees import DELTA, GB200, NVSWITCH, tree_leaves

from rackcheck.evaluate.verdict import judge
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Reading
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile, Severity
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library

NOT_COLLECTED = re.compile(r"no collected source reports it|nvidia-smi -q -x does not report it")

HOST: Mapping[str, Reading] = {
    "os.init": "systemd",
    "cpu.sockets": 2,
    "cpu.cores": 144,
    "cpu.threads": 144,
    "numa.nodes": 34,
    "kernel.release": "6.8.0-1030-nvidia-64k",
    "memory.page_size": 64.0,
    "cmdline.argument": ("iommu.passthrough", "init_on_alloc"),
    'cmdline.argument/"iommu.passthrough".value': "1",
    "cmdline.argument/init_on_alloc.value": "0",
    "cpu.hypervisor": Absent("bare metal"),
    "driver.daemons": ("nv-hostengine", "nvidia-imex"),
    "driver.imex.installed": "580.173.02",
    "driver.imex.state": "READY",
    "driver.imex.domain.state": "UP",
    "driver.imex.nodes": 18,
    "service": ("nvidia-imex",),
    "service/nvidia-imex.active": "active",
    "log.xid": (),
    **{f"gpu/{gpu}.nvlinks_active": 18 for gpu in range(4)},
    **{f"gpu/{gpu}.nvlink": tuple(map(str, range(18))) for gpu in range(4)},
    **{f"gpu/{gpu}.nvlink/{link}.speed": 53.125 for gpu in range(4) for link in range(18)},
    **{f"gpu/{gpu}.nvlink/{link}.state": "active" for gpu in range(4) for link in range(18)},
    "pcie": tuple(f"000{n}:01:00.0" for n in range(8)),
    **{f'pcie/"000{n}:01:00.0".device': "0x2941" if n < 4 else "0x1021" for n in range(8)},
    **{f'pcie/"000{n}:01:00.0".class': "0x030200" if n < 4 else "0x020700" for n in range(8)},
    **{f'pcie/"000{n}:01:00.0".iommu.type': "identity" for n in range(8)},
    "nic": tuple(f"mlx5_{n}" for n in range(4)),
    **{f"nic/mlx5_{n}.port": ("1",) for n in range(4)},
    **{f"nic/mlx5_{n}.port/1.rate": 400.0 for n in range(4)},
    **{f"nic/mlx5_{n}.port/1.physical": "LinkUp" for n in range(4)},
    **{f"nic/mlx5_{n}.port/1.state": "ACTIVE" for n in range(4)},
}
"""Facts from the operating system of a healthy tray, without its GPUs, written by hand."""

OURS = re.compile(r"(gb200-nvl72|grace-gpu)\.yaml:")


@pytest.fixture(scope="module")
def profile() -> Profile:
    return library.load("gb200-nvl72", registry().catalogue)


def leaf(path: str, reading: Reading) -> Leaf:
    entry = registry().catalogue.find(parse(path))
    assert entry is not None, path
    return Leaf(reading, entry.kind, entry.plane, "by hand")


def host(**changes: Reading) -> Leaves:
    """A healthy tray, and its host."""
    return {**tray(), **{path: leaf(path, reading) for path, reading in {**HOST, **changes}.items()}}


def verdicts(profile: Profile, leaves: Leaves, role: str = "compute") -> dict[str, Verdict]:
    """The verdicts of all rules of a role that judge a node by itself, read once."""
    rules = [r for r in profile.own if role in r.roles and r.across is None and not r.twice and r.scope.value == "node"]
    return {v.rule: v for v in judge(rules, Tree(leaves))}


def failing(found: Mapping[str, Verdict]) -> set[str]:
    return {rule for rule, verdict in found.items() if verdict.status in {Status.FAIL, Status.WARN}}


# ---- recorded trays --------------------------------------------------------------------------------------------------


def test_the_recorded_tray_fails_for_its_leak_its_one_vbios_its_shell_and_what_its_bmc_calls_critical_alone(
    profile: Profile,
) -> None:
    found = verdicts(profile, {**tray(), **tree_leaves(GB200)})
    leak = {"leak.none", "leak.none_reported", "leak.detectors_healthy"}
    critical = {"bmc.chassis_sound", "bmc.managers_sound", "bmc.nothing_critical", "bmc.nothing_unhealthy"}
    critical |= {"bmc.processors_healthy"}  # the board reports a condition of both Grace CPUs: EC_STRAP_MISMATCH
    assert failing(found) == {"bmc.gpu_firmware_alike", "bios.no_uefi_shell"} | leak | critical
    parts = {e.item.split(".health")[0] for rule in critical for e in found[rule].evidence if e.status is Status.FAIL}
    assert {"bmc.chassis/HGX_CPU_0", "bmc.chassis/HGX_CPU_1", "bmc.manager/HGX_BMC_0", "bmc.cpu/CPU_0"} <= parts
    minor = {rule.id for rule in profile.own if rule.unknown_is_minor}
    assert found["leak.none"].reason == "leak/Chassis_0_LeakDetector_1_ColdPlate.state is Critical, must be OK"
    for rule, verdict in found.items():
        if verdict.status is Status.UNKNOWN and rule not in minor and verdict.reason != "blocked by planes.gpus":
            assert NOT_COLLECTED.search(verdict.reason), (rule, verdict.reason)
        elif verdict.status is Status.NA:
            listed = r"site value not set|no (gpu|psu|fan|bmc\.drive|bmc\.cxl_memory|psu\.redundancy) whose"
            assert re.match(listed, verdict.reason), (rule, verdict.reason)


@pytest.mark.parametrize(("role", "recorded"), [("nvswitch-tray", NVSWITCH), ("power-shelf", DELTA)])
def test_the_recorded_switch_tray_and_shelf_pass_all_that_needs_no_site_value(
    role: str, recorded: str, profile: Profile
) -> None:
    found = verdicts(profile, tree_leaves(recorded), role)
    assert len(found) >= 4
    assert {v.status for v in found.values()} == {Status.PASS, Status.NA}
    assert all("site value not set" in v.reason for v in found.values() if v.status is Status.NA)


def test_the_recorded_bus_has_what_the_rules_count(profile: Profile) -> None:
    bus = shared_text("pcie/lspci-gb200.txt").splitlines()
    assert sum("3D controller: NVIDIA Corporation Device 2941" in line for line in bus) == 4
    assert (
        sum(line.endswith("Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]") for line in bus)
        == 4
    )
    assert {line[:12] for line in bus if "Device 2941" in line} == {
        "0008:01:00.0", "0009:01:00.0", "0018:01:00.0", "0019:01:00.0"
    }  # fmt: skip


def test_a_rack_in_order_is_alike_tray_by_tray(profile: Profile) -> None:
    found = judged(profile, rack())
    for name, verdicts in found.items():
        for rule in ("firmware.alike", "switch.firmware_alike"):
            assert rule not in verdicts or verdicts[rule].status is Status.PASS, (name, verdicts[rule].reason)
    assert "switch.firmware_alike" in found["a01-switch01"]
    assert "firmware.alike" in found["a01-tray01"]


def test_the_tray_whose_firmware_is_another_is_named_and_no_other_one(profile: Profile) -> None:
    nodes = {
        node: altered(held, "firmware.cpu/HGX_FW_CPU_1", "02.03.12") if node.name == "a01-tray07" else held
        for node, held in rack().items()
    }
    found = judged(profile, nodes)
    odd = {name for name, verdicts in found.items() if failing(verdicts) & {"firmware.alike"}}
    assert odd == {"a01-tray07"}
    assert (
        "firmware.cpu/HGX_FW_CPU_1 is 02.03.12, must be 02.03.13 as on 17 of 18"
        in found["a01-tray07"]["firmware.alike"].reason
    )


# ---- a healthy tray, and what x86 rules would find on it -------------------------------------------------------------


def test_a_tray_in_order_passes_every_rule_of_its_own(profile: Profile) -> None:
    found = verdicts(profile, host())
    ours = {r.id for r in profile.own if OURS.search(r.place) and r.id in found}
    wrong = {r: found[r].reason for r in ours if found[r].status not in {Status.PASS, Status.NA}}
    assert wrong == {}
    assert sum(found[r].status is Status.PASS for r in ours) >= 35


TRAPS: Mapping[str, Mapping[str, Reading]] = {
    "no Fabric Manager is installed": {"driver.fabric.installed": Absent("none")},
    "its links may sleep": {"bios.pcie_aspm": "enabled"},
    "ACS is on": {"bios.acs": "enabled"},
    "ten-bit tags are off": {"bios.ten_bit_tag": "disabled"},
    "an idle GPU's link is at Gen1": {"gpu/0.link.generation": 1},
    "a GPU is held by its software power cap": {"gpu/0.clock.event_reasons": ("sw power cap",)},
    "the driver does not report the fabric's health": {
        f"gpu/{n}.fabric.health.{leaf}": Absent("the fabric does not report it")
        for n in range(4)
        for leaf in ("degraded_bandwidth", "route_unhealthy", "route_recovery", "access_timeout_recovery", "summary")
    },
    "eight NICs are fitted": {f'pcie/"100{n}:01:00.0".device': "0x1021" for n in range(4)},
    "the scheduler's IMEX has no file": {"driver.imex.nodes": Absent("no /etc/nvidia-imex/nodes_config.cfg")},
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_is_right_on_grace_fails_nothing(trap: str, profile: Profile) -> None:
    before, after = verdicts(profile, host()), verdicts(profile, host(**TRAPS[trap]))
    assert failing(after) <= failing(before)


WRONG: Mapping[str, tuple[dict[str, Reading], set[str]]] = {
    "IMEX does not run": ({"service/nvidia-imex.active": "inactive"}, {"imex.active"}),
    "IMEX is of another version": ({"driver.imex.installed": "570.86.15"}, {"imex.version"}),
    "the IMEX domain is degraded": ({"driver.imex.domain.state": "DEGRADED"}, {"imex.domain_up"}),
    "the IMEX file lacks a tray": ({"driver.imex.nodes": 17}, {"imex.domain_whole"}),
    "a Fabric Manager runs here": ({"driver.daemons": ("nv-fabricmanager",)}, {"fabric.manager_elsewhere"}),
    "a GPU has not joined": ({"gpu/2.fabric.state": "in progress"}, {"fabric.joined"}),
    "a GPU is of another clique": ({"gpu/2.fabric.clique": 3}, {"fabric.one_domain"}),
    "a GPU's bandwidth is degraded": ({"gpu/2.fabric.health.degraded_bandwidth": True}, {"fabric.healthy"}),
    "an NVLink is down": ({"gpu/1.nvlinks_active": 17}, {"nvlink.count"}),
    "an NVLink is slow": ({"gpu/1.nvlink/5.speed": 26.5}, {"nvlink.speed"}),
    "a GPU is off the bus": ({'pcie/"0002:01:00.0".device': "0x22b1"}, {"gpu.on_bus"}),
    "a GPU is capped": (
        {"gpu/3.power.limit": 1000.0, "gpu/3.power.enforced": 1000.0},
        {"gpu.power_limit", "gpu.power_default"},
    ),
    "a module is capped": ({"gpu/3.power.module.limit": 2000.0}, {"gpu.module_power"}),
    "a NIC's port is slow": ({"nic/mlx5_3.port/1.rate": 200.0}, {"nic.rate"}),
    "a NIC is off the bus": ({'pcie/"0007:01:00.0".device': "0x22b1"}, {"nic.on_bus"}),
    "cores are off": ({"cpu.cores": 143, "cpu.threads": 143}, {"cpu.cores"}),
    "pages are small": ({"memory.page_size": 4.0}, {"kernel.page_size"}),
    "a detector reports a leak": (
        {"leak/Chassis_0_LeakDetector_0_Manifold.state": "Warning"},
        {"leak.none", "leak.none_reported"},
    ),
    "a detector is missing": (
        {"leak/Chassis_0_LeakDetector_0_Manifold.fitted": "Absent"},
        {"leak.detectors"},
    ),
    "one Grace has another sustained power": (
        {"bmc.power.control/ProcessorModule_1_CPU_0_TDPPowerVolatile_0.set_point": 250.0},
        {"cpu.tdp_alike"},
    ),
    "NVLink-C2C had errors": (
        {"log.xid": ("0008:01:00.0",), 'log.xid/"0008:01:00.0".codes': ("121",)},
        {"log.no_c2c_xid"},
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_each_fault_of_a_tray_is_reported_by_its_rule(what: str, profile: Profile) -> None:
    changes, source = WRONG[what]
    before, after = verdicts(profile, host()), verdicts(profile, host(**changes))
    assert failing(after) - failing(before) - {"log.no_xid"} == source


def test_an_imex_that_the_node_does_not_have_fails(profile: Profile) -> None:
    none = {p: held for p, held in host(service=()).items() if not p.startswith("service/")}
    assert verdicts(profile, none)["imex.active"].status is Status.FAIL


def test_a_leak_detector_without_a_reading_is_no_pass(profile: Profile) -> None:
    mute = absent(host(), "leak/Chassis_0_LeakDetector_0_Manifold.state")
    assert verdicts(profile, mute)["leak.none"].status is Status.FAIL


# ---- the profile itself ----------------------------------------------------------------------------------------------


def test_what_captured_machines_alone_show_fails_no_tray(profile: Profile) -> None:
    captures = {"gb200.capture", "gb200-switch.capture"}
    # A rule that parts of one tray are alike, or that a part exists, needs no figure.
    figures = [
        r for r in profile.own if r.refs and set(r.refs) <= captures and not _alike(r.clauses) and r.across is None
    ]
    assert figures
    assert {r.id for r in figures if r.severity not in {Severity.MINOR, Severity.ADVISORY}} <= {"bios.active_cores"}


def _alike(clauses: tuple[object, ...]) -> bool:
    return all("equal" in str(clause) for clause in clauses)
