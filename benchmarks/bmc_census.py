"""Share of what recorded BMCs report about their parts that rackcheck gives as facts.

The census reads the JSON of each recorded tree on its own, without rackcheck's readers: it finds the parts of each kind
by their type, and lists the properties of `WANTED` that have a value. Then it compares each value with the fact whose
source is this property: given with the same value, given with a different value, or not given. A fact that is unknown
or absent counts as not given. If a BMC lists a part twice, under several URIs with one serial number, the fact may come
from either. Values that mean that there is none (null, an empty text, a placeholder, a size or speed of 0) are not
counted, nor are the values of empty slots, except their state.

    python benchmarks/bmc_census.py [--recordings FOLDER] [--missing] [--write]

`--missing` lists the properties that are not given, and `--write` renews docs/reference/bmc-census.md.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: one of its files has the name of the DMTF's library
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from trees import ALL, bmc_probes, completed, links, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.probe.collect import collect

HOME = Path(__file__).parents[1]
PAGE = HOME / "docs" / "reference" / "bmc-census.md"

STATUS = ("Status.State", "Status.Health")
PCIE = ("LanesInUse", "MaxLanes", "PCIeType", "MaxPCIeType")
LABEL = "Location.PartLocation.ServiceLabel"
LIMITS = tuple(
    f"Thresholds.{side}{level}.Reading" for side in ("Upper", "Lower") for level in ("Caution", "Critical", "Fatal")
)
WANTED: Mapping[str, tuple[str, ...]] = {
    "CPU": (
        *("Model", "Manufacturer", "SerialNumber", "PartNumber", "TotalCores", "TotalEnabledCores", "TotalThreads"),
        *("MaxSpeedMHz", "OperatingSpeedMHz", "Socket", "ProcessorArchitecture", "InstructionSet", "FirmwareVersion"),
        *("ProcessorId.MicrocodeInfo", "ProcessorId.Step", "ProcessorId.EffectiveFamily", "ProcessorId.EffectiveModel"),
        *("Version", LABEL, *STATUS),
    ),
    "DIMM": (
        *("Manufacturer", "PartNumber", "SerialNumber", "CapacityMiB", "OperatingSpeedMhz", "AllowedSpeedsMHz"),
        *("RankCount", "DeviceLocator", LABEL, "MemoryDeviceType", "MemoryType", "BaseModuleType", "ErrorCorrection"),
        *("BusWidthBits", "DataWidthBits", "FirmwareRevision", *STATUS),
    ),
    "GPU": (
        *("Model", "Name", "Manufacturer", "SerialNumber", "PartNumber", "UUID", "FirmwareVersion", "MaxSpeedMHz"),
        *("MinSpeedMHz", "OperatingSpeedMHz", "SpeedLimitMHz", "SpeedLocked", "MemorySummary.ECCModeEnabled", LABEL),
        *(f"{place}.{name}" for place in ("SystemInterface.PCIe", "PCIeInterface") for name in PCIE),
        *STATUS,
    ),
    "drive": (
        *("Manufacturer", "Model", "SerialNumber", "PartNumber", "SKU", "Revision", "FirmwareVersion", "CapacityBytes"),
        *("MediaType", "Protocol", "CapableSpeedGbs", "NegotiatedSpeedGbs", "PredictedMediaLifeLeftPercent"),
        *("FailurePredicted", "RotationSpeedRPM", "DriveFormFactor", "EncryptionStatus", "BlockSizeBytes"),
        *("WriteCacheEnabled", f"Physical{LABEL}", *STATUS),
    ),
    "NIC": ("Manufacturer", "Model", "SerialNumber", "PartNumber", "SKU", LABEL, *STATUS),
    "NIC port": (
        *("LinkStatus", "LinkState", "InterfaceEnabled", "SignalDetected", "CurrentSpeedGbps", "CurrentLinkSpeedMbps"),
        *("MaxSpeedGbps", "ActiveWidth", "Width", "LinkNetworkTechnology", "ActiveLinkTechnology", "PortProtocol"),
        *("AssociatedNetworkAddresses", "Ethernet.AssociatedMACAddresses", "InfiniBand.AssociatedPortGUIDs"),
        *("MaxFrameSize", "PortMaximumMTU", "SFP.Manufacturer", "SFP.PartNumber", "SFP.SerialNumber", *STATUS),
    ),
    "power supply": (
        *("Manufacturer", "Model", "SerialNumber", "PartNumber", "SparePartNumber", "FirmwareVersion", LABEL),
        *("PowerCapacityWatts", "PowerSupplyType", "LineInputVoltage", "LineInputVoltageType"),
        *("InputNominalVoltageType", "PowerInputWatts", "PowerOutputWatts", "LastPowerOutputWatts"),
        *("EfficiencyPercent", "HotPluggable", *STATUS),
    ),
    "sensor": (
        *("Reading", "ReadingCelsius", "ReadingType", "ReadingUnits", "PhysicalContext", *LIMITS),
        *("UpperThresholdNonCritical", "UpperThresholdCritical", "UpperThresholdFatal", *STATUS),
    ),
    "firmware": (
        *("Version", "Name", "Manufacturer", "SoftwareId", "ReleaseDate", "Updateable", "WriteProtected"),
        *("LowestSupportedVersion", *STATUS),
    ),
}
"""For each kind of part, the properties that an engineer wants to know."""

AMOUNT = re.compile(r"(Speed|Capacity|Cores|Threads|Size|Width|Lanes|Watts|Voltage|Rank|Reading.*Rate|MTU|Bits)")
"""Properties whose value of 0 means that it is unknown, or that there is no link."""

NONE = frozenset(
    {"", "-", "n/a", "na", "null", "none", "undefined", "unknown", "nil", "not available", "not specified"}
)
JOULES = 3.6e6
"""Joules in a kilowatt-hour; facts of energy are in J."""

SCALES = {"CapacityBytes": 1e9, "CapacityMiB": 1024.0, "CurrentLinkSpeedMbps": 1000.0}
"""Properties that a fact has in a larger unit, with the divisor."""


@dataclass(frozen=True)
class Part:
    """One part of a recorded BMC: its kind, its URI, and its body."""

    kind: str
    uri: str
    body: Mapping[str, Any]


def bodies(name: str) -> dict[str, Any]:
    """Return the bodies of a recorded tree by URI, without schemas and registries."""
    home = tree(name)
    found: dict[str, Any] = {}
    for file in sorted(home.glob("redfish/v1/**/index.json")):
        uri = "/" + file.parent.relative_to(home).as_posix()
        if re.search(r"/(JsonSchemas|Registries|LogServices|registrystore|schemas)(/|$)", uri, re.IGNORECASE):
            continue
        try:
            body = json.loads(file.read_text("utf-8"))
        except ValueError:
            continue
        if isinstance(body, dict):
            found[uri] = body
    return found


def parts(found: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the parts of a tree, each as often as the BMC lists it."""
    for uri, body in found.items():
        kind = _kind(uri, body, found)
        if kind:
            yield Part(kind, uri, body)
    for uri, body in found.items():
        above = uri.rpartition("/")[0]
        if uri.endswith("/Power") and not _listed(found, f"{above}/PowerSubsystem/PowerSupplies"):
            yield from _array("power supply", uri, body, "PowerSupplies")
        if uri.endswith("/Thermal") and not _listed(found, f"{above}/Sensors"):
            yield from _array("sensor", uri, body, "Temperatures")


