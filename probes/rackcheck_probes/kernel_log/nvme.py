"""NVMe controllers that did not respond."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_storage import NVME
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.nvme": collection(
            "NVMe controllers that did not answer in time, by name; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.nvme/*",
            {
                "timeouts": "Requests that the controller did not answer in time.",
                "disabled": "Lines about the controller being disabled.",
                "not_ready": "Lines about a controller that did not come back from a reset, or is down.",
            },
        ),
    },
)
def log_nvme(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.nvme", answer, NVME)
