"""Errors that NVIDIA's kernel modules report besides Xids."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_gpu import NVIDIA
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.nvidia",
        {
            "fallen_off": "Lines other than Xids about a GPU that has fallen off the bus, or that is lost.",
            "gsp_timeouts": "Lines about a GPU's GSP that did not answer, including Xid 119; the driver "
            "suppresses most of them.",
            "reset_required": "Lines about a GPU that needs a reset, or a node that needs a reboot, to work.",
            "nvlink_errors": "Lines about NVLinks that could not be initialized, trained or configured.",
            "object_not_found": "Assertions about an object that does not exist.",
            "assertions": "Assertions of the driver that failed, except those of the other counts.",
            "init_failures": "GPUs that the driver could not start.",
            "mismatches": "Programs that were built for a driver version other than the loaded version.",
            "peermem_errors": "Errors of nvidia-peermem.",
        },
    ),
)
def log_nvidia(answer: str) -> Facts:
    """Count the log lines of each kind; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_all("log.kernel.nvidia", answer, NVIDIA)
