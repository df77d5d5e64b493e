"""From a rule back to the source of its threshold: each rule cites a source, and a row of the base of facts cites it.

`test_fact_rows.py` goes from rows to rules. Here every rule of every shipped profile that holds a threshold (a number, a
quantity, a version, a fixed word) is followed the other way. Rules that no row cites are listed below with a reason; a
reason that does not fit the rule is refused.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest
from fact_tables import SHIPPED, TABLES, cited, covered, rules
from makers_checks import checks
from recordings import shared

from rackcheck.model.operator import Mask, Within
from rackcheck.model.path import Path
from rackcheck.model.profile import Rule

Figure = float | str
Key = tuple[object, ...]

EXAMPLE = "example-site"
"""The profile that shows how a site overrides our figures with its own."""


def figures(rule: Rule) -> Iterator[Figure]:
    """The operands of a rule, without other facts, booleans, presence and empty lists."""
    for test in (test for clause in rule.clauses for test in clause.tests):
        match test.operand:
            case bool() | Path():
                continue
            case Within(of, by, _):
                yield from (of, by)
            case Mask(_, wanted):
                yield float(wanted)
            case tuple() as several:
                yield from (each for each in several if isinstance(each, (str, float, int)))
            case int() | float() | str() as one:
                yield one
    if rule.look is not None:
        yield from (n for n in (rule.look.expect_count, rule.look.allow_failing or None) if n is not None)
    if rule.across is not None:
        yield rule.across.quorum


def asks(rule: Rule) -> Key:
    """A key that is equal for equal thresholds: an overlay that states the same in another way adds no new one."""
    return (rule.id, rule.clauses, rule.look, rule.across)


@cache
def thresholds() -> Mapping[Key, tuple[Rule, tuple[str, ...]]]:
    """Every rule that holds a threshold, once, with the profiles that have it."""
    found: dict[Key, tuple[Rule, tuple[str, ...]]] = {}
    for name in SHIPPED:
        for rule in rules(name).values():
            if any(True for _ in figures(rule)):
                first, names = found.get(asks(rule), (rule, ()))
                found[asks(rule)] = (first, (*names, name))
    return found


@cache
def in_rows() -> frozenset[Key]:
    """The rules that rows of the base cite."""
    return frozenset(asks(rule) for table in TABLES for row in covered(table) for rule in cited(row))


def none_of_it(rule: Rule, _: tuple[str, ...]) -> bool:
    """Counts what must not exist, or must exist at all: its only figures are 0 and 1."""
    return all(figure in {0, 1} for figure in figures(rule))


def a_word_of_its_state(rule: Rule, _: tuple[str, ...]) -> bool:
    """Names a state that the interface itself defines as good or bad."""
    return all(isinstance(figure, str) for figure in figures(rule))


def a_count_or_a_word(rule: Rule, _: tuple[str, ...]) -> bool:
    """Counts what must not exist, and names states that the interface itself defines as bad."""
    return all(isinstance(figure, str) or figure in {0, 1} for figure in figures(rule))


def a_vote(rule: Rule, _: tuple[str, ...]) -> bool:
    """Compares nodes with one another, by the one share that all such rules have."""
    return rule.across is not None and rule.across.quorum == 75


def of_a_recorded_machine(rule: Rule, _: tuple[str, ...]) -> bool:
    """States exactly what a completely recorded machine shows."""
    return any(ref.endswith(".capture") for ref in rule.refs)


def our_own_choice(rule: Rule, _: tuple[str, ...]) -> bool:
    """States itself that the figure is our choice; such a rule may be minor at most."""
    return "rackcheck.choice" in rule.refs and rule.severity.value in {"minor", "advisory"}


def of_an_example(_: Rule, names: tuple[str, ...]) -> bool:
    """Is a placeholder for a site's figure, in the profile that shows how a site sets its own."""
    return names == (EXAMPLE,)


def of_a_published_check(rule: Rule, _: tuple[str, ...]) -> bool:
    """States the figures of a maker's check, whose row in makers-checks.csv has them."""
    rows = [row.condition for row in checks() if rule.id in row.rules]
    return any(all(f"{figure:g}" in row for figure in figures(rule) if isinstance(figure, float | int)) for row in rows)


