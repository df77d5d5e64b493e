"""NVML's readings of one GPU, by ctypes only: limit, power, energy, clock, throttle reasons, and other processes."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

SM = 1
"""NVML_CLOCK_SM."""

CAP = 0x4
"""The bit of the software power cap in the throttle reasons (nvml.h)."""


class NoMeter(Exception):
    """NVML is missing or returned an error; the message states which."""


class PciInfo(ctypes.Structure):
    """nvmlPciInfo_t of nvml.h."""

    _fields_ = [("legacy", ctypes.c_char * 16), *((name, ctypes.c_uint) for name in (
        "domain", "bus", "device", "id", "subsystem",
    )), ("address", ctypes.c_char * 32)]  # fmt: skip


def listed(library: str = "libnvidia-ml.so.1") -> list[tuple[str, str]]:
    """Return the UUID and the PCI address of each GPU, by NVML's index; raises NoMeter."""
    try:
        nvml = ctypes.CDLL(library)
    except OSError as error:
        raise NoMeter(str(error)) from None
    count = ctypes.c_uint()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        raise NoMeter("NVML did not list its GPUs")
    found = []
    for index in range(count.value):
        gpu, info, uuid = ctypes.c_void_p(), PciInfo(), ctypes.create_string_buffer(96)
        if (
            nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(gpu))
            or nvml.nvmlDeviceGetUUID(gpu, uuid, 96)
            or nvml.nvmlDeviceGetPciInfo_v3(gpu, ctypes.byref(info))
        ):
            raise NoMeter(f"NVML did not identify its GPU {index}")
        found.append((uuid.value.decode("ascii", "replace"), info.address.decode("ascii", "replace")))
    return found


class Meter:
    """One GPU by its PCI address; values that cannot be read are None."""

    def __init__(self, pci: str, index: int, library: str = "libnvidia-ml.so.1") -> None:
        """Open the library and find the GPU, by its index where it cannot be found by address.

        Raises NoMeter.
        """
        try:
            self._nvml = ctypes.CDLL(library)
        except OSError as error:
            raise NoMeter(str(error)) from None
        self._gpu = ctypes.c_void_p()
        self.driver = ""
        if self._nvml.nvmlInit_v2():
            raise NoMeter("nvmlInit_v2 was refused")
        text = ctypes.create_string_buffer(96)
        if self._nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
            self.driver = text.value.decode("ascii", "replace")
        found = getattr(self._nvml, "nvmlDeviceGetHandleByPciBusId_v2", None)
        refused = found is None or found(pci.encode("ascii"), ctypes.byref(self._gpu))
        if refused and self._nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(self._gpu)):
            raise NoMeter(f"NVML has no GPU {pci}")

    def _read(self, kind: Any, name: str, *given: Any) -> int | None:
        function = getattr(self._nvml, name, None)
        out = kind()
        if function is None or function(self._gpu, *given, ctypes.byref(out)):
            return None
        return int(out.value)

    def limit(self) -> float | None:
        """The enforced power limit, in W."""
        value = self._read(ctypes.c_uint, "nvmlDeviceGetEnforcedPowerLimit")
        return value / 1e3 if value else None

    def persistence(self) -> bool | None:
        """Whether persistence mode is on."""
        value = self._read(ctypes.c_uint, "nvmlDeviceGetPersistenceMode")
        return None if value is None else bool(value)

    def others(self) -> int | None:
        """Number of processes that compute on the GPU; None where NVML does not report it."""
        for name in ("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"):
            function, count = getattr(self._nvml, name, None), ctypes.c_uint(0)
            if function is None:
                continue
            code = function(self._gpu, ctypes.byref(count), None)
            if code in (0, 7):  # 7, NVML_ERROR_INSUFFICIENT_SIZE: there are some, and the buffer is too small
                return int(count.value)
        return None

    def now(self) -> dict[str, float]:
        """Read power (W), energy (J), clock (Hz), temp (C), reasons; values that cannot be read are left out."""
        answer = {
            "power": (self._read(ctypes.c_uint, "nvmlDeviceGetPowerUsage"), 1e-3),
            "energy": (self._read(ctypes.c_ulonglong, "nvmlDeviceGetTotalEnergyConsumption"), 1e-3),
            "clock": (self._read(ctypes.c_uint, "nvmlDeviceGetClockInfo", SM), 1e6),
            "temp": (self._read(ctypes.c_uint, "nvmlDeviceGetTemperature", 0), 1),
            "reasons": (self._read(ctypes.c_ulonglong, "nvmlDeviceGetCurrentClocksThrottleReasons"), 1),
        }
        return {name: value * factor for name, (value, factor) in answer.items() if value is not None}


class Watch:
    """Reads a meter ten times a second during work; `rows` are its readings, with `t` in seconds."""

    def __init__(self, meter: Meter) -> None:
        self.rows: list[dict[str, float]] = []
        self._meter, self._end = meter, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(2)

    def _run(self) -> None:
        while True:
            self.rows.append({"t": time.monotonic(), **self._meter.now()})
            if self._end.wait(0.1):
                return

    def mean(self) -> dict[str, float | None]:
        """Return mean power by the energy counter (W), clock (Hz), highest temp (C), share of rows at the power cap."""
        return averages(self.rows)


def power(first: dict[str, float], last: dict[str, float]) -> float | None:
    """Return the mean power between two rows (W); None where the energy counter is missing or did not move."""
    seconds, joules = last["t"] - first["t"], last.get("energy", 0.0) - first.get("energy", 0.0)
    return joules / seconds if seconds > 0 and joules > 0 and "energy" in first else None


def averages(rows: list[dict[str, float]]) -> dict[str, float | None]:
    """Return a summary of rows."""

    def column(name: str) -> list[float]:
        return [row[name] for row in rows if name in row]

    clocks, temps, reasons = column("clock"), column("temp"), column("reasons")
    return {
        "power": power(rows[0], rows[-1]) if rows else None,
        "clock": sum(clocks) / len(clocks) if clocks else None,
        "temp": max(temps) if temps else None,
        "at_cap": sum(1 for bits in reasons if int(bits) & CAP) / len(reasons) if reasons else None,
    }


def strongest(rows: list[dict[str, float]], seconds: float) -> float | None:
    """Return the highest mean power of any stretch of at least this many seconds (W); None where there is none."""
    best: float | None = None
    last = 0
    for row in rows:
        while last < len(rows) and rows[last]["t"] - row["t"] < seconds:
            last += 1
        if last == len(rows):
            break
        mean = power(row, rows[last])
        if mean is not None and (best is None or mean > best):
            best = mean
    return best
