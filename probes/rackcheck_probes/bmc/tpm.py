"""Trusted platform modules of the host as the BMC reports them."""

from rackcheck import Documents, Facts, Redfish, collection, probe, spell_key, text, version
from rackcheck.parse.bmc.host import CHOICE, machine
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.systems import parts


@probe(
    Redfish("Systems/*", CHOICE),
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
    host = machine(docs)
    found, cut = parts(host.own, "TrustedModules") if host.doubt is None else ([], None)
    trouble = host.doubt or cut
    for key, module in keyed(found):
        item = f"bmc.tpm/{spell_key(key)}"
        yield f"{item}.state", state_of(module)
        yield f"{item}.health", health_of(module)
        yield f"{item}.version", fitted(module, "InterfaceType")
        yield f"{item}.firmware", fitted(module, "FirmwareVersion")
    if trouble is not None:
        yield "bmc.tpm", trouble
