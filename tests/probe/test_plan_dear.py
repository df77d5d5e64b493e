"""What is read without a profile: everything except what takes a GET for each of hundreds of parts."""

from rackcheck.model.documents import Walk
from rackcheck.model.path import parse
from rackcheck.model.question import Redfish
from rackcheck.parse.bmc.chassis import CHASSIS
from rackcheck.probe.plan import affordable
from rackcheck.probe.registry import registry

PROBES = registry().probes
DEAR = {probe.name for probe in PROBES if isinstance(probe.ask, Redfish) and probe.ask.dear}


def planned(*named: str) -> set[str]:
    return {probe.name for probe in affordable(PROBES, named)}


def test_expensive_probes_run_only_where_one_of_their_facts_is_named() -> None:
    assert {"bmc_sensors", "bmc_sensors_reports", "bmc_gpu_nvlink", "bmc_pcie", "bmc_logs_chassis"} == DEAR
    everything = {probe.name for probe in PROBES}
    assert planned() == everything - DEAR
    assert planned("gpu") == everything - DEAR
    assert planned("bmc.sensor") == everything - (DEAR - {"bmc_sensors"})
    assert planned("bmc") == everything
    assert planned('bmc.sensor.temperature/"HGX_GPU_0_Temp".value') == everything - (DEAR - {"bmc_sensors"})


def test_the_sensors_of_listed_temperatures_are_read_only_where_a_fact_of_theirs_is_named() -> None:
    def sources(*named: str) -> int:
        asks = {probe.name: probe.ask for probe in affordable(PROBES, named)}
        ask = asks["bmc_cooling_temperatures"]
        assert isinstance(ask, Redfish)
        assert "Chassis/*/Thermal" in ask.links
        return sum(isinstance(link, Walk) and link != CHASSIS for link in ask.links)

    assert (sources(), sources("fan"), sources("sensor"), sources("sensor/*.temperature")) == (0, 0, 1, 1)
    wanted = [parse("fan"), parse("sensor"), parse("sensor/*.health")]
    assert "bmc_cooling_temperatures" not in {probe.name for probe in registry().plan(wanted).probes}
    assert any(isinstance(link, Walk) for link in registry().plan([parse("sensor/*.temperature")]).links)
