"""Reads the node's own values during the load: temperature, clock, load, error counters, RDMA ports.

Unreadable values are omitted. All numbers are in SI units, temperatures in degrees C.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_files import node_number, node_numbers, node_paths, node_text

CLOCKS_MOST = 16
"""Maximum number of CPUs whose clock is read: older kernels may take 20 ms for each."""
COST = 100
"""After a reading, the same value is not read again for this many times the duration of the reading.

With a factor of 100, reading a value takes at most 1 % of the time of a core.
"""

IB_RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9])?) Gb/sec")


class NodeReader:
    """The node's own values: CPUs, memory, RDMA ports.

    The paths of files in /sys are searched for once, at the start; files that appear later are not read.
    """

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
        """Return the CPUs' thermal zones: Intel's package zones, and zones with the name that Grace's firmware sets."""
        found = []
        for kind in node_paths(self._root, "/sys/class/thermal", "thermal_zone*/type"):
            zone = kind[: -len("/type")]
            named = node_text(zone + "/device/description") or ""
            if node_text(kind) == "x86_pkg_temp" or (named.startswith("Thermal Zone Skt") and named.endswith("TJMax")):
                found.append(zone + "/temp")
        return found

    def read(self, last: "bool" = False) -> "Any":
        """Return a list of pairs of a part and its new values, such as `("node", {"temp": 61.0})`.

        Values that are slow to read are read less often, to limit the load on the node. If `last` is true, all counters
        are read.
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
        value = {}
        for name, paths in (
            ("edac_corrected", self._edac["ce"]), ("edac_uncorrected", self._edac["ue"]), ("throttles", self._throttles)
        ):  # fmt: skip
            numbers = node_numbers(paths)
            if paths and len(numbers) == len(paths):
                value[name] = sum(numbers)
        return value

    def _nics(self) -> "Any":
        """Read each RDMA port; for a device with several ports, the port's number is appended to the device's name."""
        found = []
        for port in self._ports:
            device = port.split("/")[-3]
            alone = sum(each.split("/")[-3] == device for each in self._ports) == 1
            state, rate = node_text(port + "/state"), IB_RATE.match(node_text(port + "/rate") or "")
            value: Any = {"up": int(state.startswith("4:"))} if state else {}
            if rate:
                value["rate"] = float(rate.group(1)) * 1e9 / 8
            for name, file in (
                ("symbol_error", "symbol_error"), ("link_downed", "link_downed"), ("xmit_wait", "port_xmit_wait")
            ):  # fmt: skip
                number = node_number(port + "/counters/" + file)
                if number is not None:
                    value[name] = number
            if value:
                found.append((f"nic/{device}" if alone else f"nic/{device}/{Path(port).name}", value))
        return found
