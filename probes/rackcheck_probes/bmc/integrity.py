"""Roots of trust as the BMC tells them."""

from rackcheck import Documents, Facts, Redfish, collection, flag, probe, spell_key, text, version
from rackcheck.model.redfish_value import health, truth
from rackcheck.parse.bmc.integrity import proof, protocol, target
from rackcheck.parse.bmc.item import keyed, members


@probe(
    Redfish("ComponentIntegrity/*"),
    gives={
        "bmc.integrity": collection("components whose identity and firmware can be proven"),
        "bmc.integrity/*.type": text("SPDM, TPM or OEM"),
        "bmc.integrity/*.version": version("opaque", "version of the protocol it speaks"),
        "bmc.integrity/*.enabled": flag("the protocol is switched on"),
        "bmc.integrity/*.verified": text("Success or Failed, where the BMC verified its identity itself"),
        "bmc.integrity/*.health": text("OK, Warning or Critical, as the BMC judges it"),
        "bmc.integrity/*.target": text("the component, as Chassis/HGX_ERoT_BMC_0"),
    },
)
def bmc_integrity(docs: Documents) -> Facts:
    """Every component that can prove what it is, and whether it did."""
    components, trouble = members(docs, "ComponentIntegrity")
    for key, component in keyed(components):
        item = f"bmc.integrity/{spell_key(key)}"
        yield f"{item}.type", component.read("ComponentIntegrityType")
        yield f"{item}.version", component.read("ComponentIntegrityTypeVersion", protocol)
        yield f"{item}.enabled", component.read("ComponentIntegrityEnabled", truth)
        yield f"{item}.verified", component.read(proof(component))
        yield f"{item}.health", component.read("Status.Health", health)
        yield f"{item}.target", component.read("TargetComponentURI", target)
    if trouble is not None:
        yield "bmc.integrity", trouble
