"""How hot NVIDIA's Grace CPUs are, and what they draw: firmware tells it by names of its own."""

import re
from collections.abc import Mapping

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, collection, probe, quantity
from rackcheck.core import read
from rackcheck.core.fact import Reading

END, NONE = "-- end --", "none"
# Only what bears a name of Grace is read: other meters ask the BMC, for seconds. 036b is NVIDIA.
COMMAND = f"""\
case $(uname -m) in aarch64) ;; *) echo {NONE}; echo '{END}'; exit 0;; esac
read -r i </sys/devices/soc0/soc_id || exit 1
case $i in jep106:036b:*) ;; *) echo {NONE}; echo '{END}'; exit 0;; esac
for d in /sys/class/thermal/thermal_zone* /sys/class/hwmon/hwmon*/device; do
read -r n 2>/dev/null <"$d/device/description" || read -r n 2>/dev/null <"$d/power1_oem_info" || continue
case $n in 'Thermal Zone Skt'?*' TJMax'|?*' Power Socket '?*) echo "is $n";; *) continue;; esac
for f in "$d/temp" "$d"/trip_point_[01]_type "$d"/trip_point_[01]_temp "$d/power1_average" "$d/power1_cap"; do
read -r v 2>/dev/null <"$f" && echo "${{f##*/}} $v"
done
done
echo '{END}'"""
NAME = re.compile("is (?:Thermal Zone Skt([0-9]{1,3}) TJMax|(CPU|SysIO|Module|Grace) Power Socket ([0-9]{1,3}))")
TRIPS = {"temperature_warning": "passive", "temperature_critical": "critical"}
POWERS = {"CPU": "power.cpu", "SysIO": "power.sysio", "Module": "power.module", "Grace": "power.limit"}


def watts(meter: Mapping[str, str] | None, name: str) -> Reading:
    """Read one file of a meter; a meter that is there and tells no power did not answer."""
    if meter is None:
        return Absent("no such meter")
    if name in meter:
        return read.whole(meter[name]) / 1e6
    return Absent("no limit") if name == "power1_cap" else Unknown(Reason.NOT_COLLECTED, f"{name} tells nothing")


# Unverified on hardware: written to the source of DCGM, which reads these files (modules/sysmon/DcgmModuleSysmon.cpp,
# DcgmSystemMonitor.cpp).
@probe(
    Shell(COMMAND),
    gives={
        "cpu.grace": collection("Grace CPUs by the number of their socket; none where the processor is another."),
        "cpu.grace/*.temperature": quantity("C", "The CPU's temperature.", Class.MEASUREMENT),
        "cpu.grace/*.temperature_warning": quantity(
            "C", "The temperature from which it is slowed; absent if not told."
        ),
        "cpu.grace/*.temperature_critical": quantity(
            "C", "The temperature that it must not reach; absent if not told."
        ),
        "cpu.grace/*.power.cpu": quantity("W", "What the CPU's cores draw.", Class.MEASUREMENT),
        "cpu.grace/*.power.sysio": quantity("W", "What the rest of the chip draws.", Class.MEASUREMENT),
        "cpu.grace/*.power.module": quantity("W", "What the module draws, its GPU too.", Class.MEASUREMENT),
        "cpu.grace/*.power.limit": quantity("W", "The power limit that is set."),
    },
)
def cpu_grace(answer: str) -> Facts:
    """Read the sensors of each socket, in thousandths of a degree and millionths of a watt."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    if rows[:-1] == [NONE]:
        return
    found: dict[str, dict[str, dict[str, str]]] = {}
    told: dict[str, str] = {}
    for row in rows[:-1]:
        name, _, value = row.partition(" ")
        if name == "is":
            match = NAME.fullmatch(row)
            told = {}
            if match is not None:
                found.setdefault(match[1] or match[3], {})[match[2] or "zone"] = told
        else:
            told[name] = value
    if not found:
        raise Unreadable(
            "no sensor of a Grace CPU: acpi_power_meter or the thermal zones are missing", Reason.TOOL_MISSING
        )
    for socket, sensors in found.items():
        item, zone = f"cpu.grace/{socket}", sensors.get("zone", {})
        if "temp" in zone:
            yield f"{item}.temperature", read.whole(zone["temp"]) / 1000
        for leaf, kind in TRIPS.items():
            trip = next(
                (zone.get(f"trip_point_{n}_temp") for n in "01" if zone.get(f"trip_point_{n}_type") == kind), None
            )
            yield f"{item}.{leaf}", Absent(f"no {kind} trip point") if trip is None else read.whole(trip) / 1000
        for sensor, leaf in POWERS.items():
            yield f"{item}.{leaf}", watts(sensors.get(sensor), "power1_cap" if sensor == "Grace" else "power1_average")
