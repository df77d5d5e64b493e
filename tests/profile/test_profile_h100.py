"""The profiles linux-gpu-node and h100-dgx: every figure has its source, what is normal on these machines is no finding,
and a recorded DGX H100 fails only what its recording shows.

That each of their rules can hold, can fail and can be unknown is proven in test_rule_proof.py, as for every profile.
"""

import csv
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from gpu_driver import SMI
from h100_nodes import AUDIT, CATALOGUE, NO_ERROR, SITE, node, of_gpus, profile, row
from recordings import answering, os_probes, shared, shared_text
from recordings import facts as read_facts
from trees import DGX, tree_leaves

from rackcheck.evaluate.verdict import in_scope, judge
from rackcheck.model import path as paths
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Plane, Reading
from rackcheck.model.operator import Within
from rackcheck.model.profile import Phase, Rule, Severity
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry
from rackcheck.profile import library


def rule(rule_id: str, name: str = "h100-dgx") -> Rule:
    """One rule of a profile as a site would use it."""
    return next(r for r in profile(name, site=name == "h100-dgx").own if r.id == rule_id)


OURS = tuple(r.id for r in profile("h100-dgx").own)
NEW = tuple(i for i in OURS if i not in {r.id for r in profile("linux-server").own})


# ---- trees of facts --------------------------------------------------------------------------------------------------


def verdict(rule_id: str, facts: Mapping[str, Reading], name: str = "h100-dgx") -> Verdict:
    """The verdict of a rule on such a node."""
    return judge([rule(rule_id, name)], node(facts))[0]


def status(rule_id: str, facts: Mapping[str, Reading], name: str = "h100-dgx") -> Status:
    """How a rule judges such a node."""
    return verdict(rule_id, facts, name).status


# ---- every rule ------------------------------------------------------------------------------------------------------


def test_every_rule_states_its_purpose_and_a_fix() -> None:
    for one in map(rule, NEW):
        assert one.title, one.id
        assert one.why.endswith("."), one.id
        assert len(one.fix) > 10, one.id


def test_every_figure_has_a_source_or_is_the_sites_own() -> None:
    shipped = [each for each in profile("h100-dgx").own if each.id in NEW]
    assert len(shipped) == len(NEW)
    assert [each.id for each in shipped if not each.refs and not each.unset] == []
    # Rules for any machine that give no figure either: they name where the limit was seen, and the site sets it.
    both = {each.id for each in shipped if each.refs and each.unset}
    assert both == {"bmc.log_quiet", "nvme.count", "storage.read_ahead"}


def test_together_they_hold_more_than_sixty_rules_beyond_any_server() -> None:
    assert len(NEW) >= 60


def test_what_no_source_gives_is_left_to_the_site() -> None:
    unset = {name for name, value in profile("h100-dgx").params.items() if value is None}
    assert unset == {*SITE, "bmc_log_since", "nvme_count", "read_ahead"}


def test_what_we_chose_ourselves_only_warns() -> None:
    ours = [r for r in profile("h100-dgx").own if r.id in NEW and r.from_memory]
    assert {r.severity for r in ours if r.across is None} == {Severity.ADVISORY}
    # A node that differs from its siblings also only warns until the source is read.
    assert {r.id: r.severity.decides for r in ours if r.across is not None} == {
        "alike.mitigations": False,
        "alike.panic": False,
    }
    assert rule("bmc.clock").severity is Severity.ADVISORY


@pytest.mark.parametrize("rule_id", [i for i in NEW if i.startswith("bios.")])
def test_a_bios_value_of_one_captured_machine_is_advised_not_demanded(rule_id: str) -> None:
    one = rule(rule_id)
    assert set(one.refs) != {"dgx-h100.capture"} or one.severity is Severity.ADVISORY


SLOWED = ("hw slowdown", "sw thermal slowdown", "hw thermal slowdown", "hw power brake slowdown")


