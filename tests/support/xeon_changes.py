"""Changes of an untuned Xeon server, with what each costs."""

from collections.abc import Mapping

CHANGES: Mapping[str, tuple[str, str, str]] = {
    "bios.power_profile": ("SysProfile", "PerfPerWattOptimizedDapc", "performance-per-watt"),
    "bios.p_state_control": ("ProcPwrPerf", "OsDbpm", "os"),
    "bios.turbo": ("ProcTurboMode", "Disabled", "disabled"),
    "bios.energy_bias": ("EnergyPerformanceBias", "BalancedEfficiency", "balanced-power"),
    "bios.uncore_frequency": ("UncoreFrequency", "DynamicUFS", "enabled"),
    "bios.upi_link_power": ("CpuInterconnectBusLinkPower", "Enabled", "enabled"),
    "bios.c_states": ("ProcCStates", "Autonomous", "enabled"),
    "bios.c1e": ("ProcC1E", "Enabled", "enabled"),
    "bios.pcie_aspm": ("PcieAspmL1", "Enabled", "enabled"),
    "bios.smt": ("LogicalProc", "Disabled", "disabled"),
    "bios.hardware_prefetcher": ("ProcHwPrefetcher", "Disabled", "disabled"),
    "bios.adjacent_line_prefetch": ("ProcAdjCacheLine", "Disabled", "disabled"),
    "bios.dcu_streamer_prefetch": ("DcuStreamerPrefetcher", "Disabled", "disabled"),
    "bios.dcu_ip_prefetch": ("DcuIpPrefetcher", "Disabled", "disabled"),
    "bios.memory_speed": ("MemFrequency", "2666", "2666"),
    "bios.node_interleave": ("NodeInterleave", "Enabled", "enabled"),
    "bios.snc": ("SubNumaCluster", "2-Way", "2"),
    "bios.upi_prefetch": ("UpiPrefetch", "Disabled", "disabled"),
    "bios.patrol_scrub": ("MemPatrolScrub", "Extended", "extended"),
    "bios.memory_encryption": ("MemoryEncryption", "SingleKey", "enabled"),
    "bios.sgx": ("IntelSgx", "On", "enabled"),
    "bios.above_4g": ("MmioAbove4Gb", "Disabled", "disabled"),
    "bios.sr_iov": ("SriovGlobalEnable", "Disabled", "disabled"),
}
"""By rule: the BIOS attribute of the setting, a value that breaks the rule, and our word for that value."""
