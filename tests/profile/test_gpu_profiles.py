"""The profiles of machines with eight NVIDIA GPUs on x86, and the fragments they share: what is normal on these machines
is no finding, every figure is in the base of facts, and recorded machines fail only what their recordings show."""

import re
from collections.abc import Mapping
from functools import cache

import pytest
from gpu_driver import SMI
from h100_nodes import AUDIT, NO_ERROR, node, of_gpus, row
from recordings import shared, shared_text
from trees import DGX, LENOVO, SUPERMICRO, resource, tree_leaves

from rackcheck.evaluate.verdict import in_scope, judge
from rackcheck.model import path as paths
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.operator import Within
from rackcheck.model.profile import Phase, Profile, Rule, Severity
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry
from rackcheck.profile import library

OEM = ("h100-hgx", "h200-hgx")
MACHINES = ("a100-dgx", "h100-dgx", "h200-dgx", "b200-dgx", *OEM)
NEW = tuple(name for name in MACHINES if name != "h100-dgx")
BOARDS = ("hgx-8gpu", "hgx-hopper", "hgx-h100", "hgx-h200", "hgx-links", "hgx-bmc", "hgx-oem", "dgx-8gpu")
FABRICS = ("rdma-nic", "infiniband", "roce")
OURS = (*MACHINES, *BOARDS, "nvidia-gpu", *FABRICS)
GB = 1e9 / 2**30
CATALOGUE = registry().catalogue


@cache
def profile(name: str) -> Profile:
    return library.load(name, CATALOGUE)


@cache
def rules(name: str) -> Mapping[str, Rule]:
    return {rule.id: rule for rule in profile(name).own}


def judged(name: str, facts: Mapping[str, Reading], *ids: str) -> dict[str, Status]:
    """Verdicts of some rules of a profile on a node with only these known facts."""
    return {v.rule: v.status for v in judge([rules(name)[i] for i in ids], node(facts))}


def facts_of(name: str) -> set[str]:
    """Every fact that a profile's rules check."""
    return {str(fact) for rule in profile(name).own for fact in rule.facts()}


def operands(name: str) -> list[object]:
    return [test.operand for rule in profile(name).own for clause in rule.parts() for test in clause.tests]


# ---- what stands where -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_adds_many_rules_to_any_gpu_node_each_with_a_reason_and_a_fix(name: str) -> None:
    own = [rule for i, rule in rules(name).items() if i not in rules("linux-gpu-node")]
    assert len(own) >= 40
    assert [r.id for r in own if not (r.title and r.why.endswith(".") and len(r.fix) > 10)] == []


@pytest.mark.parametrize("name", OURS)
def test_every_figure_has_a_source_or_is_the_sites_own(name: str) -> None:
    assert [r.id for r in profile(name).own if not (r.refs or r.unset)] == []


@pytest.mark.parametrize("name", OURS)
def test_what_rests_on_memory_or_on_our_own_choice_is_an_advice(name: str) -> None:
    own = [r for i, r in rules(name).items() if i not in {**rules("linux-gpu-node"), **rules("nodes-alike")}]
    assert [r.id for r in own if r.from_memory and r.severity is not Severity.ADVISORY] == []


def test_what_several_machines_share_is_written_once() -> None:
    shared = {
        "gpu.count": MACHINES,
        "fabric.manager": MACHINES,
        "bios.none_pending": (*MACHINES, "xeon-performance"),
        "gpu.clock": ("h100-dgx", "h200-dgx", *OEM),
        "nvswitch.count": ("h100-dgx", "h200-dgx", *OEM),
        "gpu.on_bus": ("h100-dgx", "h100-hgx"),
        "gpu.memory_clock": ("h200-dgx", "h200-hgx"),
        "nic.on_bus": ("h100-dgx", "h200-dgx", "b200-dgx"),
        "firmware.roots_alike": NEW,
        "nvlink.count": NEW,
        "gpu.rows_remapped": (*NEW, "gb200-nvl72", "gh200"),
        "nic.ber": FABRICS,
    }
    assert {
        i: {rules(n)[i].place for n in names}
        for i, names in shared.items()
        if len({rules(n)[i].place for n in names}) > 1
    } == {}


SINCE_ALWAYS = frozenset({
    "gpu.count", "gpu.on_bus", "gpu.model", "gpu.memory", "gpu.power_limit", "gpu.power_max", "gpu.clock",
    "gpu.width", "gpu.generation", "gpu.generation_under_load", "gpu.vbios", "nvswitch.count", "fabric.manager",
    "fabric.manager_at_boot", "fabric.manager_version", "nic.on_bus", "nic.count", "nic.rate", "nic.active",
    "nic.lanes", "nic.firmware_alike", "nic.firmware", "nic.modules", "cpu.model", "cpu.sockets", "cpu.cores",
    "cpu.smt", "numa.two", "memory.all", "memory.balanced", "nvme.on_bus", "driver.version", "driver.not_old",
    "firmware.bios", "firmware.bmc", "firmware.gpus_alike", "firmware.inforoms_alike", "firmware.nvswitches_alike",
    "firmware.retimers_alike", "firmware.roots_alike", "bios.none_pending", "bios.smt", "bios.virtualization",
    "bios.sr_iov", "bios.turbo", "bios.c_states", "bios.secure_boot", "bmc.systems", "bmc.power_on",
    "bmc.system_healthy", "bmc.healthy", "bmc.clock", "psu.count", "psu.firmware_alike", "fan.enabled", "fan.healthy",
    "fan.turning",
})  # fmt: skip
"""Rules that were specific to the DGX H100 before other machines shared some of them."""


def test_a_dgx_h100_holds_what_it_held_before_it_shared_any_of_it() -> None:
    assert SINCE_ALWAYS - set(rules("h100-dgx")) == set()
    assert profile("h100-dgx").lineage[-2].startswith("linux-gpu-node@")


