"""What is true of the machines in `odd_hosts`, `odd_readings` and `odd_lists`: facts, or why they are unknown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import odd_hosts
import odd_lists
import odd_readings
from changed_tree import ChangedTree

from rackcheck.model.fact import Absent, Unknown

Make = Callable[[], ChangedTree]


@dataclass(frozen=True)
class No:
    """A fact that is unknown or absent; the reason contains this text."""

    because: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown | Absent) and self.because in str(other)

    __hash__ = None  # type: ignore[assignment]  # it equals many readings


MANY = No("manages 4 hosts (Blade1, Blade2, Blade3, Blade4)")
NO_SYSTEMS = No("this BMC has no Systems")
NOT_LISTED = No("this BMC lists no system")
NO_INTAKE = No("no sensor reports the context Intake")
SUPERMICRO = {
    "bmc.kind": "server",
    "bmc.cpu.count": 2,
    "bmc.gpu.count": 8,
    "psu#": 8,
    "bmc.drive#": 8,
    "firmware.bmc": "11.01.01",
    "bmc.host.serial": "S889914X3710910",
    "bmc.unhealthy#": (),
    "bmc.thermal.inlet": NO_INTAKE,
}
DELL = {
    "bmc.kind": "server",
    "bmc.gpu.count": 1,
    "psu#": 2,
    "fan#": 6,
    "bmc.drive#": 3,
    "firmware.bios": "1.8.2",
    "firmware.bmc": "6.00.30.00",
    "bmc.host.serial": "CNIVC0014M0388",
    "bmc.thermal.inlet": 25.0,
}
LENOVO = {
    "bmc.kind": "server",
    "bmc.cpu.count": 2,
    "bmc.dimm#": 16,
    "bmc.memory.total": 1024.0,
    "bmc.gpu.count": 8,
    "bmc.drive#": 4,
    "psu#": 4,
    "fan#": 10,
    "firmware.bios": "U8E122J",
    "firmware.bmc": "TGBT42S 2.83 2023-07-05",
    "bmc.host.serial": "J105958B",
    "bmc.thermal.inlet": 19.0,
}
HPE_INTEL = {
    "bmc.kind": "server",
    "bmc.cpu.count": 2,
    "bmc.dimm#": 16,
    "bmc.memory.total": 1536.0,
    "bmc.gpu.count": 4,
    "psu#": 5,
    "fan#": 12,
    "firmware.bios": "U72 v1.34 (04/18/2025)",
    "firmware.bmc": "1.13.01 May 13 2025",
    "bmc.host.serial": "2M2D2Q02TH",
    "bmc.thermal.inlet": 16.0,
    "bmc.unhealthy#": (),
    "bmc.gpu/3.temperature": No("TemperatureCelsius.Reading is null or missing"),
}
HPE_AMD = {
    "bmc.kind": "server",
    "bmc.dimm#": 16,
    "psu#": 2,
    "fan#": 6,
    "firmware.bios": "A42 v2.60 (08/11/2022)",
    "firmware.bmc": "iLO 5 v2.72",
    "bmc.host.serial": "MXQ302099S",
    "bmc.unhealthy#": ("Chassis/1", "Systems/1", "Systems/1#/Oem/Hpe/AggregateHealthStatus/Storage"),
}

TRUTHS: Mapping[Make, Mapping[str, object]] = {
    odd_hosts.numbered_firmware: {
        **DELL,
        "bmc.cpu.count": 2,
        "bmc.dimm#": 16,
        "bmc.memory.total": 512.0,
        "bmc.unhealthy#": (),
        "firmware.component/1.role": "backup",
        "firmware.component/29.role": "backup",
    },
    odd_hosts.cpus_in_baseboard: {
        "bmc.kind": "server",
        "bmc.cpu.count": 2,
        "bmc.dimm#": 2,
        "bmc.memory.total": 960.0,
        "bmc.gpu.count": 4,
        "bmc.drive#": 9,
        "psu#": 0,
        "firmware.bios": "02.03.13",
        "firmware.bmc": "GB200Nvl-24.12-8",
        "bmc.host.serial": No("the BMC returns the placeholder ''"),
        "bmc.thermal.inlet": NO_INTAKE,
        "bmc.sensor.temperature/HGX_GPU_0_TEMP_0.value": 41.5,
        "bmc.sensor.headroom/HGX_GPU_0_TEMP_1.value": 45.5,
        "bmc.sensor.temperature/HGX_GPU_3_TEMP_0.value": No("Reading is null or missing"),
        "bmc.sensor.headroom/ProcessorModule_0_CPU_0_TempLimit_0.value": 46.844,
        "bmc.unhealthy#": (
            "Chassis/Chassis_0/ThermalSubsystem/LeakDetection/LeakDetectors/Chassis_0_LeakDetector_1_ColdPlate",
            *("Chassis/HGX_CPU_0", "Chassis/HGX_CPU_1", "Managers/HGX_BMC_0"),
            *("Systems/HGX_Baseboard_0/Processors/CPU_0", "Systems/HGX_Baseboard_0/Processors/CPU_1"),
        ),
    },
    odd_hosts.card_first: {**LENOVO, "bmc.unhealthy#": ("Systems/DPU.Slot.15",)},
    odd_hosts.four_blades: {
        "bmc.kind": "enclosure",
        "bmc.cpu.count": MANY,
        "bmc.dimm": MANY,
        "bmc.gpu.count": MANY,
        "bmc.memory.total": 96.0,
        "psu#": 3,
        "fan#": 4,
        "firmware.bios": "P79 v1.45 (12/06/2017)",
        "firmware.bmc": "1.45.455b66-rev4",
        "bmc.thermal.inlet": 24.8,
        "bmc.host.serial": No("Blade1: BLD0417A, Blade2: BLD0418C, Blade3: BLD0403F, Blade4: BLD0500K"),
        "bmc.sensor.temperature": MANY,
        "bmc.unhealthy#": ("Chassis/Enc1/PowerSubsystem/PowerSupplies/Bay1", "Systems/Blade4/Memory/DIMM2"),
    },
    odd_hosts.hidden_host: {
        "bmc.kind": No("reports neither processors"),
        **dict.fromkeys(("bmc.cpu.count", "bmc.dimm", "bmc.memory.total", "bmc.host.serial"), NOT_LISTED),
        **dict.fromkeys(("firmware.bios", "firmware.bmc"), NOT_LISTED),
        "bmc.gpu.count": No("Chassis/Node2 is of this node is unknown"),
        "bmc.drive": No("Chassis/Node2 is of this node is unknown"),
        **dict.fromkeys(("psu", "fan", "bmc.unhealthy"), No("Chassis/Node2 is of this node is unknown")),
        "psu#": 4,
        "fan#": 10,
        "bmc.unhealthy#": (),
        "bmc.thermal.inlet": 19.0,
        "bmc.thermal.outlet": 25.0,
        'sensor/"CPU 1 Thermal Margin Temp".temperature': No("distance from a limit, is unknown"),
    },
    odd_hosts.gpu_bios_first: {
        **SUPERMICRO,
        "bmc.dimm#": 32,
        "bmc.memory.total": 2048.0,
        "firmware.bios": "1.4",
        "firmware.component/1.function": "gpu",
    },
    odd_readings.dead_supply: {
        "bmc.kind": "power_shelf",
        "bmc.cpu.count": NO_SYSTEMS,
        "bmc.dimm": NO_SYSTEMS,
        "bmc.gpu.count": NO_SYSTEMS,
        "bmc.memory.total": NO_SYSTEMS,
        "firmware.bios": NO_SYSTEMS,
        "bmc.host.serial": NO_SYSTEMS,
        "bmc.drive": No("lists no drive"),
        "fan": No("no chassis"),
        "psu#": 5,
        "firmware.bmc": "01.04.0012",
        "psu/4.health": "Critical",
        "psu/6.health": No("the slot is empty"),
        "bmc.thermal.inlet": No("no chassis"),
        "bmc.sensor.temperature/ps1_temp_input.value": 26.0,
        "bmc.sensor.temperature/ps6_temp_input.value": No("the slot is empty"),
        "bmc.unhealthy#": (
            "Chassis/PowerShelf_0/PowerSubsystem/PowerSupplies/4",
            "Chassis/PowerShelf_0/Sensors/ps4_input_voltage",
        ),
    },
    odd_readings.cooling_unit: {
        "bmc.kind": "cooling_unit",
        "bmc.cpu.count": NO_SYSTEMS,
        "bmc.dimm": NO_SYSTEMS,
        "bmc.memory.total": NO_SYSTEMS,
        "bmc.gpu.count": NO_SYSTEMS,
        "firmware.bios": NO_SYSTEMS,
        "bmc.host.serial": NO_SYSTEMS,
        "psu#": 2,
        "firmware.bmc": "3.7.2",
        "bmc.drive": No("lists no drive"),
        "fan": No("no chassis"),
        "leak": No("no chassis"),
        "bmc.thermal.inlet": No("no chassis"),  # a liquid inlet is no air inlet
        "bmc.sensor.temperature/PrimarySupplyTemp.value": 18.4,
        "bmc.sensor.temperature/ApproachTemp.value": No("its name is 'ApproachTemp'"),
        "bmc.sensor.temperature/AmbientTemp.value": 24.6,
        "bmc.sensor.delta/PrimaryDeltaTemp.value": 12.8,
        "bmc.sensor.percent/ReservoirLevel.value": 63.0,
        "bmc.unhealthy": NO_SYSTEMS,
    },
    odd_readings.switch_margins: {
        "bmc.kind": "switch_tray",
        "bmc.cpu.count": No("lists no CPU"),
        "bmc.dimm": No("lists no memory"),
        "bmc.gpu.count": No("lists no GPU"),
        "bmc.drive": No("lists no drive"),
        "psu#": 0,
        "bmc.memory.total": No("is 0"),
        "firmware.bios": No("BiosVersion is null"),
        "firmware.bmc": "88.0002.1950",
        "bmc.host.serial": "MT2519600UDR",
        "bmc.thermal.inlet": NO_INTAKE,
        "leak/leakage3.state": "Critical",
        "bmc.sensor.temperature/MGX_NVSwitch_0_TEMP_0.value": 58.0,
        "bmc.sensor.temperature/MGX_NVSwitch_1_TEMP_0.value": 62.0,
        "bmc.sensor.headroom/MGX_NVSwitch_0_TEMP_1.value": 47.0,
        "bmc.sensor.temperature/MGX_NVSwitch_1_TEMP_1.value": No("it has only lower thresholds"),
        "bmc.unhealthy#": (),
    },
    odd_readings.swapped_margins: {
        "bmc.kind": "server",
        "bmc.cpu.count": 2,
        "bmc.dimm#": 32,
        "bmc.memory.total": 2048.0,
        "bmc.gpu.count": 8,
        "psu#": 6,
        "fan#": 36,
        "firmware.bios": "1.1.3",
        "firmware.bmc": "23.11.20",
        "bmc.host.serial": "1662923610124",
        "bmc.drive": No("has no list of Members"),
        "bmc.thermal.inlet": No("240 sensors report the context Intake"),
        "bmc.gpu/GPU_SXM_6.temperature": 89.5,
        "bmc.gpu/GPU_SXM_6.headroom": -2.5,
        "bmc.sensor.temperature/HGX_GPU_SXM_1_TEMP_1.value": 26.75,
        "bmc.sensor.headroom/HGX_GPU_SXM_1_TEMP_0.value": 60.0,
        "bmc.report.temperature/HGX_GPU_SXM_6_TEMP_1.value": 89.5,
        "bmc.unhealthy#": tuple(f"Chassis/HGX_GPU_SXM_6/Sensors/HGX_GPU_SXM_6_TEMP_{n}" for n in (0, 1)),
    },
    odd_readings.stale_excerpts: {
        **HPE_INTEL,
        "bmc.drive#": 6,
        'sensor/"01-Inlet Ambient".temperature': 16.0,
        'sensor/"52.1-XLR8R 13-GPU ASIC".temperature': 35.0,
        'sensor/"56.1-XLR8R 17-GPU ASIC".temperature': 35.0,
    },
    odd_readings.stale_older: {
        "bmc.kind": "server",
        "bmc.cpu.count": 1,
        "bmc.dimm#": 3,
        "bmc.memory.total": 96.0,
        "psu#": 1,
        "fan#": 4,
        "bmc.gpu.count": No("no chassis"),
        "bmc.drive#": 2,
        "firmware.bios": "P79 v1.45 (12/06/2017)",
        "firmware.bmc": "1.45.455b66-rev4",
        "bmc.host.serial": "437XR1138R2",
        "bmc.thermal.inlet": 24.8,
        'sensor/"Chassis Intake Temp".temperature': No("Status.State is null"),
        "bmc.power.consumed": No("is 0"),
        "bmc.unhealthy#": ("Chassis/1U/PowerSubsystem/PowerSupplies/Bay1",),
    },
    odd_readings.more_in_older: {
        **LENOVO,
        "psu": ("2", "3", "PSU1", "PSU2"),
        "psu/2.health": "Critical",
        "bmc.unhealthy#": ("Chassis/1/Power#/PowerSupplies/2",),
    },
    odd_lists.pages: {
        **SUPERMICRO,
        "bmc.dimm#": 31,  # the module 14 is listed by a URI with an address, which is not requested
        "bmc.dimm": No("a member is not a link"),
        "bmc.memory.total": 2048.0,
        "firmware.bios": "1.4",
    },
    odd_lists.holes: {
        **HPE_AMD,
        **dict.fromkeys(("bmc.cpu", "bmc.cpu.count", "bmc.gpu.count"), No("Processors: HTTP 404")),
        "bmc.dimm": No("a count of 40 Members, but lists 32"),
        "bmc.memory.total": 1024.0,
        "bmc.dimm/proc2dimm16.size": No("HTTP 404"),
        "bmc.drive": No("a count of 19 Members, but lists 17"),
        "bmc.drive#": 18,
        "bmc.thermal.inlet": 20.0,
    },
    odd_lists.null_states: {
        **DELL,
        "bmc.cpu": ("CPU.Socket.1", "CPU.Socket.2"),
        "bmc.cpu.count": No("Status.State is null or missing"),
        "bmc.dimm#": 15,
        "bmc.memory.total": 480.0,
        'bmc.dimm/"DIMM.Socket.A8".size': 32.0,
        'bmc.dimm/"DIMM.Socket.A8".health': No("null or missing"),
        'bmc.dimm/"DIMM.Socket.B8".size': No("the slot is empty"),
        'bmc.drive/"Disk.Bay.1:Enclosure.Internal.0-1".health': No("null or missing"),
        'psu/"PSU.Slot.2".state': "UnavailableOffline",
        'psu/"PSU.Slot.2".health': No("null or missing"),
        "bmc.unhealthy#": (
            "Chassis/System.Embedded.1/Sensors/Fan.Embedded.4A",
            "Chassis/System.Embedded.1/Thermal#/Fans/3",
        ),
    },
    odd_lists.placeholders: {
        "bmc.kind": "server",
        "bmc.cpu.count": 1,
        "bmc.dimm#": 3,
        "bmc.memory.total": 48.0,
        "psu#": 0,
        "fan#": 0,
        "bmc.gpu.count": No("no chassis"),
        "bmc.drive": No("HTTP 404"),
        "bmc.thermal.inlet": NO_INTAKE,
        "firmware.bios": "1.2",
        "firmware.bmc": "4.0",
        "bmc.host.serial": No("placeholder"),
        "bmc.host.uuid": No(""),
        **{f"bmc.dimm/{n}.serial": No("") for n in range(1, 5)},
        'sensor/"System Temp".temperature': No("the slot is empty"),
        "bmc.unhealthy#": (),
    },
    odd_lists.texts: {
        **HPE_AMD,
        "bmc.cpu.count": 2,
        "bmc.cpu/1.cores": 64,
        "bmc.drive#": 18,
        "bmc.gpu.count": No("lists no GPU"),
        "bmc.memory.total": No("not a number: '1024 GB'"),
        "bmc.dimm/proc1dimm1.size": No("not a number: '64 GB'"),
        "bmc.dimm/proc2dimm1.size": No("CapacityMiB is null or missing"),
        "bmc.thermal.inlet": No("not a number: '20 C'"),
        'sensor/"02-CPU 1".temperature': 40.0,
        "bios.attribute/ProcSMT": "Enabled",
        "bios.smt": "enabled",
    },
    odd_lists.more_than_dimms: {**SUPERMICRO, "bmc.memory.total": 2688.0, "firmware.bios": "1.4"},
    odd_lists.thrice: {
        **HPE_INTEL,
        "bmc.drive#": 7,
        "bmc.drive/5.state": "StandbySpare",
        "bmc.drive/6.state": "Absent",
    },
}
"""What is true of each tree, or why it is unknown; `psu#` is the number of parts that are not absent."""

WRONG: Mapping[tuple[Make, str], tuple[object, str]] = {
    (odd_lists.more_than_dimms, "bmc.dimm#"): (32, "CXL modules are listed as DIMMs"),
}
"""Truths that the facts miss today, and why."""
