"""Errors of AMD GPUs that the driver reported."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_gpu import AMDGPU
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.amdgpu": collection(
            "AMD GPUs with errors reported by the driver, by PCI address; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.amdgpu/*",
            {
                "uncorrected": "Lines with uncorrected errors.",
                "corrected": "Lines with corrected errors.",
                "deferred": "Lines with deferred errors.",
                "resets": "Resets of the GPU that the driver started.",
                "reset_failures": "Resets of the GPU that failed.",
                "page_faults": "Page faults of programs on the GPU.",
            },
        ),
    },
)
def log_amdgpu(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.amdgpu", answer, AMDGPU)
