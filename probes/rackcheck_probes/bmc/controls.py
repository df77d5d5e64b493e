"""Power controls: what they bound, and where they are set."""

from rackcheck import Documents, Facts, Redfish, collection, probe, quantity, spell_key, text
from rackcheck.model.redfish_value import amount
from rackcheck.parse.bmc.control import PURPOSES, kept, power, purpose, watts
from rackcheck.parse.bmc.item import keyed
from rackcheck.parse.bmc.power import drawn


@probe(
    Redfish("Chassis/*/Controls/*"),
    gives={
        "bmc.power.control": collection("set points for power; one device may have several of different purpose"),
        "bmc.power.control/*.purpose": text("what it bounds; set points of two purposes are no pair", words=PURPOSES),
        "bmc.power.control/*.kept": text("whether it outlives a restart", words=("volatile", "nonvolatile")),
        "bmc.power.control/*.mode": text("Automatic, Manual, Disabled, ...; a disabled one bounds nothing"),
        "bmc.power.control/*.context": text("what it belongs to: Chassis, CPU, GPUSubsystem, ..."),
        "bmc.power.control/*.set_point": quantity("W", "where it is set"),
        "bmc.power.control/*.lowest": quantity("W", "the lowest it may be set"),
        "bmc.power.control/*.highest": quantity("W", "the highest it may be set"),
    },
)
def bmc_controls(docs: Documents) -> Facts:
    """Every power control and its purpose."""
    found, trouble = power(docs)
    for key, control in keyed(found):
        item = f"bmc.power.control/{spell_key(key)}"
        yield f"{item}.purpose", control.read("Id", purpose)
        yield f"{item}.kept", control.read("Id", kept)
        yield f"{item}.mode", control.read("ControlMode")
        yield f"{item}.context", control.read("PhysicalContext")
        yield f"{item}.set_point", watts(control, "SetPoint", drawn)
        yield f"{item}.lowest", watts(control, "AllowableMin", amount)
        yield f"{item}.highest", watts(control, "AllowableMax", amount)
    if trouble is not None:
        yield "bmc.power.control", trouble
