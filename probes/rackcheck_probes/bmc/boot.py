"""How the host starts, as the BMC sees it."""

from rackcheck import Class, Documents, Facts, Redfish, listing, probe, text
from rackcheck.parse.bmc.boot import first, order, override, progress, target
from rackcheck.parse.bmc.systems import agreed, hosts


@probe(
    Redfish("Systems/*"),
    gives={
        "bmc.boot.mode": text("UEFI or Legacy", words=("UEFI", "Legacy")),
        "bmc.boot.order": listing("what the host tries to start from, first to last, by reference: Boot0019"),
        "bmc.boot.first": text("the first of the order"),
        "bmc.boot.override": text("Disabled, Once or Continuous: whether the order is passed over"),
        "bmc.boot.override_target": text("from where instead: Pxe, UefiHttp; absent where it is not passed over"),
        "bmc.boot.progress": text("how far the host came; on some BMCs never after the firmware", Class.MEASUREMENT),
    },
)
def bmc_boot(docs: Documents) -> Facts:
    """From where the host starts, now and by default, and how far it came."""
    systems = hosts(docs)
    yield "bmc.boot.mode", agreed(systems, "Boot.BootSourceOverrideMode")
    reading = agreed(systems, "Boot.BootOrder", order)
    yield "bmc.boot.order", reading
    yield "bmc.boot.first", first(reading)
    yield "bmc.boot.override", agreed(systems, "Boot.BootSourceOverrideEnabled", override)
    yield "bmc.boot.override_target", target(systems)
    yield "bmc.boot.progress", progress(systems)
