"""What NVIDIA's kernel modules complain of besides Xids."""

from rackcheck import Facts, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_gpu import NVIDIA
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives=dmesg.counts(
        "log.kernel.nvidia",
        {
            "fallen_off": "Lines other than Xids that say that a GPU has fallen off the bus.",
            "gsp_timeouts": "Lines that say that a GPU's GSP did not answer, Xid 119 among them; most of them the "
            "driver withholds.",
            "reset_required": "Lines that say that a GPU does nothing before it is reset.",
            "object_not_found": "Assertions about an object that is not there.",
            "init_failures": "GPUs that the driver could not start.",
            "mismatches": "Programs that came with another version of the driver than the loaded one.",
            "peermem_errors": "Errors of nvidia-peermem.",
        },
    ),
)
def log_nvidia(answer: str) -> Facts:
    """Count the lines; the ring's older lines are gone."""
    yield from dmesg.of_all("log.kernel.nvidia", answer, NVIDIA)