def _kind(uri: str, body: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return the kind of a resource by its Redfish type and its place; empty if it is no part of the census."""
    kind = str(body.get("@odata.type", "")).lstrip("#").partition(".")[0]
    match kind:
        case "Processor" if "/SubProcessors/" not in uri:
            return {"CPU": "CPU", "GPU": "GPU"}.get(str(body.get("ProcessorType")), "")
        case "Memory":
            return "" if str(body.get("MemoryDeviceType")).upper().startswith(("HBM", "GDDR")) else "DIMM"
        case "PCIeDevice" if re.fullmatch(r"GPU[0-9]+", str(body.get("Id"))):
            return "GPU"
        case "Drive" | "NetworkAdapter" | "PowerSupply" | "Sensor":
            return {"Drive": "drive", "NetworkAdapter": "NIC", "PowerSupply": "power supply"}.get(kind, "sensor")
        case "Port" | "NetworkPort" if "/NetworkAdapters/" in uri:
            newer = uri.replace("/NetworkPorts/", "/Ports/").rpartition("/")[0]
            return "" if kind == "NetworkPort" and _listed(found, newer) else "NIC port"
        case "SoftwareInventory" if "/FirmwareInventory/" in uri:
            return "firmware"
    return ""


def _listed(found: Mapping[str, Any], uri: str) -> bool:
    return bool(found.get(uri, {}).get("Members"))


def _array(kind: str, uri: str, body: Mapping[str, Any], name: str) -> Iterator[Part]:
    listed = body.get(name)
    for number, each in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(each, dict):
            yield Part(kind, f"{uri}#/{name}/{number}", each)


def alike(listed: list[Part]) -> dict[str, list[Part]]:
    """Return, for each part's URI, the parts of the same kind with the same serial number; itself is the first."""
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in listed:
        serial = str(part.body.get("SerialNumber") or "").strip()
        known = serial.casefold() not in NONE and serial.strip("0-: ")
        groups.setdefault((part.kind, serial if known else part.uri), []).append(part)
    return {
        part.uri: [part, *(each for each in group if each is not part)] for group in groups.values() for part in group
    }


def values(part: Part) -> Iterator[tuple[str, Any]]:
    """Yield the wanted properties of a part that have a value."""
    status = part.body.get("Status")
    vacant = isinstance(status, Mapping) and status.get("State") == "Absent"
    for name in WANTED[part.kind]:
        value: Any = part.body
        for word in name.split("."):
            value = value.get(word) if isinstance(value, Mapping) else None
        if value in (None, [], {}) or (vacant and name != "Status.State"):
            continue
        if isinstance(value, str) and (value.strip().casefold() in NONE or not value.strip("0-: ")):
            continue
        if value in (0, -1) and not isinstance(value, bool) and AMOUNT.search(name):
            continue
        if isinstance(value, Mapping) or (
            isinstance(value, list) and not any(str(each).strip("0:.-") for each in value)
        ):
            continue
        yield name, value


def facts(name: str) -> dict[str, list[Any]]:
    """Return the readings of all facts of a tree, by their source in lower case."""
    capture = BmcCapture(completed(name, links(), {}))
    found: dict[str, list[Any]] = {}
    for leaf in collect(bmc_probes().values(), capture).values():
        if leaf.source:
            found.setdefault(leaf.source.casefold(), []).append(leaf.reading)
    return found


def judged(group: list[Part], name: str, value: Any, found: Mapping[str, list[Any]]) -> str:
    """Return `given`, `different` or `missing` for one property of a part; `group` has it and its other listings."""
    results = [_judged(each, name, value, found) for each in group]
    return "given" if "given" in results else results[0]


def _judged(part: Part, name: str, value: Any, found: Mapping[str, list[Any]]) -> str:
    joint = "/" if "#" in part.uri else "#/"
    readings = found.get(f"{part.uri}{joint}{name.replace('.', '/')}".casefold(), [])
    known = [each for each in readings if isinstance(each, (str, bool, int, float, tuple))]
    if not known:
        return "missing"
    return "given" if any(_same(name, value, each) for each in known) else "different"


LINK_WORDS = {"linkup": "up", "linkdown": "down", "nolink": "down"}


def _same(name: str, value: Any, reading: Any) -> bool:
    if isinstance(value, bool) or isinstance(reading, bool):
        return value is reading
    if isinstance(reading, tuple):
        given = {re.sub(r"[:.-]", "", str(each)).casefold() for each in value}
        return {re.sub(r"[:.-]", "", each).casefold() for each in reading} == {
            each for each in given if each.strip("0")
        }
    if isinstance(value, list):
        return bool(value) and isinstance(reading, (int, float)) and max(value) == reading
    if isinstance(reading, (int, float)):
        gen = re.fullmatch(r"Gen([0-9])", str(value))
        number = float(gen[1]) if gen else float(value)
        if name == "Reading" and reading == number * JOULES:  # a sensor in kWh
            return True
        return abs(number / SCALES.get(name, 1.0) - reading) <= 1e-9 * max(1.0, abs(reading)) or reading == float("inf")
    word = str(value).strip()
    if isinstance(value, (int, float)):
        return re.fullmatch(r"-?[0-9.e+-]+", reading) is not None and float(reading) == value
    return word == reading or LINK_WORDS.get(word.casefold(), word.casefold()) == reading


def census(name: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return the numbers of one tree by kind and result, and those by kind and property that is not given."""
    found, counts, missing = facts(name), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    listed = list(parts(bodies(name)))
    groups = alike(listed)
    for part in listed:
        for prop, value in values(part):
            result = judged(groups[part.uri], prop, value, found)
            counts[part.kind, result] += 1
            if result != "given":
                missing[part.kind, f"{prop} ({result})"] += 1
    return counts, missing


def rows(name: str, counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield the rows of the table for one tree, and one for the whole tree."""
    kinds = [kind for kind in WANTED if any(counts[kind, each] for each in ("given", "different", "missing"))]
    for kind in kinds:
        yield _row(name, kind, *(counts[kind, each] for each in ("given", "different", "missing")))
    if kinds:
        yield _row(
            name, "all", *(sum(counts[kind, each] for kind in kinds) for each in ("given", "different", "missing"))
        )


def _row(name: str, kind: str, given: int, different: int, missing: int) -> str:
    share = 100 * given / (given + different + missing)
    return f"| {name} | {kind} | {given} | {different} | {missing} | {share:.1f} % |"


def page(counted: Mapping[str, Counter[tuple[str, str]]]) -> str:
    """Return the page with the table."""
    total: Counter[tuple[str, str]] = sum(counted.values(), Counter[tuple[str, str]]())
    lines = [line for name, counts in counted.items() for line in rows(name, counts)] + list(rows("all trees", total))
    head = [
        "# Census of recorded BMCs",
        "",
        "This table shows which share of the properties that recorded BMCs report about their parts is given as facts.",
        "The census reads the JSON of each tree on its own, and compares each value with the fact whose source is this",
        "property. `benchmarks/bmc_census.py` lists the properties; its option `--missing` lists those without a fact.",
        "Facts that are unknown or absent count as not given. The command is:",
        "",
        "    .venv/bin/python benchmarks/bmc_census.py --write",
        "",
        "| tree | kind | given | different | not given | share given |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *lines]) + "\n"


def main() -> None:
    """Print the census, or write its page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--recordings", help="folder that holds redfish-mockups")
    parser.add_argument("--missing", action="store_true", help="list the properties that are not given")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(HOME)}")
    options = parser.parse_args()
    if options.recordings:
        os.environ["RACKCHECK_RECORDINGS"] = options.recordings
    counted: dict[str, Counter[tuple[str, str]]] = {}
    missing: Counter[tuple[str, str]] = Counter()
    for name in ALL:
        counted[name], lost = census(name)
        missing += lost
    print(page(counted))
    if options.missing:
        for (kind, prop), number in missing.most_common():
            print(f"{number:6} {kind}: {prop}")
    if options.write:
        PAGE.write_text(page(counted), "utf-8")


if __name__ == "__main__":
    main()
