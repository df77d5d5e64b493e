"""NVMe controllers that did not answer."""

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
                "disabled": "Lines that say that the controller was given up.",
                "not_ready": "Lines that say that the controller did not come back from a reset, or is down.",
            },
        ),
    },
)
def log_nvme(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.nvme", answer, NVME)
