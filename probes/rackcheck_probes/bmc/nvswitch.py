"""NVLink switches, PCIe switches and retimers as the BMC reports them."""

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, quantity, spell_key, text, version
from rackcheck.parse.bmc.item import fitted, health_of, keyed, state_of
from rackcheck.parse.bmc.part import identified
from rackcheck.parse.bmc.switches import KINDS, NVSWITCH, switches
from rackcheck.parse.bmc.systems import some

TEXTS = {"model": "Model", "firmware": "FirmwareVersion"}


@probe(
    Redfish("Fabrics/*/Switches/*"),
    gives={
        **{f"bmc.{kind}": collection(f"each {what}; unknown if the BMC lists none") for kind, what in KINDS.items()},
        f"bmc.{NVSWITCH}": collection(
            f"each {KINDS[NVSWITCH]}; unknown if the BMC lists none",
            alike=(f"bmc.{NVSWITCH}/*.model",),
            vacant=f"bmc.{NVSWITCH}/*.state",
        ),
        **{f"bmc.{kind}/*.state": text("Enabled, or Absent for an empty slot") for kind in KINDS},
        **{f"bmc.{kind}/*.health": text("OK, Warning or Critical, as the BMC reports it") for kind in KINDS},
        **{f"bmc.{kind}/*.model": text("model", Class.IDENTITY) for kind in KINDS},
        **{f"bmc.{kind}/*.serial": text("serial number", Class.IDENTITY) for kind in KINDS},
        "bmc.nvswitch/*.part_number": text("part number", Class.IDENTITY),
        **{f"bmc.{kind}/*.firmware": version("opaque", "firmware") for kind in KINDS},
        "bmc.nvswitch/*.bandwidth": quantity("Gb/s", "bandwidth of the links that are up", Class.MEASUREMENT),
    },
)
def bmc_nvswitch(docs: Documents) -> Facts:
    """Presence and health of every switch between GPUs, and between GPUs and the host."""
    for kind, (found, trouble) in switches(docs).items():
        for key, switch in keyed(found):
            item = f"bmc.{kind}/{spell_key(key)}"
            yield f"{item}.state", state_of(switch)
            yield f"{item}.health", health_of(switch)
            for leaf, name in TEXTS.items():
                yield f"{item}.{leaf}", fitted(switch, name)
            yield f"{item}.serial", identified(switch, "SerialNumber")
            if kind == NVSWITCH:
                yield f"{item}.part_number", identified(switch, "PartNumber")
                yield f"{item}.bandwidth", fitted(switch, "CurrentBandwidthGbps", some)
        if trouble is not None:
            yield f"bmc.{kind}", trouble
