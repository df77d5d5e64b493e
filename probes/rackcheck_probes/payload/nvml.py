"""Query NVML about this node's GPUs and print one line of JSON. The program runs under the node's Python, 3.6 or later.

The program changes no setting, clears no counter, and writes no file. Each value is queried separately, so if a driver
does not support a value, only this value is missing. If the driver hangs, the values that it has not returned are
reported as unknown.
"""

import json
import os
import sys
import threading
from typing import Any

import pynvml as nvml

SECONDS = 45
GPUS = 64
LINKS = 36
"""Time limit of all queries in seconds, maximum number of GPUs per node, and maximum number of NVLinks per GPU."""

REASONS = {
    nvml.NVML_ERROR_NO_PERMISSION: "denied",
    nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "tool missing",
    nvml.NVML_ERROR_FUNCTION_NOT_FOUND: "tool missing",
    nvml.NVML_ERROR_DRIVER_NOT_LOADED: "tool missing",
    nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "not ready",
    nvml.NVML_ERROR_NOT_READY: "not ready",
    nvml.NVML_ERROR_TIMEOUT: "timeout",
}
TOO_OLD = (nvml.NVML_ERROR_FUNCTION_NOT_FOUND, nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
ARCHITECTURES = {
    2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere", 8: "Ada Lovelace", 9: "Hopper",
    10: "Blackwell", 13: "Rubin",
}  # fmt: skip
ADDRESSING = ("None", "HMM", "ATS")
GPU, MODULE, MEMORY = 0, 1, 2
"""Scopes of NVML's power fields: the GPU, its module, or its memory."""
FIELDS = [
    (number, GPU)
    for number in (
        nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, nvml.NVML_FI_DEV_MEMORY_TEMP, nvml.NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER,
        nvml.NVML_FI_DEV_RETIRED_SBE, nvml.NVML_FI_DEV_RETIRED_DBE, nvml.NVML_FI_DEV_RETIRED_PENDING,
        nvml.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT, nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT,
        nvml.NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT, nvml.NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT,
        nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST,
        nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
        nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION,
        nvml.NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, nvml.NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR,
        nvml.NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR, nvml.NVML_FI_DEV_POWER_INSTANT, nvml.NVML_FI_DEV_POWER_AVERAGE,
    )
] + [
    (number, MODULE)
    for number in (
        nvml.NVML_FI_DEV_POWER_INSTANT, nvml.NVML_FI_DEV_POWER_AVERAGE, nvml.NVML_FI_DEV_POWER_CURRENT_LIMIT,
        nvml.NVML_FI_DEV_POWER_DEFAULT_LIMIT, nvml.NVML_FI_DEV_POWER_MIN_LIMIT, nvml.NVML_FI_DEV_POWER_MAX_LIMIT,
    )
] + [(nvml.NVML_FI_DEV_POWER_AVERAGE, MEMORY)]  # fmt: skip
LINK_FIELDS = {
    "speed": nvml.NVML_FI_DEV_NVLINK_GET_SPEED,
    "remote_link": nvml.NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID,
    "malformed": nvml.NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS,
    "rx_errors": nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS,
    "integrity": nvml.NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS,
    "dropped": nvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS,
    "link_recovery_successful": nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS,
    "link_recovery_failed": nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS,
    "link_recovery_total": nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS,
    "effective_errors": nvml.NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS,
    "effective_ber": nvml.NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER,
    "symbol_errors": nvml.NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS,
    "symbol_ber": nvml.NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER,
}
LATE = {"unknown": "timeout", "detail": f"NVML gave no answer within {SECONDS} s"}


def unknown(error: "nvml.NVMLError") -> "Any":
    """Return an unknown value in the program's JSON format, with NVML's error as the reason."""
    return {"unknown": REASONS.get(error.value, "not collected"), "detail": f"NVML: {error}"}


def refused(error: "nvml.NVMLError") -> "Any":
    """Return an absent value if the GPU does not support the query, else an unknown value, in the JSON format."""
    if error.value == nvml.NVML_ERROR_NOT_SUPPORTED:
        return {"absent": f"NVML: {error}"}
    if error.value in TOO_OLD:
        return {"unknown": "not collected", "detail": f"NVML: {error}: this driver does not provide it"}
    return unknown(error)


def read_value(question: "Any", *given: "Any") -> "Any":
    """Query one value, and return it as a known, absent or unknown value in the program's JSON format."""
    try:
        value = question(*given)
        return {"value": value.decode("utf-8", "replace") if isinstance(value, bytes) else value}
    except nvml.NVMLLibraryMismatchError:
        return refused(nvml.NVMLError(nvml.NVML_ERROR_FUNCTION_NOT_FOUND))
    except nvml.NVMLError as error:
        return refused(error)
    except Exception as error:  # noqa: BLE001  an exception in pynvml costs only this value
        return {"unknown": "unparsable", "detail": f"pynvml: {error!r}"[:200]}


def part(whole: "Any", *places: "Any") -> "Any":
    """Return part of a queried structure, by attribute or index; an absent or unknown structure is returned as is."""
    if "value" not in whole:
        return whole
    value = whole["value"]
    for place in places:
        value = getattr(value, place) if isinstance(place, str) else value[place]
    return {"value": value}


def either(first: "Any", second: "Any") -> "Any":
    """Return `first`; if it is unknown, for example with an old driver, call `second` and return its result."""
    return first if "value" in first else second() if "unknown" in first else first


def fields(gpu: "Any", asked: "list[tuple[int, int]]") -> "dict[tuple[int, int], Any]":
    """Query many of NVML's numbered fields in one call, and return a separate result for each field."""
    kinds = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
    answer = read_value(nvml.nvmlDeviceGetFieldValues, gpu, asked)
    if "value" not in answer:
        return dict.fromkeys(asked, answer)

    def one(field: "Any") -> "Any":
        if field.nvmlReturn:
            raise nvml.NVMLError(field.nvmlReturn)
        return getattr(field.value, kinds[field.valueType])

    return {place: read_value(one, field) for place, field in zip(asked, answer["value"])}  # noqa: B905


def reasons(gpu: "Any") -> "Any":
    """Query the clock event reasons; drivers before 535 call them throttle reasons."""
    try:
        return nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            raise
        return nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu)


