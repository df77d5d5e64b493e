"""Power controls: what they limit, and their set points."""

from rackcheck import Documents, Facts, Redfish, collection, probe, quantity, spell_key, text
from rackcheck.model.redfish_value import amount
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.parse.bmc.control import PURPOSES, kept, power, purpose, watts
from rackcheck.parse.bmc.item import keyed
from rackcheck.parse.bmc.power import drawn


@probe(
    Redfish("Chassis/*/Controls/*", CHASSIS),
    gives={
        "bmc.power.control": collection("set points for power; one device may have several with different purposes"),
        "bmc.power.control/*.purpose": text(
            "what the control limits; values of different purposes cannot be compared", words=PURPOSES
        ),
        "bmc.power.control/*.kept": text("whether the set point survives a restart", words=("volatile", "nonvolatile")),
        "bmc.power.control/*.mode": text("Automatic, Manual, Disabled, ...; a disabled control limits nothing"),
        "bmc.power.control/*.context": text("what the control belongs to: Chassis, CPU, GPUSubsystem, ..."),
        "bmc.power.control/*.set_point": quantity("W", "set point"),
        "bmc.power.control/*.lowest": quantity("W", "lowest allowed set point"),
        "bmc.power.control/*.highest": quantity("W", "highest allowed set point"),
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
