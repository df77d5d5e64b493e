"""Power of GPUs as the BMC reports it."""

from collections.abc import Mapping

from rackcheck import Absent, Class, Documents, Facts, Redfish, Sourced, probe, quantity, spell_key
from rackcheck.model.fact import Unknown
from rackcheck.model.redfish_value import measured
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.gpu import gpus
from rackcheck.parse.bmc.item import gather
from rackcheck.parse.bmc.systems import some
from rackcheck_probes.bmc.gpu import PLACES, PROCESSORS

AMOUNTS = {"limit": "PowerLimitWatts.SetPoint", "limit_default": "PowerLimitWatts.DefaultSetPoint"}
PEAK = {"peak_share": "Oem.Nvidia.EDPpPercent.SetPoint", "peak_share_most": "Oem.Nvidia.EDPpPercent.AllowableMax"}
AMOUNTS |= {"limit_most": "PowerLimitWatts.AllowableMax", "draw": "PowerWatts.Reading"}


@probe(
    Redfish(*PLACES, f"{PROCESSORS}/EnvironmentMetrics"),
    gives={
        "bmc.gpu/*.power.limit": quantity("W", "power limit"),
        "bmc.gpu/*.power.limit_default": quantity("W", "default power limit"),
        "bmc.gpu/*.power.limit_most": quantity("W", "highest power limit that can be set"),
        "bmc.gpu/*.power.peak_share": quantity(
            "%", "configured share of the peak power (EDPp); absent if not reported"
        ),
        "bmc.gpu/*.power.peak_share_most": quantity("%", "highest share of the peak power that can be set"),
        "bmc.gpu/*.power.draw": quantity("W", "power that the GPU draws", Class.MEASUREMENT),
    },
)
def bmc_gpu_power(docs: Documents) -> Facts:
    """Power draw and power limits of each GPU."""
    found, _ = gpus(docs)  # the probe that lists the GPUs reports what is missing
    for key, gpu in found:
        item = f"bmc.gpu/{spell_key(key)}"
        metrics, trouble = gather(docs.at("EnvironmentMetrics", gpu.resource))
        place = metrics[0] if metrics else Resource(f"{gpu.resource.uri}#/EnvironmentMetrics", {}, trouble)
        for leaf, name in AMOUNTS.items():
            yield f"{item}.power.{leaf}", gpu.there(place.read(name, some))
        for leaf, name in PEAK.items():
            share = place.read(name, measured)
            draws = not isinstance(place.read(AMOUNTS["draw"], some).reading, Unknown)
            if isinstance(share.reading, Unknown) and draws and not _has_peak(place):
                share = Sourced(Absent("the BMC reports no EDPp for it"), share.source)
            yield f"{item}.power.{leaf}", gpu.there(share)


def _has_peak(metrics: Resource) -> bool:
    """Whether the EnvironmentMetrics of a GPU have a setting of the peak power, whatever its form is."""
    oem = metrics.body.get("Oem", {})
    maker = oem.get("Nvidia", {}) if isinstance(oem, Mapping) else None
    return not isinstance(maker, Mapping) or "EDPpPercent" in maker