def of_a_table_in_a_row(rule: Rule, _: tuple[str, ...]) -> bool:
    """Lists the PCI buses whose interfaces a row names by their decimal numbers."""
    with shared("../facts/systems.csv").open(encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if row["area"] == "DGX H100" and "ibp" in " ".join(row.values())]
    named = {int(bus) for row in rows for bus in re.findall(r"ibp(\d+)s0", " ".join(row.values()))}
    return {int(bus, 16) for bus in re.findall(r"0000:(..):00\.0", str(list(figures(rule))))} == named


def from_memory(rule: Rule, _: tuple[str, ...]) -> bool:
    """Is known from memory alone, so it only warns."""
    return rule.from_memory


def of_a_tuned_machine(rule: Rule, _: tuple[str, ...]) -> bool:
    """States what a tuned machine shows, whose observed attributes are in the base of facts."""
    with shared("../facts/bios_attributes_observed.csv").open(encoding="utf-8", newline="") as opened:
        seen = {
            row["attribute"]: row["observed_value"].lower()
            for row in csv.DictReader(opened)
            if row["capture"] == "dell"
        }
    return all(seen.get(OBSERVED[rule.id]) == figure for figure in figures(rule))


def parts_two_states(rule: Rule, _: tuple[str, ...]) -> bool:
    """Distinguishes two physically distant states of one part, as its comment states."""
    return rule.refs == ("rackcheck.derived",) and rule.phase.value == "burn-in"


def by_the_params_of_another(rule: Rule, names: tuple[str, ...]) -> bool:
    """Uses the site's figures of a rule that a row cites."""
    other = rules(names[0])[TWIN[rule.id]]
    return asks(other) in in_rows() and list(figures(rule)) == list(figures(other))


def the_bound_of_another(rule: Rule, names: tuple[str, ...]) -> bool:
    """Applies the bound of a rule that a row cites to the parts of its sum, or to another count of the same events."""
    other = rules(names[0])[BOUND[rule.id]]
    return asks(other) in in_rows() and set(figures(rule)) <= set(figures(other))


def of_the_diagnostics(rule: Rule, _: tuple[str, ...]) -> bool:
    """Applies the limits of the InfiniBand diagnostics, for the counters that they name or that count the same way."""
    return "ib-diags.thresholds" in rule.refs and set(figures(rule)) <= {10, 100}


def of_the_clock_service(rule: Rule, _: tuple[str, ...]) -> bool:
    """States the offset, in seconds, from which NTP sets a clock instead of slewing it, or Kerberos refuses it."""
    return (rule.refs[0], *figures(rule)) in {("ntp.step", 0, 0.128), ("kerberos.skew", 0, 300)}


def of_a_monitor(rule: Rule, _: tuple[str, ...]) -> bool:
    """States how many errors mcelog allows the memory of a socket in a day, or how many replays DCGM allows a link a minute."""
    return (rule.refs[0], *figures(rule)) in {("mcelog.config", 100), ("dcgm.health", 31)}


def of_the_xid_catalogue(rule: Rule, _: tuple[str, ...]) -> bool:
    """Names the Xids, or the actions for them, of NVIDIA's catalogue."""
    return "gpud.xid" in rule.refs


def of_a_part_in_a_row(_: Rule, names: tuple[str, ...]) -> bool:
    """Gives the name of the part that another rule of the profile counts by the PCI id of a row."""
    return all(asks(rules(name)["gpu.on_bus"]) in in_rows() for name in names)


OBSERVED = {"bios.node_interleave": "NodeInterleave", "bios.upi_prefetch": "UpiPrefetch"}
TWIN = {"mount.inodes": "mount.space"}
BOUND = {
    "gpu.sram_kinds": "gpu.sram_uncorrected",
    "gpu.sram_sources": "gpu.sram_uncorrected",
    "gpu.dram_uncorrected": "gpu.rows_remapped",
    "limits.slurmd_locked_memory": "limits.services_locked_memory",
}


