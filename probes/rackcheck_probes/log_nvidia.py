"""What NVIDIA's kernel modules complain of besides Xids."""

from rackcheck import Facts, probe
from rackcheck.core.read import dmesg
from rackcheck.core.read.dmesg import line
from rackcheck_probes.kernel_log import DMESG

KINDS = (
    line(
        "fallen_off",
        "fallen off the bus",
        r"NVRM: (?!Xid ).{0,200}fallen off the bus",
        "Lines other than Xids that say that a GPU has fallen off the bus.",
    ),
    line(
        "gsp_timeouts",
        "GSP!",
        # Atomic: which of a name's commas ends it is decided once, else a forged line costs the product of all three.
        r"NVRM: (?>Xid .{1,80}?, name=(?P<who>.{1,20}?), )?.{0,120}?[Tt]imeout .{0,60}\bGSP!",
        "Lines that say that a GPU's GSP did not answer, Xid 119 among them; most of them the driver withholds.",
    ),
    line("gsp_timeouts", "Rate limiting GSP RPC error prints", r"NVRM: Rate limiting GSP RPC error prints"),
    line(
        "reset_required",
        "[NV_ERR_RESET_REQUIRED]",
        r"NVRM: .{0,400}\[NV_ERR_RESET_REQUIRED\]",
        "Lines that say that a GPU does nothing before it is reset.",
    ),
    line(
        "object_not_found",
        "[NV_ERR_OBJECT_NOT_FOUND]",
        r"NVRM: .{0,400}\[NV_ERR_OBJECT_NOT_FOUND\]",
        "Assertions about an object that is not there.",
    ),
    line(
        "init_failures",
        "RmInitAdapter failed",
        r"NVRM: .{0,60}RmInitAdapter failed",
        "GPUs that the driver could not start.",
    ),
    line(
        "mismatches",
        "API mismatch",
        r"NVRM: API mismatch: ",
        "Programs that came with another version of the driver than the loaded one.",
    ),
    line("peermem_errors", "nvidia-peermem ", r"nvidia-peermem .{0,120}ERROR", "Errors of nvidia-peermem."),
)


@probe(
    DMESG,
    gives=dmesg.promised("log.kernel.nvidia", KINDS),
)
def log_nvidia(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.nvidia", answer, KINDS)
