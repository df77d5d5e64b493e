"""Trees of machines with lists that are split, doubled or incomplete, and with values that are missing or texts."""

from typing import Any

from changed_tree import V1, ChangedTree, link
from odd_hosts import FIRMWARE, OK
from trees import DELL, HPE_AMD, HPE_INTEL, SUPERMICRO, X10


def pages() -> ChangedTree:
    """Memory in three pages, the last of which names itself as the next; some members are repeated in other spellings."""
    tree, place = ChangedTree(SUPERMICRO), "/Systems/1/Memory"

    def page(first: int, end: int, *more: str) -> list[dict[str, str]]:
        return [*({"@odata.id": uri} for uri in more), *(link(f"{place}/{each}") for each in range(first, end))]

    last = f"{V1}{place}?$skip=24"
    repeated = (f"{V1}{place}/12/", f"{V1}/systems/1/memory/13", f"https://10.20.30.40{V1}{place}/14")
    for uri, members, following in (
        (place, page(1, 13), f"{V1}{place}?$skip=12"),
        (f"{place}?$skip=12", page(12, 14, *repeated) + page(15, 25), last),
        (f"{place}?$skip=24", page(25, 33), last),
    ):
        tree[uri] = {"Members": members, "Members@odata.count": 32, "Members@odata.nextLink": following}
    ids = sorted(tree.ids(FIRMWARE), key=lambda each: each in ("BIOS", "BMC"))
    for start in range(0, len(ids), 50):
        uri = f"{FIRMWARE}?$skip={start}" if start else FIRMWARE
        tree.order(uri, [])
        tree[uri]["Members"] = [link(f"{FIRMWARE}/{each}") for each in ids[start : start + 50]]
        tree[uri]["Members@odata.count"] = len(ids)
        if start + 50 < len(ids):
            tree[uri]["Members@odata.nextLink"] = f"{V1}{FIRMWARE}?$skip={start + 50}"
    return tree


def holes() -> ChangedTree:
    """The CPUs, one memory module and one firmware entry are 404, and two counts are larger than their lists."""
    tree = ChangedTree(HPE_AMD)
    tree.lose("/Systems/1/Processors", "/Systems/1/Memory/proc2dimm16", f"{FIRMWARE}/2")
    tree["/Systems/1/Memory"]["Members@odata.count"] = 40
    tree["/Systems/1/Storage"]["Members@odata.count"] = 19
    return tree


def null_states() -> ChangedTree:
    """Status, State and Health of null; an absent module that still has a capacity; a dead fan and supply."""
    tree, host, chassis = ChangedTree(DELL), "/Systems/System.Embedded.1", "/Chassis/System.Embedded.1"
    tree[f"{host}/Memory/DIMM.Socket.A8"]["Status"] = None
    tree[f"{host}/Memory/DIMM.Socket.B8"] |= {"Status": {"State": "Absent", "Health": None}, "SerialNumber": ""}
    tree[host]["MemorySummary"] |= {"TotalSystemMemoryGiB": 480}
    tree[f"{host}/Processors/CPU.Socket.2"]["Status"] = {"State": None, "Health": "OK"}
    drive = tree[f"{host}/Storage/CPU.1/Drives/Disk.Bay.1:Enclosure.Internal.0-1"]
    drive["Status"] = {"State": "Enabled", "Health": None}
    dead = {"State": "Enabled", "Health": "Critical"}
    tree[f"{chassis}/Thermal"]["Fans"][3] |= {"Reading": 0, "Status": dead}
    tree[f"{chassis}/Sensors/Fan.Embedded.4A"] |= {"Reading": 0.0, "Status": dead}
    off = {"State": "UnavailableOffline", "Health": None}
    tree[f"{chassis}/PowerSubsystem/PowerSupplies/PSU.Slot.2"]["Status"] = off
    tree[f"{chassis}/Power"]["PowerSupplies"][1]["Status"] = off
    return tree


def placeholders() -> ChangedTree:
    """All serial numbers are placeholders, and a module is absent under the serial number `NO DIMM`."""
    tree = ChangedTree(X10)
    zero = "00000000-0000-0000-0000-000000000000"
    tree["/Systems/1"] |= {"SerialNumber": "To be filled by O.E.M.", "UUID": zero, "AssetTag": "Default string"}
    tree["/Systems/1"]["MemorySummary"]["TotalSystemMemoryGiB"] = 48
    tree["/Chassis/1"] |= {"SerialNumber": "0000000000", "Model": "undefined"}
    for number, serial in enumerate(("undefined", "NO DIMM", "N/A", ""), start=1):
        tree[f"/Systems/1/Memory/{number}"]["SerialNumber"] = serial
    absent = {"State": "Absent", "Health": "OK"}
    tree["/Systems/1/Memory/2"] |= {"CapacityMiB": 0, "PartNumber": "NO DIMM", "Status": absent}
    return tree


