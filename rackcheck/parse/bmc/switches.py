"""Switches of a machine's own fabrics: NVLink switches, PCIe switches and retimers."""

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import Gathered
from rackcheck.parse.bmc.item import gather, members, named_ones
from rackcheck.parse.bmc.systems import has_some

NVSWITCH, PCIE_SWITCH, RETIMER = "nvswitch", "pcie_switch", "retimer"
KINDS = {NVSWITCH: "NVLink switch", PCIE_SWITCH: "PCIe switch", RETIMER: "PCIe retimer"}


def switches(docs: Documents) -> dict[str, Gathered]:
    """Return the switches of all fabrics by kind, without switches of other protocols, such as a storage backplane's.

    A switch without a type may be of any kind, so it makes the list of every kind incomplete. An empty list counts as
    incomplete, because most BMCs have no fabrics at all.
    """
    fabrics, trouble = members(docs, "Fabrics")
    found: dict[str, list[Resource]] = {kind: [] for kind in KINDS}
    for fabric in fabrics:
        listed, cut = named_ones(*gather(docs.at("Switches/*", fabric)))
        trouble = trouble or cut
        for switch in listed:
            reading = switch.read("SwitchType").reading
            if isinstance(reading, Unknown):
                trouble = trouble or Unknown(Reason.NOT_COLLECTED, f"{switch.uri}: {clean(reading.detail)}")
            elif reading == "NVLink":
                found[NVSWITCH].append(switch)
            elif reading == "PCIe":
                found[RETIMER if _retimes(switch, fabric) else PCIE_SWITCH].append(switch)
    return {kind: has_some(listed, trouble, KINDS[kind]) for kind, listed in found.items()}


def _retimes(switch: Resource, fabric: Resource) -> bool:
    """Return whether a switch is a retimer, by its own name or its fabric's: Redfish has no type for retimers."""
    names = (switch.id, fabric.id, switch.body.get("Name"))
    return any(isinstance(name, str) and "retimer" in name.casefold() for name in names)
