"""The faults that a scenario can simulate, with their parameters."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown
from rackcheck.profile.layers import did_you_mean
from rackcheck.sim import bmc, edit, load_faults
from rackcheck.sim.behaviour import Door, Station
from rackcheck.sim.expand_query import WAYS
from rackcheck.sim.fault_words import SLOWEST, FaultWords, lanes, number, path

FARTHEST = 1_000_000_000
"""Maximum offset of a node's clock, in seconds: about thirty years."""

XIDS = 9999
"""Highest Xid number in a simulated log; the limit is chosen by rackcheck, not taken from the driver."""

LINES, TIMES = 1000, 1_000_000
"""Maximum values of parameters of BMC faults: the number of open connections, and the number of affected requests."""

HOW: Mapping[str, bmc.ResourceFault] = {
    **{kind: bmc.ResourceFault(kind) for kind in bmc.KINDS},
    "busy": bmc.busy(),
    "busy-later": bmc.busy(retry_after="30"),
}
"""Faulty replies of a BMC, by their name in a scenario."""

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory/"


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault: its description, and its parameters with their default values.

    A required parameter has the default None.
    """

    name: str
    about: str
    lay: Callable[[Station, FaultWords], Station]
    takes: Mapping[str, str | None] = field(default_factory=dict)


KINDS: dict[str, FaultKind] = {}
"""Every kind of fault by its name; the decorator `_fault` adds the kinds."""

Lay = Callable[[Station, FaultWords], Station]


def _fault(name: str, about: str, /, **takes: str | None) -> Callable[[Lay], Lay]:
    def kept(lay: Lay) -> Lay:
        KINDS[name] = FaultKind(name, about, lay, takes)
        return lay

    return kept


def known(kind: str, given: FaultWords) -> FaultKind:
    """Return the kind of fault with this name.

    Raises UserError if no fault has this name, if a parameter is unknown, or if a required parameter is missing.
    """
    if kind not in KINDS:
        more = did_you_mean(kind, list(KINDS)) or "; rackcheck sim show --faults lists them"
        raise UserError(f"no fault {kind}{more}")
    fault = KINDS[kind]
    for word in given:
        if word not in fault.takes:
            near = did_you_mean(word, list(fault.takes))
            takes = near or (f"; it takes {', '.join(fault.takes)}" if fault.takes else "")
            raise UserError(f"{kind} takes no `{word}`{takes}")
    missing = [word for word, default in fault.takes.items() if default is None and word not in given]
    if missing:
        raise UserError(f"{kind} lacks `{missing[0]}`")
    return fault


def lay(station: Station, kind: str, given: FaultWords) -> Station:
    """Add a fault to a simulated node; raises UserError if the node's machine cannot have this fault."""
    fault = known(kind, given)
    return fault.lay(station, {word: given.get(word, default or "") for word, default in fault.takes.items()})


# ---- reachability ----------------------------------------------------------------------------------------------------


@_fault("silent-node", "the node accepts connections and never replies, like a hung kernel")
def _silent_node(station: Station, _: FaultWords) -> Station:
    return replace(station, node=replace(station.node, ssh=Door.SILENT))


@_fault("closed-node", "the node's SSH port is closed")
def _closed_node(station: Station, _: FaultWords) -> Station:
    return replace(station, node=replace(station.node, ssh=Door.CLOSED))


@_fault("unknown-name", "the node's host name does not resolve")
def _unknown_name(station: Station, _: FaultWords) -> Station:
    return replace(station, node=replace(station.node, unresolved=True))


@_fault("refused-login", "the node refuses the SSH key")
def _refused_login(station: Station, _: FaultWords) -> Station:
    return replace(station, node=replace(station.node, ssh=Door.LOCKED))


@_fault("changed-host-key", "the node shows another host key than the known one")
def _changed_host_key(station: Station, _: FaultWords) -> Station:
    return replace(station, node=replace(station.node, other_host_key=True))


@_fault("silent-bmc", "the BMC accepts connections and never replies")
def _silent_bmc(station: Station, _: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, https=Door.SILENT))


@_fault("closed-bmc", "the BMC's HTTPS port is closed")
def _closed_bmc(station: Station, _: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, https=Door.CLOSED))


@_fault("hanging-bmc", "the BMC accepts the login and then never replies")
def _hanging_bmc(station: Station, _: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, hanging=True))


@_fault("refused-bmc-login", "the BMC refuses the password")
def _refused_bmc_login(station: Station, _: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, https=Door.LOCKED))


