"""Ethernet interfaces of the host and of the management controllers, as the BMC reports them."""

from rackcheck import Class, Documents, Facts, Redfish, collection, flag, probe, quantity, spell_key, text
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc.host import CHOICE
from rackcheck.parse.bmc.interface import mac, of_one, of_systems
from rackcheck.parse.bmc.item import health_of, keyed, members, state_of
from rackcheck.parse.bmc.port import link, mbps

LINK = text("whether there is a link", words=("up", "down", "starting", "training"))


@probe(
    Redfish("Systems/*/EthernetInterfaces/*", CHOICE, "Managers/*/EthernetInterfaces/*"),
    gives={
        "bmc.interface": collection("Ethernet interfaces of the host, as the BMC lists them"),
        "bmc.interface/*.mac": text("hardware address, spelled as in Linux", Class.IDENTITY),
        "bmc.interface/*.link": LINK,
        "bmc.interface/*.speed": quantity("Gb/s", "speed of the link; unknown if the BMC reports 0"),
        "bmc.interface/*.enabled": flag("the interface is enabled"),
        "bmc.interface/*.state": text("Enabled, Disabled, Absent, ..."),
        "bmc.interface/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.manager/*.interface": collection(
            "Ethernet interfaces of a controller, including the interfaces to the host"
        ),
        "bmc.manager/*.interface/*.mac": text("hardware address, spelled as in Linux", Class.IDENTITY),
        "bmc.manager/*.interface/*.link": LINK,
        "bmc.manager/*.interface/*.dhcp": flag("the interface requests an IPv4 address over DHCP"),
    },
)
def bmc_interfaces(docs: Documents) -> Facts:
    """Every Ethernet interface of the host and of the controllers."""
    found, trouble = of_systems(docs)
    for key, each in keyed(found):
        item = f"bmc.interface/{spell_key(key)}"
        yield f"{item}.mac", each.read("MACAddress", mac)
        yield f"{item}.link", each.read("LinkStatus", link)
        yield f"{item}.speed", each.read("SpeedMbps", mbps)
        yield f"{item}.enabled", each.read("InterfaceEnabled", truth)
        yield f"{item}.state", state_of(each)
        yield f"{item}.health", health_of(each)
    if trouble is not None:
        yield "bmc.interface", trouble
    managers, _ = members(docs, "Managers")
    for key, manager in keyed(managers):
        place = f"bmc.manager/{spell_key(key)}.interface"
        its, unread = of_one(docs, manager)
        for name, each in keyed(its):
            yield f"{place}/{spell_key(name)}.mac", each.read("MACAddress", mac)
            yield f"{place}/{spell_key(name)}.link", each.read("LinkStatus", link)
            yield f"{place}/{spell_key(name)}.dhcp", each.read("DHCPv4.DHCPEnabled", truth)
        if unread is not None:
            yield place, unread