WITHOUT_A_ROW: Mapping[Callable[[Rule, tuple[str, ...]], bool], str] = {
    parts_two_states: """
        burnin.gpu_work_alike burnin.gpu_clock burnin.gpu_memory_rate burnin.gpu_memory_limit burnin.gpu_host_rate
        burnin.gpu_tensor_limit
        burnin.gpu_host_limit burnin.gpu_peer_rate burnin.gpu_pair_rate burnin.gpu_pair_limit burnin.gpu_rate_alike
        burnin.gpu_power_alike
    """,
    none_of_it: """
        kernel.no_machine_check kernel.no_oops kernel.no_lockup cpu.all_online memory.none_broken memory.no_uncorrected
        memory.no_corrected gpu.present log.no_fatal_sxid log.no_sxid log.no_oom nvme.no_warning nvme.no_media_error
        nvme.not_too_hot log.no_nvme_timeout gpu.no_uncorrected gpu.no_bad_pages_failed log.no_gpu_reset
        log.no_gpu_reset_failed slurm.controllers fan.turning k8s.forwards k8s.bridged_traffic burnin.readable
        burnin.amx_correct burnin.cpu_correct burnin.disk_correct burnin.gpu_correct burnin.no_uncorrected burnin.no_remap burnin.no_failed_remap burnin.no_corrected burnin.no_replay
        memory.blocks_online bond.members_aggregated log.firmware_corrected storage.raid_consistent nvme.cool slurm.counts_gpus burnin.cublas_exact os.no_stuck_processes
        burnin.no_nvlink_errors burnin.no_xid burnin.all_reduce_correct burnin.disk_readable
        burnin.gpu_stays_cool burnin.amd_uncorrected burnin.amd_deferred burnin.amd_no_replay
        log.no_pcie_error log.no_pcie_loss pcie.no_uncorrected log.no_machine_check cpu.no_machine_check
        cpu.no_deferred_error log.no_memory_error memory.no_uncorrected_module log.no_firmware_error log.no_overheating
        log.no_throttling cpu.no_throttling log.no_disk_error log.no_filesystem_error log.no_raid_failure
        storage.raid_parity nvme.smart_passed nvme.self_tests_passed log.no_stall log.no_kernel_fault
        kernel.no_fault_counted kernel.no_lockup_counted log.no_fault_before log.no_nic_failure log.no_tx_timeout
        log.no_lost_lock log.no_full_table burnin.nic_no_errors log.no_lost_gpu log.no_fabric_fault gpu.smi_succeeds
        gpu.no_uncorrected_dram gpu.no_uncorrected_sram gpu.no_uncorrected_parity gpu.no_link_error nvlink.recovered
        gpu.no_deferred gpu.blocks_sound log.no_gpu_error
        log.no_disabled_interrupt log.clock_stable log.no_iommu_fault_of_jobs log.no_iommu_fault pcie.not_limited
        log.no_nvlink_failure log.no_assertion log.no_fabric_failure gpu.never_slowed gpu.unused
    """,
    a_word_of_its_state: """
        burnin.core_rate burnin.gpu_work_best burnin.gpu_alike burnin.gpu_work burnin.gpu_rate burnin.gpu_heat
        burnin.gpu_memory_best burnin.gpu_host_best burnin.gpu_peer_best burnin.gpu_rate_best burnin.gpu_power_best
        burnin.dcgm_quiet burnin.copies_whole burnin.stress burnin.transfers_whole burnin.hl_qual
        mount.raid fabric.manager_at_boot bmc.power_on bmc.system_healthy bmc.healthy psu.healthy fan.healthy
        fan.enabled security.identity_proven security.no_lasting_override nvme.live imex.domain_up shelf.kind
        shelf.supplies fabric.joined k8s.kubelet k8s.kubelet_at_boot k8s.runtime slurm.slurmd slurm.slurmd_at_boot
        slurm.devices_confined slurm.cores_confined slurm.memory_confined slurm.processes_tracked slurm.tasks_confined
        slurm.in_use cpu.mitigated cpu.maker storage.pools_online storage.lustre_healthy storage.gpfs_active
        bmc.processors_healthy bmc.dimms_healthy bmc.memory_healthy bmc.gpus_healthy bmc.nvswitches_healthy
        bmc.processors_in_service bmc.dimms_in_service bmc.gpus_in_service bmc.nvswitches_in_service
        bmc.cxl_memory_healthy bmc.cxl_memory_in_service
        bmc.drives_in_service psu.in_service fan.present bond.members_up
        bmc.drives_healthy psu.redundant leak.detectors_healthy leak.none_reported bmc.chassis_sound bmc.managers_sound
        bmc.sensors_sound bmc.thermal_sound bmc.pcie_sound bmc.pcie_switches_sound bmc.retimers_sound bmc.nics_sound
        bmc.nic_ports_sound bmc.interfaces_sound bmc.integrity_sound bmc.tpms_sound fabric.healthy_summary firmware.components_sound
        os.started nic.link_advice nic.fec_on bmc.boot_order_kept cpu.one_microcode
        time.chrony_source time.ntpd_source nic.no_loopback slurm.registered slurm.assigned bmc.chassis_on fabric.configured bmc.nothing_critical bmc.nothing_unhealthy nic.network_ports
    """,
    a_count_or_a_word: "memory.left_for_gpus pcie.no_lane_error pcie.no_poisoned_data pcie.interrupts_near storage.raid_whole storage.pool_members_sound",
    of_the_diagnostics: """
        links.no_downs links.few_symbol_errors links.few_recoveries links.few_bad_packets links.few_dropped_packets
        links.module_clean links.few_crc_errors links.few_carrier_losses links.bonds_steady links.no_lossless_discards nvlink.few_errors
    """,
    of_the_clock_service: "time.chrony_close planes.clock_synchronized planes.clock_usable",
    of_a_monitor: "memory.few_corrected gpu.replays_since_boot",
    of_the_xid_catalogue: "log.no_fatal_xid_since_boot log.no_fatal_xid_before",
    the_bound_of_another: "gpu.sram_kinds gpu.sram_sources gpu.dram_uncorrected limits.slurmd_locked_memory",
    of_a_published_check: "log.no_long_outage gpu.power_plausible numa.all_nodes",
    a_vote: "alike.bios_settings alike.bios_settings_other alike.os alike.microcode firmware.alike switch.firmware_alike",
    of_a_recorded_machine: "bmc.gpu_count numa.two bios.virtualization firmware.eight_roots fan.count",
    our_own_choice: "burnin.gpu_heat_alike burnin.gemm_alike bmc.clock planes.clock security.certificate_valid security.certificate_digest nvme.wear "
    "os.few_stuck_processes burnin.gpu_loaded burnin.memory_covered burnin.memory_rate gpu.idle_memory gpu.idle_temperature gpu.idle_power "
    "time.chrony_error time.hardware_clock service.few_restarts nic.few_timeouts memory.huge_pages_few burnin.gpu_memory_covered",
    of_an_example: "memory.swappiness mount.space nvme.count storage.read_ahead",
    of_a_tuned_machine: "bios.node_interleave bios.upi_prefetch",
    by_the_params_of_another: "mount.inodes",
    of_a_part_in_a_row: "gpu.model",
    of_a_table_in_a_row: "nic.in_place",
    from_memory: "memory.overcommit",
}
"""Rules that no row cites, by the reason."""