@_fault("bmc-sessions", "other tools hold the BMC's sessions; `free` are left", free="0")
def _bmc_sessions(station: Station, given: FaultWords) -> Station:
    free = number(given, "free", 0, station.bmc.sessions)
    return replace(station, bmc=replace(station.bmc, taken=station.bmc.sessions - free))


@_fault("changed-certificate", "the BMC shows another certificate than the pinned one")
def _changed_certificate(station: Station, _: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, other_certificate=True))


@_fault("flapping-certificate", "the BMC shows another certificate on every second connection")
def _flapping_certificate(station: Station, _: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, flapping=True))


@_fault("few-connections", "the BMC accepts `most` connections at once, and closes any further one", most="1")
def _few_connections(station: Station, given: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, lines=number(given, "most", 1, LINES)))


@_fault(
    "whole-collections",
    "the BMC supports $expand for collections, completely or with a known defect",
    how="nameless",
)
def _whole_collections(station: Station, given: FaultWords) -> Station:
    how = given["how"]
    if how not in WAYS:
        raise UserError(f"`how` must be one of {', '.join(WAYS)}, not {how!r}{did_you_mean(how, list(WAYS))}")
    return replace(station, bmc=replace(station.bmc, expand=how))


@_fault(
    "bad-answers",
    "the BMC's replies are wrong: for one resource, or for all except its root",
    how=None,
    uri="*",
    times="always",
)
def _bad_answers(station: Station, given: FaultWords) -> Station:
    how, uri = given["how"], given["uri"].rstrip("/")
    if how not in HOW:
        raise UserError(f"`how` must be one of {', '.join(HOW)}, not {how!r}{did_you_mean(how, list(HOW))}")
    wrong = HOW[how]
    if given["times"] != "always":
        wrong = replace(wrong, times=number(given, "times", 1, TIMES))
    if uri != "*":
        edit.resource(station, uri)
    return replace(station, bmc=replace(station.bmc, faults={**station.bmc.faults, uri: wrong}))


@_fault("slow-bmc", "every reply of the BMC takes `milliseconds` ms", milliseconds="500")
def _slow_bmc(station: Station, given: FaultWords) -> Station:
    return replace(station, bmc=replace(station.bmc, latency=number(given, "milliseconds", 0, SLOWEST) / 1000))


# ---- rights and tools ------------------------------------------------------------------------------------------------


@_fault("sudo-denied", "sudo prompts for a password")
def _sudo_denied(station: Station, _: FaultWords) -> Station:
    return replace(station, node=replace(station.node, sudo=False))


@_fault("tool-missing", "a program is not installed on the node", tool=None)
def _tool_missing(station: Station, given: FaultWords) -> Station:
    tool = given["tool"]
    called = re.compile(rf"(?:^|[;&|({{]\s*|command -v ){re.escape(tool)}\b", re.MULTILINE)
    if not any(called.search(command) for command in edit.capture(station).commands):
        raise UserError(f"no recorded command of {station.name} uses {tool}")

    def without(command: str, answer: Output) -> Output:
        if not called.search(command):
            return answer
        if tool == "python3" and '"gpus"' in answer.out:
            head = answer.out.rstrip("\n").rpartition("\n")[0]
            return Output(0, f"{head}\nno python3\n")
        return Output(127, "", f"sh: 1: {tool}: not found\n")

    return edit.outputs(station, without)


# ---- clocks ----------------------------------------------------------------------------------------------------------


@_fault("node-clock", "the node's clock is `seconds` seconds ahead of this machine's clock", seconds=None)
def _node_clock(station: Station, given: FaultWords) -> Station:
    return replace(station, node=replace(station.node, skew=float(number(given, "seconds", -FARTHEST, FARTHEST))))


@_fault("bmc-clock", "the BMC's clock was never set, and started in `year`", year="2020")
def _bmc_clock(station: Station, given: FaultWords) -> Station:
    import calendar  # noqa: PLC0415
    import time  # noqa: PLC0415

    # the limits are the epoch and the last year that a Redfish date can represent
    began = calendar.timegm((number(given, "year", 1970, 9999), 1, 1, 0, 0, 0))
    return replace(station, bmc=replace(station.bmc, skew=began - time.time()))


# ---- GPUs, NICs, the kernel log --------------------------------------------------------------------------------------


@_fault("gpu-missing", "a GPU is missing on the bus and in the driver", gpu=None)
def _gpu_missing(station: Station, given: FaultWords) -> Station:
    command, answer, values = edit.gpus(station)
    index = number(given, "gpu")
    gone = edit.address(edit.gpu(values, index))
    left = values | {"gpus": [one for i, one in enumerate(values["gpus"]) if i != index]}
    without = edit.with_gpus(station, command, answer, left, gone)
    return edit.off_the_bus(without, gone)


