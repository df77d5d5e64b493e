"""ConnectX NICs with a fault reported by the driver."""

from rackcheck import Facts, collection, probe
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.dmesg_network import MLX5
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.kernel.mlx5": collection(
            "ConnectX NICs with a fault reported by the driver, by PCI address; empty without such a line."
        ),
        **dmesg.counts(
            "log.kernel.mlx5/*",
            {
                "health": "Lines about the device's health: no heartbeat, fatal or unrecoverable errors.",
                "command_timeouts": "Commands that the firmware did not answer.",
                "slot_power": "Lines about too little power from the PCIe slot.",
                "hot": "Lines about a cable's module being too hot.",
                "module_errors": "Other errors of a cable's module.",
                "unplugged": "Lines about a cable's module being unplugged.",
                "refused_registers": "Refused register accesses, e.g. by monitoring tools on restricted functions.",
            },
        ),
    },
)
def log_mlx5(answer: str) -> Facts:
    """Count the log lines about each device; lines that the kernel's log has lost are not counted."""
    yield from dmesg.of_each("log.kernel.mlx5", answer, MLX5)
