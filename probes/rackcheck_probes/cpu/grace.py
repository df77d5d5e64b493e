"""Temperature and power of NVIDIA's Grace CPUs, which firmware reports under its own names."""

from rackcheck import Class, Facts, Reason, Shell, Unreadable, collection, probe, quantity, read
from rackcheck.parse.host.gpu import grace

END, NONE = "-- end --", "none"
# Only meters with a Grace name are read: other meters query the BMC, which takes seconds. 036b is NVIDIA.
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
TRIPS = {"temperature_warning": "passive", "temperature_critical": "critical"}
POWERS = {"CPU": "power.cpu", "SysIO": "power.sysio", "Module": "power.module", "Grace": "power.limit"}


# Unverified on hardware: written from the source of DCGM, which reads these files (modules/sysmon/DcgmModuleSysmon.cpp,
# DcgmSystemMonitor.cpp).
@probe(
    Shell(COMMAND),
    gives={
        "cpu.grace": collection("Grace CPUs by socket number; empty on a node with other processors."),
        "cpu.grace/*.temperature": quantity("C", "The CPU's temperature.", Class.MEASUREMENT),
        "cpu.grace/*.temperature_warning": quantity(
            "C", "The temperature from which the CPU is slowed; absent if not reported."
        ),
        "cpu.grace/*.temperature_critical": quantity(
            "C", "The temperature that the CPU must not reach; absent if not reported."
        ),
        "cpu.grace/*.power.cpu": quantity("W", "Power that the CPU's cores draw.", Class.MEASUREMENT),
        "cpu.grace/*.power.sysio": quantity("W", "Power that the rest of the chip draws.", Class.MEASUREMENT),
        "cpu.grace/*.power.module": quantity("W", "Power that the module draws, including its GPU.", Class.MEASUREMENT),
        "cpu.grace/*.power.limit": quantity("W", "The power limit that is set."),
    },
)
def cpu_grace(answer: str) -> Facts:
    """Read the sensors of each socket, in thousandths of a degree and millionths of a watt."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the output was truncated")
    if rows[:-1] == [NONE]:
        return
    found = grace.sockets(rows[:-1])
    if not found:
        raise Unreadable(
            "no sensor of a Grace CPU: acpi_power_meter or the thermal zones are missing", Reason.TOOL_MISSING
        )
    for socket, sensors in found.items():
        item, zone = f"cpu.grace/{socket}", sensors.get(grace.ZONE, {})
        if "temp" in zone:
            yield f"{item}.temperature", grace.celsius(zone["temp"])
        for leaf, kind in TRIPS.items():
            yield f"{item}.{leaf}", grace.trip(zone, kind)
        for sensor, leaf in POWERS.items():
            file = "power1_cap" if sensor == "Grace" else "power1_average"
            yield f"{item}.{leaf}", grace.watts(sensors.get(sensor), file)