@_fault("gpu-width", "a GPU trained fewer PCIe lanes than it has", gpu=None, lanes="8")
def _gpu_width(station: Station, given: FaultWords) -> Station:
    command, answer, values = edit.gpus(station)
    index = number(given, "gpu")
    one = edit.gpu(values, index)
    most = one.get("link_max_width")
    width = lanes(given, "lanes", most.get("value") if isinstance(most, dict) else None)
    changed = [o | {"link_width": {"value": width}} if i == index else o for i, o in enumerate(values["gpus"])]
    narrow = edit.with_gpus(station, command, answer, values | {"gpus": changed})
    return edit.files(narrow, {f"{edit.FUNCTIONS}{edit.address(one)}/current_link_width": f"{width}\n"})


@_fault("nic-missing", "an RDMA device is missing on the bus and in the driver", nic=None)
def _nic_missing(station: Station, given: FaultWords) -> Station:
    edit.below(station, f"/sys/class/infiniband/{given['nic']}")
    paths = "\n".join(edit.capture(station).files)
    found = re.search(rf"/drivers/[^/\n]+/([^/\n]+)/infiniband/{re.escape(given['nic'])}/", paths)
    if found is None:
        raise UserError(f"the machine of {station.name} has no PCI address of {given['nic']}")
    address = found[1]
    interfaces = set(re.findall(rf"/{re.escape(address)}/net/([^/\n]+)/", paths))
    return edit.without_device(edit.off_the_bus(station, address), frozenset({given["nic"], address} | interfaces))


@_fault("drive-missing", "an NVMe drive is missing on the bus and in the system", drive=None)
def _drive_missing(station: Station, given: FaultWords) -> Station:
    name = given["drive"]
    held = edit.capture(station).files
    edit.below(station, f"/sys/class/nvme/{name}")
    address = held.get(f"/sys/class/nvme/{name}/address", "").strip()
    if not address:
        raise UserError(f"the machine of {station.name} has no PCI address of {name}")
    paths = "\n".join(held)
    blocks = re.findall(rf"/((?:dev-)?{re.escape(name)}n[0-9]+(?:p[0-9]+)?)/", paths)
    pairs = re.findall(r"/nvme-subsystem/([^/\n]+)/(nvme[0-9]+)/", paths)
    own = {subsystem for subsystem, _ in pairs} - {subsystem for subsystem, controller in pairs if controller != name}
    return edit.without_device(edit.off_the_bus(station, address), frozenset({name, address, *blocks, *own}))


@_fault("nic-down", "an RDMA port has lost its signal", nic=None, port="1")
def _nic_down(station: Station, given: FaultWords) -> Station:
    folder = f"/sys/class/infiniband/{given['nic']}"
    edit.below(station, folder)
    port = f"{folder}/ports/{given['port']}"
    edit.below(station, port)
    # As recorded on H100 nodes with ports that are down: the rate falls to that of an older generation.
    dark = {"state": "1: DOWN", "phys_state": "3: Disabled", "rate": "40 Gb/sec (4X QDR)"}
    return edit.files(station, {f"{port}/{name}": f"{text}\n" for name, text in dark.items()})


@_fault("xid", "the kernel log contains an Xid of a GPU", number="79", gpu="0", words="GPU has fallen off the bus.")
def _xid(station: Station, given: FaultWords) -> Station:
    _, _, values = edit.gpus(station)
    place = edit.address(edit.gpu(values, number(given, "gpu"))).rpartition(".")[0]
    xid = number(given, "number", 1, XIDS)
    line = f"NVRM: Xid (PCI:{place}): {xid}, pid='<unknown>', name=<unknown>, {given['words']}"

    def logged(command: str, answer: Output) -> Output:
        if not command.startswith("dmesg"):
            return answer
        times = re.findall(r"^\[ *([0-9]+\.[0-9]{6})\]", answer.out, re.MULTILINE)
        later = float(times[-1]) + 3600 if times else 3600.0
        return replace(answer, out=f"{answer.out}[{later:12.6f}] {line}\n")

    if not any(command.startswith("dmesg") for command in edit.capture(station).commands):
        raise UserError(f"the machine of {station.name} has no kernel log")
    return edit.outputs(station, logged)


# ---- BIOS and firmware -----------------------------------------------------------------------------------------------


