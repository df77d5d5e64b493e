"""`nvidia-smi -q -x` for machines without a GPU: prints the fake driver's state file in the tool's format.

The format is that of driver 580. A number is printed in the tool's unit, an unsupported value as N/A, another refusal
as NVML's text for it.
"""

import os
import sys
from pathlib import Path
from typing import Any

ERRORS = {
    3: "N/A",
    4: "Insufficient Permissions",
    13: "Function Not Found",
    15: "GPU is lost",
    18: "RM has detected an NVML/RM version mismatch.",
    26: "Requested functionality has been deprecated",
    999: "Unknown Error",
}
STATE = dict(line.split("=", 1) for line in Path(os.environ["FAKE_NVML_STATE"]).read_text().splitlines() if line)


def state_value(gpu: int, key: str) -> str:
    """A GPU's value in the state file; a refusal is `!N`."""
    return STATE.get(f"{gpu}.{key}", STATE.get(f"*.{key}", "!3"))


def scaled(unit: str, by: float = 1, places: int = 0) -> object:
    """Print a number in a larger unit."""
    return lambda text: f"{int(text) / by:.{places}f} {unit}".rstrip()


def words(*given: str) -> object:
    """Return the word for a number."""
    return lambda text: given[int(text)]


def plain(text: str) -> str:
    """Return the text unchanged."""
    return text


ONOFF, YESNO, MIB = words("Disabled", "Enabled"), words("No", "Yes"), scaled("MiB", 1 << 20)
WATTS, MHZ, DEGREES, PERCENT = scaled("W", 1000, 2), scaled("MHz"), scaled("C"), scaled("%")
TIME = scaled("us", 1000)
LIMITS = {"default": "default", "min": "min", "max": "max"}
REASONS = (
    "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal_slowdown",
    "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clocks_setting",
)  # fmt: skip


def bit(number: int) -> object:
    """Print one reason of the mask."""
    return lambda text: "Active" if int(text) >> number & 1 else "Not Active"


def health(shift: int, width: int, *given: str) -> object:
    """Print one part of the fabric's health."""
    return lambda text: given[int(text) >> shift & width]