def reasons_supported(gpu: "Any") -> "Any":
    """Query which clock event reasons this GPU supports."""
    try:
        return nvml.nvmlDeviceGetSupportedClocksEventReasons(gpu)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            raise
        return nvml.nvmlDeviceGetSupportedClocksThrottleReasons(gpu)


def inforom(gpu: "Any") -> "Any":
    """Return 0 if the checksums of the infoROM are correct, 1 if not."""
    try:
        nvml.nvmlDeviceValidateInforom(gpu)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_CORRUPTED_INFOROM:
            raise
        return 1
    return 0


def sram(gpu: "Any") -> "Any":
    """Query the detailed counts of the GPU's SRAM errors."""
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(gpu, nvml.byref(status))
    return status


def fabric(gpu: "Any") -> "Any":
    """Query the NVLink fabric, with its health where the driver reports it."""
    error = nvml.NVMLError(nvml.NVML_ERROR_FUNCTION_NOT_FOUND)
    for kind, ask in (
        (nvml.c_nvmlGpuFabricInfo_v3_t, nvml.nvmlDeviceGetGpuFabricInfoV),
        (nvml.c_nvmlGpuFabricInfo_v2_t, nvml.nvmlDeviceGetGpuFabricInfoV),
        (nvml.c_nvmlGpuFabricInfo_t, nvml.nvmlDeviceGetGpuFabricInfo),
    ):
        info = kind()
        try:
            ask(gpu, nvml.byref(info))
        except nvml.NVMLError as refusal:
            error = refusal
            if error.value not in (*TOO_OLD, nvml.NVML_ERROR_INVALID_ARGUMENT):
                raise
        else:
            if info.state == nvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED:
                raise nvml.NVMLError(nvml.NVML_ERROR_NOT_SUPPORTED)
            return info
    raise error


