"""Network services of management controllers."""

from rackcheck import Documents, Facts, Redfish, Unknown, collection, flag, integer, probe, spell_key
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc.item import keyed, members
from rackcheck.parse.bmc.part import only
from rackcheck.parse.bmc.service import port, services


@probe(
    Redfish("Managers/*/NetworkProtocol"),
    gives={
        "bmc.manager/*.service": collection("services that a controller lists, by Redfish's names: IPMI, SSH, ..."),
        "bmc.manager/*.service/*.enabled": flag("the service is enabled; for IPMI, this means IPMI over the network"),
        "bmc.manager/*.service/*.port": integer("port, even if the service is disabled; some services have no port"),
    },
)
def bmc_services(docs: Documents) -> Facts:
    """Every service of every management controller, enabled or not."""
    managers, _ = members(docs, "Managers")
    for key, manager in keyed(managers):
        item = f"bmc.manager/{spell_key(key)}.service"
        network = only(docs, "NetworkProtocol", manager)
        if isinstance(network, Unknown):
            yield item, network
            continue
        names, trouble = services(network)
        for name in names:
            yield f"{item}/{spell_key(name)}.enabled", network.read(f"{name}.ProtocolEnabled", truth)
            yield f"{item}/{spell_key(name)}.port", network.read(f"{name}.Port", port)
        if trouble is not None:
            yield item, trouble
