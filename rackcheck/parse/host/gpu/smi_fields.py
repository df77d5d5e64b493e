"""Where `nvidia-smi -q -x` prints NVML's values of one GPU, in the layouts recorded from drivers 418 to 595.

Each generation of drivers prints a different XML layout (`nvsmi_device_v11.dtd` to `v13`, and additions in between
without a new name). For each value, FIELDS lists the XML paths of all layouts; the first path that is printed is read.
"""

from collections.abc import Mapping

from rackcheck.parse.host.gpu.smi_values import Convert, number, shaped, text
from rackcheck.parse.host.gpu.smi_values import word as one_of

_COUNT = number()
_CELSIUS = number("C", signed=True)
_MHZ = number("MHz")
_MIB = number("MiB", 1 << 20)
_MICROSECONDS = number("us", 1000)
_MILLIWATTS = number("W", 1000)
_PERCENT = number("%")
_BANKS = number("bank(s)")
_ENABLED = one_of(disabled=0, enabled=1)
_YES = one_of(no=0, yes=1)

FIELDS: Mapping[str, tuple[Convert, str]] = {
    "name": (text, "product_name"),
    "brand": (text, "product_brand"),
    "architecture": (text, "product_architecture"),
    "uuid": (text, "uuid"),
    "serial": (text, "serial"),
    "pci": (text, "pci/pci_bus_id"),
    "minor": (_COUNT, "minor_number"),
    "vbios": (text, "vbios_version"),
    "board_id": (shaped("0x([0-9a-fA-F]{1,8})", 16), "board_id"),
    "board_part_number": (text, "board_part_number"),
    "gpu_part_number": (text, "gpu_part_number"),
    "module_id": (_COUNT, "platformInfo/module_id gpu_module_id"),
    "chassis_serial": (text, "platformInfo/chassis_serial_number"),
    "slot": (_COUNT, "platformInfo/slot_number"),
    "tray": (_COUNT, "platformInfo/tray_index"),
    "host": (_COUNT, "platformInfo/host_id"),
    "peer_type": (text, "platformInfo/peer_type"),
    "fabric_guid": (text, "platformInfo/gpu_fabric_guid"),
    "inforom_image": (text, "inforom_version/img_version"),
    "inforom_oem": (text, "inforom_version/oem_object"),
    "inforom_ecc": (text, "inforom_version/ecc_object"),
    "inforom_power": (text, "inforom_version/pwr_object"),
    "gsp_version": (text, "gsp_firmware_version"),
    "persistence": (_ENABLED, "persistence_mode"),
    "display_mode": (_ENABLED, "display_mode"),
    "display_active": (_ENABLED, "display_active"),
    "accounting": (_ENABLED, "accounting_mode"),
    "addressing": (text, "addressing_mode"),
    "c2c": (_ENABLED, "c2c_mode"),
    "compute_mode": (one_of(default=0, exclusive_thread=1, prohibited=2, exclusive_process=3), "compute_mode"),
    "virtualization": (
        one_of(none=0, pass_through=1, vgpu=2, host_vgpu=3, host_vsga=4),
        "gpu_virtualization_mode/virtualization_mode",
    ),
    "recovery_action": (one_of(none=0, reset=1, reboot=2, drain_p2p=3, drain_and_reset=4), "gpu_recovery_action"),
    "reset_required": (_YES, "gpu_reset_status/reset_required"),
    "drain_and_reset_recommended": (_YES, "gpu_reset_status/drain_and_reset_recommended"),
    "mig": (_ENABLED, "mig_mode/current_mig"),
    "mig_pending": (_ENABLED, "mig_mode/pending_mig"),
    "memory": (_MIB, "fb_memory_usage/total"),
    "memory_reserved": (_MIB, "fb_memory_usage/reserved"),
    "memory_used": (_MIB, "fb_memory_usage/used"),
    "bar1": (_MIB, "bar1_memory_usage/total"),
    "bar1_used": (_MIB, "bar1_memory_usage/used"),
    "cc_memory": (_MIB, "cc_protected_memory_usage/total"),
    "ecc": (_ENABLED, "ecc_mode/current_ecc"),
    "ecc_pending": (_ENABLED, "ecc_mode/pending_ecc"),
    "ecc_sram_threshold_exceeded": (_YES, "ecc_errors/aggregate/sram_threshold_exceeded"),
    "channel_repair_pending": (_YES, "ecc_errors/channel_repair_pending"),
    "tpc_repair_pending": (_YES, "ecc_errors/tpc_repair_pending"),
    "unrepairable": (_YES, "ecc_errors/unrepairable_memory"),
    "retired_single": (_COUNT, "retired_pages/multiple_single_bit_retirement/retired_count"),
    "retired_double": (_COUNT, "retired_pages/double_bit_retirement/retired_count"),
    "retired_pending": (_YES, "retired_pages/pending_retirement retired_pages/pending_blacklist"),
    "remap_corrected": (_COUNT, "remapped_rows/remapped_row_corr"),
    "remap_uncorrected": (_COUNT, "remapped_rows/remapped_row_unc"),
    "remap_pending": (_YES, "remapped_rows/remapped_row_pending"),
    "remap_failed": (_YES, "remapped_rows/remapped_row_failure"),
    "temperature": (_CELSIUS, "temperature/gpu_temp"),
    "temperature_memory": (_CELSIUS, "temperature/memory_temp"),
    "temperature_margin": (_CELSIUS, "temperature/gpu_temp_tlimit"),
    "temperature_shutdown": (_CELSIUS, "temperature/gpu_temp_max_threshold"),
    "temperature_slowdown": (_CELSIUS, "temperature/gpu_temp_slow_threshold"),
    "temperature_max_operating": (_CELSIUS, "temperature/gpu_temp_max_gpu_threshold"),
    "temperature_memory_max": (_CELSIUS, "temperature/gpu_temp_max_mem_threshold"),
    "temperature_target": (_CELSIUS, "temperature/gpu_target_temperature"),
    "margin_shutdown": (_CELSIUS, "temperature/gpu_temp_max_tlimit_threshold"),
    "margin_slowdown": (_CELSIUS, "temperature/gpu_temp_slow_tlimit_threshold"),
    "margin_max_operating": (_CELSIUS, "temperature/gpu_temp_max_gpu_tlimit_threshold"),
    "margin_memory_max": (_CELSIUS, "temperature/gpu_temp_max_mem_tlimit_threshold"),
    "fan": (_PERCENT, "fan_speed"),
    "pstate": (shaped("P([0-9]{1,2})"), "performance_state"),
    "utilization": (_PERCENT, "utilization/gpu_util"),
    "utilization_memory": (_PERCENT, "utilization/memory_util"),
    # The limit that was set is called requested; the current limit is the enforced one, and may be lower.
    "power_limit": (_MILLIWATTS, "gpu_power_readings/requested_power_limit power_readings/power_limit"),
    "power_enforced": (_MILLIWATTS, "gpu_power_readings/current_power_limit power_readings/enforced_power_limit"),
    "power_usage": (
        _MILLIWATTS,
        "gpu_power_readings/instant_power_draw gpu_power_readings/power_draw power_readings/power_draw",
    ),
    "power_average": (_MILLIWATTS, "gpu_power_readings/average_power_draw"),
    **{
        f"power_{name}": (_MILLIWATTS, f"gpu_power_readings/{name}_power_limit power_readings/{name}_power_limit")
        for name in ("default", "min", "max")
    },
    "module_power_limit": (_MILLIWATTS, "module_power_readings/current_power_limit"),
    "module_power_usage": (
        _MILLIWATTS,
        "module_power_readings/instant_power_draw module_power_readings/power_draw",
    ),
    "module_power_average": (_MILLIWATTS, "module_power_readings/average_power_draw"),
    **{
        f"module_power_{name}": (_MILLIWATTS, f"module_power_readings/{name}_power_limit")
        for name in ("default", "min", "max")
    },
    "power_memory": (_MILLIWATTS, "gpu_memory_power_readings/average_power_draw"),
    "link_generation": (_COUNT, "pci/pci_gpu_link_info/pcie_gen/current_link_gen"),
    "link_max_generation": (_COUNT, "pci/pci_gpu_link_info/pcie_gen/max_link_gen"),
    "link_device_generation": (_COUNT, "pci/pci_gpu_link_info/pcie_gen/device_current_link_gen"),
    "link_device_max_generation": (_COUNT, "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen"),
    "link_host_max_generation": (_COUNT, "pci/pci_gpu_link_info/pcie_gen/max_host_link_gen"),
    "link_width": (shaped("([0-9]{1,3})x"), "pci/pci_gpu_link_info/link_widths/current_link_width"),
    "link_max_width": (shaped("([0-9]{1,3})x"), "pci/pci_gpu_link_info/link_widths/max_link_width"),
    "pcie_replay": (_COUNT, "pci/replay_counter"),
    "pcie_replay_rollover": (_COUNT, "pci/replay_rollover_counter"),
    **{
        f"{prefix}{key}": (_MHZ, f"{section}/{name}_clock")
        for prefix, section, names in (
            ("clock_", "clocks", {"graphics": "graphics", "sm": "sm", "memory": "mem", "video": "video"}),
            ("app_", "applications_clocks", {"graphics": "graphics", "memory": "mem"}),
            ("default_app_", "default_applications_clocks", {"graphics": "graphics", "memory": "mem"}),
        )
        for key, name in names.items()
    },
    **{
        f"{key}_max": (_MHZ, f"max_clocks/{name}_clock")
        for key, name in (("graphics", "graphics"), ("sm", "sm"), ("memory", "mem"), ("video", "video"))
    },
    **{
        f"remap_{name}": (_BANKS, f"remapped_rows/row_remapper_histogram/row_remapper_histogram_{name}")
        for name in ("max", "high", "partial", "low", "none")
    },
    **{
        f"ecc_sram_source_{key}": (_COUNT, f"ecc_errors/aggregate_uncorrectable_sram_sources/sram_{name}")
        for key, name in (
            ("l2", "l2"), ("sm", "sm"), ("microcontroller", "microcontroller"), ("pcie", "pcie"), ("other", "other")
        )
    },
    **{
        f"violation_{key}_ns": (_MICROSECONDS, f"clocks_event_reasons_counters/clocks_event_reasons_counters_{name}")
        for key, name in (
            ("power", "sw_power_cap"), ("sync_boost", "sync_boost"), ("thermal", "sw_therm_slowdown"),
            ("hw_thermal", "hw_therm_slowdown"), ("hw_brake", "hw_power_brake"),
        )
    },
}  # fmt: skip
"""For each value of a GPU: the function that reads its text, and its XML paths in all layouts, separated by blanks."""
