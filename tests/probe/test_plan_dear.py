"""What is asked where no profile says what is wanted: all but what takes a GET for each of hundreds of parts."""

from rackcheck.model.question import Redfish
from rackcheck.probe.plan import affordable
from rackcheck.probe.registry import registry

PROBES = registry().probes
DEAR = {probe.name for probe in PROBES if isinstance(probe.ask, Redfish) and probe.ask.dear}


def asked(*named: str) -> set[str]:
    return {probe.name for probe in affordable(PROBES, named)}


def test_dear_questions_are_asked_only_where_one_of_their_facts_is_named() -> None:
    assert {"bmc_sensors", "bmc_gpu_nvlink", "bmc_pcie", "bmc_logs_chassis"} == DEAR
    everything = {probe.name for probe in PROBES}
    assert asked() == everything - DEAR
    assert asked("gpu") == everything - DEAR
    assert asked("bmc.sensor") == everything - (DEAR - {"bmc_sensors"})
    assert asked("bmc") == everything
    assert asked('bmc.sensor.temperature/"HGX_GPU_0_Temp".value') == everything - (DEAR - {"bmc_sensors"})
