"""Trees of machines whose host, parts or firmware a client finds only if it reads what each resource is."""

from changed_tree import V1, ChangedTree, link
from trees import BLUEFIELD, DELL, DMTF, GB200, LENOVO, SUPERMICRO, resource

FIRMWARE = "/UpdateService/FirmwareInventory"
OK = {"State": "Enabled", "Health": "OK"}
CRITICAL = {"State": "Enabled", "Health": "Critical"}


def sensor(tree: ChangedTree, chassis: str, name: str, reading: float | None, **more: object) -> str:
    """List one more temperature sensor of a chassis; returns its URI."""
    body = {"@odata.type": "#Sensor.v1_7_0.Sensor", "Name": name, "Reading": reading, "Status": OK}
    place = f"/Chassis/{chassis}/Sensors"
    if "Sensors" not in tree[f"/Chassis/{chassis}"]:
        tree[f"/Chassis/{chassis}"]["Sensors"] = link(place)
        tree.members(place)
    return tree.add(place, name, {**body, "ReadingType": "Temperature", "ReadingUnits": "Cel", **more})


def numbered_firmware() -> ChangedTree:
    """Firmware with the ids 1 to 29: three entries are named BIOS, and the roll-back versions are first and last."""
    tree = ChangedTree(DELL)
    tree.rename("/Systems/System.Embedded.1", "/Systems/4c4c4544-0035-3410-8050-c6c04f314733")
    tree.rename("/Chassis/System.Embedded.1", "/Chassis/Self")
    tree.rename("/Managers/iDRAC.Embedded.1", "/Managers/Self")
    ids = tree.ids(FIRMWARE)
    old = [each for each in ids if each.startswith("Previous")]
    bios, controller = ([each for each in old if word in each] for word in ("BIOS", "iDRAC"))
    rest = [each for each in reversed(ids) if each not in bios + controller]
    for was, now in tree.number(FIRMWARE, [*bios, *rest, *controller]).items():
        body = tree[f"{FIRMWARE}/{now}"]
        body["Oem"]["Dell"]["DellSoftwareInventory"].pop("ElementName", None)
        if was in old:
            body["Status"]["State"] = "StandbySpare"
    return tree


def cpus_in_baseboard() -> ChangedTree:
    """A tray whose host lists neither CPUs nor memory: the baseboard does, beside the GPUs' memory."""
    tree, host, board = ChangedTree(GB200), "/Systems/System_0", "/Systems/HGX_Baseboard_0"
    for name in ("Processors", "Memory", "ProcessorSummary", "MemorySummary"):
        tree[host].pop(name, None)
    tree.lose(f"{host}/Processors", f"{host}/Memory")
    tree[host] |= {"BiosVersion": "02.03.13", "SerialNumber": ""}
    tree[board] |= {"BiosVersion": "", "SerialNumber": "N/A"}
    tree[board]["MemorySummary"]["TotalSystemMemoryGiB"] = 1696
    tree.order("/Systems", sorted(tree.ids("/Systems"), key=lambda each: "HGX" not in each))
    for number, reading in enumerate((41.5, 39.875, 42.25, None)):
        memory = tree[f"{board}/Memory/GPU_{number}_DRAM_0"]
        memory |= {"CapacityMiB": 188416, "MemoryType": "DRAM", "MemoryDeviceType": "HBM3"}
        of = {"PhysicalContext": "GPU", "RelatedItem": [link(f"{board}/Processors/GPU_{number}")]}
        chassis = f"HGX_GPU_{number}"
        sensor(tree, chassis, f"{chassis}_TEMP_0", reading, Thresholds={"UpperCritical": {"Reading": 92.0}}, **of)
        below = {name: {"Reading": limit} for name, limit in (("LowerCaution", 0.0), ("LowerCritical", -2.0))}
        margin = None if reading is None else 87 - reading
        sensor(tree, chassis, f"{chassis}_TEMP_1", margin, ReadingBasis="Headroom", Thresholds=below, **of)
    return tree


