"""Ask NVML about this node's GPUs and print one line of JSON: runs on the node, under its own Python 3.6 or later."""

import json

import pynvml as nvml

REASONS = {
    nvml.NVML_ERROR_NO_PERMISSION: "denied",
    nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "tool missing",
    nvml.NVML_ERROR_FUNCTION_NOT_FOUND: "tool missing",
    nvml.NVML_ERROR_DRIVER_NOT_LOADED: "tool missing",
    nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "not ready",
    nvml.NVML_ERROR_NOT_READY: "not ready",
    nvml.NVML_ERROR_TIMEOUT: "timeout",
}


def unknown(error: "nvml.NVMLError") -> "object":
    """Say why NVML would not tell."""
    return {"unknown": REASONS.get(error.value, "not collected"), "detail": f"NVML: {error}"}


def told(question: "object", *given: "object") -> "object":
    """Ask one thing: its value, absent where this GPU has no such thing, or why it is not known."""
    try:
        value = question(*given)  # type: ignore[operator]  # a function of pynvml, which has no types
        return {"value": value.decode("utf-8", "replace") if isinstance(value, bytes) else value}
    except nvml.NVMLError as error:
        if error.value == nvml.NVML_ERROR_NOT_SUPPORTED:
            return {"absent": f"NVML: {error}"}
        return unknown(error)


def reasons(gpu: "object") -> "object":
    """Ask for the clock event reasons; drivers before 535 know them as throttle reasons."""
    try:
        return nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_FUNCTION_NOT_FOUND:
            raise
        return nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu)


def about(gpu: "object") -> "object":
    """Ask one GPU everything."""
    volatile = (nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC)
    return {
        "name": told(nvml.nvmlDeviceGetName, gpu),
        "uuid": told(nvml.nvmlDeviceGetUUID, gpu),
        "serial": told(nvml.nvmlDeviceGetSerial, gpu),
        "pci": told(lambda: nvml.nvmlDeviceGetPciInfo(gpu).busId),
        "vbios": told(nvml.nvmlDeviceGetVbiosVersion, gpu),
        "memory": told(lambda: nvml.nvmlDeviceGetMemoryInfo(gpu).total),
        "persistence": told(nvml.nvmlDeviceGetPersistenceMode, gpu),
        "ecc": told(lambda: nvml.nvmlDeviceGetEccMode(gpu)[0]),
        "ecc_pending": told(lambda: nvml.nvmlDeviceGetEccMode(gpu)[1]),
        "ecc_uncorrected": told(nvml.nvmlDeviceGetTotalEccErrors, gpu, *volatile),
        "mig": told(lambda: nvml.nvmlDeviceGetMigMode(gpu)[0]),
        "power_limit": told(nvml.nvmlDeviceGetPowerManagementLimit, gpu),
        "power_enforced": told(nvml.nvmlDeviceGetEnforcedPowerLimit, gpu),
        "power_default": told(nvml.nvmlDeviceGetPowerManagementDefaultLimit, gpu),
        "power_max": told(lambda: nvml.nvmlDeviceGetPowerManagementLimitConstraints(gpu)[1]),
        "sm_max": told(nvml.nvmlDeviceGetMaxClockInfo, gpu, nvml.NVML_CLOCK_SM),
        "reasons": told(reasons, gpu),
        "temperature": told(nvml.nvmlDeviceGetTemperature, gpu, nvml.NVML_TEMPERATURE_GPU),
        "link_generation": told(nvml.nvmlDeviceGetCurrPcieLinkGeneration, gpu),
        "link_max_generation": told(nvml.nvmlDeviceGetMaxPcieLinkGeneration, gpu),
        "link_width": told(nvml.nvmlDeviceGetCurrPcieLinkWidth, gpu),
        "link_max_width": told(nvml.nvmlDeviceGetMaxPcieLinkWidth, gpu),
    }


def gpus() -> "object":
    """Ask every GPU of the driver, by its index; one that is lost keeps its place."""
    found = []
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            found.append(about(nvml.nvmlDeviceGetHandleByIndex(index)))
        except nvml.NVMLError as error:
            found.append(unknown(error))
    return found


def answer() -> "object":
    """Ask the driver and its GPUs, or say why there is no asking."""
    try:
        nvml.nvmlInit()
        return {"driver": told(nvml.nvmlSystemGetDriverVersion), "gpus": gpus()}
    except nvml.NVMLError as error:
        return unknown(error)


print(json.dumps(answer()))