TRUTH = ("N/A", "True", "False")
GPU = {
    "product_name": ("name", plain),
    "product_architecture": ("architecture", lambda t: {"7": "Ampere", "9": "Hopper", "10": "Blackwell"}[t]),
    "display_active": ("display_active", ONOFF),
    "persistence_mode": ("persistence", ONOFF),
    "addressing_mode": ("addressing", words("None", "HMM", "ATS")),
    "mig_mode": {"current_mig": ("mig", ONOFF), "pending_mig": ("mig_pending", ONOFF)},
    "mig_devices": "instances",
    "accounting_mode": ("accounting", ONOFF),
    "serial": ("serial", plain),
    "uuid": ("uuid", plain),
    "minor_number": ("minor", plain),
    "vbios_version": ("vbios", plain),
    "board_id": ("board_id", lambda t: hex(int(t))),
    "board_part_number": ("board_part_number", plain),
    "platformInfo": {"module_id": ("module_id", plain)},
    "inforom_version": {
        "img_version": ("inforom_image", plain),
        "oem_object": ("inforom_oem", plain),
        "ecc_object": ("inforom_ecc", plain),
        "pwr_object": ("inforom_power", plain),
    },
    "gpu_virtualization_mode": {
        "virtualization_mode": ("virtualization", words("None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"))
    },
    "gpu_recovery_action": ("recovery_action", words("None", "Reset", "Reboot", "Drain P2P", "Drain and Reset")),
    "gsp_firmware_version": ("gsp_version", plain),
    "pci": {
        "pci_bus_id": ("pci", plain),
        "pci_gpu_link_info": {
            "pcie_gen": {
                "max_link_gen": ("link_max_generation", plain),
                "current_link_gen": ("link_generation", plain),
                "max_device_link_gen": ("link_device_max_generation", plain),
            },
            "link_widths": {
                "max_link_width": ("link_max_width", lambda t: f"{t}x"),
                "current_link_width": ("link_width", lambda t: f"{t}x"),
            },
        },
        "replay_counter": ("pcie_replay", plain),
        "replay_rollover_counter": ("pcie_replay_rollover", plain),
    },
    "fan_speed": ("fan", PERCENT),
    "performance_state": ("pstate", lambda t: f"P{t}"),
    "clocks_event_reasons": {f"clocks_event_reason_{name}": ("reasons", bit(n)) for n, name in enumerate(REASONS)},
    "clocks_event_reasons_counters": {
        f"clocks_event_reasons_counters_{name}": (f"violation_{key}_ns", TIME)
        for name, key in (
            ("sw_power_cap", "power"), ("sync_boost", "sync_boost"), ("sw_therm_slowdown", "thermal"),
            ("hw_therm_slowdown", "hw_thermal"), ("hw_power_brake", "hw_brake"),
        )
    },
    "fb_memory_usage": {"total": ("memory", MIB), "reserved": ("memory_reserved", MIB), "used": ("memory_used", MIB)},
    "bar1_memory_usage": {"total": ("bar1", MIB), "used": ("bar1_used", MIB)},
    "cc_protected_memory_usage": {"total": ("cc_memory", MIB)},
    "compute_mode": ("compute_mode", words("Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process")),
    "utilization": {"gpu_util": ("utilization", PERCENT), "memory_util": ("utilization_memory", PERCENT)},
    "ecc_mode": {"current_ecc": ("ecc", ONOFF), "pending_ecc": ("ecc_pending", ONOFF)},
    "ecc_errors": {
        **{
            since: {
                "sram_correctable": (f"ecc_{since}_sram_corrected", plain),
                "sram_uncorrectable_parity": (f"ecc_sram_parity_{since}", plain),
                "sram_uncorrectable_secded": (f"ecc_sram_secded_{since}", plain),
                "dram_correctable": (f"ecc_{since}_dram_corrected", plain),
                "dram_uncorrectable": (f"ecc_{since}_dram_uncorrected", plain),
                **({"sram_threshold_exceeded": ("ecc_sram_threshold_exceeded", YESNO)} if since == "aggregate" else {}),
            }
            for since in ("volatile", "aggregate")
        },
        "aggregate_uncorrectable_sram_sources": {
            f"sram_{name}": (f"ecc_sram_source_{name}", plain) for name in ("l2", "sm", "microcontroller", "pcie", "other")
        },
        "channel_repair_pending": ("channel_repair_pending", YESNO),
        "tpc_repair_pending": ("tpc_repair_pending", YESNO),
        "unrepairable_memory": ("unrepairable", YESNO),
    },
    "retired_pages": {
        "multiple_single_bit_retirement": {"retired_count": ("retired_single", plain)},
        "double_bit_retirement": {"retired_count": ("retired_double", plain)},
        "pending_retirement": ("retired_pending", YESNO),
    },
    "remapped_rows": {
        "remapped_row_corr": ("remap_corrected", plain),
        "remapped_row_unc": ("remap_uncorrected", plain),
        "remapped_row_pending": ("remap_pending", YESNO),
        "remapped_row_failure": ("remap_failed", YESNO),
        "row_remapper_histogram": {
            f"row_remapper_histogram_{left}": (f"remap_{left}", scaled("bank(s)"))
            for left in ("max", "high", "partial", "low", "none")
        },
    },
    "temperature": {
        "gpu_temp": ("temperature", DEGREES),
        "gpu_temp_tlimit": ("temperature_margin", DEGREES),
        "gpu_temp_max_tlimit_threshold": ("margin_shutdown", DEGREES),
        "gpu_temp_slow_tlimit_threshold": ("margin_slowdown", DEGREES),
        "gpu_temp_max_gpu_tlimit_threshold": ("margin_max_operating", DEGREES),
        "gpu_target_temperature": ("temperature_target", DEGREES),
        "memory_temp": ("temperature_memory", DEGREES),
        "gpu_temp_max_mem_tlimit_threshold": ("margin_memory_max", DEGREES),
    },
    "gpu_power_readings": {
        "average_power_draw": ("power_average", WATTS),
        "instant_power_draw": ("power_usage", WATTS),
        "current_power_limit": ("power_enforced", WATTS),
        "requested_power_limit": ("power_limit", WATTS),
        **{f"{name}_power_limit": (f"power_{key}", WATTS) for name, key in LIMITS.items()},
    },
    "gpu_memory_power_readings": {"average_power_draw": ("power_memory", WATTS)},
    "module_power_readings": {
        "average_power_draw": ("module_power_average", WATTS),
        "instant_power_draw": ("module_power_usage", WATTS),
        "current_power_limit": ("module_power_limit", WATTS),
        **{f"{name}_power_limit": (f"module_power_{key}", WATTS) for name, key in LIMITS.items()},
    },
    **{
        f"{kind}clocks": {
            f"{name}_clock": (f"{before}{part}{after}", MHZ)
            for name, part in (("graphics", "graphics"), ("sm", "sm"), ("mem", "memory"), ("video", "video"))
            if "applications" not in kind or part in ("graphics", "memory")
        }
        for kind, before, after in (
            ("", "clock_", ""), ("applications_", "app_", ""), ("default_applications_", "default_app_", ""),
            ("max_", "", "_max"),
        )
    },
    "fabric": {
        "state": ("fabric_state", words("N/A", "Not Started", "In Progress", "Completed")),
        "status": ("fabric_status", lambda t: {"0": "Success"}.get(t) or ERRORS[int(t)]),
        "cliqueId": ("fabric_clique", plain),
        "clusterUuid": ("fabric_cluster", plain),
        "health": {
            "summary": ("fabric_summary", words("N/A", "Healthy", "Unhealthy", "Limited Capacity")),
            "bandwidth": ("fabric_health", health(0, 3, "N/A", "Degraded", "Full")),
            "route_recovery_in_progress": ("fabric_health", health(2, 3, *TRUTH)),
            "route_unhealthy": ("fabric_health", health(4, 3, *TRUTH)),
            "access_timeout_recovery": ("fabric_health", health(6, 3, *TRUTH)),
            "incorrect_configuration": ("fabric_health", health(8, 15, "N/A", "None")),
        },
    },
    "processes": "processes",
}  # fmt: skip


