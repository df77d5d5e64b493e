"""ConnectX NICs of which the driver reported a fault."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_network import MLX5
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.mlx5": collection(
            "ConnectX NICs that the driver reported a fault of, by PCI address; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.mlx5/*",
            {
                "health": "Lines about the device's health: no heartbeat, fatal or unrecoverable errors.",
                "command_timeouts": "Commands that the firmware did not answer.",
                "slot_power": "Lines that say that the PCIe slot gives too little power.",
                "hot": "Lines that say that a cable's module is too hot.",
                "module_errors": "Other errors of a cable's module.",
                "unplugged": "Lines that say that a cable's module is gone.",
                "refused_registers": "Register accesses that the firmware refused; monitoring tools cause them on "
                "restricted functions.",
            },
        ),
    },
)
def log_mlx5(answer: str) -> Facts:
    """Count the lines of each device; the ring's older lines are gone."""
    yield from dmesg.of_each("log.kernel.mlx5", answer, MLX5)
