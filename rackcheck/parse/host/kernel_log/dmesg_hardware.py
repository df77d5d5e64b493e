"""Lines of the kernel's log about the node's hardware: machine checks, PCIe errors, and errors reported by firmware.

The patterns in MACHINE_CHECKS, PCIE, AER and FIRMWARE_ERRORS are tried in their order; the first of a tuple that
matches a line counts it. Lines about machine checks name no device; lines about PCIe errors name a PCI function by its
address. Bit 61 of a machine check bank's status (UC in the kernel's asm/mce.h) is set for an uncorrected error.
"""

from rackcheck.parse.host.kernel_log.dmesg import line

MACHINE_CHECKS = (
    line(
        "hardware_interrupts",
        "NMI: ",
        r"NMI: (?:PCI system error \(SERR\)|IOCK error \(debug interrupt\?\)|memory parity error) for reason ",
    ),
    line("corrected", "[Hardware Error]: Corrected error", r"(?:mce: )?\[Hardware Error\]: Corrected error"),
    line("deferred", "[Hardware Error]: Deferred error", r"(?:mce: )?\[Hardware Error\]: Deferred error"),
    line("uncorrected", "[Hardware Error]: Uncorrected", r"(?:mce: )?\[Hardware Error\]: Uncorrected"),
    line("uncorrected", "[Hardware Error]: System Fatal", r"(?:mce: )?\[Hardware Error\]: System Fatal error"),
    line(
        "uncorrected",
        "Machine Check Exception",
        r"(?:mce: )?\[Hardware Error\]: CPU ?[0-9]{1,5}: Machine Check Exception",
    ),
    line(
        "uncorrected",
        "Uncorrected hardware memory error",
        r"(?:mce: )?Uncorrected hardware memory error in user-access at ",
    ),
    line(
        "uncorrected",
        ": Machine Check: ",
        r"(?:mce: )?\[Hardware Error\]: CPU ?[0-9]{1,5}: Machine Check: [0-9a-f]{1,8} Bank "
        r"[0-9]{1,3}: [2367abef][0-9a-f]{15}\b",
    ),
    line(
        "corrected",
        ": Machine Check: ",
        r"(?:mce: )?\[Hardware Error\]: CPU ?[0-9]{1,5}: Machine Check: [0-9a-f]{1,8} Bank "
        r"[0-9]{1,3}: [014589cd][0-9a-f]{15}\b",
    ),
    line("logged", "Machine check events logged", r"(?:mce: )?\[Hardware Error\]: Machine check events logged"),
    line(
        "memory_failures",
        "Memory failure: 0x",
        r"Memory failure: 0x[0-9a-f]{1,16}: (?:(?:Killing|Sending SIGBUS to) (?P<who>.{1,20}?):[0-9]{1,10} )?",
    ),
)
"""Patterns of the errors in processors and memory that the processors reported."""

PCIE = (
    line(
        "limited",
        "available PCIe bandwidth, limited by ",
        r"<driver> (?P<key><pci>): [0-9]{1,9}(?:\.[0-9]{1,6})? Gb/s available PCIe bandwidth, limited by ",
    ),
    line(
        "link_down",
        "Link Down",
        r"pcie(?:port|hp) (?P<key><pci>)(?::pcie[0-9a-f]{3})?: (?:pciehp: )?Slot\([^)]{1,20}\): Link Down(?!/)",
    ),
    line(
        "card_gone",
        "Card not present",
        r"pcie(?:port|hp) (?P<key><pci>)(?::pcie[0-9a-f]{3})?: (?:pciehp: )?Slot\([^)]{1,20}\): Card not present",
    ),
    line(
        "contained",
        " containment event",
        r"(?:pcieport|dpc) (?P<key><pci>)(?::pcie[0-9a-f]{3})?: DPC:? containment event",
    ),
    line("inaccessible", "device inaccessible", r"<driver> (?P<key><pci>): .{0,80}device inaccessible"),
    line(
        "inaccessible",
        "config space inaccessible",
        r"<driver> (?P<key><pci>): can't change power state .{0,60}\(config space inaccessible\)",
    ),
)
"""Patterns of PCIe links that are slow, went down or were contained (DPC), and of devices that became inaccessible."""

AER = (
    line(
        "corrected",
        "PCIe Bus Error: severity=Correct",
        r"<driver> (?P<key><pci>): (?:AER: )?PCIe Bus Error: severity=Correct(?:ed|able)\b",
    ),
    line(
        "nonfatal",
        "(Non-Fatal)",
        r"<driver> (?P<key><pci>): (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Non-Fatal\)",
    ),
    line(
        "fatal",
        "(Fatal)",
        r"<driver> (?P<key><pci>): (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Fatal\)",
    ),
    line("by_firmware", "aer_status: 0x", r"<driver> (?P<key><pci>): (?:AER: )?aer_status: 0x"),
)
"""Patterns of PCIe errors by severity; a root port reports the errors of the devices below it."""

FIRMWARE_ERRORS = (
    line(
        "corrected", "event severity: corrected", r"(?:\{[0-9]{1,10}\})?\[Hardware Error\]: event severity: corrected"
    ),
    line(
        "recoverable",
        "event severity: recoverable",
        r"(?:\{[0-9]{1,10}\})?\[Hardware Error\]: event severity: recoverable",
    ),
    line("fatal", "event severity: fatal", r"(?:\{[0-9]{1,10}\})?\[Hardware Error\]: event severity: fatal"),
)
"""Patterns of the errors that the firmware reported (APEI, CPER), by severity."""