def shown(gpu: int, key: str, how: object) -> str:
    """Return one value, or the reason why there is none; values of a fabric that is not joined yet are N/A."""
    text = state_value(gpu, key)
    if key in ("fabric_status", "fabric_clique", "fabric_cluster") and state_value(gpu, "fabric_state") != "3":
        text = "!3"
    return ERRORS.get(int(text[1:]), "Unknown Error") if text[:1] == "!" else how(text)  # type: ignore[operator]


def show(gpu: int, table: dict[str, Any], depth: int) -> None:
    """Print a table of elements."""
    indent = "\t" * depth
    for name, what in table.items():
        if isinstance(what, dict):
            print(f"{indent}<{name}>")
            show(gpu, what, depth + 1)
            print(f"{indent}</{name}>")
        elif what == "instances":
            count = int(state_value(gpu, "mig_devices").replace("!3", "0"))
            one = "<mig_device><index>{0}</index><gpu_instance_id>{0}</gpu_instance_id></mig_device>"
            print(f"{indent}<{name}>", *(one.format(n) for n in range(count)), *(["None"] * (not count)), f"</{name}>")
        elif what == "processes":
            one = "<process_info>\n<pid>{}</pid>\n<type>C</type>\n<process_name>x</process_name>\n</process_info>\n"
            count = int(state_value(gpu, "processes"))
            print(f"{indent}<{name}>", *(one.format(1000 + n) for n in range(count)), f"</{name}>")
        else:
            print(f"{indent}<{name}>{shown(gpu, *what)}</{name}>")


def main() -> int:
    """Print the log, or the tool's message and status where there is none."""
    if "init" in STATE:
        print("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
        return int(STATE["init"])
    count = int(STATE["count"])
    if not count:
        print("No devices were found")
        return 6
    lost = [gpu for gpu in range(count) if state_value(gpu, "lost")[0] != "!"]
    if lost:
        print(f"Unable to determine the device handle for GPU{lost[0]}: GPU is lost.")
        return 15
    cuda = int(STATE["cuda"])
    print('<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">\n<nvidia_smi_log>')
    print("\t<timestamp>Fri Aug 21 08:54:01 2026</timestamp>")
    print(f"\t<driver_version>{STATE['driver']}</driver_version>")
    print(
        f"\t<cuda_version>{cuda // 1000}.{cuda % 1000 // 10}</cuda_version>\n\t<attached_gpus>{count}</attached_gpus>"
    )
    for gpu in range(count):
        print(f'\t<gpu id="{state_value(gpu, "pci")}">')
        show(gpu, GPU, 2)
        print("\t</gpu>\n")
    print("</nvidia_smi_log>")
    return 0


if __name__ == "__main__":
    sys.exit(main())
