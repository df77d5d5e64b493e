"""Reads a GPU's values on the node during the load: quickly changing values and error counters, in SI units."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.nvml_about import LINKS_MOST
    from rackcheck.burnin.node.nvml_gpus import Gpus


def nvml_quick(gpus: "Gpus", index: "int") -> "Any":
    """Read the quickly changing values: ten queries or fewer, each of some microseconds."""
    nvml = gpus.nvml
    average = (nvml.NVML_FI_DEV_POWER_AVERAGE, 0)
    instant, memory_temp = (nvml.NVML_FI_DEV_POWER_INSTANT, 0), (nvml.NVML_FI_DEV_MEMORY_TEMP, 0)
    found = gpus.fields(index, (average, instant, memory_temp))
    answer: Any = {}
    for name, value, factor in (
        ("clock", gpus.ask(index, nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM), 1e6),
        ("memory_clock", gpus.ask(index, nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM), 1e6),
        ("power", _nvml_or(gpus, found.get(average), index, nvml.nvmlDeviceGetPowerUsage), 1e-3),
        ("power_instant", found.get(instant), 1e-3),
        ("temp", gpus.ask(index, nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU), 1),
        ("memory_temp", found.get(memory_temp), 1),
        ("reasons", _nvml_reasons(gpus, index), 1),
        ("pstate", _nvml_state(gpus, index), 1),
    ):
        if value is not None:
            answer[name] = round(value * factor, 3)
    answer.update(nvml_below(gpus, index, answer.get("temp"), answer.get("memory_temp")))
    used = gpus.ask(index, nvml.nvmlDeviceGetUtilizationRates)
    if used is not None:
        answer["busy"] = used.gpu / 100
    return answer


def _nvml_or(gpus: "Gpus", value: "Any", index: "int", question: "Any") -> "Any":
    return gpus.ask(index, question) if value is None else value


def _nvml_reasons(gpus: "Gpus", index: "int") -> "Any":
    """Query the clocks' event reasons; drivers before 535 use another name for the query."""
    found = gpus.ask(index, gpus.nvml.nvmlDeviceGetCurrentClocksEventReasons)
    return gpus.ask(index, gpus.nvml.nvmlDeviceGetCurrentClocksThrottleReasons) if found is None else found


def _nvml_state(gpus: "Gpus", index: "int") -> "Any":
    """Query the performance state, where 0 is the fastest; None if NVML reports it as unknown."""
    state = gpus.ask(index, gpus.nvml.nvmlDeviceGetPerformanceState)
    return None if state == gpus.nvml.NVML_PSTATE_UNKNOWN else state


def nvml_below(gpus: "Gpus", index: "int", temp: "Any", memory_temp: "Any") -> "Any":
    """Return how many degrees C the GPU (`below`) and its memory (`memory_below`) are below their limits, if known.

    The limit of the GPU is its hardware slowdown temperature. Newer GPUs report how far their hottest part is below a
    temperature limit, and the margins from the limits of the chip and of the memory to it, which may be 0 or less; some
    of them report no slowdown temperature, and some no highest temperature of the memory. The smaller value counts.
    If the margins were read before and cannot be read now, what they would limit is not known, even if the other limit
    of the chip is: the larger of the two could be the one that is left.
    """
    known: Any = {"below": [], "memory_below": []}
    if index in gpus.slowdown and temp is not None:
        known["below"].append(gpus.slowdown[index] - temp)
    if index in gpus.memory_slowdown and memory_temp is not None:
        known["memory_below"].append(gpus.memory_slowdown[index] - memory_temp)
    chip = temp is not None and (index not in gpus.slowdown or index in gpus.slowdown_margin)
    if chip or index in gpus.memory_margin:
        margin = gpus.ask(index, gpus.nvml.nvmlDeviceGetMarginTemperature)
        if margin is None and index in gpus.margin_read and chip:
            known["below"] = []
        if margin is not None:
            gpus.margin_read.add(index)
            if chip:
                known["below"].append(margin - gpus.slowdown_margin.get(index, 0))
            if index in gpus.memory_margin:
                known["memory_below"].append(margin - gpus.memory_margin[index])
    return {name: min(values) for name, values in known.items() if values}


def nvml_counters(gpus: "Gpus", index: "int") -> "Any":
    """Read the error counters, the energy and the PCIe link, which need to be read only once a second.

    Reading the energy takes 3.2 ms of a core on an H100 (driver 580), longer than all quickly changing values together.
    """
    nvml = gpus.nvml
    energy = gpus.ask(index, nvml.nvmlDeviceGetTotalEnergyConsumption)
    errors, volatile = nvml.nvmlDeviceGetTotalEccErrors, nvml.NVML_VOLATILE_ECC
    rows = gpus.ask(index, nvml.nvmlDeviceGetRemappedRows)
    values = {
        "ecc_corrected": gpus.ask(index, errors, nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, volatile),
        "ecc_uncorrected": gpus.ask(index, errors, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, volatile),
        "remap_pending": rows[2] if rows else None,
        "remap_failed": rows[3] if rows else None,
        "replays": gpus.ask(index, nvml.nvmlDeviceGetPcieReplayCounter),
        "gen": gpus.ask(index, nvml.nvmlDeviceGetCurrPcieLinkGeneration),
        "width": gpus.ask(index, nvml.nvmlDeviceGetCurrPcieLinkWidth),
        "nvlink_errors": _nvml_link_errors(gpus, index),
        "energy": None if energy is None else round(energy * 1e-3, 3),
    }
    return {name: value for name, value in values.items() if value is not None}


def _nvml_link_errors(gpus: "Gpus", index: "int") -> "Any":
    """Return the sum of the error counters of all NVLinks: read per GPU up to NVLink 4, and per link since NVLink 5.

    The sum is None if any counter that was part of the first sum is now missing, because the two sums are not
    comparable.
    """
    nvml = gpus.nvml
    found = gpus.fields(index, [(field, 0) for field in (
        nvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, nvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
        nvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, nvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
        nvml.NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL,
    )])  # fmt: skip
    if not found:
        found = gpus.fields(index, [(field, link) for link in range(LINKS_MOST) for field in (
            nvml.NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS, nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS,
            nvml.NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS,
            nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS,
        )])  # fmt: skip
    before = gpus.links_counted.setdefault(index, len(found))
    return sum(found.values()) if found and len(found) == before else None