@pytest.mark.parametrize(
    ("rule_id", "wanted", "fact", "figure"),
    [
        ("gpu.count", 8, "SYS-001", "8"),
        ("gpu.on_bus", "0x2330", "SYS-003", "10de:2330"),
        ("gpu.model", "NVIDIA H100 80GB HBM3", "SYS-002", "NVIDIA H100 80GB HBM3"),
        ("gpu.memory", Within(81559 / 1024, 1 / 1024, share=False), "SYS-005", "81559 MiB"),
        ("gpu.power_limit", 700.0, "SYS-008", "700 default"),
        ("gpu.power_max", 700.0, "SYS-008", "700 max W"),
        ("gpu.clock", 1980.0, "SYS-007", "1980 / 345 MHz"),
        ("gpu.width", 16, "SYS-011", "16 lanes"),
        ("gpu.generation", 5, "SYS-011", "Gen5"),
        ("gpu.generation_under_load", 5, "GPU-015", "5 on Hopper"),
        ("gpu.not_slowed", SLOWED, "GPU-010", "0x8, SW thermal 0x20, HW thermal 0x40, HW power brake 0x80"),
        ("nvswitch.count", 4, "SYS-016", "4 count"),
        ("nvswitch.count", "0x22a3", "SYS-018", "10de:22a3"),
        ("fabric.manager", "active", "OS-061", "active"),
        ("nic.on_bus", 8, "SYS-026", "8 x ConnectX-7"),
        ("nic.on_bus", "0x1021", "SYS-060", "15b3:1021"),
        ("nic.rate", 400.0, "SYS-026", "400 Gb/s"),
        ("cpu.model", "*8480C*", "SYS-019", "8480C"),
        ("cpu.sockets", 2, "SYS-019", "2 x Intel"),
        ("cpu.cores", 2 * 56, "SYS-020", "56 / 112"),
        ("memory.all", Within(2048.0, 3.0, share=True), "SYS-022", "2048 GiB"),
        ("memory.all", Within(2048.0, 3.0, share=True), "OS-055", "3 to 5 percent"),
        ("nvme.on_bus", 2 + 8, "SYS-030", "2 x 1.92 TB"),
        ("nvme.on_bus", 2 + 8, "SYS-031", "8 x 3.84 TB"),
        ("driver.not_old", "535.129.03", "SWF-009", "H100 535.129.03"),
        ("bios.smt", "enabled", "BIO-037", "'Enabled' in a capture where every core shows 2 threads"),
        ("bios.sr_iov", "enabled", "BIO-034", "Enable, Enabled"),
        ("bios.turbo", "enabled", "BIO-039", "Enable"),
        ("bmc.systems", 2, "SYS-037", "DGX, HGX_Baseboard_0"),
        ("psu.count", 6, "SYS-032", "6 PSU"),
        ("time.near", Within(0.0, 30.0, share=False), "OS-070", "30 (warn)"),
        ("service.dcgm", "active", "OS-064", "active"),
        ("gpu.mig_off", "disabled", "GPU-003", "Disabled"),
        ("limits.locked_memory", math.inf, "OS-057", "unlimited"),
        ("numa.balancing_off", 0, "OS-017", "0"),
    ],
)
def test_a_figure_stands_in_the_fact_base_and_was_read_there(
    rule_id: str, wanted: object, fact: str, figure: str
) -> None:
    file = {"SYS": "systems", "GPU": "gpu_state", "OS": "os_tunables", "BIO": "sbios", "SWF": "software_firmware"}
    found = row(f"{file[fact.partition('-')[0]]}.csv", "id", fact)
    one = rule(rule_id)
    assert wanted in [t.operand for c in one.parts() for t in c.tests]
    assert figure in f"{found['expected']} {found['unit']}"
    assert found["confidence"] in {"read in source", "read in secondary source"}
    assert found["confidence"] == "read in source" or not one.severity.decides


def operands(operand: object) -> tuple[object, ...]:
    return operand if isinstance(operand, tuple) else (operand,)