def test_every_threshold_cites_a_source_that_is_listed() -> None:
    bare = [rule.place for rule, _ in thresholds().values() if not rule.refs]
    assert bare == []
    assert len(thresholds()) > 300


def test_every_threshold_stands_in_a_row_of_the_base_or_has_a_reason() -> None:
    reasoned = {rule_id for ids in WITHOUT_A_ROW.values() for rule_id in ids.split()}
    missing = [(rule.id, rule.place) for key, (rule, _) in thresholds().items() if key not in in_rows()]
    assert [place for rule_id, place in missing if rule_id not in reasoned] == []
    print(f"{len(thresholds())} thresholds, {len(thresholds()) - len(missing)} in rows, {len(missing)} with a reason")


@pytest.mark.parametrize("reason", WITHOUT_A_ROW, ids=lambda reason: reason.__name__)
def test_a_reason_fits_every_rule_that_has_it_and_no_rule_has_it_for_nothing(
    reason: Callable[[Rule, tuple[str, ...]], bool],
) -> None:
    ids = WITHOUT_A_ROW[reason].split()
    open_ = [(rule, names) for key, (rule, names) in thresholds().items() if key not in in_rows()]
    assert sorted(set(ids) - {rule.id for rule, _ in open_}) == []
    assert [rule.place for rule, names in open_ if rule.id in ids and not _fits(reason, rule, names)] == []


def _fits(reason: Callable[[Rule, tuple[str, ...]], bool], rule: Rule, names: tuple[str, ...]) -> bool:
    return reason(rule, names) or of_an_example(rule, names)


def test_no_rule_has_two_reasons_and_few_rest_on_a_source_alone() -> None:
    listed = [rule_id for ids in WITHOUT_A_ROW.values() for rule_id in ids.split()]
    assert sorted(listed) == sorted(set(listed))
