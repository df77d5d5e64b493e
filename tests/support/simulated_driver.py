"""The stand-in for the NVIDIA driver, built and loaded with nodes."""

from collections.abc import Callable
from copy import deepcopy

from fake_driver import DriverState, code

from rackcheck.model.capture import Output
from rackcheck.sim import machine
from rackcheck_probes.gpu.nvml import QUESTION, reply_of


def simulated() -> DriverState:
    """NVML's answer on the simulated DGX H100."""
    answer = machine.load(machine.shipped()["dgx-h100"], "n01", 1).host.output(QUESTION)
    assert isinstance(answer, Output)
    values: DriverState = deepcopy(reply_of(answer.out.splitlines()))
    return values


def mixed(values: DriverState) -> None:
    """Eight GPUs, each with a different property."""
    one, two, three, four, five, six = values["gpus"][:6]
    one |= {"mig": {"value": 1}, "mig_pending": {"value": 1}, "mig_devices": {"value": 3}, "processes": {"value": 2}}
    two |= {key: {"value": 1} for key in ("remap_pending", "remap_uncorrected", "recovery_action", "ecc_uncorrected")}
    two |= {"ecc_volatile_dram_uncorrected": {"value": 1}, "ecc_aggregate_dram_corrected": {"value": 1 << 40}}
    two |= {"memory_used": {"value": 12 << 20}, "remap_high": {"value": 1}, "remap_max": {"value": 2559}}
    three |= {key: code(4) for key in ("power_limit", "serial", "ecc", "ecc_pending", "link_width", "margin_slowdown")}
    three |= {key: code(15) for key in ("temperature", "temperature_memory", "clock_sm", "pcie_replay")}
    four |= {"reasons": {"value": 0x44}, "pstate": {"value": 2}, "violation_hw_thermal_ns": {"value": 5_000_000}}
    four |= {"temperature_margin": {"value": -3}, "power_usage": {"value": 701_230}, "fan": {"value": 40}}
    five |= {key: {"absent": "no ECC"} for key in five if key.startswith(("ecc", "remap", "channel", "tpc", "mig"))}
    five |= {"retired_single": {"value": 3}, "retired_double": {"value": 1}, "retired_pending": {"value": 1}}
    six |= {"ecc_sram_parity_volatile": {"value": 1}, "ecc_sram_secded_volatile": {"value": 2}}
    six |= {"ecc_volatile_sram_uncorrected": {"value": 3}, "ecc_uncorrected": {"value": 3}}
    six |= {"ecc_sram_threshold_exceeded": {"value": 1}, "unrepairable": {"value": 1}, "persistence": {"value": 0}}
    six |= {"fabric_state": {"value": 2}, "app_graphics": {"value": 1155}}


def rack_scale(values: DriverState) -> None:
    """Four GPUs of an NVLink 5 rack, in one clique, with power of their modules."""
    values["gpus"] = values["gpus"][:4]
    for gpu in values["gpus"]:
        gpu |= {
            "name": {"value": "NVIDIA GB200"},
            "architecture": {"value": "Blackwell"},
            "addressing": {"value": "ATS"},
        }
        gpu |= {"fabric_health": {"value": 0x1AA}, "fabric_summary": {"value": 1}, "fabric_clique": {"value": 2}}
        gpu |= {"fabric_cluster": {"value": "6f1c7e0a-0000-4000-8000-00000000beef"}, "peers": {"value": [0, 0, 0]}}
        gpu |= {
            f"module_power_{k}": {"value": 2_500_000} for k in ("usage", "average", "limit", "default", "min", "max")
        }
        for link in gpu["nvlinks"]["value"]:
            since_5 = {key: {"value": 0} for key in link if "absent" in link[key]}
            until_4 = {key: {"absent": ""} for key in ("replay", "recovery", "crc_flit", "crc_data", "ecc_data")}
            rates = {key: {"value": 15 << 8 | 255} for key in ("effective_ber", "symbol_ber")}
            link.update(since_5 | until_4 | rates | {"version": {"value": 7}, "speed": {"value": 53_125}})
    sick = values["gpus"][1]
    sick |= {"fabric_health": {"value": 0x1A9 ^ 0xC}, "fabric_summary": {"value": 2}}
    sick["nvlinks"]["value"][3] |= {"effective_ber": {"value": 2 << 8 | 12}, "link_recovery_failed": {"value": 1}}
    sick["nvlinks"]["value"][4] |= {"state": {"value": 0}, "speed": code(3), "effective_ber": {"value": 0}}


CASES: dict[str, Callable[[DriverState], None]] = {
    "healthy": lambda values: None,
    "mixed": mixed,
    "rack scale": rack_scale,
}


def made(case: str) -> DriverState:
    values = simulated()
    CASES[case](values)
    return values