def about_fabric(gpu: "Any") -> "Any":
    """Return the values of the NVLink fabric; values that are valid only once the GPU has joined are absent before."""
    info = read_value(fabric, gpu)
    if "value" not in info:
        return dict.fromkeys(("state", "status", "clique", "cluster", "health", "summary"), info)
    whole = info["value"]
    found = {"state": {"value": whole.state}}
    early = {"absent": "NVML: the fabric's state is not yet completed"}
    old = {"unknown": "not collected", "detail": "NVML: this driver does not report the fabric's health"}
    uuid = bytes(bytearray(whole.clusterUuid)).hex()
    dashed = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    done = whole.state == nvml.NVML_GPU_FABRIC_STATE_COMPLETED
    found["status"] = read_value(nvml.nvmlErrorString, whole.status) if done else early
    found["clique"] = {"value": whole.cliqueId} if done else early
    found["cluster"] = {"value": dashed} if done else early
    found["health"] = {"value": whole.healthMask} if hasattr(whole, "healthMask") else old
    found["summary"] = {"value": whole.healthSummary} if hasattr(whole, "healthSummary") else old
    return found


def links(gpu: "Any", count: "Any") -> "Any":
    """Query all NVLinks of a GPU, and return their values in the order of the links' numbers."""
    if "value" not in count:
        return count
    numbers = range(min(count["value"], LINKS))
    if not numbers:
        return {"absent": "NVML: no NVLinks"}
    found = fields(gpu, [(field, link) for link in numbers for field in LINK_FIELDS.values()])

    def one(link: "int") -> "Any":
        ask = nvml.nvmlDeviceGetNvLinkErrorCounter
        kept = {name: found[field, link] for name, field in LINK_FIELDS.items()}
        kept["state"] = read_value(nvml.nvmlDeviceGetNvLinkState, gpu, link)
        kept["version"] = read_value(nvml.nvmlDeviceGetNvLinkVersion, gpu, link)
        kept["remote"] = read_value(nvml.nvmlDeviceGetNvLinkRemoteDeviceType, gpu, link)
        kept["remote_pci"] = read_value(lambda: nvml.nvmlDeviceGetNvLinkRemotePciInfo(gpu, link).busId)
        kept["replay"] = read_value(ask, gpu, link, nvml.NVML_NVLINK_ERROR_DL_REPLAY)
        kept["recovery"] = read_value(ask, gpu, link, nvml.NVML_NVLINK_ERROR_DL_RECOVERY)
        kept["crc_flit"] = read_value(ask, gpu, link, nvml.NVML_NVLINK_ERROR_DL_CRC_FLIT)
        kept["crc_data"] = read_value(ask, gpu, link, nvml.NVML_NVLINK_ERROR_DL_CRC_DATA)
        kept["ecc_data"] = read_value(ask, gpu, link, nvml.NVML_NVLINK_ERROR_DL_ECC_DATA)
        return kept

    return {"value": [one(link) for link in numbers]}


def mig_devices(gpu: "Any") -> "Any":
    """Count the MIG instances that exist."""
    if not nvml.nvmlDeviceGetMigMode(gpu)[0]:
        return 0
    found = 0
    for index in range(min(nvml.nvmlDeviceGetMaxMigDeviceCount(gpu), GPUS)):
        try:
            nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, index)
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_NOT_FOUND:
                raise
        else:
            found += 1
    return found


def processes(gpu: "Any") -> "Any":
    """Count the processes that use the GPU; their identity is not collected."""
    running = nvml.nvmlDeviceGetComputeRunningProcesses(gpu) + nvml.nvmlDeviceGetGraphicsRunningProcesses(gpu)
    return len({process.pid for process in running})


def peers(gpu: "Any", others: "list[Any]") -> "Any":
    """Query for each other GPU whether this GPU can read its memory: 0 if it can, else NVML's number of the reason."""
    return [nvml.nvmlDeviceGetP2PStatus(gpu, other, 0) for other in others]


