"""Trusted platform modules of the host as the BMC reports them."""

from rackcheck import Documents, Facts, Redfish, collection, probe, spell_key, text, version
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.systems import hosts, parts


@probe(
    Redfish("Systems/*"),
    gives={
        "bmc.tpm": collection("trusted platform modules, by their position in the BMC's list"),
        "bmc.tpm/*.state": text("Enabled, Disabled, or Absent for an empty socket"),
        "bmc.tpm/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "bmc.tpm/*.version": text("kind of module: TPM2_0, TPM1_2, TCM1_0"),
        "bmc.tpm/*.firmware": version("opaque", "firmware"),
    },
)
def bmc_tpm(docs: Documents) -> Facts:
    """Presence, health and kind of every trusted platform module."""
    systems, trouble = hosts(docs)
    found, cut = parts(systems, "TrustedModules")
    trouble = trouble or cut
    for key, module in keyed(found):
        item = f"bmc.tpm/{spell_key(key)}"
        yield f"{item}.state", state_of(module)
        yield f"{item}.health", health_of(module)
        yield f"{item}.version", fitted(module, "InterfaceType")
        yield f"{item}.firmware", fitted(module, "FirmwareVersion")
    if trouble is not None:
        yield "bmc.tpm", trouble
