"""Trees of machines with readings that are no temperature, and with older resources whose values are stale."""

from changed_tree import V1, ChangedTree, last, link
from odd_hosts import CRITICAL, OK, sensor
from trees import DELTA, DGX, DMTF, HPE_INTEL, LENOVO, NVSWITCH

SHELF = "/Chassis/PowerShelf_0"


def _shelf() -> ChangedTree:
    """The recorded power shelf with its inlined members as resources, and a manager."""
    tree = ChangedTree(DELTA)
    root = tree[""]
    for name in [key for key, value in root.items() if isinstance(value, dict) and "@odata.id" in value]:
        if name not in ("Chassis", "Managers"):
            root.pop(name)
    for place in (f"{SHELF}/Sensors", f"{SHELF}/PowerSubsystem/PowerSupplies"):
        bodies = tree[place]["Members"]
        tree.members(place)
        for body in bodies:
            shown = {key: value for key, value in body.items() if key not in ("Metrics", "Actions", "Oem")}
            tree.add(place, last(body["@odata.id"]), shown)
    tree[f"{SHELF}/PowerSubsystem"].pop("Batteries")
    tree[SHELF].pop("ThermalSubsystem", None)
    manager = {"ManagerType": "Service", "FirmwareVersion": "01.04.0012", "Status": OK}
    tree.members("/Managers")
    tree.add("/Managers", "PMC_0", {**manager, "Links": {"ManagerForChassis": [link(SHELF)]}})
    return tree


def dead_supply() -> ChangedTree:
    """A power shelf with a dead supply and an empty bay, whose sensors read 0; the shelf's health is OK."""
    tree, supplies = _shelf(), f"{SHELF}/PowerSubsystem/PowerSupplies"
    tree[SHELF] |= {"SerialNumber": "DLT25470091", "Status": {**OK, "HealthRollup": "OK"}}
    for number in range(1, 7):
        tree[f"{supplies}/{number}"]["SerialNumber"] = f"ECD25470{40 + number}"
    tree[f"{supplies}/4"]["Status"] = CRITICAL
    tree[f"{supplies}/6"]["Status"] = {"State": "Absent", "Health": None}
    for name in tree.ids(f"{SHELF}/Sensors"):
        body = tree[f"{SHELF}/Sensors/{name}"]
        if name.startswith("ps6_"):
            body |= {"Reading": 0, "Status": {"State": "Absent", "Health": "OK"}}
        if name.startswith("ps4_input_voltage"):
            body |= {"Reading": 0, "Status": CRITICAL}
    place = "/PowerEquipment/PowerShelves"
    tree[""]["PowerEquipment"] = link("/PowerEquipment")
    tree["/PowerEquipment"] = {"PowerShelves": link(place)}
    own = {"EquipmentType": "PowerShelf", "SerialNumber": "DLT25470091", "FirmwareVersion": "01.04.0012"}
    tree.members(place)
    tree.add(place, "1", {**own, "PowerSupplies": link(supplies), "Links": {"Chassis": [link(SHELF)]}, "Status": OK})
    return tree