@pytest.mark.parametrize("fabric", ["infiniband", "roce"])
@pytest.mark.parametrize("name", MACHINES)
def test_a_site_may_lay_its_fabric_over_any_machine(
    name: str, fabric: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("site") / "ours.yaml"
    file.write_text(
        f"rackcheck: 1\nprofile: ours\nversion: 1\ntitle: Ours\nextends: {name}@2026.11\ninclude: [{fabric}]\n"
    )
    both = library.load(str(file), CATALOGUE)
    assert {rule.id for rule in both.own} == set(rules(name)) | set(rules(fabric))
    added = set(rules(fabric)) - set(rules(name))
    assert len(added) >= 2
    assert {i for i in added if i.startswith("links.") or i == "nic.ber"} == set()


# ---- figures ---------------------------------------------------------------------------------------------------------

TABLES = {"SYS": "systems", "GPU": "gpu_state", "NET": "network", "SWF": "software_firmware"}


@pytest.mark.parametrize(
    ("name", "rule_id", "wanted", "fact", "figure"),
    [
        ("h100-hgx", "gpu.on_bus", "0x2330", "SYS-003", "10de:2330"),
        ("h100-hgx", "gpu.model", "NVIDIA H100 80GB HBM3", "SYS-002", "NVIDIA H100 80GB HBM3"),
        ("h100-hgx", "gpu.memory_clock", 2619.0, "GPU-007", "H100 2619"),
        ("h100-hgx", "nvlink.count", 18, "GPU-024", "H100/H200/B200/B300/GB200/GB300 18"),
        ("h100-hgx", "nvlink.speed", 26.562, "GPU-026", "H100 26562"),
        ("h100-hgx", "nvswitch.count", 4, "SYS-016", "4 count"),
        ("h200-dgx", "gpu.on_bus", "0x2335", "SYS-040", "10de:2335"),
        ("h200-dgx", "gpu.model", "NVIDIA H200", "SYS-041", "NVIDIA H200"),
        ("h200-dgx", "gpu.memory", Within(143771 / 1024, 1.0, share=True), "SYS-044", "141 GB"),
        ("h200-dgx", "gpu.power_limit", 700.0, "SYS-045", "700 W"),
        ("h200-dgx", "gpu.clock", 1980.0, "GPU-006", "H100/H200 1980"),
        ("h200-dgx", "gpu.memory_clock", 3201.0, "GPU-007", "H200 3201"),
        ("h200-dgx", "driver.not_old", "570.86.15", "SWF-009", "H200 570.86.15"),
        ("b200-dgx", "gpu.on_bus", "0x2901", "SYS-063", "10de:2901"),
        ("b200-dgx", "gpu.memory", 180 * GB, "SYS-064", "180 GB each"),
        ("b200-dgx", "gpu.power_max", 1000.0, "GPU-005", "B200 1000"),
        ("b200-dgx", "gpu.clock", 1965.0, "GPU-006", "B200 1965"),
        ("b200-dgx", "gpu.memory_clock", 3996.0, "GPU-007", "B200 3996"),
        ("b200-dgx", "nvlink.speed", 50.0, "SYS-066", ">= 50 GB/s"),
        ("b200-dgx", "driver.not_old", "570.133.20", "SWF-009", "B200 570.133.20"),
        ("b200-dgx", "cpu.model", "*8570*", "SYS-067", "Xeon 8570"),
        ("b200-dgx", "cpu.cores", 2 * 56, "SYS-067", "56 cores"),
        ("b200-dgx", "nic.rate", 400.0, "SYS-070", "400 Gb/s"),
        ("b200-dgx", "memory.all", Within(4096.0, 3.0, share=True), "SYS-068", "upgradable to 4 TB"),
        ("b200-dgx", "nvme.on_bus", 2 + 8, "SYS-072", "8 x 3.84 TB"),
        ("b200-dgx", "psu.count", 6, "SYS-069", "6 x 3300 W"),
        ("a100-dgx", "gpu.on_bus", ("0x20b0", "0x20b2"), "SYS-116", "10de:20b2 (80GB)"),
        ("a100-dgx", "nvswitch.count", 6, "SYS-117", "6, 10de:1af1"),
        ("a100-dgx", "nvlink.count", 12, "SYS-118", "12 at"),
        ("a100-dgx", "nvlink.speed", 25.0, "SYS-118", ">= 25 GB/s"),
        ("a100-dgx", "gpu.power_limit", 400.0, "SYS-126", "400"),
        ("a100-dgx", "gpu.clock", 1410.0, "GPU-006", "A100 1410"),
        ("a100-dgx", "gpu.memory_clock", (1215.0, 1593.0), "GPU-007", "A100 80GB 1593, A100 40GB 1215"),
        ("a100-dgx", "gpu.generation", 4, "GPU-015", "4 on A100"),
        ("a100-dgx", "cpu.cores", 128, "SYS-119", "128 cores"),
        ("a100-dgx", "numa.eight", 8, "SYS-121", "8 (NPS4)"),
        ("a100-dgx", "nic.rate", 200.0, "NET-003", "A100 8 x 200"),
        ("a100-dgx", "nvme.on_bus", 10, "SYS-123", "10"),
        ("a100-dgx", "driver.not_old", "535.129.03", "SWF-009", "A100, H100 535.129.03"),
        ("a100-dgx", "nic.firmware_not_old", "20.31.1014", "SWF-048", "20.31.1014"),
        ("nvidia-gpu", "gpu.rows_remapped", 512, "GPU-039", "512 fails"),
        ("gpu-health", "gpu.sram_uncorrected", 4, "GPU-042", "4 tolerated"),
        ("nvidia-gpu", "gpu.margin", 5.0, "GPU-050", "5 to 10 alert"),
        ("nvidia-gpu", "gpu.memory_temperature", 95.0, "GPU-051", "95"),
        ("nvidia-gpu", "nvlink.ber", -12, "GPU-030", "1/12 passes"),
        ("rdma-nic", "nic.ber", 1e-10, "NET-018", "1e-12"),
        ("rdma-nic", "nic.ber", 1e-13, "NET-019", "1e-15"),
        ("rdma-nic", "nic.read_request", 4096.0, "NET-025", "4096"),
        ("rdma-nic", "nic.outstanding_reads", ("0", "44", "128"), "NET-028", "0, 44 or 128"),
        ("rdma-nic", "nic.few_receive_errors", 100, "NET-013", "100"),
        ("rdma-nic", "nic.few_discards", 1000, "NET-014", "1000"),
        ("rdma-nic", "nic.module_temperature", 75.0, "NET-045", "75 critical"),
        ("infiniband", "ib.few_carrier_losses", 5, "NET-016", "5 IPoIB warn"),
        ("roce", "roce.few_carrier_losses", 3, "NET-016", "3 Ethernet warn"),
        ("roce", "roce.notifications", 48, "NET-035", "48 and 6"),
        ("rdma-nic", "nic.raw_ber", 1e-3, "NET-021", "raw 1e-5"),
    ],
)  # fmt: skip
def test_a_figure_stands_in_the_base_of_facts(name: str, rule_id: str, wanted: object, fact: str, figure: str) -> None:
    found = row(f"{TABLES[fact.partition('-')[0]]}.csv", "id", fact)
    one = rules(name)[rule_id]
    have = [t.operand for clause in one.parts() for t in clause.tests]
    assert wanted in have or (isinstance(wanted, float) and pytest.approx(wanted) in have), have
    assert figure in f"{found['expected']} {found['unit']}"
    assert "memory" not in found["confidence"]
    assert found["confidence"] != "read in secondary source" or not one.severity.decides


# ---- what is normal is no finding ------------------------------------------------------------------------------------


SPEED_OF_DIMMS = r"dimm.*speed|\.speeds$"


@pytest.mark.parametrize("name", MACHINES)
def test_no_machine_requires_the_rated_speed_of_dimms_as_two_on_a_channel_run_slower(name: str) -> None:
    recorded = {"h100-dgx": ["bmc.dimm/*.speed.configured"]}  # whose 32 modules run at 4400 MT/s
    assert [fact for fact in facts_of(name) if re.search(SPEED_OF_DIMMS, fact)] == recorded.get(name, [])
    assert [p for p in map(str, CATALOGUE.entries) if re.search(SPEED_OF_DIMMS, p)] == [
        "bmc.dimm/*.speed.configured", "bmc.dimm/*.speed.rated", "dimm/*.speed.rated", "dimm/*.speed.configured",
        "memory.modules.speeds",
    ]  # fmt: skip
    assert [value for value in operands(name) if value in (4800.0, 4400.0)] == [4400.0] * (name in recorded)


def bus(gpu: str, switch: str, switches: int) -> dict[str, Reading]:
    """The PCI bus of a healthy machine: NVSwitches on two lanes of sixteen, no port with ACS redirection."""
    facts: dict[str, Reading] = {"cpu.hypervisor": Absent("none")}
    for device, kind, count, width in (
        (gpu, "0x030200", 8, 16),
        (switch, "0x068000", switches, 2),
        ("0x1021", "0x020700", 10, 16),
        ("0xa824", "0x010802", 10, 4),
    ):
        for n in range(count):
            at = f'pcie/"{device[2:]}:{n:02}:00.0"'
            facts |= {f"{at}.device": device, f"{at}.class": kind, f"{at}.link.width": width}
            facts |= {f"{at}.link.max_width": 16 if device == switch else width, f"{at}.acs.redirect": False}
            facts |= {f"{at}.max_read_request": 4096.0, f"{at}.driver": "some"}
            facts |= {f"{at}.{fact}": reading for fact, reading in NO_ERROR.items()}
    return facts


@pytest.mark.parametrize(
    ("name", "gpu", "switch", "switches"),
    [
        ("h100-dgx", "0x2330", "0x22a3", 4),
        ("h100-hgx", "0x2330", "0x22a3", 4),
        ("h200-dgx", "0x2335", "0x22a3", 4),
        ("h200-hgx", "0x2335", "0x22a3", 4),
        ("a100-dgx", "0x20b2", "0x1af1", 6),
        ("b200-dgx", "0x2901", "0x22a3", 0),
    ],
)
def test_an_nvswitch_on_two_lanes_is_no_finding_and_a_gpu_that_is_missing_is(
    name: str, gpu: str, switch: str, switches: int
) -> None:
    chosen = [r.id for r in profile(name).own if r.look and str(r.look.collection) == "pcie"]
    found = judged(name, bus(gpu, switch, switches), *chosen)
    assert {i: s for i, s in found.items() if s not in (Status.PASS, Status.NA)} == {}
    assert {i for i, s in found.items() if s is Status.NA} <= {"nvme.on_bus"}
    facts = bus(gpu, switch, switches)
    facts[f'pcie/"{gpu[2:]}:03:00.0".device'] = "0x0000"
    assert judged(name, facts, "gpu.on_bus") == {"gpu.on_bus": Status.FAIL}


def idle(**more: Reading) -> dict[str, Reading]:
    """Eight healthy, idle GPUs, with these readings of the first one replaced."""
    one: dict[str, Reading] = {
        "name": "NVIDIA H100 80GB HBM3", "memory.total": 81559 / 1024, "link.width": 16, "link.max_width": 16,
        "link.generation": 1, "link.max_generation": 5, "power.limit": 700.0, "power.default": 700.0,
        "power.max": 700.0, "clock.sm_max": 1980.0, "clock.memory_max": 2619.0, "clock.event_reasons": ("gpu idle",),
        "pstate": 8, "path.narrowed": (), "path.slowed_above": (), "nvlinks_active": 18, "peers": 7,
    }  # fmt: skip
    facts = {f"gpu/{n}.{fact}": reading for n in range(8) for fact, reading in one.items()}
    return facts | {f"gpu/0.{fact.replace('__', '.')}": reading for fact, reading in more.items()}


LINK = ("gpu.width", "gpu.generation", "gpu.path_width", "gpu.path_speed")


@pytest.mark.parametrize("name", OEM)
def test_an_idle_gpu_at_gen1_is_no_finding(name: str) -> None:
    assert set(judged(name, idle(), *LINK).values()) == {Status.PASS}
    assert "link.generation" not in {
        str(c.fact) for r in profile(name).own if r.phase is Phase.CONFIG for c in r.clauses
    }


@pytest.mark.parametrize("name", MACHINES)
def test_what_only_shows_under_load_is_judged_under_load(name: str) -> None:
    loaded = {r.id for r in profile(name).own if r.phase is Phase.BURN_IN}
    assert "gpu.generation_under_load" in loaded
    assert name == "h100-dgx" or "gpu.pstate_under_load" in loaded


def test_a_link_with_fewer_lanes_above_a_gpu_is_found() -> None:
    found = judged("h100-hgx", idle(path__narrowed=("0000:17:00.0 > 0000:18:00.0",)), *LINK)
    assert [i for i, s in found.items() if s is Status.FAIL] == ["gpu.path_width"]


POWER = ("gpu.power_default", "gpu.power_max", "gpu.power_full")


def test_a_b200_that_came_with_a_limit_below_its_maximum_only_warns() -> None:
    whole = idle(power__max=1000.0) | {
        f"gpu/{n}.power.{k}": 1000.0 for n in range(8) for k in ("limit", "default", "max")
    }
    assert set(judged("b200-dgx", whole, *POWER).values()) == {Status.PASS}
    below = whole | {f"gpu/{n}.power.{k}": 700.0 for n in range(8) for k in ("limit", "default")}
    assert judged("b200-dgx", below, *POWER) == dict(zip(POWER, (Status.PASS, Status.PASS, Status.WARN), strict=True))
    forgotten = whole | {"gpu/3.power.limit": 700.0}
    assert judged("b200-dgx", forgotten, "gpu.power_default")["gpu.power_default"] is Status.FAIL


@pytest.mark.parametrize("name", MACHINES)
def test_the_software_power_cap_is_no_finding_and_heat_is_one(name: str) -> None:
    for reason, status in (("sw power cap", Status.PASS), ("gpu idle", Status.PASS), ("hw slowdown", Status.FAIL)):
        facts = idle(clock__event_reasons=(reason,))
        assert judged(name, facts, "gpu.not_slowed") == {"gpu.not_slowed": status}


@pytest.mark.parametrize("name", OURS)
def test_no_rule_reads_the_renamed_package_of_the_fabric_manager(name: str) -> None:
    assert [fact for fact in facts_of(name) if fact.startswith("package/") and "fabric" in fact] == []


def test_only_nvlink_5_requires_a_subnet_manager_beside_the_fabric_manager() -> None:
    wanting = [name for name in MACHINES if "package/nvlsm.version" in facts_of(name)]
    assert wanting == ["b200-dgx"]
    there: dict[str, Reading] = {"package/nvlsm.version": "2025.03.1-1"}
    assert judged("b200-dgx", there, "fabric.subnet_manager")["fabric.subnet_manager"] is Status.PASS
    gone: dict[str, Reading] = {"package/other.version": "1"}
    assert judged("b200-dgx", gone, "fabric.subnet_manager")["fabric.subnet_manager"] is Status.FAIL


@pytest.mark.parametrize("name", ["nvidia-gpu", *FABRICS])
def test_fragments_for_grace_need_no_fabric_manager_and_no_setting_grace_needs_otherwise(
    name: str,
) -> None:
    assert [
        fact for fact in facts_of(name) if re.search(r"fabricmanager|fabric_manager|aspm|acs|ATS_ENABLED", fact)
    ] == []


def test_no_error_on_an_nvlink_passes_though_it_is_not_reported_as_0() -> None:
    def found(exponent: Reading) -> Status:
        return judged("nvidia-gpu", {"gpu/0.nvlink/0.effective_ber_exponent": exponent}, "nvlink.ber")["nvlink.ber"]

    source = of_gpus(
        {"driver": {"value": "1.0"}, "gpus": [{"nvlinks": {"value": [{"effective_ber": {"value": 0xFFF}}]}}]}
    )
    none_at_all = source["gpu/0.nvlink/0.effective_ber_exponent"]
    assert source["gpu/0.nvlink/0.effective_ber"] == "15e-255"
    assert [found(e) for e in (none_at_all, -12, -11)] == [Status.PASS, Status.PASS, Status.FAIL]


@pytest.mark.parametrize("fabric", ["infiniband", "roce"])
def test_ports_of_a_connectx_8_that_carry_nothing_are_no_finding(fabric: str) -> None:
    facts: dict[str, Reading] = {}
    for port in range(1, 13):
        up = port % 3 == 0
        at = f"nic/mlx5_0.port/{port}"
        facts |= {f"{at}.state": "ACTIVE" if up else "DOWN", f"{at}.physical": "LinkUp" if up else "Disabled"}
        facts |= {f"{at}.rate": 400.0 if up else 10.0, f"{at}.link_layer": "Ethernet", f"{at}.role": "network"}
        facts |= {f"{at}.roce_v2_ipv4": 3 if up else Absent("no address"), f"{at}.addresses_without_gid": ()}
        facts |= {f"{at}.counter.{c}": 0 for c in ("link_downed", "link_error_recovery", "symbol_error")}
        facts |= {f"{at}.counter.{c}": 0 for c in ("port_rcv_errors", "port_xmit_discards")}
        facts |= {f"{at}.hw_counter": ()}
    looks = [r for r in profile(fabric).own if r.look and str(r.look.collection) == "nic/*.port"]
    active = rules("linux-server")["nic.active"]
    found = judge([*looks, active], node(facts))
    assert {v.rule: v.reason for v in found if v.status not in (Status.PASS, Status.NA)} == {}


def test_a_bit_error_rate_is_reported_in_percent_and_judged_as_a_share() -> None:
    def found(share: float) -> Status:
        facts: dict[str, Reading] = {'nic.adapter/"0000:18:00.0".link.effective_ber': share * 100}
        return judged("rdma-nic", facts, "nic.ber")["nic.ber"]

    assert [found(s) for s in (1.5e-254, 1e-15, 1e-14, 1e-12, 2e-7)] == [
        Status.PASS, Status.PASS, Status.WARN, Status.FAIL, Status.FAIL,
    ]  # fmt: skip


def test_hopper_without_a_reported_fabric_health_is_not_unhealthy() -> None:
    health = ("degraded_bandwidth", "route_recovery", "route_unhealthy", "access_timeout_recovery")
    silent = {f"gpu/0.fabric.health.{part}": Absent("the fabric does not report it") for part in health}
    assert judged("nvidia-gpu", silent, "fabric.healthy") == {"fabric.healthy": Status.PASS}
    slow = silent | {"gpu/0.fabric.health.degraded_bandwidth": True}
    assert judged("nvidia-gpu", slow, "fabric.healthy") == {"fabric.healthy": Status.FAIL}


@pytest.mark.parametrize("name", OEM)
def test_the_number_of_parts_fitted_is_a_site_value(name: str) -> None:
    unset = {i for i, rule in rules(name).items() if rule.unset}
    assert {"nic.rate", "nvme.count", "nvme.on_bus", "memory.all", "psu.count"} <= unset
    assert not {"nic.on_bus", "nic.count", "cpu.model", "cpu.cores", "bmc.systems"} & set(rules(name))


# ---- recorded machines -----------------------------------------------------------------------------------------------


@cache
def derived(tree: str) -> Tree:
    """The facts of a recorded BMC, with those derived from them."""
    leaves = tree_leaves(tree)
    return Tree({**leaves, **derive(registry().joins, Tree(leaves))})


def of_bmc(name: str, tree: str) -> dict[str, Verdict]:
    """Verdicts of the rules about the BMC alone on a recorded one, without those that need the site's own values."""
    chosen = [r for r in profile(name).own if Plane.BMC in r.planes and r.planes <= {Plane.BMC, Plane.DERIVED}]
    return {v.rule: v for v in judge([r for r in chosen if not (r.unset or r.across)], derived(tree))}


NO_LEAKS = {f"leak.{what}": ("unknown", "LeakDetectors") for what in ("detectors_healthy", "none_reported")}
NO_FABRICS = {
    f"bmc.{what}": ("unknown", "this BMC has no Fabrics")
    for what in ("nvswitches_healthy", "nvswitches_in_service", "pcie_switches_sound", "retimers_sound")
}
NULL_HEALTHS = {
    f"bmc.{what}": ("unknown", "Status.Health is null")
    for what in ("sensors_sound", "thermal_sound", "nothing_critical", "nothing_unhealthy")
}
NO_CXL = {f"bmc.cxl_memory_{what}": ("n/a", "no bmc.cxl_memory") for what in ("healthy", "in_service")}
OF_A_DGX = {
    **NO_CXL,
    "bmc.clock": ("warn", "offset"),
    **NULL_HEALTHS,
    **NO_LEAKS,
    # Its BMC reports neither state nor health of a power supply, and two drives without a prediction in no list.
    "psu.healthy": ("n/a", "no psu whose health must be there"),
    "psu.in_service": ("n/a", "no psu whose state must be there"),
    "firmware.components_sound": ("n/a", "no firmware.component whose health must be there"),
    "bmc.drives_healthy": ("unknown", "has no list of Members"),
    "bmc.drives_in_service": ("unknown", "has no list of Members"),
    "bmc.drives_lasting": ("unknown", "FailurePredicted is null or missing"),
}
"""What a recorded BMC does not pass, and why; unknowns about parts that it does not list leave no node incomplete."""


NO_REMAPS = {f"bmc.gpu_remaps_{what}": ("unknown", "links to no memory") for what in ("done", "worked")}


@pytest.mark.parametrize(
    ("name", "tree", "wanted"),
    [
        # Each of these BMCs was recorded months or years ago, with its clock of that day.
        (
            "h100-hgx", SUPERMICRO,
            {
                "bmc.clock": ("warn", "offset"),
                "bmc.gpu_peak_power": ("unknown", "power.peak_share"),
                **NO_CXL,
                **NO_LEAKS,
                **NO_FABRICS,
                **NO_REMAPS,
                "bmc.no_test_mode": ("n/a", "no bmc.system whose test_mode"),
                "bmc.integrity_sound": ("unknown", "this BMC has no ComponentIntegrity"),
                "bmc.tpms_sound": ("unknown", "has no TrustedModules"),
            },
        ),
        ("h100-dgx", DGX, OF_A_DGX),
        ("h100-hgx", DGX, {**OF_A_DGX, "psu.capacity_alike": ("unknown", "capacity")}),
        ("h200-dgx", DGX, OF_A_DGX),
        # This one has eight GPUs on no such board: so there is no list of the board's controller to judge.
        (
            "h200-hgx", LENOVO,
            {
                "bmc.clock": ("warn", "offset"),
                "bmc.gpu_peak_power": ("unknown", "power.peak_share"),
                **NO_CXL,
                **NULL_HEALTHS,
                **NO_LEAKS,
                **NO_FABRICS,
                **NO_REMAPS,
                "bmc.no_test_mode": ("n/a", "no bmc.system whose test_mode"),
                "bmc.integrity_sound": ("unknown", "this BMC has no ComponentIntegrity"),
                "bmc.healthy": ("n/a", "no bmc.manager whose health"),
                "firmware.nvswitches_alike": ("n/a", "no firmware.component"),
                "firmware.retimers_alike": ("n/a", "HGX_FW_PCIeRetimer_0.version is absent"),
                "firmware.roots_alike": ("n/a", "HGX_FW_ERoT_GPU_SXM_1.version is absent"),
            },
        ),
    ],
)  # fmt: skip
def test_what_a_recorded_bmc_does_not_pass_is_what_its_recording_shows(
    name: str, tree: str, wanted: Mapping[str, tuple[str, str]]
) -> None:
    found = {i: v for i, v in of_bmc(name, tree).items() if v.status is not Status.PASS}
    assert {i: v.status.value for i, v in found.items()} == {i: status for i, (status, _) in wanted.items()}
    assert [i for i, (_, says) in wanted.items() if says not in found[i].reason] == []
    unknown = {i for i, v in found.items() if v.status is Status.UNKNOWN} - {"bmc.healthy"}
    assert {i for i in unknown if not rules(name)[i].unknown_is_minor} == set()


@pytest.mark.parametrize("tree", [SUPERMICRO, DGX])
@pytest.mark.parametrize(
    ("path", "other", "rule_id"),
    [
        ("firmware.component/HGX_FW_GPU_SXM_4.version", "96.00.74.00.01", "firmware.gpus_alike"),
        ("firmware.component/HGX_FW_NVSwitch_2.version", "96.10.3A.00.01", "firmware.nvswitches_alike"),
        ("firmware.component/HGX_FW_PCIeRetimer_7.version", "2.7.1", "firmware.retimers_alike"),
        ("firmware.component/HGX_FW_ERoT_GPU_SXM_5.version", "00.02.0000.0000_n00", "firmware.roots_alike"),
    ],
)
def test_a_part_of_other_firmware_is_found_on_boards_of_two_makers(
    tree: str, path: str, other: str, rule_id: str
) -> None:
    leaves = dict(tree_leaves(tree))
    leaf = leaves[path]
    leaves[path] = Leaf(other, leaf.kind, leaf.plane, leaf.source)
    assert judge([rules("h100-hgx")[rule_id]], Tree(leaves))[0].status is Status.FAIL


def test_rules_by_the_names_of_one_maker_are_in_no_profile_for_all_of_them() -> None:
    named = {name: [o for o in operands(name) if isinstance(o, str) and o.startswith("HGX_")] for name in MACHINES}
    assert [name for name, words in named.items() if words] == ["h100-dgx"]


def host(recording: str) -> dict[str, Reading]:
    """What the driver of a recorded host reports through nvidia-smi."""
    return of_gpus(f"{SMI}\n{shared_text(recording)}ended 0")


NO_SUMMARY = ("fabric.healthy_summary", "fabric.configured")
"""Rules on values that a fabric of Hopper or older does not report."""

NOT_REPORTED = "nvidia-smi -q -x does not report it"
NOT_BY_SMI = {"nvlink.count", "nvlink.speed", "nvlink.no_replays", "nvlink.no_crc", "nvlink.ber", "gpu.peers",
              "gpu.inforom_valid", "gpu.gsp_default", "gpu.no_link_error", "gpu.never_slowed",
              "gpu.no_repair_waits"}  # fmt: skip
"""What NVML reports and nvidia-smi -q -x does not; on a node without Python, these are unknown."""


def of_driver(name: str, facts: Mapping[str, Reading]) -> dict[str, Verdict]:
    """Verdicts on a host of the rules that are only about GPUs and their driver."""
    known = {re.sub(r"/[^.]+", "/*", path) for path in facts}
    chosen = [
        r
        for r in profile(name).own
        if in_scope(r, "compute", *AUDIT) and not r.across and r.look and not r.unset
        and {re.sub(r"/[^.]+", "/*", str(f)) for f in r.facts()} <= known
    ]  # fmt: skip
    return {v.rule: v for v in judge(chosen, node(facts))}


@pytest.mark.parametrize("name", ["h100-dgx", "h100-hgx"])
def test_eight_recorded_h100_pass_except_for_values_missing_in_nvidia_smi(name: str) -> None:
    found = of_driver(name, host("nvidia/nvidia-smi-qx-h100.xml"))
    assert len(found) > (15 if name == "h100-dgx" else 30)
    assert {i for i, v in found.items() if v.status is Status.UNKNOWN} <= NOT_BY_SMI
    assert [i for i, v in found.items() if v.status is Status.UNKNOWN and NOT_REPORTED not in v.reason] == []
    assert [i for i, v in found.items() if v.status not in (Status.PASS, Status.UNKNOWN, Status.NA)] == []
    # These GPUs, of the SXM kind, retire no pages: they remap rows.
    assert {i for i, v in found.items() if v.status is Status.NA} <= {"gpu.no_page_waits", *NO_SUMMARY}


def test_a_recorded_a100_passes_except_for_the_gpu_count_and_values_missing_in_nvidia_smi() -> None:
    found = of_driver("a100-dgx", host("nvidia/nvidia-smi-qx-a100.xml"))
    assert {i for i, v in found.items() if v.status is Status.FAIL} == {"gpu.count"}
    assert {i for i, v in found.items() if v.status is Status.UNKNOWN} <= NOT_BY_SMI
    # An A100 reports temperatures, but no margin; and it has no fabric to join.
    assert {i for i, v in found.items() if v.status is Status.NA} == {
        "gpu.no_page_waits",
        "gpu.margin",
        "fabric.joined",
        "fabric.one_domain",
        *NO_SUMMARY,
    }


H100 = "nvidia/nvidia-smi-qx-h100.xml"
LINKS = "nvidia/smi-capture-nvidia-h100-80gb-hbm3-590.48.01/capabilities-nvlink-s.txt"


@cache
def dgx_h100() -> Tree:
    """A DGX H100 from recordings alone: its BMC's tree, eight H100 as nvidia-smi reports them, and their NVLinks.

    The NVLinks were recorded of another H100 of the same name. No recording of ports is of such a machine: those of H100
    servers have NICs that a DGX H100 has not.
    """
    facts = host(H100)
    speeds = [float(speed) for speed in re.findall(r"Link \d+: ([0-9.]+) GB/s", shared_text(LINKS))]
    for gpu in range(8):
        del facts[f"gpu/{gpu}.nvlink"]
        facts[f"gpu/{gpu}.nvlinks_active"] = len(speeds)
        facts |= {f"gpu/{gpu}.nvlink/{n}.speed": speed for n, speed in enumerate(speeds)}
        facts |= {f"gpu/{gpu}.nvlink/{n}.state": "active" for n in range(len(speeds))}
    return Tree({**node(facts).leaves, **tree_leaves(DGX)})


@cache
def of_dgx_h100() -> Mapping[str, Verdict]:
    """What an audit of this one machine judges, and what it finds; it has no siblings."""
    chosen = [r for r in profile("h100-dgx").own if not r.across and in_scope(r, "compute", *AUDIT)]
    return {v.rule: v for v in judge(chosen, dgx_h100())}


WAITING = {
    "lscpu": "cpu.model cpu.sockets cpu.cores numa.balancing_off iommu.passthrough pcie.full_width "
    "pcie.no_redirect nic.ats_off memory.no_corrected memory.few_corrected nic.advanced_settings nic.write_ordering planes.cpu_count "
    "planes.cpu_cores planes.cpu_model log.clock_stable",
    "dmesg": "log.firmware_corrected log.no_pcie_error log.no_pcie_loss log.no_machine_check log.no_memory_error log.no_firmware_error "
    "log.no_overheating log.no_throttling log.no_disk_error log.no_filesystem_error log.no_raid_failure "
    "log.no_nvme_timeout log.no_stall log.no_kernel_fault log.no_nic_failure log.no_tx_timeout log.no_long_outage log.no_lost_lock "
    "log.no_full_table log.no_recovery_due log.no_lost_gpu log.no_lustre_error log.no_fatal_xid log.no_node_xid log.no_xid log.no_fatal_sxid log.no_sxid log.no_oom log.from_boot "
    "log.no_neighbour_lost log.no_disabled_interrupt log.no_iommu_fault log.no_iommu_fault_of_jobs log.no_nvlink_failure "
    "log.no_assertion",
    "systemctl": "fabric.manager fabric.manager_at_boot service.few_restarts limits.slurmd_locked_memory",
    "timedatectl": "time.hardware_clock",
    "scontrol": "slurm.registered",
    "ntpq": "time.ntpd_source",
    "df": "memory.shared",
    "nvidia-ctk": "container.toolkit",
    "RACKCHECK_CLOCK": "time.near",
    "/var/lib/dpkg": "os.no_unattended_upgrade os.driver_packages_whole os.packages_whole",
    "/etc/tuned": "cpu.tuned_profile",
    "/proc/1/comm": "service.none_failed time.synchronized service.dcgm os.started",
    "/proc/driver/nvidia/gpus/*/information": "driver.none_excluded",
    "/proc/driver/nvidia/params": "driver.nvlink_on driver.nvlink_full driver.topology_checked driver.peer_windows",
    "/proc/loadavg": "kernel.threads",
    "/proc/cpuinfo": "cpu.one_microcode",
    "/proc/net/route": "net.router_answers",
    "/etc/cdi": "container.cdi_driver",
    "/proc/meminfo": "memory.none_broken memory.no_swap memory.all memory.huge_pages_few memory.left_for_gpus",
    "/proc/modules": "kernel.no_nouveau gpu.module gpu.module_version gpu.peer_memory nic.modules "
    "limits.locked_memory limits.services_locked_memory",
    "/proc/mounts": "container.cgroup mount.root_writable mount.none_read_only mount.space mount.inodes",
    "/proc/self/limits": "limits.open_files limits.stack",
    "/proc/sys/kernel/tainted": "kernel.no_machine_check kernel.no_oops kernel.no_lockup",
    "/proc/sys/vm/swappiness": "kernel.addresses_random memory.swappiness memory.overcommit memory.mappings "
    "memory.reserve net.accept_queue net.receive_buffer net.send_buffer net.nfs_requests net.neighbours",
    "/sys/bus/pci/devices": "gpu.on_bus nvswitch.count nic.on_bus nic.lanes nvme.on_bus nvme.driven gpu.none_missing gpu.near_nic "
    "gpu.path_width gpu.path_speed nic.read_request pcie.no_uncorrected pcie.no_error_status pcie.no_other_status "
    "nic.in_place pcie.no_power_fault pcie.functions_alike pcie.not_limited pcie.no_lane_error pcie.target_speed pcie.interrupts_near pcie.no_poisoned_data",
    "/sys/bus/pci/drivers/mlx5_core": "nic.link_advice nic.fec_on nic.no_loopback links.module_clean nic.outstanding_reads nic.config_settled nic.ber nic.raw_ber nic.module_temperature "
    "nic.module_firmware_alike",
    "/sys/class/infiniband": "nic.active nic.count nic.rate nic.firmware_alike nic.network_count nic.network_ports "
    "nic.path_width nic.path_speed nic.board_rate nic.board_rate_200 nic.no_link_down nic.no_recovery "
    "nic.no_symbol_errors nic.few_receive_errors nic.few_discards nic.few_timeouts links.no_downs links.few_symbol_errors "
    "links.few_recoveries links.few_bad_packets links.few_dropped_packets links.none_full nic.full_member "
    "nic.infiniband_ports_alike nic.gid_for_addresses",
    "/sys/class/net": "nic.ports_alike nic.queues_alike links.few_crc_errors links.few_carrier_losses planes.nic_mac planes.nic_firmware",
    "/proc/net/bonding": "links.bonds_steady bond.members_up bond.members_aggregated",
    "/sys/devices/system/memory": "memory.blocks_online",
    "/proc/1/stat": "os.few_stuck_processes os.no_stuck_processes",
    "/sys/class/powercap": "cpu.power_at_tdp",
    "libcuda": "gpu.libraries_match",
    "chronyc": "time.chrony_close time.chrony_source time.chrony_error",
    "/sys/class/nvme": "nvme.cool nvme.drives_alike nvme.no_warning nvme.no_media_error nvme.smart_passed nvme.self_tests_passed nvme.live nvme.wear "
    "nvme.not_too_hot nvme.firmware_settled nvme.writable",
    "/sys/block": "storage.raid_whole storage.raid_parity storage.raid_consistent",
    "/proc/filesystems": "storage.pools_online storage.pool_members_sound storage.lustre_healthy",
    "mmgetstate": "storage.gpfs_active",
    "/proc/interrupts": "cpu.no_machine_check cpu.no_deferred_error",
    "/sys/devices/system/edac": "memory.no_uncorrected memory.no_uncorrected_module",
    "/proc/uptime": "gpu.replays_since_boot",
    "/etc/fstab": "mount.all_mounted mount.raid",
    "thermal_throttle": "cpu.no_throttling",
    "/sys/kernel/oops_count": "kernel.no_fault_counted kernel.no_lockup_counted",
    "journalctl -k -b -1": "log.no_fault_before log.no_fatal_xid_before",
    "journalctl -k -b -p": "log.no_fatal_xid_since_boot",
    "/sys/fs": "os.no_panic_record",
    "fabricmanager.log": "log.no_fabric_fault log.no_fabric_failure",
    "/sys/class/dmi": "planes.serial planes.bios_version",
    "dmidecode": "planes.memory_size planes.dimm_count planes.dimm_serials memory.dimms_have_ecc memory.ranks_alike",
    "/sys/firmware": "planes.boot_order planes.secure_boot",
    "RACKCHECK_SENT": "planes.clock planes.clock_synchronized planes.clock_usable",
    "/sys/devices/system/clocksource": "cpu.clocksource",
    "/sys/devices/system/cpu/cpu*/cpufreq": "cpu.governor cpu.governor_alike cpu.clock_not_capped",
    "/sys/devices/system/cpu/cpu*/power": "cpu.energy_bias",
    "/sys/devices/system/cpu/intel_pstate": "cpu.turbo cpu.platform_profile",
    "/sys/devices/system/cpu/smt": "cpu.all_online cpu.smt planes.smt",
    "/sys/devices/system/cpu/vulnerabilities": "cpu.mitigated",
    "/sys/devices/system/node": "memory.balanced numa.two",
    "/sys/kernel/mm/transparent_hugepage": "memory.huge_pages memory.huge_pages_no_stall",
}
"""Sources of the host whose recording is missing, for each rule that is unknown without it."""

LEFT_OUT = {
    "gpu.peers": "p2p|peers|peer_access",
    "gpu.inforom_valid": "inforom.*(valid|corrupt|checksum)",
    "gpu.gsp_default": "gsp.*(default|mode)",
    "nvlink.no_replays": "nvlink",
    "nvlink.no_crc": "nvlink",
    "nvlink.ber": "nvlink",
    "nvlink.recovered": "nvlink",
    "nvlink.few_errors": "nvlink",
    "gpu.no_link_error": "fatal|nonfatal",
}
"""What nvidia-smi -q -x lacks, for each rule that is unknown because of it."""


BLOCKED = {
    "fabric.manager_version": "fabric.manager",
    **{f"planes.gpu_{what}": "planes.gpus" for what in ("vbios", "power", "width", "ecc", "mig")},
}
"""Rules that wait for another rule, and that rule."""

NOT_LISTED = {
    *("bmc.drives_healthy", "bmc.drives_in_service", "bmc.drives_lasting"),
    *("leak.detectors_healthy", "leak.none_reported", *NULL_HEALTHS),
}
"""Rules about parts that the recorded BMC does not list, or whose health it does not report; no node is incomplete."""


def test_parts_that_the_recorded_bmc_does_not_list_leave_no_node_incomplete() -> None:
    assert {i for i in NOT_LISTED if not rules("h100-dgx")[i].unknown_is_minor} == set()
    assert "Members" not in resource(DGX, "/redfish/v1/Systems/DGX/Storage")


def sources(verdict: Verdict) -> set[str]:
    """The sources that an unknown verdict lacks: commands and files, including those of a join's needs."""
    asked = {probe.name: str(probe.ask) for probe in registry().probes}
    needs = {join.name: join.needs for join in registry().joins}
    unknown = [paths.parse(e.item) for e in verdict.evidence if e.status is Status.UNKNOWN]
    givers = {entry.probe for path in unknown if (entry := CATALOGUE.find(path)) is not None}
    below = [paths.parse(need) for giver in givers for need in needs.get(giver, ())]
    givers |= {entry.probe for path in below if (entry := CATALOGUE.find(path)) is not None and not path_known(path)}
    return {asked[giver] for giver in givers if giver in asked}


def path_known(path: paths.Path) -> bool:
    """Whether the recorded machine has a fact, on any item."""
    return any(str(paths.parse(known).pattern) == str(path) for known in dgx_h100().leaves)


def rest() -> dict[str, Verdict]:
    """What does not pass on the machine made of recordings."""
    return {i: v for i, v in of_dgx_h100().items() if v.status is not Status.PASS}


def test_a_recorded_dgx_h100_fails_nothing_and_passes_all_that_its_facts_allow() -> None:
    explained = {i for ids in WAITING.values() for i in ids.split()} | set(LEFT_OUT) | set(BLOCKED) | NOT_LISTED
    explained |= {"planes.gpus", "gpu.smi_succeeds"}
    explained |= {
        "gpu.settings_alike",
        "gpu.nic_path_direct",
        "gpu.within_limits",
        "cpu.within_limits",
        "slurm.counts_gpus",
        "slurm.assigned",
        "container.library",
        "links.no_lossless_discards",
        "links.lanes_alike",
        "links.interface_lanes_alike",
        "nic.one_subnet",
        "planes.gpu_temperature",
        "nodes.addresses_unique",
        "nodes.hostnames_unique",
        "nodes.cables_in_place",
        "psu.same_model",
    }  # derived facts
    unset = {i for i in of_dgx_h100() if rules("h100-dgx")[i].unset}
    by_status = {status: {i for i, v in rest().items() if v.status is status} for status in Status}
    assert by_status[Status.FAIL] == set()
    assert by_status[Status.WARN] == {"bmc.clock"}
    assert by_status[Status.UNKNOWN] == explained
    silent = {"psu.healthy", "psu.in_service", "firmware.components_sound"}
    assert by_status[Status.NA] == unset | {"gpu.no_page_waits", *silent, *NO_SUMMARY, *NO_CXL}
    assert len(of_dgx_h100()) - len(rest()) >= 55


def test_each_clock_that_warns_stood_so_in_the_recording() -> None:
    stood = {name: str(resource(DGX, f"/redfish/v1/Managers/{name}")["DateTime"])[:10] for name in ("BMC", "HGX_BMC_0")}
    assert stood == {"BMC": "2024-07-10", "HGX_BMC_0": "2020-12-11"}


def test_the_recorded_power_supplies_lack_the_property_of_a_rule_that_does_not_apply() -> None:
    supplies = [resource(DGX, f"/redfish/v1/Chassis/DGX/PowerSubsystem/PowerSupplies/PSU{n}") for n in range(6)]
    assert [supply["Id"] for supply in supplies if "Status" in supply] == []
    assert of_dgx_h100()["psu.healthy"].status is Status.NA
    assert of_dgx_h100()["psu.count"].status is Status.PASS


def test_the_recorded_gpus_retire_no_pages() -> None:
    pending = re.findall(r"<pending_retirement>(.*)</pending_retirement>", shared_text(H100))
    assert pending == ["N/A"] * 8


@pytest.mark.parametrize(("source", "rule_id"), [(s, i) for s, ids in WAITING.items() for i in ids.split()])
def test_unknowns_of_a_recorded_dgx_h100_come_from_commands_in_no_recording(source: str, rule_id: str) -> None:
    asked = sources(of_dgx_h100()[rule_id])
    assert any(source in question for question in asked), asked
    assert not any("nvidia-smi" in question for question in asked)
    of_one_command = shared_text(f"{H100}.source.yaml").splitlines()[0]
    assert of_one_command == 'what: "nvidia-smi -q -x"'


@pytest.mark.parametrize(("rule_id", "element"), LEFT_OUT.items())
def test_unknowns_of_recorded_gpus_have_no_element_in_the_output_of_nvidia_smi(rule_id: str, element: str) -> None:
    elements = set(re.findall(r"<(\w+)", shared_text(H100)))
    assert "gsp_firmware_version" in elements
    assert [e for e in elements if re.search(element, e)] == []
    unknown = [e for e in of_dgx_h100()[rule_id].evidence if e.status is Status.UNKNOWN]
    assert {str(CATALOGUE.find(paths.parse(e.item)).plane) for e in unknown} == {"os"}  # type: ignore[union-attr]


def test_a_version_that_waits_for_a_service_is_unknown_because_the_service_is() -> None:
    assert {i: of_dgx_h100()[i].reason for i in BLOCKED} == {i: f"blocked by {other}" for i, other in BLOCKED.items()}


TRAPS: Mapping[str, tuple[Mapping[str, Reading], tuple[str, ...], str]] = {
    "DGX H100 DIMMs run at 4400": (
        {"memory.total": 2016.0}, ("memory.all", "memory.speed"), r"dimm.*speed\.rated|\.speeds$",
    ),
    "On AMI-style BIOS": ({}, ("bios.smt",), ""),
    "NVSwitch PCIe links at x2": (bus("0x2330", "0x22a3", 4), ("nvswitch.count", "pcie.full_width", "nic.lanes"), ""),
    "An idle GPU may sit at PCIe Gen1": (
        {f"gpu/{n}.link.generation": 1 for n in range(8)}, ("gpu.generation", "gpu.width"), "",
    ),
    "GB200 compute trays run no fabric manager": (
        {"service/nvidia-fabricmanager.active": "active"}, ("fabric.manager",), "imex|nvlsm",
    ),
    "Grace guidance differs": ({}, (), "aspm"),
    "Throttle bit 0x4": (
        {f"gpu/{n}.clock.event_reasons": ("sw power cap",) for n in range(8)}, ("gpu.not_slowed",), "",
    ),
    '"No errors" NVLink BER': (
        {f"gpu/{n}.nvlink/{m}.effective_ber_exponent": -255 for n in range(8) for m in range(18)}, ("nvlink.ber",), "",
    ),
    "On B300": (
        {f"nic/mlx5_{n}.port/1.{fact}": reading for n in range(12)
         for fact, reading in (("rate", 400.0 if n < 8 else 10.0), ("active_rate", 400.0 if n < 8 else 0.0), ("state", "ACTIVE" if n < 8 else "DOWN"),
                               ("role", "compute" if n < 8 else "virtual"),
                               ("physical", "LinkUp" if n < 8 else "Polling"))},
        ("nic.rate", "nic.active"), "",
    ),
    "Pending BIOS settings live": ({}, ("bios.none_pending",), ""),
    "Fabric manager packages were renamed": ({}, (), "package/.*fabric"),
    "B200 may ship with a power set point": ({}, ("gpu.power_limit", "gpu.power_default", "gpu.power_max"), ""),
}  # fmt: skip
"""The traps of the base of facts: a healthy machine's values, rules that must pass on it, facts that no rule may check."""


def test_each_trap_of_the_base_of_facts_is_tried() -> None:
    text = shared("../facts/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- (.+)", text.partition("## False-fail traps")[2].partition("\n## ")[0], re.MULTILINE)
    assert len(listed) == len(TRAPS)
    assert [trap for trap in listed if not trap.startswith(tuple(TRAPS))] == []


@pytest.mark.parametrize("trap", TRAPS)
def test_no_trap_of_the_base_of_facts_catches_a_recorded_dgx_h100(trap: str) -> None:
    facts, ids, never = TRAPS[trap]
    assert not never or [fact for fact in facts_of("h100-dgx") if re.search(never, fact)] == []
    tree = Tree({**dgx_h100().leaves, **node(facts).leaves})
    found = {v.rule: v for v in judge([rules("h100-dgx")[i] for i in of_dgx_h100()], tree)}
    assert {i: found[i].reason for i in ids if found[i].status is not Status.PASS} == {}
    assert {i: v.reason for i, v in found.items() if v.status is Status.FAIL} == {}


def test_the_recorded_tree_holds_the_traps_that_a_bmc_can_show() -> None:
    dimms = [f"/redfish/v1/Systems/DGX/Memory/DevType2_DIMM{n}" for n in range(32)]
    assert {resource(DGX, dimm)["OperatingSpeedMhz"] for dimm in dimms} == {4400}
    switches = [f"/redfish/v1/Chassis/HGX_NVSwitch_{n}/PCIeDevices/NVSwitch_{n}" for n in range(4)]
    links = [resource(DGX, switch)["PCIeInterface"] for switch in switches]
    assert {link["LanesInUse"] for link in links if isinstance(link, dict)} == {2}
    bios = resource(DGX, "/redfish/v1/Systems/DGX/Bios")
    settings, attributes = bios["@Redfish.Settings"], bios["Attributes"]
    assert isinstance(settings, dict)
    assert isinstance(attributes, dict)
    assert settings["SettingsObject"]["@odata.id"] == "/redfish/v1/Systems/DGX/Bios/SD"
    assert attributes["ProcessorHyperThreadingDisable"] == "Enabled"


H200 = "nvidia/smi-capture-nvidia-h200-590.48.01/"


def test_a_recorded_h200_has_the_figures_that_its_rules_expect() -> None:
    query, links = (shared_text(f"{H200}{file}.txt") for file in ("idle-query-q", "capabilities-nvlink-s"))

    def text(pattern: str) -> float:
        found = re.search(pattern, query, re.DOTALL)
        assert found is not None, pattern
        return float(found[1])

    name = re.search(r"Product Name +: (.+)", query)
    assert name is not None
    speeds = [float(speed) for speed in re.findall(r"Link \d+: ([0-9.]+) GB/s", links)]
    one: dict[str, Reading] = {
        "name": name[1],
        "memory.total": text(r"FB Memory Usage\s+Total +: (\d+) MiB") / 1024,
        "power.limit": text(r"Current Power Limit +: ([0-9.]+) W"),
        "power.max": text(r"Max Power Limit +: ([0-9.]+) W"),
        "clock.sm_max": text(r"Max Clocks.*?SM +: (\d+) MHz"),
        "clock.memory_max": text(r"Max Clocks.*?Memory +: (\d+) MHz"),
        "link.width": int(text(r"Link Width.*?Current +: (\d+)x")),
        "link.max_width": int(text(r"Link Width\s+Max +: (\d+)x")),
        "link.max_generation": int(text(r"PCIe Generation\s+Max +: (\d+)")),
        "nvlinks_active": len(speeds),
        "margin": text(r"GPU T.Limit Temp +: (\d+) C"),
        "temperature_memory": text(r"Memory Current Temp +: (\d+) C"),
        "remap.uncorrected": int(text(r"Remapped Rows.*?Uncorrectable Error +: (\d+)")),
        "clock.application_graphics": Absent("deprecated"),
    }
    facts = {f"gpu/0.{fact}": reading for fact, reading in one.items()}
    facts |= {f"gpu/0.nvlink/{n}.speed": speed for n, speed in enumerate(speeds)}
    facts |= {f"gpu/0.nvlink/{n}.state": "active" for n in range(len(speeds))}
    ids = ("gpu.model", "gpu.memory", "gpu.power_limit", "gpu.power_max", "gpu.clock", "gpu.memory_clock", "gpu.width",
           "gpu.generation", "nvlink.count", "nvlink.speed", "gpu.margin", "gpu.memory_temperature",
           "gpu.rows_remapped")  # fmt: skip
    assert set(judged("h200-hgx", facts, *ids).values()) == {Status.PASS}
    assert judged("h200-hgx", facts, "gpu.clocks_default") == {"gpu.clocks_default": Status.NA}


def test_a_driver_without_the_parameter_does_not_apply_and_one_with_it_set_is_found() -> None:
    ids = ("driver.nvlink_on", "driver.nvlink_full", "driver.topology_checked", "driver.peer_windows")
    older: dict[str, Reading] = {"driver.param/EnableMSI": "1"}
    assert set(judged("nvidia-gpu", older, *ids).values()) == {Status.NA}
    spoilt: dict[str, Reading] = {
        "driver.param/NvLinkDisable": "1", "driver.param/RmNvlinkBandwidth": "HALF",
        "driver.param/GrdmaPciTopoCheckOverride": "1", "driver.param/DmaRemapPeerMmio": "0",
    }  # fmt: skip
    fail, warn = Status.FAIL, Status.WARN
    assert judged("nvidia-gpu", spoilt, *ids) == dict(zip(ids, (fail, fail, warn, warn), strict=True))
    hidden = {path: Unknown(Reason.NOT_COLLECTED, "not requested") for path in spoilt}
    assert set(judged("nvidia-gpu", hidden, *ids).values()) == {Status.UNKNOWN}