def card_first() -> ChangedTree:
    """A host behind a DPU: the card's system comes first, with a CPU, memory, a BIOS version and a fault of its own."""
    tree, card = ChangedTree(LENOVO), "/Systems/DPU.Slot.15"
    shown: dict[str, object] = dict(resource(BLUEFIELD, "/redfish/v1/Systems/Bluefield"))
    shown = {key: shown[key] for key in ("@odata.type", "UUID", "HostName") if key in shown}
    tree.add(
        "/Systems",
        "DPU.Slot.15",
        {
            **shown,
            "SystemType": "DPU",
            "Name": "BlueField-2 DPU",
            "SerialNumber": "MT2341XZ0A9M",
            "Status": CRITICAL,
            "BiosVersion": "4.0.3-12849",
            "MemorySummary": {"TotalSystemMemoryGiB": 16},
            "ProcessorSummary": {"Count": 1, "CoreCount": 8},
            "Processors": link(f"{card}/Processors"),
            "Memory": link(f"{card}/Memory"),
            "Links": {"Chassis": [link("/Chassis/1")]},
        },
        first=True,
    )
    core = {"ProcessorType": "CPU", "ProcessorArchitecture": "ARM", "InstructionSet": "ARM-A64", "TotalCores": 8}
    memory = {"CapacityMiB": 16384, "MemoryType": "DRAM", "MemoryDeviceType": "DDR4", "BaseModuleType": "Die"}
    for name, part in (("Processors", core), ("Memory", memory)):
        tree.members(f"{card}/{name}")
        tree.add(f"{card}/{name}", "0", {**part, "Status": OK})
    tree["/Chassis/1"]["Links"]["ComputerSystems"].insert(0, link(card))
    tree["/Managers/1"]["Links"]["ManagerForServers"].insert(0, link(card))
    return tree


BLADES = ("BLD0417A", "BLD0418C", "BLD0403F", "BLD0500K")


def four_blades() -> ChangedTree:
    """An enclosure of four blades, the third of which is off, and the fourth has a failed module."""
    tree, room = ChangedTree(DMTF), "/Chassis/Enc1"
    tree.rename("/Chassis/1U", room)
    tree.rename("/Managers/BMC", "/Managers/EM")
    tree.rename("/Systems/437XR1138R2", "/Systems/Blade1")
    for number in (2, 3, 4):
        tree.copy("/Systems/Blade1", f"/Systems/Blade{number}")
    for bay in (3, 4):
        tree.copy(f"{room}/PowerSubsystem/PowerSupplies/Bay1", f"{room}/PowerSubsystem/PowerSupplies/Bay{bay}")
    enclosure, manager = tree[room], tree["/Managers/EM"]
    enclosure |= {"ChassisType": "Enclosure", "SerialNumber": "ENC77120034", "Model": "BX4000"}
    for name in ("Thermal", "Power"):
        enclosure.pop(name)
        tree.lose(f"{room}/{name}")
    enclosure["Links"] = {"ManagedBy": [link("/Managers/EM")], "Contains": []}
    manager |= {"ManagerType": "EnclosureManager", "SerialNumber": "EM00911"}
    manager["Links"] |= {"ManagerForServers": [], "ManagerForChassis": [link(room)]}
    tree.members("/Systems")
    for number, serial in enumerate(BLADES, start=1):
        _blade(tree, f"Blade{number}", serial, off=number == 3, inlet=23 + number / 2)
    tree["/Systems/Blade4/Memory/DIMM2"]["Status"] = CRITICAL
    tree["/Systems/Blade4"]["Status"] = {**OK, "HealthRollup": "Critical"}
    for bay in (3, 4):
        name = tree.add(f"{room}/PowerSubsystem/PowerSupplies", f"Bay{bay}")
        tree[name] |= {"SerialNumber": f"348825{bay}", "Status": OK}
    tree.remove(f"{room}/Sensors", "CPU1Temp", "DIMM1Temp", "DIMM2Temp", "DIMM3Temp", "CPU1Power")
    return tree


def _blade(tree: ChangedTree, name: str, serial: str, *, off: bool, inlet: float) -> None:
    system, chassis = f"/Systems/{name}", f"/Chassis/{name}"
    tree.add("/Systems", name)
    own = {"SerialNumber": serial, "UUID": f"38947555-7742-3448-3784-82334782383{name[-1]}", "Model": "BX4000 blade"}
    tree[system] |= own | {"Links": {"Chassis": [link(chassis)], "ManagedBy": [link("/Managers/EM")]}}
    around = {
        "ComputerSystems": [link(system)],
        "ContainedBy": link("/Chassis/Enc1"),
        "ManagedBy": [link("/Managers/EM")],
    }
    tree.add("/Chassis", name, {"ChassisType": "Blade", "SerialNumber": serial, "Status": OK, "Links": around})
    state = {"State": "UnavailableOffline"} if off else OK
    sensor(tree, name, "InletTemp", None if off else inlet, PhysicalContext="Intake", Status=state)
    if off:
        tree[system] |= {"PowerState": "Off"}
    tree["/Chassis/Enc1"]["Links"]["Contains"].append(link(chassis))
    tree["/Managers/EM"]["Links"]["ManagerForServers"].append(link(system))
    tree["/Managers/EM"]["Links"]["ManagerForChassis"].append(link(chassis))


