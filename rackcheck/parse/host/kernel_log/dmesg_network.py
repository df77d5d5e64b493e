"""Lines of the kernel's log about networks: the faults of ConnectX NICs, and links that went down or up.

The patterns in MLX5 and in NETDEV are tried in their order; the first that matches a line counts it. A line about a NIC
contains its PCI address; a line about a link contains the name of the interface.
"""

from rackcheck.parse.host.kernel_log.dmesg import line

MLX5 = (
    line("health", "health compromised", r"mlx5_core (?P<key><pci>):? .{0,160}?device's health compromised"),
    line(
        "health",
        "Health issue observed, ",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Health issue observed, .{1,120}, severity\([0-3]\)",
    ),
    line("health", "unrecoverable hardware error", r"mlx5_core (?P<key><pci>):? .{0,160}?unrecoverable hardware error"),
    line("health", "Fatal error ", r"mlx5_core (?P<key><pci>):? .{0,160}?Fatal error [0-9]{1,5} detected"),
    line(
        "command_timeouts",
        "timeout. Will cause a leak of a command resource",
        r"mlx5_core (?P<key><pci>):? .{0,160}?timeout\. Will cause a leak of a command resource",
    ),
    line(
        "slot_power",
        "insufficient power on the PCIe slot",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Detected insufficient power on the PCIe slot",
    ),
    line(
        "hot",
        "High Temperature",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Port module event\[error\]: module [0-9]{1,4}, "
        r".{0,40}High Temperature",
    ),
    line("hot", "igh temperature on sensors", r"mlx5_core (?P<key><pci>):? .{0,160}?[Hh]igh temperature on sensors"),
    line(
        "module_errors",
        "Port module event[error]",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Port module event\[error\]: module",
    ),
    line(
        "unplugged",
        "Port module event: module",
        r"mlx5_core (?P<key><pci>):? .{0,160}?Port module event: module [0-9]{1,4}, (?:Cable "
        r"unplugged|.{0,20}absent)",
    ),
    line(
        "refused_registers",
        "ACCESS_REG(",
        r"mlx5_core (?P<key><pci>):? .{0,160}?ACCESS_REG\(0x[0-9a-f]{1,6}\).{0,60} failed",
    ),
)
"""Patterns of the faults that the driver of ConnectX NICs reports."""

NETDEV = (
    line(
        "down",
        "ink ",
        r"<driver> <pci> (?P<key>[^\s:()]{1,15}): (?:[\w-]{1,20}: (?P=key) )?(?:NIC )?[Ll]ink (?:is )?[Dd]own\b",
    ),
    line(
        "up",
        "ink ",
        r"<driver> <pci> (?P<key>[^\s:()]{1,15}): (?:[\w-]{1,20}: (?P=key) )?(?:NIC )?[Ll]ink (?:is )?[Uu]p\b",
    ),
    line(
        "bond_down",
        "link status definitely down",
        r"\S{1,15}: \(slave (?P<key>[^\s:()]{1,15})\): link status definitely down",
    ),
    line(
        "bond_down",
        "link status definitely down",
        r"\S{1,15}: link status definitely down for interface (?P<key>[^\s:(),]{1,15}),",
    ),
    line(
        "tx_timeouts", "NETDEV WATCHDOG: ", r"NETDEV WATCHDOG: (?P<key>[^\s:()]{1,15}) \([\w-]{1,40}\): transmit queue"
    ),
    line(
        "tx_timeouts",
        "NETDEV WATCHDOG: ",
        r"<driver> <pci> (?P<key>[^\s:()]{1,15}): NETDEV WATCHDOG: .{0,60}transmit queue",
    ),
)
"""Patterns of link changes and transmit timeouts that drivers, bonds and the kernel's watchdog report."""