def cooling_unit() -> ChangedTree:
    """A coolant distribution unit: two sensors named Temperature are differences, and a leak is in DetectorState."""
    tree, place = _shelf(), "/ThermalEquipment/CDUs"
    tree[SHELF] |= {"Manufacturer": "CoolIT Systems", "Model": "CHx80", "SerialNumber": "CDU-80-002217"}
    tree.remove(f"{SHELF}/PowerSubsystem/PowerSupplies", "3", "4", "5", "6")
    tree["/Managers/PMC_0"]["FirmwareVersion"] = "3.7.2"
    tree.members(f"{SHELF}/Sensors")
    for name, reading, more in COOLANT:
        sensor(tree, "PowerShelf_0", name, reading, **more)
    tree[""]["ThermalEquipment"] = link("/ThermalEquipment")
    tree["/ThermalEquipment"] = {"CDUs": link(place)}
    leaks = f"{place}/1/LeakDetection"
    own = {"EquipmentType": "CDU", "SerialNumber": "CDU-80-002217", "FirmwareVersion": "3.7.2"}
    below = {"Pumps": link(f"{place}/1/Pumps"), "LeakDetection": link(leaks), "Links": {"Chassis": [link(SHELF)]}}
    tree.members(place)
    tree.add(place, "1", {**own, **below, "Status": {**OK, "HealthRollup": "Warning"}})
    tree.members(f"{place}/1/Pumps")
    tree.add(f"{place}/1/Pumps", "1", {"PumpSpeedPercent": {"Reading": 61.0, "SpeedRPM": 3120}, "Status": OK})
    spare = {"State": "StandbySpare", "Health": "Warning"}
    tree.add(f"{place}/1/Pumps", "2", {"PumpSpeedPercent": {"Reading": 0, "SpeedRPM": 0}, "Status": spare})
    tree[leaks] = {"LeakDetectors": link(f"{leaks}/LeakDetectors"), "Status": OK}
    tree.members(f"{leaks}/LeakDetectors")
    for name, state in (("1", "OK"), ("2", "Warning")):
        detector = {"LeakDetectorType": "Moisture", "DetectorState": state, "Status": OK}
        tree.add(f"{leaks}/LeakDetectors", name, detector)
    return tree


COOLANT: tuple[tuple[str, float, dict[str, str]], ...] = (
    ("PrimarySupplyTemp", 18.4, {"PhysicalContext": "LiquidInlet"}),
    ("SecondarySupplyTemp", 32.1, {"PhysicalContext": "LiquidOutlet"}),
    ("PrimaryDeltaTemp", 12.8, {"ReadingBasis": "Delta"}),
    ("SecondaryDeltaTemp", 11.9, {"ReadingBasis": "Delta"}),
    ("AmbientTemp", 24.6, {"PhysicalContext": "Room"}),
    ("ApproachTemp", 13.7, {}),
    ("SecondaryFlow", 118.5, {"ReadingType": "LiquidFlowLPM", "ReadingUnits": "L/min"}),
    ("ReservoirLevel", 63.0, {"ReadingType": "Percent", "ReadingUnits": "%"}),
)
"""Sensors of a coolant distribution unit: name, reading, and what they are besides temperatures."""


def switch_margins() -> ChangedTree:
    """A switch tray whose second temperature of each switch is a margin; one of them has no ReadingBasis."""
    tree = ChangedTree(NVSWITCH)
    below = {"LowerCaution": {"Reading": 5.0}, "LowerCritical": {"Reading": 0.0}, "LowerFatal": {"Reading": -10.0}}
    for number, margin, basis in ((0, 47.0, {"ReadingBasis": "Headroom"}), (1, 43.0, {})):
        chassis = f"MGX_NVSwitch_{number}"
        context = {"PhysicalContext": "NetworkingDevice", "Thresholds": below, **basis}
        place = V1 + sensor(tree, chassis, f"{chassis}_TEMP_1", margin, **context)
        tree[f"/Chassis/{chassis}/Sensors"]["Members"].reverse()
        listed = tree[f"/Chassis/{chassis}/ThermalSubsystem/ThermalMetrics"]["TemperatureReadingsCelsius"]
        own = {"@odata.id": place, "DataSourceUri": place, "DeviceName": last(place), "Reading": margin}
        listed.insert(0, {**listed[0], **own})
        tree[f"/Chassis/{chassis}"]["SerialNumber"] = "0000000000"
    detector = tree["/Chassis/MGX_BMC_0/ThermalSubsystem/LeakDetection/LeakDetectors/leakage3"]
    detector |= {"DetectorState": "Critical", "Status": OK}
    return tree


