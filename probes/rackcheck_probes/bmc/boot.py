"""How the host starts, as the BMC reports it."""

from rackcheck import Class, Documents, Facts, Redfish, listing, probe, text
from rackcheck.parse.bmc.boot import first, order, override, progress, target
from rackcheck.parse.bmc.host import CHOICE, hosts
from rackcheck.parse.bmc.systems import agreed


@probe(
    Redfish("Systems/*", CHOICE),
    gives={
        "bmc.boot.mode": text("UEFI or Legacy", words=("UEFI", "Legacy")),
        "bmc.boot.order": listing("boot options in the order the host tries them, by reference: Boot0019"),
        "bmc.boot.first": text("the first boot option of the order"),
        "bmc.boot.override": text("Disabled, Once or Continuous: whether the boot order is overridden"),
        "bmc.boot.override_target": text("boot source of the override: Pxe, UefiHttp; absent without an override"),
        "bmc.boot.progress": text("boot progress; some BMCs report no stage after the firmware", Class.MEASUREMENT),
    },
)
def bmc_boot(docs: Documents) -> Facts:
    """The host's boot mode, boot order and boot progress, and whether the boot order is overridden."""
    systems = hosts(docs)
    yield "bmc.boot.mode", agreed(systems, "Boot.BootSourceOverrideMode")
    reading = agreed(systems, "Boot.BootOrder", order)
    yield "bmc.boot.order", reading
    yield "bmc.boot.first", first(reading)
    yield "bmc.boot.override", agreed(systems, "Boot.BootSourceOverrideEnabled", override)
    yield "bmc.boot.override_target", target(systems)
    yield "bmc.boot.progress", progress(systems)