def test_the_fatal_xids_include_those_of_dcgm_and_the_others_are_those_of_azure() -> None:
    with shared("../facts/xid.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    fatal = {r["xid"] for r in rows if r["dcgm_always_watched"] == "FAIL"}
    azure = {r["xid"] for r in rows if r["azure_nhc_fails_node"] == "yes"}

    def named(rule_id: str, fact: str) -> set[object]:
        clauses = [clause for clause in rule(rule_id).clauses if str(clause.fact) == fact]
        return {code for clause in clauses for test in clause.tests for code in operands(test.operand)}

    actions = {r["xid"]: r["catalog_immediate_action"] for r in rows}
    judged = {code for code, action in actions.items() if action in named("log.no_fatal_xid", "actions")}
    assert {actions[code] for code in fatal} <= named("log.no_fatal_xid", "actions") <= {*actions.values()}
    assert fatal <= judged
    assert named("log.no_node_xid", "codes") == azure - judged
    assert not (judged | azure) & {r["xid"] for r in rows if "decode needed" in r["note"]}


FATAL_ON_CURRENT_GPUS = {"RESET_GPU", "RESTART_BM", "CHECK_MECHANICALS", "WORKFLOW_XID_48", "WORKFLOW_NVLINK_ERR"}


BY_TITLE = {"167", "168", "171", "172"}
"""Xids without an action in the catalogue, whose titles state damage."""


@pytest.mark.parametrize("rule_id", ["log.no_fatal_xid_since_boot", "log.no_fatal_xid_before"])
def test_a_journal_is_judged_by_the_numbers_of_xids_that_require_a_reset_or_a_repair(rule_id: str) -> None:
    with shared("../facts/xid.csv").open(encoding="utf-8", newline="") as opened:
        actions = {r["xid"]: r["catalog_immediate_action"] for r in csv.DictReader(opened)}
    one = rule(rule_id)
    numbers = {str(code) for clause in one.clauses for test in clause.tests for code in operands(test.operand)}
    wanted = {code for code, action in actions.items() if action in FATAL_ON_CURRENT_GPUS} | BY_TITLE
    assert numbers == wanted


# ---- what is normal is no finding ------------------------------------------------------------------------------------


def bus() -> dict[str, Reading]:
    """The PCI bus of a healthy DGX H100, as far as rules check it: NVSwitches on two lanes of sixteen."""
    parts = [("0x2330", "0x030200", 8, 16), ("0x22a3", "0x068000", 4, 2), ("0x1021", "0x020700", 12, 16)]
    facts: dict[str, Reading] = {"cpu.hypervisor": Absent("none")}
    for device, kind, count, width in [*parts, ("0xa824", "0x010802", 10, 4)]:
        for n in range(count):
            at = f'pcie/"{device[2:]}:{n:02}:00.0"'
            facts |= {f"{at}.device": device, f"{at}.class": kind, f"{at}.link.width": width}
            facts |= {
                f"{at}.link.max_width": 16 if device == "0x22a3" else width,
                f"{at}.acs.redirect": False,
                f"{at}.driver": "some",
            }
            facts |= {f"{at}.max_read_request": 4096.0} if device == "0x1021" else {}
            facts |= {f"{at}.{fact}": reading for fact, reading in NO_ERROR.items()}
    return facts


SRAM_SOURCES = ("sm", "l2", "microcontroller", "pcie", "other")
HEALTH = ("degraded_bandwidth", "route_recovery", "route_unhealthy", "access_timeout_recovery")


def gpus(**more: Reading) -> dict[str, Reading]:
    """Eight healthy, idle H100, with these readings of the first one replaced."""
    one: dict[str, Reading] = {
        "name": "NVIDIA H100 80GB HBM3", "memory.total": 81559 / 1024, "persistence": True, "ecc.mode": "enabled",
        "ecc.pending": "enabled", "ecc.uncorrected": 0, "mig.mode": "disabled", "power.limit": 700.0,
        "power.default": 700.0, "power.max": 700.0, "power.enforced": 700.0, "clock.sm_max": 1980.0,
        "clock.event_reasons": ("gpu idle",), "link.width": 16, "link.max_width": 16, "link.generation": 1,
        "link.max_generation": 5, "vbios": "96.00.89.00.01", "margin": 50.0, "temperature_memory": 40.0,
        "nvlinks_active": 18, "peers": 7, "nearest_nic_distance": "PXB", "path.narrowed": (), "path.slowed_above": (),
        "recovery_action": "none", "inforom.image": "G520.0200.00.05", "inforom.valid": True, "gsp.enabled": True,
        "gsp.default": True, "gsp.version": "570.86.15", "fabric.state": "completed", "fabric.status": "Success",
        "remap.pending": False, "remap.failed": False, "remap.uncorrected": 0, "remap.available.none": 0,
        "ecc.sram_threshold_exceeded": False, "ecc.aggregate.sram.uncorrected": 0,
        # An H100 remaps rows and retires no pages; its driver has no application clocks, nor health of the fabric.
        "retired.pending": Absent("N/A"), "clock.application_graphics": Absent("deprecated"),
        **{f"fabric.health.{part}": Absent("not reported") for part in (*HEALTH, "summary", "configuration")},
        **{f"ecc.volatile.{part}": 0 for part in ("dram.uncorrected", "sram.uncorrected", "sram.secded", "sram.parity")},
        **{f"ecc.aggregate.{part}": 0 for part in ("dram.uncorrected", "sram.secded", "sram.parity")},
        **{f"ecc.aggregate.sram.source.{part}": 0 for part in SRAM_SOURCES},
        "link.errors.fatal": 0, "link.errors.nonfatal": 0, "processes": 0,
        "clock.limited_for.hw_thermal": 0.0, "clock.limited_for.hw_brake": 0.0,
        "fabric.cluster": "00000000-0000-0000-0000-000000000000", "fabric.clique": 0,
    }  # fmt: skip
    facts = {f"gpu/{n}.{fact}": reading for n in range(8) for fact, reading in one.items()}
    facts["driver.version"] = "570.86.15"
    return facts | {f"gpu/0.{fact.replace('__', '.')}": reading for fact, reading in more.items()}


def judged(facts: Mapping[str, Reading], looks: str, name: str = "h100-dgx") -> dict[str, Status]:
    """Verdicts on a node of the audit rules that check only a collection."""
    rules = [r for r in profile(name, site=name == "h100-dgx").own if r.look and str(r.look.collection) == looks]
    found = judge([r for r in rules if in_scope(r, "compute", *AUDIT)], node(facts))
    assert found
    return {v.rule: v.status for v in found}


def test_an_nvswitch_at_x2_is_no_finding() -> None:
    assert set(judged(bus(), "pcie").values()) == {Status.PASS}


def test_an_idle_gpu_at_gen1_is_no_finding() -> None:
    found = judged(gpus(), "gpu")
    derived = {"gpu.nic_path_direct", "gpu.within_limits", "gpu.replays_since_boot", "gpu.no_repair_waits"}
    derived |= {"gpu.idle_memory", "gpu.idle_power", "gpu.idle_temperature", "gpu.memory_at_full_clock"}
    assert {i for i, s in found.items() if s not in (Status.PASS, Status.NA)} == derived
    without = {"gpu.no_page_waits", "gpu.clocks_default", "fabric.healthy_summary", "fabric.configured"}
    assert {i for i, s in found.items() if s is Status.NA} == without
    assert "gpu.generation" in found
    assert "gpu.generation_under_load" not in found
    assert rule("gpu.generation_under_load").phase is Phase.BURN_IN


@pytest.mark.parametrize(
    ("fact", "value", "wanted", "status"),
    [
        ("clock__limited_for__hw_thermal", 12.0, "gpu.never_slowed", Status.FAIL),
        ("clock__limited_for__hw_brake", 0.001, "gpu.never_slowed", Status.FAIL),
        ("fabric__clique", 1, "fabric.one_domain", Status.FAIL),
        ("fabric__cluster", "6f5a1b0c-0000-0000-0000-000000000001", "fabric.one_domain", Status.FAIL),
        ("processes", 1, "gpu.unused", Status.WARN),
    ],
)
def test_a_gpu_that_was_slowed_stands_apart_or_is_in_use_is_found(
    fact: str, value: Reading, wanted: str, status: Status
) -> None:
    healthy = judged(gpus(), "gpu")
    found = judged(gpus(**{fact: value}), "gpu")
    assert {i for i, s in found.items() if s is not healthy[i]} == {wanted}
    assert found[wanted] is status


def test_a_gpu_whose_slot_is_held_at_gen4_is_found_even_while_idle() -> None:
    found = judged(gpus(link__max_generation=4), "gpu")
    assert [r for r, s in found.items() if s is Status.FAIL] == ["gpu.generation"]


def test_dimms_at_4400_are_no_finding() -> None:
    named = {str(f) for r in profile("h100-dgx").own for f in r.facts() if str(f).startswith("dimm")}
    assert named == {"dimm", "dimm/*.ecc", "dimm/*.rank", "dimm/*.type"}
    config = [rule for rule in profile("h100-dgx").own if rule.phase is Phase.CONFIG]
    assert not [rule.id for rule in config for c in rule.parts() for t in c.tests if "4800" in str(t.operand)]


def test_the_software_power_cap_is_no_finding_and_heat_is_one() -> None:
    for normal in ((), ("gpu idle",), ("sw power cap",), ("applications clocks setting",), ("sync boost",)):
        assert status("gpu.not_slowed", gpus(clock__event_reasons=normal)) is Status.PASS
    for wrong in SLOWED:
        assert status("gpu.not_slowed", gpus(clock__event_reasons=("sw power cap", wrong))) is Status.FAIL


def test_the_four_reasons_for_slowness_are_the_bits_of_the_published_mask() -> None:
    given = of_gpus({"driver": {"value": "1.0"}, "gpus": [{"reasons": {"value": 0xE8}}]})
    (test,) = rule("gpu.not_slowed").clauses[0].tests
    assert given["gpu/0.clock.event_reasons"] == test.operand


def test_hyper_threading_disable_set_to_enabled_means_that_it_is_on() -> None:
    tree = Tree(tree_leaves(DGX))
    raw = tree.reading(paths.parse("bios.attribute/ProcessorHyperThreadingDisable"), Plane.BMC)
    assert raw == "Enabled"
    assert judge([rule("bios.smt")], tree)[0].status is Status.PASS


def test_a_power_limit_below_the_maximum_is_no_finding_where_it_is_the_default() -> None:
    facts = gpus(power__limit=1000.0, power__default=1000.0, power__max=1200.0, power__enforced=1000.0)
    assert judged(facts, "gpu", "linux-gpu-node")["gpu.power_default"] is Status.PASS
    facts["gpu/0.power.limit"] = 900.0
    assert judged(facts, "gpu", "linux-gpu-node")["gpu.power_default"] is Status.FAIL


def test_a_gpu_node_without_nvswitches_needs_no_fabric_manager() -> None:
    asked = {str(f) for r in profile("linux-gpu-node").own for f in r.facts()}
    needed = {str(f) for r in profile("linux-gpu-node").own if r.look is None and r.when is None for f in r.facts()}
    assert not [f for f in needed if "fabric" in f]
    assert not [f for f in asked if re.search(r"fabricmanager|fabric\.(state|status)", f)]


def test_a_gpu_node_has_no_rule_on_aspm_or_acs_which_differ_on_grace() -> None:
    asked = {str(f) for r in profile("linux-gpu-node").own for f in r.facts()}
    assert not [f for f in asked if re.search("aspm|acs", f)]


def test_the_pci_id_of_the_h100_is_tested_only_in_the_profile_of_the_h100() -> None:
    for name, count in (("linux-gpu-node", 0), ("h100-dgx", 1)):
        operands = [t.operand for r in profile(name).own for c in r.parts() for t in c.tests]
        assert operands.count("0x2330") == count


def test_no_version_of_the_captured_machine_is_demanded() -> None:
    captured = {
        "1.1.3",
        "01.01.03",
        "23.11.20",
        "23.11.21",
        "96.00.89.00.01",
        "0204.0201.0202",
        "2.2-2.1-2.4",
        "2.7.20",
    }
    operands = {str(t.operand) for r in profile("h100-dgx").own for c in r.parts() for t in c.tests}
    assert not operands & captured


COUNTERS = (
    "link_downed", "symbol_error", "link_error_recovery", "local_link_integrity_errors",
    "excessive_buffer_overrun_errors", "port_rcv_errors", "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors", "port_xmit_discards", "port_xmit_constraint_errors", "port_rcv_constraint_errors",
    "vl15_dropped",
)  # fmt: skip
"""Counters of errors of a port."""


def ports(**states: tuple[str, str, float]) -> dict[str, Reading]:
    """Twelve ports of ConnectX-7, eight of them at 400 Gb/s, others as in `states`: state, physical state, rate."""
    found = {f"mlx5_{n}": ("ACTIVE", "LinkUp", 400.0 if n < 8 else 200.0) for n in range(12)} | states
    facts: dict[str, Reading] = {}
    for device, (state, physical, rate) in found.items():
        at = f"nic/{device}.port/1"
        facts |= {f"nic/{device}.type": "MT4129", f"nic/{device}.firmware": "28.39.1002"}
        facts |= {f"{at}.state": state, f"{at}.physical": physical, f"{at}.rate": rate}
        facts |= {f"{at}.addresses_without_gid": (), f"{at}.subnet": "fe80:0000:0000:0000"}
        facts |= {f"{at}.hw_counter": ("local_ack_timeout_err",), f"{at}.hw_counter/local_ack_timeout_err.value": 0}
        facts |= {f"{at}.active_rate": rate if state == "ACTIVE" else 0.0}
        facts |= {f"{at}.role": "compute" if int(device.removeprefix("mlx5_")) < 8 else "network"}
        facts |= {f"{at}.counter.{counter}": 0 for counter in COUNTERS} | {f"{at}.counter.full": ()}
    return facts


def test_a_storage_port_without_a_cable_is_a_minor_finding_and_a_compute_port_without_one_a_major_one() -> None:
    assert {i for i, s in judged(ports(), "nic/*.port").items() if s is not Status.PASS} == {"nic.full_member"}
    found = judged(ports(mlx5_9=("DOWN", "Polling", 10.0)), "nic/*.port")
    assert [i for i, s in found.items() if s is Status.FAIL] == ["nic.network_ports"]
    assert rule("nic.network_ports").severity is Severity.MINOR
    found = judged(ports(mlx5_3=("DOWN", "Polling", 10.0)), "nic/*.port")
    assert [r for r, s in found.items() if s is Status.FAIL] == ["nic.rate"]
    assert rule("nic.rate").severity is Severity.MAJOR


def test_a_port_with_a_signal_and_no_subnet_manager_fails_the_node() -> None:
    assert status("nic.active", ports(mlx5_3=("INIT", "LinkUp", 400.0))) is Status.FAIL
    assert rule("nic.active").severity is Severity.MAJOR


def test_a_missing_dimm_is_found_and_what_the_kernel_keeps_is_none() -> None:
    page_tables = 1 - 64 / 4096  # the kernel keeps 64 bytes of each page of 4 KiB
    assert status("memory.all", {"memory.total": 2048 * page_tables}) is Status.PASS
    assert status("memory.all", {"memory.total": (2048 - 64) * page_tables}) is Status.FAIL


@pytest.mark.parametrize("device", ["0x2330", "0x1021"])
def test_an_iommu_that_translates_for_a_gpu_or_a_nic_is_found_whatever_the_kernels_arguments_are(device: str) -> None:
    def given(kind: str, device: str) -> Status:
        return status("iommu.passthrough", {**bus(), f'pcie/"{device[2:]}:03:00.0".iommu.type': kind})

    found = [given(kind, device) for kind in ("identity", "DMA", "DMA-FQ")]
    assert found == [Status.PASS, Status.FAIL, Status.FAIL]
    # An NVMe drive behind a translating IOMMU costs no bandwidth between GPU and NIC.
    assert given("DMA", "0xa824") is Status.PASS
    nowhere = {**bus(), f'pcie/"{device[2:]}:03:00.0".iommu.type': Absent("in no group")}
    assert status("iommu.passthrough", nowhere) is Status.PASS
    assert {str(f) for f in rule("iommu.passthrough").facts()} & {"cmdline.argument/iommu.value"} == set()


def test_eight_recorded_h100_are_no_finding() -> None:
    facts = of_gpus(f"{SMI}\n{shared_text('nvidia/nvidia-smi-qx-h100.xml')}ended 0")
    looks = {r.id for r in profile("h100-dgx").own if r.look and str(r.look.collection) == "gpu"}
    audited = [r for r in profile("h100-dgx").own if in_scope(r, "compute", *AUDIT)]
    rules = [r for r in audited if r.id in {*looks, "driver.not_old"}]
    found = {v.rule: v.status for v in judge(rules, node(facts))}
    without = {"gpu.vbios", "gpu.no_page_waits", "fabric.healthy_summary", "fabric.configured"}
    assert {i for i, s in found.items() if s is Status.NA} == without
    # What NVML reports and nvidia-smi does not, and derived facts.
    not_by_smi = {"nvlink.count", "gpu.peers", "gpu.inforom_valid", "gpu.gsp_default", "gpu.no_link_error"}
    derived = {"gpu.near_nic", "gpu.nic_path_direct", "gpu.path_width", "gpu.path_speed", "gpu.within_limits"}
    derived |= {"gpu.replays_since_boot"}
    assert {i for i, s in found.items() if s is Status.UNKNOWN} == not_by_smi | derived
    assert {*found.values()} == {Status.PASS, Status.NA, Status.UNKNOWN}


# ---- what the kernel's log holds -------------------------------------------------------------------------------------

LOG_RULES = ("log.no_fatal_xid", "log.no_node_xid", "log.no_xid", "log.no_fatal_sxid", "log.from_boot")
BOOT = "[    0.000000] Linux version 5.15.0-1053-nvidia (buildd@lcy02) (gcc 11.4.0) #54-Ubuntu SMP\n"


def log(text: str, exit_status: int = 0, err: str = "") -> dict[str, str]:
    """Verdicts of the rules about the log on a node whose dmesg prints this."""
    facts: dict[str, Reading] = {}
    for probe in os_probes().values():
        if probe.ask == os_probes()["kernel_log"].ask:
            facts |= read_facts(probe, answering(probe, text, exit_status, err))
    return {r: status(r, facts).value for r in LOG_RULES}


def xid(code: int) -> str:
    return f"[ 12.5] NVRM: Xid (PCI:0000:1b:00): {code}, pid=7, name=python, something\n"


def test_a_gpu_that_fell_off_the_bus_fails_the_node() -> None:
    assert log(BOOT + xid(79))["log.no_fatal_xid"] == "fail"
    assert rule("log.no_fatal_xid").severity is Severity.MAJOR


def test_an_xid_of_a_program_only_warns() -> None:
    found = log(BOOT + xid(13))
    assert (found["log.no_fatal_xid"], found["log.no_node_xid"], found["log.no_xid"]) == ("pass", "pass", "warn")


def test_a_remapped_row_is_a_minor_finding() -> None:
    found = log(BOOT + xid(63))
    assert (found["log.no_fatal_xid"], found["log.no_node_xid"]) == ("pass", "fail")
    assert rule("log.no_node_xid").severity is Severity.MINOR


def test_nvlink_errors_whose_meaning_is_in_their_sub_fields_only_warn() -> None:
    for code in range(144, 151):
        found = log(BOOT + xid(code))
        assert (found["log.no_fatal_xid"], found["log.no_node_xid"], found["log.no_xid"]) == ("pass", "pass", "warn")


def test_a_clean_log_from_the_boot_is_no_finding() -> None:
    assert log(BOOT) == dict.fromkeys(LOG_RULES, "pass")


def test_a_clean_log_that_has_wrapped_states_that_older_lines_are_gone() -> None:
    found = log("[ 9000.1] eth0: link becomes ready\n")
    assert found["log.from_boot"] == "warn"
    assert "fail" not in found.values()


def test_an_unreadable_log_is_unknown_in_every_rule() -> None:
    found = log("", 1, "sudo: a password is required")
    assert set(found.values()) == {"unknown"}


# ---- a recorded DGX H100 ---------------------------------------------------------------------------------------------

WARNED = {
    # The baseboard's BMC clock was never set: it reports 2020. The other one reports the day of its recording, in 2024.
    "bmc.clock": Status.WARN,
    # Its power supplies and its firmware have no `Status`.
    "firmware.components_sound": Status.NA,
    "psu.healthy": Status.NA,
    "psu.in_service": Status.NA,
    # The site sets no age of entries of the log.
    "bmc.log_quiet": Status.NA,
    # It has no memory on CXL.
    "bmc.cxl_memory_healthy": Status.NA,
    "bmc.cxl_memory_in_service": Status.NA,
    # It has no detectors of leaks, and its list of storage has no members.
    "leak.detectors_healthy": Status.UNKNOWN,
    "leak.none_reported": Status.UNKNOWN,
    "bmc.drives_healthy": Status.UNKNOWN,
    "bmc.drives_in_service": Status.UNKNOWN,
    "bmc.drives_lasting": Status.UNKNOWN,
    # The health of its temperatures, and of some of its sensors, is null.
    "bmc.sensors_sound": Status.UNKNOWN,
    "bmc.thermal_sound": Status.UNKNOWN,
    "bmc.nothing_critical": Status.UNKNOWN,
    "bmc.nothing_unhealthy": Status.UNKNOWN,
}
"""What does not pass on the recorded DGX H100, and the reason that is found in the recording."""


def test_the_recorded_dgx_passes_but_for_what_the_recording_shows() -> None:
    rules = [r for r in profile("h100-dgx", site=True).own if not r.across and r.planes <= {Plane.BMC, Plane.DERIVED}]
    leaves = tree_leaves(DGX)
    whole = Tree({**leaves, **derive(registry().joins, Tree(leaves))})
    found = {v.rule: v.status for v in judge(rules, whole)}
    assert len(found) > 20
    assert {r: s for r, s in found.items() if s is not Status.PASS} == WARNED


def test_no_value_missing_on_the_recorded_dgx_leaves_it_incomplete() -> None:
    missing = [r for r, found in WARNED.items() if found is not Status.NA]
    assert not [r for r in missing if rule(r).severity.decides and not rule(r).unknown_is_minor]


def test_an_older_bios_than_the_qualified_one_is_found_on_the_recorded_dgx() -> None:
    with_other = library.load("h100-dgx", CATALOGUE, SITE | {"bios_version": "1.5.3"})
    found = judge([r for r in with_other.own if r.id == "firmware.bios"], Tree(tree_leaves(DGX)))[0]
    assert found.status is Status.FAIL
    assert "1.1.3" in found.reason


def changed(change: Callable[[str, Reading], Reading | None]) -> Tree:
    """The recorded DGX with changed readings; None keeps one."""
    leaves: dict[str, Leaf] = {}
    for path, leaf in tree_leaves(DGX).items():
        other = change(path, leaf.reading)
        leaves[path] = leaf if other is None else replace(leaf, reading=other)
    return Tree(leaves)


@pytest.mark.parametrize(
    ("rule_id", "path", "reading"),
    [
        ("psu.firmware_alike", "psu/PSU3.firmware", "2.2-2.1-2.3"),
        ("fan.healthy", "fan/SPD_FAN_SYS5_F.health", "Critical"),
        ("fan.turning", "fan/SPD_FAN_SYS5_F.speed", 0.0),
        ("firmware.gpus_alike", "firmware.component/HGX_FW_GPU_SXM_4.version", "96.00.74.00.01"),
        ("firmware.gpus_alike", "firmware.component/HGX_FW_GPU_SXM_4.name", "gone"),
        ("firmware.nvswitches_alike", "firmware.component/HGX_FW_NVSwitch_2.version", "96.10.3A.00.01"),
        ("firmware.retimers_alike", "firmware.component/HGX_FW_PCIeRetimer_7.version", "2.7.19"),
        ("bmc.power_on", "bmc.system/HGX_Baseboard_0.power_state", "Off"),
        ("bmc.system_healthy", "bmc.system/DGX.health", "Critical"),
        ("bios.turbo", "bios.turbo", "disabled"),
        ("bios.none_pending", "bios.pending", ("smt",)),
    ],
)
def test_a_fault_on_the_recorded_dgx_is_found(rule_id: str, path: str, reading: Reading) -> None:
    assert path in tree_leaves(DGX)
    tree = changed(lambda at, _: reading if at == path else None)
    assert judge([rule(rule_id)], tree)[0].status is Status.FAIL


PARTS = {
    "firmware.gpus_alike": [f"HGX_FW_GPU_SXM_{n}" for n in range(1, 9)],
    "firmware.inforoms_alike": [f"HGX_InfoROM_GPU_SXM_{n}" for n in range(1, 9)],
    "firmware.nvswitches_alike": [f"HGX_FW_NVSwitch_{n}" for n in range(4)],
    "firmware.eight_retimers": [f"HGX_FW_PCIeRetimer_{n}" for n in range(8)],
    "firmware.eight_roots": [f"HGX_FW_ERoT_GPU_SXM_{n}" for n in range(1, 9)],
}
"""The parts of the board that the BMC of a DGX H100 lists, by the rule that counts them."""


@pytest.mark.parametrize(("rule_id", "part"), [(i, part) for i, parts in PARTS.items() for part in parts])
def test_a_part_of_the_board_that_the_bmc_lists_no_more_is_found_whichever_it_is(rule_id: str, part: str) -> None:
    leaves = dict(tree_leaves(DGX))
    listing = leaves["firmware.component"]
    assert isinstance(listing.reading, tuple)
    assert part in listing.reading
    leaves["firmware.component"] = replace(listing, reading=tuple(key for key in listing.reading if key != part))
    gone = {path for path in leaves if path.startswith(f"firmware.component/{part}.")}
    absent = {path: replace(leaves[path], reading=Absent("the BMC lists it no more")) for path in gone}
    assert judge([rule(rule_id)], Tree(leaves | absent))[0].status is Status.FAIL
