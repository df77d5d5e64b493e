"""Programs that crashed."""

from rackcheck import Facts, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "nccl",
        " in libnccl",
        r"(?:traps: )?(?P<who>.{1,15}?)\[[0-9]{1,10}\](?::)? (?:segfault at|general protection fault) "
        r".{1,300}? in libnccl[\w.-]{0,60}",
        "Programs that crashed in NCCL.",
    ),
    line(
        "libc",
        " in libc",
        r"(?:traps: )?(?P<who>.{1,15}?)\[[0-9]{1,10}\](?::)? (?:segfault at|general protection fault) "
        r".{1,300}? in libc[.-][\w.-]{0,40}",
        "Programs that crashed in the C library.",
    ),
    line(
        "other", "segfault at ", r"(?P<who>.{1,15}?)\[[0-9]{1,10}\]: segfault at ", "Programs that crashed elsewhere."
    ),
    line(
        "other", "general protection fault ", r"traps: (?P<who>.{1,15}?)\[[0-9]{1,10}\](?::)? general protection fault "
    ),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.segfault", KINDS),
)
def log_segfault(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.segfault", answer, KINDS)
