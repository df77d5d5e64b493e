"""Network adapters and their ports as the BMC reports them."""

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Walk,
    collection,
    flag,
    integer,
    listing,
    probe,
    quantity,
    spell_key,
    text,
    version,
)
from rackcheck.model.redfish_value import truth
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.adapter import adapters, firmware, ports, walked
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified, label, named_first
from rackcheck.parse.bmc.port import addresses, gbps, link, mbps, module
from rackcheck.parse.bmc.systems import whole

TEXTS = {"manufacturer": "Manufacturer", "model": "Model"}
LABELS = {"serial": "SerialNumber", "part": "PartNumber", "sku": "SKU"}
FLAGS = {"enabled": "InterfaceEnabled", "signal": "SignalDetected"}
WORDS = {"link_state": "LinkState", "protocol": "PortProtocol"}
ADDRESSES = ("Ethernet.AssociatedMACAddresses", "AssociatedNetworkAddresses", "InfiniBand.AssociatedPortGUIDs")


@probe(
    Redfish("Chassis/*/NetworkAdapters/*", CHASSIS, Walk("their Ports/*, or their NetworkPorts/*", walked)),
    gives={
        "bmc.nic": collection("network adapters, by the BMC's names; some boards list each device of a card"),
        "bmc.nic/*.state": text("Enabled, Disabled, Absent, ..."),
        "bmc.nic/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.nic/*.manufacturer": text("manufacturer", Class.IDENTITY),
        "bmc.nic/*.model": text("model", Class.IDENTITY),
        "bmc.nic/*.serial": text("serial number", Class.IDENTITY),
        "bmc.nic/*.part": text("part number", Class.IDENTITY),
        "bmc.nic/*.sku": text("order number", Class.IDENTITY),
        "bmc.nic/*.firmware": version(
            "opaque", "firmware of all controllers of the adapter; unknown if the versions differ"
        ),
        "bmc.nic/*.port": collection("ports of the adapter"),
        "bmc.nic/*.port/*.state": text("Enabled, Disabled, Absent, ..."),
        "bmc.nic/*.port/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.nic/*.port/*.link": text("whether there is a link", words=("up", "down", "starting", "training")),
        "bmc.nic/*.port/*.speed": quantity("Gb/s", "speed of the link; unknown if there is none"),
        "bmc.nic/*.port/*.max_speed": quantity(
            "Gb/s", "highest speed of the port; only the newer Port resource reports it"
        ),
        "bmc.nic/*.port/*.technology": text("Ethernet, InfiniBand, ..."),
        "bmc.nic/*.port/*.link_state": text("Enabled or Disabled: whether the port may have a link"),
        "bmc.nic/*.port/*.protocol": text("protocol of the port: Ethernet, InfiniBand, ..."),
        "bmc.nic/*.port/*.enabled": flag("the port is enabled"),
        "bmc.nic/*.port/*.signal": flag("the port detects a signal"),
        "bmc.nic/*.port/*.mtu": integer("largest frame or MTU of the port in bytes, as the BMC reports it"),
        "bmc.nic/*.port/*.module.vendor": text("vendor of the transceiver or cable", Class.IDENTITY),
        "bmc.nic/*.port/*.module.type": text("type of the transceiver or cable: QSFP28, ...", Class.IDENTITY),
        "bmc.nic/*.port/*.module.part_number": text("part number of the transceiver or cable", Class.IDENTITY),
        "bmc.nic/*.port/*.module.serial": text("serial number of the transceiver or cable", Class.IDENTITY),
        "bmc.nic/*.port/*.addresses": listing("MAC addresses, or GUIDs of InfiniBand", Class.IDENTITY),
    },
)
def bmc_nic(docs: Documents) -> Facts:
    """Every network adapter, and the link, speed and addresses of its ports."""
    found, trouble = adapters(docs)
    for key, adapter in keyed(found):
        item = f"bmc.nic/{spell_key(key)}"
        yield f"{item}.state", state_of(adapter)
        yield f"{item}.health", health_of(adapter)
        for fact, name in TEXTS.items():
            yield f"{item}.{fact}", fitted(adapter, name, label)
        for fact, name in LABELS.items():
            yield f"{item}.{fact}", identified(adapter, name)
        yield f"{item}.firmware", firmware(adapter)
        its, unread = ports(docs, adapter)
        for name, port in keyed(its):
            yield from _port(f"{item}.port/{spell_key(name)}", port)
        if unread is not None:
            yield f"{item}.port", unread
    if trouble is not None:
        yield "bmc.nic", trouble


def _port(item: str, port: Resource) -> Facts:
    yield f"{item}.state", state_of(port)
    yield f"{item}.health", health_of(port)
    yield f"{item}.link", fitted(port, "LinkStatus", link)
    older = named_first(port, "CurrentSpeedGbps", "CurrentLinkSpeedMbps") == "CurrentLinkSpeedMbps"
    speed = ("CurrentLinkSpeedMbps", mbps) if older else ("CurrentSpeedGbps", gbps)
    yield f"{item}.speed", fitted(port, *speed)
    yield f"{item}.max_speed", fitted(port, "MaxSpeedGbps", gbps)
    technology = named_first(port, "LinkNetworkTechnology", "ActiveLinkTechnology", "PortProtocol")
    yield f"{item}.technology", fitted(port, technology)
    for fact, name in WORDS.items():
        yield f"{item}.{fact}", fitted(port, name)
    for fact, name in FLAGS.items():
        yield f"{item}.{fact}", fitted(port, name, truth)
    yield f"{item}.mtu", fitted(port, named_first(port, "MaxFrameSize", "PortMaximumMTU"), whole)
    for fact, name in module(port).items():
        numbered = fact in {"serial", "part_number"}
        yield f"{item}.module.{fact}", identified(port, name) if numbered else fitted(port, name, label)
    yield f"{item}.addresses", fitted(port, named_first(port, *ADDRESSES), addresses)