def hidden_host() -> ChangedTree:
    """A host that `Systems` does not list, beside the chassis of a neighbour that this BMC does not manage."""
    tree, other = ChangedTree(LENOVO), "/Chassis/Node2"
    tree.members("/Systems")
    tree["/Systems/1"]["Links"]["Chassis"] = [link("/Chassis/1")]
    own = {"ChassisType": "RackMount", "SerialNumber": "J106002F", "Status": CRITICAL}
    linked = {name: link(f"{other}/{name}") for name in ("Thermal", "Power")}
    thermal, power = ({**tree[f"/Chassis/1/{name}"]} for name in linked)
    tree.add("/Chassis", "Node2", own | linked | {"Links": {"ComputerSystems": [], "ManagedBy": []}}, first=True)
    for name, body in (("Thermal", thermal), ("Power", power)):
        shown = {key: _without(value, "RelatedItem", "@odata.id") for key, value in body.items()}
        tree[f"{other}/{name}"] = {**shown, "@odata.id": V1 + f"{other}/{name}"}
    for each in tree[f"{other}/Thermal"]["Temperatures"]:
        if each["Name"] == "Ambient Temp":
            each["ReadingCelsius"] = 41
    for number, each in enumerate(tree[f"{other}/Power"]["PowerSupplies"]):
        each["SerialNumber"] = f"D1DG41N0{number}"
    tree[f"{other}/Power"]["PowerSupplies"][1]["Status"] = CRITICAL
    for each in tree["/Chassis/1/Thermal"]["Temperatures"]:
        if each["Name"] == "Exhaust Temp":
            each["PhysicalContext"] = "Intake"
        if each["Name"].endswith("DTS"):
            each |= {"Name": each["Name"].replace("DTS", "Thermal Margin Temp"), "ReadingCelsius": 51}
    return tree


def _without(value: object, *names: str) -> object:
    """A copy of a value without the properties of these names at any depth."""
    if isinstance(value, dict):
        return {key: _without(each, *names) for key, each in value.items() if key not in names}
    return [_without(each, *names) for each in value] if isinstance(value, list) else value


def gpu_bios_first() -> ChangedTree:
    """Firmware whose first entries are named `GPU1 BIOS`, then backups: the version of the BIOS is in a sentence."""
    tree, host = ChangedTree(SUPERMICRO), "/Systems/1"
    for number in range(1, 9):
        serial = f"6924005{number:03}"
        tree[f"/Chassis/1/PCIeDevices/GPU{number}"] |= {
            "Model": "AMD Instinct MI300X OAM",
            "FirmwareVersion": "113-M3000108-103",
            "Manufacturer": "AMD",
            "SerialNumber": serial,
            "Oem": {},
        }
        shown = {"Manufacturer": "AMD", "Model": "MI300X-OAM", "SerialNumber": serial, "Status": OK}
        tree.add(f"{host}/Processors", f"GPU{number}", {"ProcessorType": "Accelerator", **shown}, first=True)
        tree[f"{FIRMWARE}/GPU{number}"] |= {"Name": f"GPU{number} BIOS", "Version": "113-M3000108-103"}
    del tree[host]["BiosVersion"]
    tree[f"{host}/Bios"]["Links"].pop("ActiveSoftwareImage", None)
    tree[host] |= {"Model": "AS-8125GS-TNMR2"}
    tree[host]["ProcessorSummary"] |= {"Count": 10, "Model": "MI300X-OAM"}
    for number in (1, 2):
        own = {"Manufacturer": "Advanced Micro Devices, Inc.", "Model": "AMD EPYC 9654 96-Core Processor   "}
        tree[f"{host}/Processors/{number}"] |= own
    tree[f"{FIRMWARE}/Backup_BIOS"]["Version"] = "BIOS Date: 05/12/2023 Ver 1.1"
    tree[f"{FIRMWARE}/Backup_BMC"]["Version"] = "01.00.14"
    kept = [each for each in tree.ids(FIRMWARE) if "HGX_" not in each]
    copies = ("Backup", "Golden", "Staging", "Capsule")
    rank = {each: 0 if each.startswith("GPU") else 1 if each.startswith(copies) else 2 for each in kept}
    tree.number(FIRMWARE, sorted(kept, key=rank.__getitem__))
    return tree
