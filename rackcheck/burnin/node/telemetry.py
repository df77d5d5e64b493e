"""Runs on the node: what its GPUs say of themselves, and what they and the node tell while they work.

NVML is only read: nothing is set, cleared or written. What a GPU or a node cannot tell is left out, and what NVML
refused once is not asked again. All numbers are SI, temperatures degrees C.
"""

import os
import re
import threading
from pathlib import Path
from typing import Any

SAMPLE_PERIOD = 0.1
"""Seconds between two samples of a GPU; its counters are read each tenth time."""
GPUS_MOST, LINKS_MOST, CLOCKS_MOST = 64, 36, 16
"""How many GPUs, and NVLinks of one, are asked about, and of how many CPUs the clock is read: older kernels may take
20 ms for one."""
XIDS_MOST = 64
"""Lines of the kernel's log about one GPU that are told."""
HOT_BELOW = 2
"""Degrees C below the slowdown at which the load must end."""
LATE_AFTER, HANGS_AFTER = 1.0, 5.0
"""Seconds after which an answer of NVML is late, and after which it is said to hang."""
UNKNOWN_MOST = 3
"""Answers `unknown error` in a row after which a GPU that answered before is lost."""
COST = 100
"""What took a second to read is read again after this many: readers take at most 1 % of a core."""
THROTTLES = (0x8, 0x20, 0x40, 0x80)
"""Event reasons that are findings: hardware slowdown, software thermal, hardware thermal, hardware power brake."""
HARDWARE = 0x8 | 0x40 | 0x80

NVML_KINDS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
COMPUTE_MODES = ("default", "exclusive thread", "prohibited", "exclusive process")
PCI_PLACE = re.compile(r"([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})")
XID_LINE = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{10,16})[^)]{0,40}\): ([0-9]{1,5})\b.*")
XID_NAME = re.compile(r", name=.{0,20}?(?=, |$)")
IB_RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9])?) Gb/sec")


def pci_place(text: "str") -> "Any":
    """Take a PCI address apart: domain, bus and device as numbers; None if it is none."""
    found = PCI_PLACE.match(text)
    return tuple(int(part, 16) for part in found.groups()) if found else None


