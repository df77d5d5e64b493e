"""The kind of work that fixes the finding of a rule, derived from the facts that the rule tests: a fixed table.

The table names the facts of firmware, links, parts and pending changes. The first row that matches a fact decides. A
row may be for some classes of facts only: a counter or a measurement of a part is a sign of damage, while its settings
are set by a person. A fact without a row is left to a person. The text of a rule's `fix` plays no role.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rackcheck.model.fact import Class
from rackcheck.model.path import BadPath, Path, parse
from rackcheck.model.profile import Rule
from rackcheck.remedy.fixes import whole
from rackcheck.remedy.tunables import known


class Work(StrEnum):
    """What a person does about a finding."""

    SETTING = "setting"
    FIRMWARE = "firmware"
    POWER = "power-cycle"
    CABLE = "cable"
    PART = "part"
    HAND = "by-hand"


ORDER = (Work.PART, Work.CABLE, Work.FIRMWARE, Work.POWER, Work.SETTING, Work.HAND)
"""If the facts of a rule are of several kinds, the first of these kinds is that of the rule."""

ANY: frozenset[Class] = frozenset(Class)
SIGNS = frozenset({Class.COUNTER, Class.MEASUREMENT, Class.IDENTITY})
"""Classes of the facts of a part that no setting changes."""


@dataclass(frozen=True, slots=True)
class Row:
    """The kind of work for facts: patterns of facts or collections, where `.**` stands for all facts below."""

    work: Work
    patterns: tuple[str, ...]
    classes: frozenset[Class] = ANY

    def matches(self, pattern: str, cls: Class) -> bool:
        """Whether the row is for a fact, or for a collection that is counted."""
        return cls in self.classes and any(_same(each, pattern) for each in self.patterns)


def _same(row: str, pattern: str) -> bool:
    return pattern.startswith(row[:-2]) if row.endswith(".**") else pattern == row


def _below(item: str, *facts: str) -> tuple[str, ...]:
    return tuple(f"{item}.{fact}" for fact in facts)


BMC_PARTS = (
    "bmc.chassis", "bmc.cpu", "bmc.cxl_memory", "bmc.dimm", "bmc.drive", "bmc.gpu", "bmc.nic", "bmc.nvswitch",
    "bmc.pcie", "bmc.pcie_switch", "bmc.retimer", "bmc.unhealthy", "fan", "psu", "psu.redundancy",
)  # fmt: skip
"""Collections of parts of which the BMC reports health and state."""

TABLE = (
    Row(Work.POWER, (
        "bios.pending", "gpu/*.ecc.pending", "gpu/*.remap.pending", "gpu/*.retired.pending", "gpu/*.repair.**",
        "gpu/*.recovery_action", "log.xid/*.recovery", "gpu.amd/*.bad_pages.pending", "bmc.gpu/*.remap_pending",
        "burnin.gpu/*.moved.remap_pending", "nic.adapter/*.config_waiting", "nvme/*.firmware_pending",
    )),
    Row(Work.FIRMWARE, (
        "firmware.**", "gpu/*.vbios", "gpu.amd/*.vbios", "gpu/*.inforom.image", "gpu.amd/*.firmware/*.version",
        "nic/*.firmware", "nic.adapter/*.module.firmware", "psu/*.firmware", "bmc.nvswitch/*.firmware",
        "cpu.microcode", "rack.alike.**",
    ), frozenset({Class.VERSION})),
    Row(Work.FIRMWARE, ("psu/*.firmware_unlike/*.value",)),
    Row(Work.CABLE, (
        "nic/*.port", *_below("nic/*.port/*", "physical", "state", "rate", "width", "active_rate"),
        *_below("nic/*.port/*.counter", "symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
                "local_link_integrity_errors", "excessive_buffer_overrun_errors"),
        *_below("nic.adapter/*.link", "effective_ber", "raw_ber", "advice", "downs", "recoveries", "symbol_errors"),
        *_below("nic.adapter/*.module", "weak_lanes", "temperature"),
        *_below("nic.interface/*", "carrier", "carrier_losses", "speed", "module.weak_lanes", "counter.rx_crc_errors",
                "counter.rx_frame_errors", "counter.tx_carrier_errors"),
        *_below("nic.bond/*.member/*", "state", "failures"), *_below("bmc.nic/*.port/*", "health", "state"),
        *_below("bmc.interface/*", "health", "state"), *_below("burnin.nic/*", "moved.symbol_errors", "stayed"),
        "log.kernel.netdev/*.longest_outage", "fleet.cables.misplaced",
    )),
    # Heat, load, the NVLink fabric and settings that differ are no sign of a faulty part by themselves.
    Row(Work.HAND, (
        *_below("gpu/*", "unlike/*.value", "memory.used", "processes", "margin", "beyond", "temperature",
                "temperature_memory", "clock.memory", "clock.event_reasons", "clock.limited_for.**", "fabric.**",
                "power.enforced", "nearest_nic_redirects"),
        "gpu.amd/*.memory.used", "nvme/*.unlike/*.value", *_below("nvme/*.health", "time_too_hot", "time_critical"),
        *_below("burnin.gpu/*", "unguarded", "tensor.of_limit", "memory.coverage", "heat.below_slowdown", "throttled"),
        "bmc.gpu/*.power.peak_share", "pcie/*.unlike/*.value", "pcie/*.irq.**", "pcie/*.class",
    )),
    Row(Work.PART, (
        "gpu", "gpu.amd", "pcie", "nic", "nvme", "fan", "psu", "bmc.nic", "burnin.gpu", "log.xid", "log.sxid",
        *(f"{each}/*.{fact}" for each in BMC_PARTS for fact in ("health", "state")),
        "bmc.memory.health", "bmc.gpu.count", "bmc.drive/*.failure_predicted", "bmc.dimm/*.size", "pcie.nics",
        *_below("gpu/*", "link.width", "path.**", "memory.total", "nvlinks_active", "nvlink/*.speed"),
        *_below("nic/*", "path.narrowed", "path.slowed"), *_below("pcie/*", "link.width", "link.speed", "link.limited"),
        *_below("nvme/*", "state", "namespace/*.read_only"), "driver.gpus_missing",
        *_below("gpu.amd/*", "memory.total", "xgmi.peers"), "pcie/*.driver",
        *_below("dimm/*", "ecc", "rank", "size", "speed.configured"),
        *_below("psu/*", "capacity", "capacity_unlike/*.value", "unlike/*.value"),
        *_below("memory", "total", "installed", "dimm_count", "corrupted"), "numa.node/*.memory", "cpu.sockets",
        *_below("bmc.differs.gpu", "listed", "pcie_width"),
    )),
    Row(Work.PART, (
        *_below("gpu/*", "**"), *_below("gpu.amd/*", "**"), *_below("bmc.gpu/*", "**"), *_below("nvme/*", "**"),
        *_below("dimm/*", "**"), *_below("fan/*", "**"), *_below("pcie/*", "**"), *_below("memory.controller/*", "**"),
        *_below("burnin.gpu/*", "**"), *_below("burnin.cublas.gpu/*", "**"), *_below("burnin.rocblas.gpu/*", "**"),
        *_below("burnin.amd_counters.gpu/*", "**"), *_below("burnin.core/*", "**"), *_below("burnin.cpu", "odd"),
        *_below("burnin.cpu", "mismatches"), "burnin.memory/*.among.rate", "burnin.disk/*.mismatches",
        "burnin.fio.disk/*.error", "cpu.mce.**", "log.xid/*.**", "log.boot.xid/*.**", "log.sxid/*.**",
        "log.previous_boot.xids", "log.kernel.nvidia.fallen_off", "log.kernel.nvidia.init_failures",
        "log.kernel.nvidia.reset_required", "log.kernel.nvidia.nvlink_errors", "log.kernel.aer/*.**",
        "log.kernel.pcie/*.**", "log.kernel.nvme/*.**", "log.kernel.disk/*.**", "log.kernel.mlx5/*.**",
        "log.kernel.amdgpu/*.**", "log.kernel.mce.**", "log.kernel.edac.**", "log.kernel.firmware_error.**",
    ), SIGNS),
    Row(Work.SETTING, ("bios.**",)),
)  # fmt: skip
"""The kinds of work by facts; the first row that matches decides."""


LINKS = (("nic.interface/*.unlike/*.value", "speed"), ("nic/*.port/*.unlike/*.value", "width"))
"""Settings of a port that its cable decides, among those in which it differs from most ports: pattern and setting."""


def is_of_link(item: str) -> bool:
    """Whether a piece of evidence is about the speed or the width of a port, in which it differs from most ports."""
    try:
        path = parse(item)
    except BadPath:
        return False
    keys = [each.key for each in path.segments if each.key]
    return bool(keys) and (str(path.pattern), keys[-1]) in LINKS


def names_links(rule: Rule) -> bool:
    """Whether a finding of a rule may be about the cable of a port."""
    patterns = {str(whole(rule, clause).pattern) for clause in rule.clauses} if rule.called is None else set()
    return work_of(rule) is Work.CABLE or any(pattern in patterns for pattern, _ in LINKS)


@cache
def _of(fact: Path, cls: Class) -> Work:
    pattern = str(fact.pattern)
    row = next((row for row in TABLE if row.matches(pattern, cls)), None)
    if row is not None:
        return row.work
    return Work.SETTING if known(fact) else Work.HAND


def work_of(rule: Rule) -> Work:
    """Return the kind of work for the findings of a rule; a rule written in Python is left to a person."""
    found = set() if rule.called is not None else set(_kinds(rule))
    return next((work for work in ORDER if work in found), Work.HAND)


def _kinds(rule: Rule) -> Iterator[Work]:
    if rule.across is not None:
        yield from (_of(each.fact, each.kind.cls) for each in rule.across.shared)
    elif rule.look is not None and rule.look.mode == "count":
        yield _of(rule.look.collection, Class.CONFIG)
    else:
        yield from (_of(whole(rule, clause), clause.kind.cls) for clause in rule.clauses)


def needs_reboot(rule: Rule) -> bool:
    """Whether a setting that a rule tests takes effect only after a reboot: of the BIOS or the kernel's start."""
    return work_of(rule) is Work.SETTING and any(c.fact.segments[0].word in {"bios", "cmdline"} for c in rule.clauses)
