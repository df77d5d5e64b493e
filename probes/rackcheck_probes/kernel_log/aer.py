"""PCIe errors that the kernel reported (AER).

The facts of this probe count log lines, not errors, because the kernel limits how often it prints errors. A root port
reports the errors of the devices below the port.
"""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_hardware import AER
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.aer": collection(
            "PCI functions with PCIe errors in the kernel's log, by address; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.aer/*",
            {
                "corrected": "Lines with a corrected PCIe error of this function.",
                "nonfatal": "Lines with an uncorrected non-fatal PCIe error of this function.",
                "fatal": "Lines with a fatal PCIe error of this function.",
                "by_firmware": "Lines with a PCIe error that firmware handled first; these lines lack the severity.",
            },
        ),
    },
)
def log_aer(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.aer", answer, AER)