def node_text(path: "Any") -> "Any":
    """Read the first 4 KiB of a file; None if it cannot be read."""
    try:
        file = os.open(str(path), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(file, 4096).decode("utf-8", "replace").strip()
    except OSError:
        return None
    finally:
        os.close(file)


def node_number(path: "Any") -> "Any":
    """Read a whole number; None if there is none."""
    try:
        return int(node_text(path) or "")
    except ValueError:
        return None


def node_numbers(paths: "Any") -> "Any":
    """Read the numbers of those files that hold one."""
    return [number for number in map(node_number, paths) if number is not None]


def node_paths(root: "str", where: "str", pattern: "str") -> "Any":
    """List files, in order; none where nothing can be listed."""
    try:
        return sorted(str(path) for path in Path(root + where).glob(pattern))
    except OSError:
        return []


class Gpus:
    """The node's NVIDIA GPUs by NVML's index.

    `nvml` is pynvml, or None; `root` stands before /proc, /sys and /dev. `troubles` says of what is missing, why.
    `asking` is the question that NVML has not yet answered: index, function, since when.
    """

    def __init__(self, nvml: "Any", tell: "Any", clock: "Any", root: "str" = "") -> "None":
        self.nvml, self.root = nvml, root
        self._tell, self._clock = tell, clock
        self.handles: Any = {}
        self.lost: Any = {}
        self.places: Any = {}
        self.slowdown: Any = {}
        self._slowdown_margin: Any = {}
        self.troubles: Any = []
        self.asking: Any = None
        self._aloud = False
        self._answered: Any = set()
        self._refused: Any = set()
        self._unknown: Any = {}
        self._said: Any = {}
        self._open()

    def _open(self) -> "None":
        """Start NVML, unless asking it could load a driver."""
        on_bus, why = self._on_bus(), self._unasked()
        if why:
            if on_bus != 0:
                self.troubles.append({"of": "node", "why": why})
            return
        nvml = self.nvml
        try:
            nvml.nvmlInit()
            count = nvml.nvmlDeviceGetCount()
        except nvml.NVMLError as error:
            self.troubles.append({"of": "node", "why": self._why(error)})
            return
        if on_bus is not None and on_bus > count:
            why = f"no driver: {on_bus} NVIDIA GPUs on the PCI bus, NVML tells of {count}"
            self.troubles.append({"of": "node", "why": why})
        for index in range(min(count, GPUS_MOST)):
            try:
                self.handles[index] = nvml.nvmlDeviceGetHandleByIndex(index)
            except nvml.NVMLError as error:
                if error.value == nvml.NVML_ERROR_GPU_IS_LOST:
                    self.lost[index] = f"NVML: {error}"
                self.troubles.append({"of": f"gpu/{index}", "why": self._why(error)})

    def _on_bus(self) -> "Any":
        """Count NVIDIA's display and 3D controllers; None where the bus cannot be read."""
        try:
            devices = sorted(Path(self.root + "/sys/bus/pci/devices").iterdir())
        except OSError:
            return None
        return sum(
            node_text(each / "vendor") == "0x10de" and (node_text(each / "class") or "").startswith("0x03")
            for each in devices
        )

    def _unasked(self) -> "str":
        """Say why NVML must not or cannot be asked; empty if it may."""
        if self.nvml is None:
            return "tool missing: NVML did not ride along"
        if not os.access(self.root + "/proc/driver/nvidia/version", os.F_OK):
            if any(os.access(self.root + place, os.F_OK) for place in ("/dev/dxg", "/dev/nvhost-gpu")):
                return ""
            return "no driver: NVIDIA's driver is not loaded, and asking could load it"
        if not os.access(self.root + "/dev/nvidiactl", os.F_OK):
            return "no driver: NVIDIA's driver is loaded without /dev/nvidiactl, and asking could make that"
        return ""

    def _why(self, error: "Any") -> "str":
        """Name NVML's refusal by the words that the controller knows."""
        words = {
            self.nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "tool missing",
            self.nvml.NVML_ERROR_NO_PERMISSION: "denied",
            self.nvml.NVML_ERROR_GPU_IS_LOST: "lost",
            self.nvml.NVML_ERROR_TIMEOUT: "hang",
        }
        return f"{words.get(error.value, 'no driver')}: NVML: {error}"

    def begin(self) -> "None":
        """From now on tell what goes wrong; before, the controller has not been greeted."""
        self._aloud = True
        for index in sorted(self.lost):
            self.error(index, "lost", said=self.lost[index])

    def error(self, index: "int", name: "str", **more: "Any") -> "None":
        """Tell a finding of one GPU."""
        self._tell("error", of=f"gpu/{index}", stage="", name=name, **more)

    def alive(self) -> "Any":
        """Give the indices of the GPUs that can be asked."""
        return [index for index in sorted(self.handles) if index not in self.lost]

    def ask(self, index: "int", question: "Any", *given: "Any") -> "Any":
        """Ask one thing of a GPU; None where it does not tell."""
        name = question.__name__
        if index in self.lost or (index, name, given) in self._refused:
            return None
        began = self._clock()
        self.asking = (index, name, began)
        try:
            value = question(self.handles[index], *given)
        except self.nvml.NVMLError as error:
            if self._refuses(index, name, error):
                self._refused.add((index, name, given))
            return None
        except Exception:  # noqa: BLE001  what pynvml trips over is the fault of this one thing
            self._refused.add((index, name, given))
            return None
        finally:
            self.asking = None
            took = self._clock() - began
            if self._aloud and took > max(LATE_AFTER, 2 * self._said.get((index, name), 0)):
                self._said[index, name] = took
                self.error(index, "nvml", said=f"{name} took {took:.1f} s")
        self._answered.add(index)
        self._unknown[index] = 0
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def _refuses(self, index: "int", name: "str", error: "Any") -> "bool":
        """Take an error of NVML; gives whether this question has no answer here, now or later."""
        nvml, code = self.nvml, error.value
        if code in (
            nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND, nvml.NVML_ERROR_INVALID_ARGUMENT,
            nvml.NVML_ERROR_NO_PERMISSION, nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nvml.NVML_ERROR_DEPRECATED,
            nvml.NVML_ERROR_VGPU_ECC_NOT_SUPPORTED,
        ):  # fmt: skip
            return True
        if code == nvml.NVML_ERROR_UNKNOWN:
            self._unknown[index] = self._unknown.get(index, 0) + 1
        known = index in self._answered
        if code == nvml.NVML_ERROR_GPU_IS_LOST or (known and self._unknown.get(index, 0) >= UNKNOWN_MOST):
            self._lose(index, f"NVML: {error}")
        elif self._aloud and (index, code) not in self._said:
            self._said[index, code] = 0
            self.error(index, "nvml", code=code, said=f"{name}: {error}")
        return False

    def _lose(self, index: "int", said: "str") -> "None":
        """Ask a GPU nothing more."""
        if index not in self.lost:
            self.lost[index] = said
            if self._aloud:
                self.error(index, "lost", said=said)
            else:
                self.troubles.append({"of": f"gpu/{index}", "why": f"lost: {said}"})

    def fields(self, index: "int", asked: "Any") -> "Any":
        """Ask for many numbered fields, each with its scope, in one call; gives those that have an answer."""
        left = tuple(each for each in asked if (index, "field", each) not in self._refused)
        found = {}
        for each, field in zip(left, (self.ask(index, self.nvml.nvmlDeviceGetFieldValues, left) or ()) if left else ()):  # noqa: B905
            if not field.nvmlReturn:
                found[each] = getattr(field.value, NVML_KINDS[field.valueType])
            elif self._refuses(index, f"field {each[0]}", self.nvml.NVMLError(field.nvmlReturn)):
                self._refused.add((index, "field", each))
        return found

    def hello(self) -> "Any":
        """Say what each GPU is, by its index as a text; one that is lost is left out, and among the troubles."""
        found = {str(index): self._about(index) for index in self.alive()}
        return {str(index): found[str(index)] for index in self.alive()}

    def _about(self, index: "int") -> "Any":
        nvml = self.nvml

        def ask(question: "Any", *given: "Any") -> "Any":
            return self.ask(index, question, *given)

        def scaled(value: "Any", factor: "float") -> "Any":
            return None if value is None else round(value * factor, 3)

        def flag(value: "Any") -> "Any":
            return None if value is None else bool(value)

        memory, pci = ask(nvml.nvmlDeviceGetMemoryInfo), ask(nvml.nvmlDeviceGetPciInfo)
        limits, capability = ask(nvml.nvmlDeviceGetPowerManagementLimitConstraints), self._capability(index)
        mig, ecc, mode = ask(nvml.nvmlDeviceGetMigMode), ask(nvml.nvmlDeviceGetEccMode), self._mode(index)
        place = pci_place(pci.busId.decode() if isinstance(pci.busId, bytes) else pci.busId) if pci else None
        if place:
            self.places[index] = place
        slowdown = ask(nvml.nvmlDeviceGetTemperatureThreshold, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
        if slowdown:
            self.slowdown[index] = slowdown
        margin = (nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT, 0)
        self._slowdown_margin[index] = self.fields(index, [margin]).get(margin, 0)
        links, rate = self._links(index)
        told = {
            "uuid": ask(nvml.nvmlDeviceGetUUID),
            "serial": ask(nvml.nvmlDeviceGetSerial),
            "pci": "{:04x}:{:02x}:{:02x}.0".format(*place) if place else None,
            "model": ask(nvml.nvmlDeviceGetName),
            "memory": memory.total if memory else None,
            "cc": capability,
            "limit": scaled(ask(nvml.nvmlDeviceGetEnforcedPowerLimit), 1e-3),
            "limit_default": scaled(ask(nvml.nvmlDeviceGetPowerManagementDefaultLimit), 1e-3),
            "limit_max": scaled(limits[1], 1e-3) if limits else None,
            "clock_max": scaled(ask(nvml.nvmlDeviceGetMaxClockInfo, nvml.NVML_CLOCK_SM), 1e6),
            "memory_clock_max": scaled(ask(nvml.nvmlDeviceGetMaxClockInfo, nvml.NVML_CLOCK_MEM), 1e6),
            "memory_width": ask(nvml.nvmlDeviceGetMemoryBusWidth),
            "link_gen_max": ask(nvml.nvmlDeviceGetMaxPcieLinkGeneration),
            "link_width_max": ask(nvml.nvmlDeviceGetMaxPcieLinkWidth),
            "nvlinks": links,
            "nvlink_rate": rate,
            "driver": self._driver(),
            "mig": flag(mig[0]) if mig else None,
            "mode": mode,
            "persistence": flag(ask(nvml.nvmlDeviceGetPersistenceMode)),
            "slowdown": slowdown or None,
            "ecc": flag(ecc[0]) if ecc else None,
        }
        return {name: value for name, value in told.items() if value is not None}

    def _driver(self) -> "Any":
        try:
            said = self.nvml.nvmlSystemGetDriverVersion()
        except self.nvml.NVMLError:
            return None
        return said.decode("utf-8", "replace") if isinstance(said, bytes) else said

    def _capability(self, index: "int") -> "Any":
        said = self.ask(index, self.nvml.nvmlDeviceGetCudaComputeCapability)
        return ".".join(map(str, said)) if said else None

    def _mode(self, index: "int") -> "Any":
        number = self.ask(index, self.nvml.nvmlDeviceGetComputeMode)
        return COMPUTE_MODES[number] if number is not None and number < len(COMPUTE_MODES) else None

    def _links(self, index: "int") -> "Any":
        """Count the NVLinks that are up and add up what they carry in each direction, B/s; None what is not told."""
        nvml = self.nvml
        count = self.fields(index, [(nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, 0)])
        most = min(next(iter(count.values()), LINKS_MOST), LINKS_MOST)
        states = []
        for link in range(most):
            state = self.ask(index, nvml.nvmlDeviceGetNvLinkState, link)
            if state is None:
                break
            states.append(state)
        if not states:
            return (0, None) if count and not most else (None, None)
        up = [link for link, state in enumerate(states) if state == 1]
        speeds = self.fields(index, [(nvml.NVML_FI_DEV_NVLINK_GET_SPEED, link) for link in up])
        return len(up), sum(speeds.values()) * 1e6 if up and len(speeds) == len(up) else None

    def order(self) -> "Any":
        """Give the NVML index of each GPU in the order of PCI addresses, which is CUDA's if it is told so.

        By place as a text; empty where an address is not known: then nobody knows which is which. Call hello() first.
        """
        alive = self.alive()
        if any(index not in self.places for index in alive):
            return {}
        return {str(place): index for place, index in enumerate(sorted(alive, key=lambda each: self.places[each]))}

    def foreign(self, mine: "Any") -> "Any":
        """Say of each GPU that others compute on, who: {0: "pid 123 (python3)"}; `mine` are pids that are ours.

        Ask before the load only: it takes milliseconds under a lock of the whole driver. A GPU that does not tell is
        among the troubles.
        """
        nvml, found = self.nvml, {}
        for index in self.alive():
            running = self.ask(index, nvml.nvmlDeviceGetComputeRunningProcesses_v3)
            if running is None:
                running = self.ask(index, nvml.nvmlDeviceGetComputeRunningProcesses_v2)
            if running is None:
                why = "unsupported: NVML does not tell whether others use it"
                self.troubles.append({"of": f"gpu/{index}", "why": why})
            else:
                who = [self._process(pid) for pid in sorted({each.pid for each in running} - set(mine))]
                if who:
                    found[index] = ", ".join(who[:4]) + (f" and {len(who) - 4} more" if len(who) > 4 else "")
        return found

    def _process(self, pid: "int") -> "str":
        name = node_text(f"{self.root}/proc/{pid}/comm")
        return f"pid {pid} ({name})" if name else f"pid {pid}"

    def reasons(self, index: "int") -> "Any":
        """Ask why the clocks are what they are; drivers before 535 know that by another name."""
        found = self.ask(index, self.nvml.nvmlDeviceGetCurrentClocksEventReasons)
        return self.ask(index, self.nvml.nvmlDeviceGetCurrentClocksThrottleReasons) if found is None else found

    def quick(self, index: "int") -> "Any":
        """Read what moves quickly: 8 questions or fewer."""
        nvml = self.nvml
        average, energy = (nvml.NVML_FI_DEV_POWER_AVERAGE, 0), (nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, 0)
        instant, memory_temp = (nvml.NVML_FI_DEV_POWER_INSTANT, 0), (nvml.NVML_FI_DEV_MEMORY_TEMP, 0)
        found = self.fields(index, (average, instant, energy, memory_temp))
        told: Any = {}
        for name, value, factor in (
            ("clock", self.ask(index, nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM), 1e6),
            ("memory_clock", self.ask(index, nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM), 1e6),
            ("power", self._or(found.get(average), index, nvml.nvmlDeviceGetPowerUsage), 1e-3),
            ("power_instant", found.get(instant), 1e-3),
            ("energy", self._or(found.get(energy), index, nvml.nvmlDeviceGetTotalEnergyConsumption), 1e-3),
            ("temp", self.ask(index, nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU), 1),
            ("memory_temp", found.get(memory_temp), 1),
            ("reasons", self.reasons(index), 1),
        ):
            if value is not None:
                told[name] = round(value * factor, 3)
        used = self.ask(index, nvml.nvmlDeviceGetUtilizationRates)
        if used is not None:
            told["busy"] = used.gpu / 100
        return told

    def _or(self, value: "Any", index: "int", question: "Any") -> "Any":
        return self.ask(index, question) if value is None else value

    def below_slowdown(self, index: "int", temp: "float") -> "Any":
        """Degrees C up to the hardware's slowdown; None where it is not known.

        Newer GPUs tell no such temperature: they tell how far they are below their limit, and how far beyond that the
        slowdown is, as a margin below zero.
        """
        if index in self.slowdown:
            return self.slowdown[index] - temp
        margin = self.ask(index, self.nvml.nvmlDeviceGetMarginTemperature)
        return None if margin is None else margin - self._slowdown_margin.get(index, 0)

    def counters(self, index: "int") -> "Any":
        """Read what counts errors, and the PCIe link: once a second is enough."""
        nvml = self.nvml
        errors, volatile = nvml.nvmlDeviceGetTotalEccErrors, nvml.NVML_VOLATILE_ECC
        rows = self.ask(index, nvml.nvmlDeviceGetRemappedRows)
        told = {
            "ecc_corrected": self.ask(index, errors, nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, volatile),
            "ecc_uncorrected": self.ask(index, errors, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, volatile),
            "remap_pending": rows[2] if rows else None,
            "remap_failed": rows[3] if rows else None,
            "replays": self.ask(index, nvml.nvmlDeviceGetPcieReplayCounter),
            "gen": self.ask(index, nvml.nvmlDeviceGetCurrPcieLinkGeneration),
            "width": self.ask(index, nvml.nvmlDeviceGetCurrPcieLinkWidth),
            "nvlink_errors": self._link_errors(index),
        }
        return {name: value for name, value in told.items() if value is not None}

    def _link_errors(self, index: "int") -> "Any":
        """Add up what all NVLinks counted: totals up to NVLink 4, link by link from NVLink 5 on.

        None if a counter that was told before is not told now: a sum without it would not compare.
        """
        nvml = self.nvml
        found = self.fields(index, [(field, 0) for field in (
            nvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, nvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, nvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL,
        )])  # fmt: skip
        if not found:
            found = self.fields(index, [(field, link) for link in range(LINKS_MOST) for field in (
                nvml.NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS, nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS,
                nvml.NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS,
                nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS,
            )])  # fmt: skip
        before = self._said.setdefault((index, "links"), len(found))
        return sum(found.values()) if found and len(found) == before else None


class KernelLog:
    """The Xids that the kernel's log tells from now on; `readable` is false where only root may read it."""

    def __init__(self, path: "str") -> "None":
        self._rest = b""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._file, 0, os.SEEK_END)
            self.readable = True
        except OSError:
            self.readable = False

    def xids(self) -> "Any":
        """Give what is new: place, number and line of each Xid, without the name of a process."""
        found = []
        for line in self._lines():
            match = XID_LINE.search(line)
            if match:
                said = XID_NAME.sub("", match.group(0))
                found.append((pci_place(match.group(1)), int(match.group(2)), said[:200]))
        return found

    def _lines(self) -> "Any":
        data = b""
        for _ in range(1024 if self.readable else 0):
            try:
                more = os.read(self._file, 8192)
            except BrokenPipeError:  # lines were overwritten before we came: the next ones are there
                continue
            except OSError:
                break
            if not more:
                break
            data += more
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[:8192]
        return [line.decode("utf-8", "replace") for line in lines]


class NodeReader:
    """What the node itself tells: its CPUs, its memory, its RDMA ports. Files are found once, then only read."""

    def __init__(self, clock: "Any", root: "str" = "") -> "None":
        self._clock, self._root = clock, root
        self._due: Any = {}
        cpus = "/sys/devices/system/cpu"
        clocks = node_paths(root, cpus, "cpu[0-9]*/cpufreq/scaling_cur_freq")
        self._clocks = clocks[:: max(1, -(-len(clocks) // CLOCKS_MOST))]
        self._throttles = node_paths(root, cpus, "cpu[0-9]*/thermal_throttle/core_throttle_count")
        self._edac = {
            kind: node_paths(root, "/sys/devices/system/edac/mc", f"mc[0-9]*/{kind}_count") for kind in ("ce", "ue")
        }
        self._temps = self._sensors() or self._zones()
        self._ports = node_paths(root, "/sys/class/infiniband", "*/ports/*")

    def _sensors(self) -> "Any":
        return [
            path
            for name in node_paths(self._root, "/sys/class/hwmon", "*/name")
            if node_text(name) in ("coretemp", "k10temp", "zenpower")
            for path in node_paths(name[: -len("/name")], "", "temp*_input")
        ]

    def _zones(self) -> "Any":
        """Find the CPUs' thermal zones: Intel's package, and what firmware calls Grace's."""
        found = []
        for kind in node_paths(self._root, "/sys/class/thermal", "thermal_zone*/type"):
            zone = kind[: -len("/type")]
            named = node_text(zone + "/device/description") or ""
            if node_text(kind) == "x86_pkg_temp" or (named.startswith("Thermal Zone Skt") and named.endswith("TJMax")):
                found.append(zone + "/temp")
        return found

    def read(self, last: "bool" = False) -> "Any":
        """Give what is due: pairs of a thing and its columns, `("node", {"temp": 61.0})`; the last time, all counters.

        What is slow to read is read less often, so that reading takes no more than its share of a core.
        """
        node: Any = {}
        for reader in (self._temp, self._clock_mean, self._load, self._mce, self._counts):
            if last and reader == self._clock_mean:
                continue
            node.update(self._in_time(reader, last) or {})
        return [("node", node)] + (self._in_time(self._nics, last) or [])

    def _in_time(self, reader: "Any", last: "bool") -> "Any":
        began = self._clock()
        if began < self._due.get(reader.__name__, began) and not last:
            return None
        found = reader()
        self._due[reader.__name__] = began + COST * (self._clock() - began)
        return found

    def _temp(self) -> "Any":
        temps = node_numbers(self._temps)
        return {"temp": max(temps) / 1000} if temps else {}

    def _clock_mean(self) -> "Any":
        clocks = node_numbers(self._clocks)
        return {"clock": round(sum(clocks) * 1000 / len(clocks))} if clocks else {}

    def _load(self) -> "Any":
        try:
            return {"load": float((node_text(self._root + "/proc/loadavg") or "").split()[0])}
        except (ValueError, IndexError):
            return {}

    def _mce(self) -> "Any":
        try:
            with Path(self._root + "/proc/interrupts").open("rb") as file:
                for line in file:
                    if line.lstrip().startswith(b"MCE:"):
                        return {"mce": sum(int(word) for word in line.split()[1:] if word.isdigit())}
        except OSError:
            pass
        return {}

    def _counts(self) -> "Any":
        told = {}
        for name, paths in (
            ("edac_corrected", self._edac["ce"]), ("edac_uncorrected", self._edac["ue"]), ("throttles", self._throttles)
        ):  # fmt: skip
            numbers = node_numbers(paths)
            if paths and len(numbers) == len(paths):
                told[name] = sum(numbers)
        return told

    def _nics(self) -> "Any":
        """Read each RDMA port; of a device with several, the port's number stands behind its name."""
        found = []
        for port in self._ports:
            device = port.split("/")[-3]
            alone = sum(each.split("/")[-3] == device for each in self._ports) == 1
            state, rate = node_text(port + "/state"), IB_RATE.match(node_text(port + "/rate") or "")
            told: Any = {"up": int(state.startswith("4:"))} if state else {}
            if rate:
                told["rate"] = float(rate.group(1)) * 1e9 / 8
            for name, file in (
                ("symbol_error", "symbol_error"), ("link_downed", "link_downed"), ("xmit_wait", "port_xmit_wait")
            ):  # fmt: skip
                number = node_number(port + "/counters/" + file)
                if number is not None:
                    told[name] = number
            if told:
                found.append((f"nic/{device}" if alone else f"nic/{device}/{Path(port).name}", told))
        return found


class Sampler(threading.Thread):
    """Tells what GPUs and node do, each 0.1 s and each second, until `stop` is set; then once more, all counters.

    The first and the last rows of counters are those before and after the load. `on_hot(index, temp, limit)` is called
    once a GPU is within 2 C of its slowdown, `on_reasons(index, bits)` once for each hardware slowdown. Call hello()
    of the GPUs first. `skipped` counts the samples that were due while an earlier one was not done.
    """

    def __init__(
        self, gpus: "Gpus", tell: "Any", clock: "Any", stop: "Any", on_hot: "Any" = None, on_reasons: "Any" = None
    ) -> "None":
        threading.Thread.__init__(self, name="telemetry")
        self.daemon = True
        self.gpus, self.begun, self.skipped = gpus, 0.0, 0
        self._tell, self._clock, self._stop_event = tell, clock, stop
        self._on_hot, self._on_reasons = on_hot, on_reasons
        self._node = NodeReader(clock, gpus.root)
        self._log = KernelLog(gpus.root + "/dev/kmsg")
        self._xids: Any = {}
        self._due: Any = {}
        self._told: Any = set()

    def run(self) -> "None":
        """Sample by a schedule that does not drift; what is late is left out and not made up for."""
        node = threading.Thread(target=self._watch_node, name="telemetry-node")
        node.daemon = True
        self.gpus.begin()
        node.start()
        self.begun, number = self._clock(), 0
        while self.gpus.alive() and not self._stop_event.is_set():
            self.round(number)
            due = int((self._clock() - self.begun) / SAMPLE_PERIOD) + 1
            self.skipped += due - number - 1
            number = due
            self._stop_event.wait(max(0.0, self.begun + number * SAMPLE_PERIOD - self._clock()))
        self._stop_event.wait()
        node.join(0.3)
        self.round(number, last=True)

    def round(self, number: "int", last: "bool" = False) -> "None":
        """Sample each GPU once; its counters the first time, the last time, and once a second, not all GPUs at once."""
        for index in self.gpus.alive():
            told = self.gpus.quick(index)
            if last or number >= self._due.get(index, 0):
                every = round(1 / SAMPLE_PERIOD)
                self._due[index] = number - number % every + every + index % every
                told.update(self.gpus.counters(index))
                if self._log.readable and index in self.gpus.places:
                    told["xids"] = self._xids.get(index, 0)
            if index not in self.gpus.lost and told:
                self._tell("sample", of=f"gpu/{index}", **told)
                self._judge(index, told)

    def _judge(self, index: "int", told: "Any") -> "None":
        """Tell, and call for help, where a GPU is hot or slowed."""
        temp = told.get("temp")
        if temp is not None and ("hot", index) not in self._told:
            margin = self.gpus.below_slowdown(index, temp)
            if margin is not None and margin <= HOT_BELOW:
                self._told.add(("hot", index))
                limit = temp + margin - HOT_BELOW
                self.gpus.error(index, "hot", temp=temp, limit=limit)
                if self._on_hot:
                    self._on_hot(index, temp, limit)
        new = [bit for bit in THROTTLES if told.get("reasons", 0) & bit and (bit, index) not in self._told]
        for bit in new:
            self._told.add((bit, index))
            self.gpus.error(index, "throttle", reasons=bit)
        if self._on_reasons and any(bit & HARDWARE for bit in new):
            self._on_reasons(index, sum(bit for bit in new if bit & HARDWARE))

    def _watch_node(self) -> "None":
        """Sample the node each second, by a schedule; a thread of its own, since files may be slow to read."""
        begun, number = self._clock(), 0
        while not self._stop_event.is_set():
            self.node_round()
            number = max(number + 1, int(self._clock() - begun) + 1)
            self._stop_event.wait(max(0.0, begun + number - self._clock()))
        self.node_round(last=True)

    def node_round(self, last: "bool" = False) -> "None":
        """Sample the node once: its own columns, its ports, new Xids, and whether NVML hangs."""
        for place, xid, line in self._log.xids():
            index = next((each for each, known in self.gpus.places.items() if known == place), None)
            seen = self._xids[index] = self._xids.get(index, 0) + 1
            if seen <= XIDS_MOST:
                of = "node" if index is None else f"gpu/{index}"
                self._tell("error", of=of, stage="", name="xid", xid=xid, line=line)
        asking = self.gpus.asking
        if asking and self._clock() - asking[2] > HANGS_AFTER and asking not in self._told:
            self._told.add(asking)
            self.gpus.error(asking[0], "hang", said=f"{asking[1]}: no answer for {HANGS_AFTER:g} s")
        for of, told in self._node.read(last):
            if told:
                self._tell("sample", of=of, **told)
