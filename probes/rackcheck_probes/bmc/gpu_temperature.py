"""Temperature of GPUs as the BMC reports it, and their distance from the temperature at which they slow down."""

from rackcheck import Class, Documents, Facts, Redfish, Walk, probe, quantity, spell_key
from rackcheck.parse.bmc.gpu_heat import heats, walked
from rackcheck_probes.bmc.gpu import PLACES, PROCESSORS


@probe(
    Redfish(
        *PLACES,
        f"{PROCESSORS}/EnvironmentMetrics",
        Walk("the temperature sensors of each GPU, by DataSourceUri of these and of its chassis' list", walked),
    ),
    gives={
        "bmc.gpu/*.temperature": quantity("C", "temperature of the GPU's chip", Class.MEASUREMENT),
        "bmc.gpu/*.headroom": quantity(
            "C", "how far the GPU is below a temperature limit; absent if not reported", Class.MEASUREMENT
        ),
    },
)
def bmc_gpu_temperature(docs: Documents) -> Facts:
    """Temperature and headroom of each GPU, by the meaning of its sensors."""
    for key, heat in heats(docs):
        yield f"bmc.gpu/{spell_key(key)}.temperature", heat.temperature
        yield f"bmc.gpu/{spell_key(key)}.headroom", heat.headroom
