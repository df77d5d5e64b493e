"""Roots of trust as the BMC reports them."""

from rackcheck import Documents, Facts, Redfish, collection, flag, probe, spell_key, text, version
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc.integrity import proof, protocol, target
from rackcheck.parse.bmc.item import health_of, keyed, members


@probe(
    Redfish("ComponentIntegrity/*"),
    gives={
        "bmc.integrity": collection("components whose identity and firmware can be verified"),
        "bmc.integrity/*.type": text("SPDM, TPM or OEM"),
        "bmc.integrity/*.version": version("opaque", "version of the measurement protocol (SPDM)"),
        "bmc.integrity/*.enabled": flag("the protocol is enabled"),
        "bmc.integrity/*.verified": text("Success or Failed, if the BMC itself verified the identity"),
        "bmc.integrity/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.integrity/*.target": text("URI of the component: Chassis/HGX_ERoT_BMC_0"),
    },
)
def bmc_integrity(docs: Documents) -> Facts:
    """Every component whose identity can be verified, and the result of the verification."""
    components, trouble = members(docs, "ComponentIntegrity")
    for key, component in keyed(components):
        item = f"bmc.integrity/{spell_key(key)}"
        yield f"{item}.type", component.read("ComponentIntegrityType")
        yield f"{item}.version", component.read("ComponentIntegrityTypeVersion", protocol)
        yield f"{item}.enabled", component.read("ComponentIntegrityEnabled", truth)
        yield f"{item}.verified", component.read(proof(component))
        yield f"{item}.health", health_of(component)
        yield f"{item}.target", component.read("TargetComponentURI", target)
    if trouble is not None:
        yield "bmc.integrity", trouble