def about(gpu: "Any", others: "list[Any]") -> "Any":
    """Query all values of one GPU."""
    corrected, uncorrected = nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    now, ever = nvml.NVML_VOLATILE_ECC, nvml.NVML_AGGREGATE_ECC
    in_sram, in_dram = nvml.NVML_MEMORY_LOCATION_SRAM, nvml.NVML_MEMORY_LOCATION_DRAM
    errors = nvml.nvmlDeviceGetMemoryErrorCounter
    clock, highest = nvml.nvmlDeviceGetClockInfo, nvml.nvmlDeviceGetMaxClockInfo
    app, default = nvml.nvmlDeviceGetApplicationsClock, nvml.nvmlDeviceGetDefaultApplicationsClock
    limit = nvml.nvmlDeviceGetTemperatureThreshold
    memory = read_value(nvml.nvmlDeviceGetMemoryInfo, gpu)
    memory_now = either(read_value(nvml.nvmlDeviceGetMemoryInfo, gpu, nvml.nvmlMemory_v2), lambda: memory)
    bar1 = read_value(nvml.nvmlDeviceGetBAR1MemoryInfo, gpu)
    mig = read_value(nvml.nvmlDeviceGetMigMode, gpu)
    gsp = read_value(lambda: nvml.nvmlDeviceGetGspFirmwareMode(gpu))
    ecc = read_value(nvml.nvmlDeviceGetEccMode, gpu)
    sram_errors = read_value(sram, gpu)
    remapped = read_value(nvml.nvmlDeviceGetRemappedRows, gpu)
    banks = read_value(nvml.nvmlDeviceGetRowRemapperHistogram, gpu)
    repair = read_value(nvml.nvmlDeviceGetRepairStatus, gpu)
    power = read_value(nvml.nvmlDeviceGetPowerManagementLimitConstraints, gpu)
    used = read_value(nvml.nvmlDeviceGetUtilizationRates, gpu)
    joined = about_fabric(gpu)
    field = fields(gpu, FIELDS)
    return {
        "name": read_value(nvml.nvmlDeviceGetName, gpu),
        "uuid": read_value(nvml.nvmlDeviceGetUUID, gpu),
        "serial": read_value(nvml.nvmlDeviceGetSerial, gpu),
        "pci": read_value(lambda: nvml.nvmlDeviceGetPciInfo(gpu).busId),
        "vbios": read_value(nvml.nvmlDeviceGetVbiosVersion, gpu),
        "board_part_number": read_value(nvml.nvmlDeviceGetBoardPartNumber, gpu),
        "board_id": read_value(nvml.nvmlDeviceGetBoardId, gpu),
        "architecture": read_value(lambda: ARCHITECTURES[nvml.nvmlDeviceGetArchitecture(gpu)]),
        "minor": read_value(nvml.nvmlDeviceGetMinorNumber, gpu),
        "module_id": read_value(lambda: nvml.nvmlDeviceGetModuleId(gpu)),
        "memory": part(memory, "total"),
        "memory_used": part(memory_now, "used"),
        "memory_reserved": read_value(lambda: nvml.nvmlDeviceGetMemoryInfo(gpu, nvml.nvmlMemory_v2).reserved),
        "bar1": part(bar1, "bar1Total"),
        "bar1_used": part(bar1, "bar1Used"),
        "persistence": read_value(nvml.nvmlDeviceGetPersistenceMode, gpu),
        "compute_mode": read_value(nvml.nvmlDeviceGetComputeMode, gpu),
        "display_active": read_value(nvml.nvmlDeviceGetDisplayActive, gpu),
        "accounting": read_value(nvml.nvmlDeviceGetAccountingMode, gpu),
        "virtualization": read_value(nvml.nvmlDeviceGetVirtualizationMode, gpu),
        "addressing": read_value(lambda: ADDRESSING[nvml.nvmlDeviceGetAddressingMode(gpu)]),
        "mig": part(mig, 0),
        "mig_pending": part(mig, 1),
        "mig_devices": read_value(mig_devices, gpu),
        "inforom_image": read_value(nvml.nvmlDeviceGetInforomImageVersion, gpu),
        "inforom_oem": read_value(nvml.nvmlDeviceGetInforomVersion, gpu, nvml.NVML_INFOROM_OEM),
        "inforom_ecc": read_value(nvml.nvmlDeviceGetInforomVersion, gpu, nvml.NVML_INFOROM_ECC),
        "inforom_power": read_value(nvml.nvmlDeviceGetInforomVersion, gpu, nvml.NVML_INFOROM_POWER),
        "inforom_checksum": read_value(inforom, gpu),
        "gsp_mode": part(gsp, 0),
        "gsp_default": part(gsp, 1),
        "gsp_version": read_value(nvml.nvmlDeviceGetGspFirmwareVersion, gpu),
        "ecc": part(ecc, 0),
        "ecc_pending": part(ecc, 1),
        "ecc_uncorrected": read_value(nvml.nvmlDeviceGetTotalEccErrors, gpu, uncorrected, now),
        "ecc_volatile_sram_corrected": read_value(errors, gpu, corrected, now, in_sram),
        "ecc_volatile_sram_uncorrected": read_value(errors, gpu, uncorrected, now, in_sram),
        "ecc_volatile_dram_corrected": read_value(errors, gpu, corrected, now, in_dram),
        "ecc_volatile_dram_uncorrected": read_value(errors, gpu, uncorrected, now, in_dram),
        "ecc_aggregate_sram_corrected": read_value(errors, gpu, corrected, ever, in_sram),
        "ecc_aggregate_sram_uncorrected": read_value(errors, gpu, uncorrected, ever, in_sram),
        "ecc_aggregate_dram_corrected": read_value(errors, gpu, corrected, ever, in_dram),
        "ecc_aggregate_dram_uncorrected": read_value(errors, gpu, uncorrected, ever, in_dram),
        "ecc_sram_threshold_exceeded": part(sram_errors, "bThresholdExceeded"),
        "ecc_sram_parity_volatile": part(sram_errors, "volatileUncParity"),
        "ecc_sram_parity_aggregate": part(sram_errors, "aggregateUncParity"),
        "ecc_sram_secded_volatile": part(sram_errors, "volatileUncSecDed"),
        "ecc_sram_secded_aggregate": part(sram_errors, "aggregateUncSecDed"),
        "ecc_sram_source_l2": part(sram_errors, "aggregateUncBucketL2"),
        "ecc_sram_source_sm": part(sram_errors, "aggregateUncBucketSm"),
        "ecc_sram_source_microcontroller": part(sram_errors, "aggregateUncBucketMcu"),
        "ecc_sram_source_pcie": part(sram_errors, "aggregateUncBucketPcie"),
        "ecc_sram_source_other": part(sram_errors, "aggregateUncBucketOther"),
        "channel_repair_pending": part(repair, 0),
        "tpc_repair_pending": part(repair, 1),
        "unrepairable": read_value(nvml.nvmlDeviceGetUnrepairableMemoryFlag_v1, gpu),
        "remap_corrected": part(remapped, 0),
        "remap_uncorrected": part(remapped, 1),
        "remap_pending": part(remapped, 2),
        "remap_failed": part(remapped, 3),
        "remap_max": part(banks, "max"),
        "remap_high": part(banks, "high"),
        "remap_partial": part(banks, "partial"),
        "remap_low": part(banks, "low"),
        "remap_none": part(banks, "none"),
        "retired_single": field[nvml.NVML_FI_DEV_RETIRED_SBE, GPU],
        "retired_double": field[nvml.NVML_FI_DEV_RETIRED_DBE, GPU],
        "retired_pending": field[nvml.NVML_FI_DEV_RETIRED_PENDING, GPU],
        "clock_sm": read_value(clock, gpu, nvml.NVML_CLOCK_SM),
        "clock_graphics": read_value(clock, gpu, nvml.NVML_CLOCK_GRAPHICS),
        "clock_memory": read_value(clock, gpu, nvml.NVML_CLOCK_MEM),
        "clock_video": read_value(clock, gpu, nvml.NVML_CLOCK_VIDEO),
        "sm_max": read_value(highest, gpu, nvml.NVML_CLOCK_SM),
        "graphics_max": read_value(highest, gpu, nvml.NVML_CLOCK_GRAPHICS),
        "memory_max": read_value(highest, gpu, nvml.NVML_CLOCK_MEM),
        "video_max": read_value(highest, gpu, nvml.NVML_CLOCK_VIDEO),
        "app_graphics": read_value(app, gpu, nvml.NVML_CLOCK_GRAPHICS),
        "app_memory": read_value(app, gpu, nvml.NVML_CLOCK_MEM),
        "default_app_graphics": read_value(default, gpu, nvml.NVML_CLOCK_GRAPHICS),
        "default_app_memory": read_value(default, gpu, nvml.NVML_CLOCK_MEM),
        "pstate": read_value(nvml.nvmlDeviceGetPerformanceState, gpu),
        "reasons": read_value(reasons, gpu),
        "reasons_supported": read_value(reasons_supported, gpu),
        "violation_power_ns": field[nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, GPU],
        "violation_sync_boost_ns": field[nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST, GPU],
        "violation_thermal_ns": field[nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, GPU],
        "violation_hw_thermal_ns": field[nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, GPU],
        "violation_hw_brake_ns": field[nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, GPU],
        "power_usage": either(
            field[nvml.NVML_FI_DEV_POWER_INSTANT, GPU], lambda: read_value(nvml.nvmlDeviceGetPowerUsage, gpu)
        ),
        "power_average": field[nvml.NVML_FI_DEV_POWER_AVERAGE, GPU],
        "power_memory": field[nvml.NVML_FI_DEV_POWER_AVERAGE, MEMORY],
        "power_limit": read_value(nvml.nvmlDeviceGetPowerManagementLimit, gpu),
        "power_enforced": read_value(nvml.nvmlDeviceGetEnforcedPowerLimit, gpu),
        "power_default": read_value(nvml.nvmlDeviceGetPowerManagementDefaultLimit, gpu),
        "power_min": part(power, 0),
        "power_max": part(power, 1),
        "module_power_usage": field[nvml.NVML_FI_DEV_POWER_INSTANT, MODULE],
        "module_power_average": field[nvml.NVML_FI_DEV_POWER_AVERAGE, MODULE],
        "module_power_limit": field[nvml.NVML_FI_DEV_POWER_CURRENT_LIMIT, MODULE],
        "module_power_default": field[nvml.NVML_FI_DEV_POWER_DEFAULT_LIMIT, MODULE],
        "module_power_min": field[nvml.NVML_FI_DEV_POWER_MIN_LIMIT, MODULE],
        "module_power_max": field[nvml.NVML_FI_DEV_POWER_MAX_LIMIT, MODULE],
        "temperature": read_value(nvml.nvmlDeviceGetTemperature, gpu, nvml.NVML_TEMPERATURE_GPU),
        "temperature_memory": field[nvml.NVML_FI_DEV_MEMORY_TEMP, GPU],
        "temperature_shutdown": read_value(limit, gpu, nvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
        "temperature_slowdown": read_value(limit, gpu, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
        "temperature_max_operating": read_value(limit, gpu, nvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX),
        "temperature_memory_max": read_value(limit, gpu, nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
        "temperature_target": read_value(limit, gpu, nvml.NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR),
        "temperature_margin": read_value(nvml.nvmlDeviceGetMarginTemperature, gpu),
        "margin_shutdown": field[nvml.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT, GPU],
        "margin_slowdown": field[nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT, GPU],
        "margin_max_operating": field[nvml.NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT, GPU],
        "margin_memory_max": field[nvml.NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT, GPU],
        "fan": read_value(nvml.nvmlDeviceGetFanSpeed, gpu),
        "link_generation": read_value(nvml.nvmlDeviceGetCurrPcieLinkGeneration, gpu),
        "link_max_generation": read_value(nvml.nvmlDeviceGetMaxPcieLinkGeneration, gpu),
        "link_device_max_generation": read_value(nvml.nvmlDeviceGetGpuMaxPcieLinkGeneration, gpu),
        "link_width": read_value(nvml.nvmlDeviceGetCurrPcieLinkWidth, gpu),
        "link_max_width": read_value(nvml.nvmlDeviceGetMaxPcieLinkWidth, gpu),
        "pcie_replay": read_value(nvml.nvmlDeviceGetPcieReplayCounter, gpu),
        "pcie_replay_rollover": field[nvml.NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER, GPU],
        "pcie_correctable": field[nvml.NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, GPU],
        "pcie_nonfatal": field[nvml.NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR, GPU],
        "pcie_fatal": field[nvml.NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR, GPU],
        "fabric_state": joined["state"],
        "fabric_status": joined["status"],
        "fabric_clique": joined["clique"],
        "fabric_cluster": joined["cluster"],
        "fabric_health": joined["health"],
        "fabric_summary": joined["summary"],
        "cc_memory": read_value(lambda: nvml.nvmlDeviceGetConfComputeProtectedMemoryUsage(gpu).total),
        "recovery_action": field[nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, GPU],
        "processes": read_value(processes, gpu),
        "utilization": part(used, "gpu"),
        "utilization_memory": part(used, "memory"),
        "peers": read_value(peers, gpu, others),
        "nvlinks": links(gpu, field[nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, GPU]),
    }


def cuda() -> "str":
    """Query the newest CUDA version that the driver supports: NVML's 12080 is 12.8."""
    number = nvml.nvmlSystemGetCudaDriverVersion()
    return f"{number // 1000}.{number % 1000 // 10}"


def ask_all(values: "dict[str, Any]") -> "None":
    """Query the driver, then every GPU in the order of the driver's indexes; a lost GPU keeps its place in the list."""
    nvml.nvmlInit()
    values["driver"] = read_value(nvml.nvmlSystemGetDriverVersion)
    handles: list[Any] = [None] * min(nvml.nvmlDeviceGetCount(), GPUS)
    values["gpus"] = gpus = [LATE for _ in handles]
    values["cuda"] = read_value(cuda)
    values["nvml"] = read_value(nvml.nvmlSystemGetNVMLVersion)
    confidential = read_value(nvml.nvmlSystemGetConfComputeState)
    values["cc_mode"] = part(confidential, "ccFeature")
    values["cc_environment"] = part(confidential, "environment")
    values["cc_devtools"] = part(confidential, "devToolsMode")
    values["cc_ready"] = read_value(nvml.nvmlSystemGetConfComputeGpusReadyState)
    for index in range(len(handles)):
        try:
            handles[index] = nvml.nvmlDeviceGetHandleByIndex(index)
        except nvml.NVMLError as error:
            gpus[index] = unknown(error)
    for index, gpu in enumerate(handles):
        if gpu is not None:
            gpus[index] = about(gpu, [other for other in handles if other is not None and other is not gpu])


def ask_safely(values: "dict[str, Any]") -> "None":
    """Query all values; an error that stops the queries is recorded in `values` under the key `failed`."""
    try:
        ask_all(values)
    except nvml.NVMLError as error:
        values["failed"] = unknown(error)
    except Exception as error:  # noqa: BLE001  reported in the output, not as a traceback
        values["failed"] = {"unknown": "unparsable", "detail": f"pynvml: {error!r}"[:200]}


def main() -> "None":
    """Print the values that the driver returns within the time limit, and exit even if a call still hangs."""
    values: dict[str, Any] = {}
    asking = threading.Thread(target=ask_safely, args=(values,), daemon=True)
    asking.start()
    asking.join(SECONDS)
    failed = values.get("failed") or (None if "gpus" in values else LATE)
    print(json.dumps(failed or values))
    sys.stdout.flush()
    os._exit(0)


main()