def swapped_margins() -> ChangedTree:
    """TEMP_0 of each GPU is the margin, and TEMP_1 the temperature; only half of them have a ReadingBasis."""
    tree = ChangedTree(DGX)
    below = {"LowerCaution": {"Reading": 0}, "LowerCritical": {"Reading": -2}, "LowerFatal": {"Reading": -8}}
    report = tree["/TelemetryService/MetricReports/HGX_PlatformEnvironmentMetrics_0"]["MetricValues"]
    for number in range(1, 9):
        chassis = f"/Chassis/HGX_GPU_SXM_{number}"
        first, second = (tree[f"{chassis}/Sensors/HGX_GPU_SXM_{number}_TEMP_{each}"] for each in (0, 1))
        hot, margin = (89.5, -2.5) if number == 6 else (first["Reading"], second["Reading"])
        for each in (first, second):
            for name in ("Thresholds", "Implementation"):
                each.pop(name, None)
            if number == 6:
                each["Status"]["Health"] = "Critical"
        first |= {"Reading": margin, "Thresholds": below}
        second["Reading"] = hot
        if number <= 4:
            first["ReadingBasis"], second["ReadingBasis"] = "Headroom", "Zero"
        for each in tree[f"{chassis}/ThermalSubsystem/ThermalMetrics"]["TemperatureReadingsCelsius"]:
            each["Reading"] = margin if each["DataSourceUri"].endswith("TEMP_0") else hot
        metrics = tree[f"/Systems/HGX_Baseboard_0/Processors/GPU_SXM_{number}/EnvironmentMetrics"]
        metrics["TemperatureCelsius"]["Reading"] = hot
        for each in report:
            for name, reading in (("TEMP_0", margin), ("TEMP_1", hot)):
                if each["MetricProperty"].endswith(f"/HGX_GPU_SXM_{number}_{name}"):
                    each["MetricValue"] = str(reading)
    tree["/Systems"]["Members"].reverse()
    tree["/Systems/HGX_Baseboard_0"]["BiosVersion"] = ""
    return tree


def stale_excerpts() -> ChangedTree:
    """ThermalMetrics repeats old readings of three sensors; the sensors that it names have the true ones."""
    tree = ChangedTree(HPE_INTEL)
    place = "/Chassis/1/Sensors"
    named = {tree[f"{place}/{each}"]["Name"]: f"{place}/{each}" for each in tree.ids(place)}
    old = {"01-Inlet Ambient": 43, "52.1-XLR8R 13-GPU ASIC": 83, "56.1-XLR8R 17-GPU ASIC": 0}
    for each in tree["/Chassis/1/ThermalSubsystem/ThermalMetrics"]["TemperatureReadingsCelsius"]:
        name = each["DeviceName"]
        if name in named:
            each |= {"DataSourceUri": V1 + named[name], "Reading": old.get(name, each["Reading"])}
    tree["/Systems/1"]["Status"] |= {"Health": "OK", "HealthRollup": "OK"}
    tree["/Chassis/1"]["Status"]["Health"] = "OK"
    return tree


def stale_older() -> ChangedTree:
    """Power and Thermal beside the newer resources, all of whose parts they call absent, or of 0 degrees."""
    tree, place = ChangedTree(DMTF), "/Chassis/1U"
    thermal, power = tree[f"{place}/Thermal"], tree[f"{place}/Power"]
    for each in thermal["Temperatures"]:
        each |= {"ReadingCelsius": 0 if each["MemberId"] == "2" else None, "Status": {"State": None, "Health": "OK"}}
    for each in (*thermal["Fans"], *power["PowerSupplies"]):
        each["Status"] = {"State": "Absent", "Health": "Critical"}
    for each in thermal["Fans"]:
        each["Reading"] = 0
    for each in power["PowerSupplies"]:
        each["SerialNumber"] = "null"
    for each in power.get("PowerControl", []):
        each["PowerConsumedWatts"] = 0
    return tree


def more_in_older() -> ChangedTree:
    """PowerSubsystem lists 2 of 4 supplies, ThermalSubsystem 5 of 10 fans: the older resources list all."""
    tree = ChangedTree(LENOVO)
    tree.remove("/Chassis/1/PowerSubsystem/PowerSupplies", "PSU3", "PSU4")
    fans = ("Fan_3B_Tach", "Fan_4A_Tach", "Fan_4B_Tach", "Fan_5A_Tach", "Fan_5B_Tach")
    tree.remove("/Chassis/1/ThermalSubsystem/Fans", *fans)
    tree["/Chassis/1/Power"]["PowerSupplies"][2]["Status"] = CRITICAL
    return tree
