"""Time servers and time zones of management controllers."""

from rackcheck import Documents, Facts, Redfish, Unknown, flag, listing, probe, spell_key, text
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc.item import keyed, members
from rackcheck.parse.bmc.part import only
from rackcheck.parse.bmc.service import servers


@probe(
    Redfish("Managers/*/NetworkProtocol"),
    gives={
        "bmc.manager/*.ntp.enabled": flag("NTP is enabled"),
        "bmc.manager/*.ntp.servers": listing(
            "configured time servers; if NTP is enabled without a server, no server is used"
        ),
        "bmc.manager/*.timezone": text("name of the controller's time zone; most controllers report only the offset"),
        "bmc.manager/*.utc_offset": text("the controller's local time minus UTC, as +hh:mm"),
    },
)
def bmc_ntp(docs: Documents) -> Facts:
    """Time servers and time zone of every management controller."""
    managers, _ = members(docs, "Managers")
    for key, manager in keyed(managers):
        item = f"bmc.manager/{spell_key(key)}"
        yield f"{item}.timezone", manager.read("TimeZoneName")
        yield f"{item}.utc_offset", manager.read("DateTimeLocalOffset")
        network = only(docs, "NetworkProtocol", manager)
        if isinstance(network, Unknown):
            yield f"{item}.ntp.enabled", network
            yield f"{item}.ntp.servers", network
            continue
        yield f"{item}.ntp.enabled", network.read("NTP.ProtocolEnabled", truth)
        yield f"{item}.ntp.servers", network.read("NTP.NTPServers", servers)
