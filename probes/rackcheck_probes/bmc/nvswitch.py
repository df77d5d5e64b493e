"""NVLink switches, PCIe switches and retimers as the BMC sees them."""

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, quantity, spell_key, text, version
from rackcheck.model.redfish_value import health
from rackcheck.parse.bmc.item import fitted, keyed
from rackcheck.parse.bmc.switches import KINDS, NVSWITCH, switches
from rackcheck.parse.bmc.systems import some

TEXTS = {"model": "Model", "serial": "SerialNumber", "firmware": "FirmwareVersion"}


@probe(
    Redfish("Fabrics/*/Switches/*"),
    gives={
        **{f"bmc.{kind}": collection(f"each {what}; unknown where the BMC lists none") for kind, what in KINDS.items()},
        f"bmc.{NVSWITCH}": collection(
            f"each {KINDS[NVSWITCH]}; unknown where the BMC lists none",
            alike=(f"bmc.{NVSWITCH}/*.model",),
            vacant=f"bmc.{NVSWITCH}/*.state",
        ),
        **{f"bmc.{kind}/*.state": text("Enabled, or Absent for an empty place") for kind in KINDS},
        **{f"bmc.{kind}/*.health": text("OK, Warning or Critical, as the BMC judges it") for kind in KINDS},
        **{f"bmc.{kind}/*.model": text("model", Class.IDENTITY) for kind in KINDS},
        **{f"bmc.{kind}/*.serial": text("serial number", Class.IDENTITY) for kind in KINDS},
        **{f"bmc.{kind}/*.firmware": version("opaque", "firmware") for kind in KINDS},
        "bmc.nvswitch/*.bandwidth": quantity("Gb/s", "what its links that are up can carry", Class.MEASUREMENT),
    },
)
def bmc_nvswitch(docs: Documents) -> Facts:
    """Every switch between GPUs, and between them and the host: there and healthy."""
    for kind, (found, trouble) in switches(docs).items():
        for key, switch in keyed(found):
            item = f"bmc.{kind}/{spell_key(key)}"
            yield f"{item}.state", switch.read("Status.State")
            yield f"{item}.health", fitted(switch, "Status.Health", health)
            for leaf, name in TEXTS.items():
                yield f"{item}.{leaf}", fitted(switch, name)
            if kind == NVSWITCH:
                yield f"{item}.bandwidth", fitted(switch, "CurrentBandwidthGbps", some)
        if trouble is not None:
            yield f"bmc.{kind}", trouble