@_fault(
    "bios-setting",
    "one BIOS attribute has a different value, both running and for the next boot",
    attribute=None,
    value=None,
)
def _bios_setting(station: Station, given: FaultWords) -> Station:
    found = {
        uri: body
        for uri, body in edit.resources(station, r"/redfish/v1/Systems/[^/]+/Bios(/.*)?").items()
        if isinstance(body.get("Attributes"), dict)
    }
    name = given["attribute"]
    there = sorted({key for body in found.values() for key in body["Attributes"]})
    if name not in there:
        alike = [key for key in there if key.casefold() == name.casefold()]  # prefer a name that differs only in case
        raise UserError(f"the BIOS of {station.name} has no attribute {name}{did_you_mean(name, alike or there)}")
    changed = {
        uri: {**body, "Attributes": {**body["Attributes"], name: given["value"]}}
        for uri, body in found.items()
        if name in body["Attributes"]
    }
    return edit.bodies(station, changed)


@_fault("bios-version", "both the BMC and the host report a different BIOS version", version=None)
def _bios_version(station: Station, given: FaultWords) -> Station:
    systems = edit.resources(station, r"/redfish/v1/Systems/[^/]+")
    values = {
        uri: {**body, "BiosVersion": given["version"]} for uri, body in systems.items() if body.get("BiosVersion")
    }
    changed = edit.bodies(station, values)
    place = "/sys/class/dmi/id/bios_version"
    return edit.files(changed, {place: given["version"] + "\n"}) if place in edit.capture(station).files else changed


@_fault("old-firmware", "a component of the firmware inventory has a different version", component="bmc", version=None)
def _old_firmware(station: Station, given: FaultWords) -> Station:
    name, version = given["component"], given["version"]
    if name == "bmc":
        managers = edit.resources(station, r"/redfish/v1/Managers/[^/]+")
        host = {uri: body for uri, body in managers.items() if "HGX" not in uri} or managers
        return edit.bodies(station, {uri: {**body, "FirmwareVersion": version} for uri, body in host.items()})
    listed = edit.resources(station, re.escape(INVENTORY) + r"[^/]+")
    if INVENTORY + name not in listed:
        ids = [uri.removeprefix(INVENTORY) for uri in listed]
        raise UserError(f"no firmware {name} on {station.name}{did_you_mean(name, ids)}")
    return edit.bodies(station, {INVENTORY + name: {**listed[INVENTORY + name], "Version": version}})


# ---- anything else ---------------------------------------------------------------------------------------------------


@_fault("file", "a file on the node has different content", path=None, text=None)
def _file(station: Station, given: FaultWords) -> Station:
    return edit.files(station, {path(given, "path"): given["text"].rstrip("\n") + "\n"})


@_fault("unreadable-file", "a file of the node may not be read", path=None)
def _unreadable_file(station: Station, given: FaultWords) -> Station:
    host = edit.capture(station)
    file = path(given, "path", {*host.files, *host.refused})
    refused = {**host.refused, file: Unknown(Reason.DENIED, "Permission denied")}
    return edit.host(edit.files(station, {file: None}), refused=refused)


@_fault("resource", "a property of a BMC's resource has a different text", uri=None, name=None, value=None)
def _resource(station: Station, given: FaultWords) -> Station:
    uri = given["uri"].rstrip("/")
    body = edit.resource(station, uri)
    return edit.bodies(station, {uri: _with(body, given["name"].split("."), given["value"])})


@_fault("resource-missing", "the BMC neither lists nor returns a resource and what is below it", uri=None)
def _resource_missing(station: Station, given: FaultWords) -> Station:
    uri = given["uri"].rstrip("/")
    edit.resource(station, uri)
    above = uri.rpartition("/")[0]
    collection = edit.resource(station, above)
    members = collection.get("Members")
    listed = members if isinstance(members, list) else []
    left = [one for one in listed if not (isinstance(one, Mapping) and one.get("@odata.id") == uri)]
    if len(left) == len(listed):
        raise UserError(f"the collection {above} does not list {uri}")
    changed = edit.bodies(station, {above: {**collection, "Members": left, "Members@odata.count": len(left)}})
    return edit.without_resources(changed, uri)


def _with(body: Mapping[str, object], names: list[str], value: str) -> dict[str, object]:
    first, *rest = names
    if first not in body:
        raise UserError(f"the resource has no property {first}{did_you_mean(first, list(body))}")
    inner = body[first]
    if rest and not isinstance(inner, Mapping):
        raise UserError(f"the property {first} has no properties; remove .{'.'.join(rest)}")
    if not rest and isinstance(inner, (Mapping, list)):
        raise UserError(
            f"the property {first} is not a text"
            + (f"; it has {', '.join(inner)}" if isinstance(inner, Mapping) else "")
        )
    return {**body, first: _with(inner, rest, value) if isinstance(inner, Mapping) else value}


# ---- only under load ------------------------------------------------------------------------------------------------

KINDS |= {name: FaultKind(name, *made) for name, made in load_faults.KINDS.items()}
