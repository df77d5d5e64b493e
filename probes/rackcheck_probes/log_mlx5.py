"""ConnectX NICs of which the driver reported a fault."""

from rackcheck import Facts, collection, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "health",
        "health compromised",
        r"mlx5_core (?P<key><pci>):? .{0,160}?device's health compromised",
        "Lines about the device's health: no heartbeat, fatal or unrecoverable errors.",
    ),
    line("health", "unrecoverable hardware error", r"mlx5_core (?P<key><pci>):? .{0,160}?unrecoverable hardware error"),
    line("health", "Fatal error ", r"mlx5_core (?P<key><pci>):? .{0,160}?Fatal error [0-9]{1,5} detected"),
    line(
        "command_timeouts",
        "timeout. Will cause a leak of a command resource",
        r"mlx5_core (?P<key><pci>):? .{0,160}?timeout\. Will cause a leak of a command resource",
        "Commands that the firmware did not answer.",
    ),
    line(
        "slot_power",
        "insufficient power on the PCIe slot",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Detected insufficient power on the PCIe slot",
        "Lines that say that the PCIe slot gives too little power.",
    ),
    line(
        "hot",
        "High Temperature",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Port module event\[error\]: module [0-9]{1,4}, "
        r".{0,40}High Temperature",
        "Lines that say that a cable's module is too hot.",
    ),
    line("hot", "igh temperature on sensors", r"mlx5_core (?P<key><pci>):? .{0,160}?[Hh]igh temperature on sensors"),
    line(
        "module_errors",
        "Port module event[error]",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Port module event\[error\]: module",
        "Other errors of a cable's module.",
    ),
    line(
        "unplugged",
        "Port module event: module",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Port module event: module [0-9]{1,4}, (?:Cable "
        r"unplugged|.{0,20}absent)",
        "Lines that say that a cable's module is gone.",
    ),
    line(
        "refused_registers",
        "ACCESS_REG(",
        r"mlx5_core (?P<key><pci>):? .{0,160}?ACCESS_REG\(0x[0-9a-f]{1,6}\).{0,60} failed",
        "Register accesses that the firmware refused; monitoring tools cause them on restricted functions.",
    ),
)


@probe(
    DMESG,
    gives={
        "log.kernel.mlx5": collection(
            "ConnectX NICs that the driver reported a fault of, by PCI address; empty without such a line."
        ),
        **dmesg.promised("log.kernel.mlx5/*", KINDS),
    },
)
def log_mlx5(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.mlx5", answer, KINDS)