def texts() -> ChangedTree:
    """Numbers as texts, with units; modules without a capacity; BIOS attributes that are objects."""
    tree, host, thermal = ChangedTree(HPE_AMD), "/Systems/1", "/Chassis/1/Thermal"
    tree[host]["MemorySummary"]["TotalSystemMemoryGiB"] = "1024 GB"
    tree[host]["ProcessorSummary"]["Count"] = "2"
    for name in tree.ids(f"{host}/Memory"):
        module = tree[f"{host}/Memory/{name}"]
        if module["Status"]["State"] == "Absent":
            module["CapacityMiB"] = None
        elif "proc1" in name:
            module |= {"CapacityMiB": "64 GB", "VolatileSizeMiB": "65536", "OperatingSpeedMhz": "3200 MT/s"}
        else:
            module.pop("CapacityMiB")
    for number in (1, 2):
        tree[f"{host}/Processors/{number}"] |= {"TotalCores": "64", "MaxSpeedMHz": "3.5 GHz"}
    for number, each in enumerate(tree[thermal]["Temperatures"]):
        if each["Status"]["State"] != "Absent":
            each["ReadingCelsius"] = f"{each['ReadingCelsius']}{'' if number % 2 else ' C'}"
    for each in tree[thermal]["Fans"]:
        each["Reading"] = f"{each['Reading']} %"
    attributes = tree[f"{host}/Bios"]["Attributes"]
    for name in [each for each, value in attributes.items() if value in ("Enabled", "Disabled")]:
        attributes[name] = {"CurrentValue": attributes[name], "AllowableValues": ["Enabled", "Disabled"]}
    return tree


def more_than_dimms() -> ChangedTree:
    """Memory with 32 DIMMs, two CXL modules, and two packages of memory in the CPUs, which are listed first."""
    tree, place = ChangedTree(SUPERMICRO), "/Systems/1/Memory"
    links = ("Metrics", "EnvironmentMetrics", "Assembly")
    module = {key: value for key, value in tree[f"{place}/1"].items() if key not in links}
    for number in (33, 34):
        own: dict[str, Any] = {"DeviceLocator": f"CXL{number - 32}", "SerialNumber": f"S7XNN0W3000{number}"}
        own |= {"CapacityMiB": 262144, "BaseModuleType": None, "CXL": {"StagedVolatileSizeMiB": 262144}}
        tree.add(place, str(number), {**module, **own})
    for number in (35, 36):
        own = {"DeviceLocator": f"CPU{number - 34}-HBM", "SerialNumber": None, "PartNumber": None}
        own |= {"CapacityMiB": 65536, "MemoryDeviceType": "HBM2E", "BaseModuleType": "Die"}
        tree.add(place, str(number), {**module, **own}, first=True)
    tree["/Systems/1"]["MemorySummary"]["TotalSystemMemoryGiB"] = 2688
    return tree


def thrice() -> ChangedTree:
    """Four drives that three lists contain under other ids; a spare and an empty bay that only the chassis lists."""
    tree, storage, chassis = ChangedTree(HPE_INTEL), "/Systems/1/Storage", "/Chassis/2/Drives"
    links = ("Links", "Actions", "Operations", "Volumes", "EnvironmentMetrics", "Assembly", "Metrics")

    def bare(uri: str) -> dict[str, Any]:
        return {key: value for key, value in tree[uri].items() if key not in links}

    listed = []
    for number in range(4):
        source = tree[f"{storage}/DA00000{number}"]["Drives"][0]["@odata.id"].removeprefix(V1)
        tree[f"{storage}/VROC/Drives/{number}"] = {**bare(source), "Id": str(number), "@odata.id": ""}
        listed.append(link(f"{storage}/VROC/Drives/{number}"))
    tree.add(storage, "VROC", {"Status": OK, "Drives": listed, "Drives@odata.count": 4})
    drive = bare(f"{chassis}/{tree.ids(chassis)[0]}")
    spare = {"SerialNumber": "1FE0A2990C93", "Status": {"State": "StandbySpare", "Health": "OK"}}
    tree.add(chassis, "5", {**drive, **spare, "HotspareType": "Global"})
    tree.add(chassis, "6", {**drive, "SerialNumber": "", "Model": None, "Status": {"State": "Absent", "Health": None}})
    tree["/Systems/1"]["Status"] |= {"Health": "OK", "HealthRollup": "OK"}
    tree["/Chassis/1"]["Status"]["Health"] = "OK"
    return tree
