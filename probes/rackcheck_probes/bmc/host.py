"""The identity of the BMC's host."""

from rackcheck import Class, Documents, Facts, Redfish, probe, text
from rackcheck.parse.bmc.host import CHOICE, hosts
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.systems import shared


@probe(
    Redfish("Systems/*", CHOICE),
    gives={
        "bmc.host.serial": text("Serial number of the host, not of a GPU baseboard next to it.", Class.IDENTITY),
        "bmc.host.uuid": text("UUID of the host.", Class.IDENTITY),
        "bmc.host.sku": text("Order number of the host; on Dell, the service tag.", Class.IDENTITY),
    },
)
def bmc_host(docs: Documents) -> Facts:
    """The serial number, UUID and order number of the system that has a BIOS."""
    found = hosts(docs)
    yield "bmc.host.serial", shared(found, lambda host: identified(host, "SerialNumber"), "SerialNumber")
    yield "bmc.host.uuid", shared(found, lambda host: identified(host, "UUID"), "UUID")
    yield "bmc.host.sku", shared(found, lambda host: identified(host, "SKU"), "SKU")
