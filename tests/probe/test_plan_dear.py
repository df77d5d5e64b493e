"""What is read without a profile: everything except what takes a GET for each of hundreds of parts."""

from rackcheck.model.question import Redfish
from rackcheck.probe.plan import affordable
from rackcheck.probe.registry import registry

PROBES = registry().probes
DEAR = {probe.name for probe in PROBES if isinstance(probe.ask, Redfish) and probe.ask.dear}


def planned(*named: str) -> set[str]:
    return {probe.name for probe in affordable(PROBES, named)}


def test_expensive_probes_run_only_where_one_of_their_facts_is_named() -> None:
    assert {"bmc_sensors", "bmc_gpu_nvlink", "bmc_pcie", "bmc_logs_chassis"} == DEAR
    everything = {probe.name for probe in PROBES}
    assert planned() == everything - DEAR
    assert planned("gpu") == everything - DEAR
    assert planned("bmc.sensor") == everything - (DEAR - {"bmc_sensors"})
    assert planned("bmc") == everything
    assert planned('bmc.sensor.temperature/"HGX_GPU_0_Temp".value') == everything - (DEAR - {"bmc_sensors"})
