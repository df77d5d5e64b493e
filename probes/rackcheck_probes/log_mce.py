"""Machine checks: what the processors reported of themselves and of memory.

Bit 61 of a bank's status (UC in the kernel's asm/mce.h) tells an uncorrected error from a corrected one.
"""

from rackcheck import Facts, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "corrected",
        "[Hardware Error]: Corrected error",
        r"(?:mce: )?\[Hardware Error\]: Corrected error",
        "Lines with a corrected machine check.",
    ),
    line(
        "deferred",
        "[Hardware Error]: Deferred error",
        r"(?:mce: )?\[Hardware Error\]: Deferred error",
        "Lines with a deferred machine check: data is broken and not used yet.",
    ),
    line(
        "uncorrected",
        "[Hardware Error]: Uncorrected",
        r"(?:mce: )?\[Hardware Error\]: Uncorrected",
        "Lines with an uncorrected machine check.",
    ),
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
    line(
        "logged",
        "Machine check events logged",
        r"(?:mce: )?\[Hardware Error\]: Machine check events logged",
        "Lines that say that machine checks were logged, not which.",
    ),
    line(
        "memory_failures",
        "Memory failure: 0x",
        r"Memory failure: 0x[0-9a-f]{1,16}: (?:(?:Killing|Sending SIGBUS to) (?P<who>.{1,20}?):[0-9]{1,10} )?",
        "Lines about memory pages that were given up as broken.",
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.mce", KINDS),
)
def log_mce(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.mce", answer, KINDS)
