"""Machine checks: what the processors reported of themselves and of memory."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_hardware import MACHINE_CHECKS
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.mce",
        {
            "corrected": "Lines with a corrected machine check.",
            "deferred": "Lines with a deferred machine check: data is broken and not used yet.",
            "uncorrected": "Lines with an uncorrected machine check.",
            "logged": "Lines that say that machine checks were logged, not which.",
            "memory_failures": "Lines about memory pages that were given up as broken.",
        },
    ),
)
def log_mce(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.mce", answer, MACHINE_CHECKS)
