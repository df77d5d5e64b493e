"""Sensors, metric reports, thresholds and air of recorded machines; and of BMCs with malformed ones."""

from collections.abc import Mapping
from functools import cache

import pytest
from mockup_server import Mockup
from trees import (
    ANY_CASE,
    BLUEFIELD,
    DELL,
    DELTA,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    X10,
    client,
    tree,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.resource import ROOT, Body
from rackcheck.probe.collect import collect
from rackcheck.transport import redfish
from rackcheck_probes.bmc.cooling import bmc_cooling
from rackcheck_probes.bmc.cooling_temperatures import bmc_cooling_temperatures
from rackcheck_probes.bmc.sensors import bmc_sensors
from rackcheck_probes.bmc.sensors_air import bmc_sensors_air
from rackcheck_probes.bmc.sensors_reports import bmc_sensors_reports

PROBES = (bmc_cooling, bmc_cooling_temperatures, bmc_sensors, bmc_sensors_air, bmc_sensors_reports)
CHASSIS = f"{ROOT}/Chassis"
LOST = Unknown(Reason.TIMEOUT, "no answer")


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def of(bodies: Mapping[str, Body | Unknown]) -> dict[str, Reading]:
    return {path: leaf.reading for path, leaf in collect(PROBES, BmcCapture(bodies)).items()}


@cache
def readings(name: str) -> dict[str, Reading]:
    links = sorted({each for probe in PROBES for each in probe.ask.links}, key=str)
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), links)
    assert trouble is None
    return of(capture.bodies)


def count(found: Mapping[str, Reading], path: str) -> int | None:
    listed = found[path]
    return len(listed) if isinstance(listed, tuple) else None


def sensing(*sensors: object) -> dict[str, Reading]:
    """The facts of a BMC of one chassis with these sensors."""
    place = f"{CHASSIS}/0/Sensors"
    bodies: dict[str, object] = {
        ROOT: {"Chassis": link(CHASSIS)},
        CHASSIS: {"Members": [link(f"{CHASSIS}/0")]},
        f"{CHASSIS}/0": {"Id": "0", "Sensors": link(place)},
        place: {"Members": [link(f"{place}/{n}") for n in range(len(sensors))]},
    }
    return of(bodies | {f"{place}/{n}": body for n, body in enumerate(sensors)})  # type: ignore[arg-type]  # odd ones


def reporting(
    *entries: object, sensors: Mapping[str, Body | Unknown] | None = None, **more: object
) -> dict[str, Reading]:
    """The facts of a BMC with one metric report of these entries; each of their sensors is a temperature by default."""
    service = f"{ROOT}/TelemetryService"
    places = [each["MetricProperty"] for each in entries if isinstance(each, dict) and "MetricValue" in each]
    bodies: dict[str, object] = {
        ROOT: {"TelemetryService": link(service)},
        service: {"MetricReports": link(f"{service}/MetricReports")},
        f"{service}/MetricReports": {"Members": [link(f"{service}/MetricReports/r")]},
        f"{service}/MetricReports/r": {"Id": "r", "MetricValues": list(entries), **more},
    }
    bodies |= {place: {"Id": "s", "ReadingUnits": "Cel", "Reading": 1} for place in places}
    return of(bodies | dict(sensors or {}))  # type: ignore[arg-type]  # odd ones too


def entry(value: object, sensor: str = "GPU_0_Temp_0", chassis: str = "G", **more: object) -> dict[str, object]:
    return {"MetricProperty": f"{CHASSIS}/{chassis}/Sensors/{sensor}", "MetricValue": value, **more}


# Thresholds and air


@pytest.mark.parametrize(
    ("name", "sensor", "warning", "critical"),
    [
        (DELL, "CPU1 Temp", None, 99),
        (DMTF, "CPU1 Temp", 42, 45),
        (HPE_INTEL, "01-Inlet Ambient", None, 42),
        (LENOVO, "Ambient Temp", 43, 46),
        (DGX, "DGX:TEMP_GB_HSC5", 125, 128),
        (BLUEFIELD, "bluefield temp", 95, 105),
        (SUPERMICRO, "CPU1 Temp", None, 99),
        (NVSWITCH, "BMC_TEMP", None, None),
    ],
)
def test_a_temperature_has_the_thresholds_its_bmc_reports(
    name: str, sensor: str, warning: float | None, critical: float | None
) -> None:
    found = readings(name)
    for fact, expected in (("warning", warning), ("critical", critical)):
        reading = found[f"sensor/{spell_key(sensor)}.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected, fact


def test_the_zeros_of_an_empty_place_are_no_thresholds() -> None:
    assert isinstance(readings(X10)['sensor/"CPU Temp".critical'], Absent)


@pytest.mark.parametrize(
    ("name", "inlet", "outlet"),
    [
        (DELL, 25, 31),
        (DMTF, 24.8, 40.5),
        (LENOVO, 19, 25),
        (HPE_INTEL, 16, None),
        (HPE_AMD, 20, None),
        (DGX, None, None),  # it reports Intake for all its sensors
        (GB200, None, None),
        (SUPERMICRO, None, None),
        (DELTA, None, None),
    ],
)
def test_the_air_is_reported_where_one_place_reports_it(name: str, inlet: float | None, outlet: float | None) -> None:
    for fact, expected in (("inlet", inlet), ("outlet", outlet)):
        reading = readings(name)[f"bmc.thermal.{fact}"]
        assert isinstance(reading, Unknown) if expected is None else reading == expected


@pytest.mark.parametrize("lost", ["ThermalSubsystem/ThermalMetrics", "Thermal"])
def test_the_older_form_does_not_replace_a_newer_one_that_failed(lost: str) -> None:
    place = f"{CHASSIS}/0"
    summary = {"TemperatureSummaryCelsius": {"Exhaust": {"Reading": 30}}}
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": link(CHASSIS)},
        CHASSIS: {"Members": [link(place)]},
        place: {"Id": "0", "Thermal": link(f"{place}/Thermal"), "ThermalSubsystem": link(f"{place}/ThermalSubsystem")},
        f"{place}/Thermal": {"Temperatures": [{"PhysicalContext": "Intake", "ReadingCelsius": 20}], "Fans": []},
        f"{place}/ThermalSubsystem": {"ThermalMetrics": link(f"{place}/ThermalSubsystem/ThermalMetrics")},
        f"{place}/ThermalSubsystem/ThermalMetrics": summary,
    }
    assert (of(bodies)["bmc.thermal.inlet"], of(bodies)["bmc.thermal.outlet"]) == (20, 30)
    assert isinstance(of(bodies | {f"{place}/{lost}": LOST})["bmc.thermal.inlet"], Unknown)
    summaries: tuple[object, ...] = (None, [], "x", {"Intake": None})
    for odd in summaries:
        values: dict[str, Body | Unknown] = {
            f"{place}/ThermalSubsystem/ThermalMetrics": {"Id": "m", "TemperatureSummaryCelsius": odd}
        }
        assert isinstance(of(bodies | values)["bmc.thermal.inlet"], Unknown)


# Metric reports


def test_a_report_lists_the_sensors_of_a_whole_baseboard_by_what_they_measure() -> None:
    found = readings(DGX)
    kinds = ("temperature", "headroom", "power", "energy", "voltage")
    assert [count(found, f"bmc.report.{kind}") for kind in kinds] == [48, 8, 29, 8, 0]
    assert found["bmc.report.headroom/HGX_GPU_SXM_1_TEMP_1.value"] == 60
    assert "bmc.report.temperature/HGX_GPU_SXM_1_TEMP_1.value" not in found
    assert found["bmc.report.temperature/HGX_BMC_0_Temp_0.value"] == 25.687
    assert found["bmc.report.power/HGX_Chassis_0_HSC_0_Power_0.value"] == 72.768


def test_values_that_a_report_calls_stale_are_not_the_present_ones() -> None:
    found = readings(GB200)
    stale = [path for path, reading in found.items() if isinstance(reading, Unknown) and "stale" in reading.detail]
    assert "bmc.report.temperature/HGX_ProcessorModule_1_Inlet_Temp_0.value" in stale
    assert {found[path].reason for path in stale} == {Reason.NOT_READY}  # type: ignore[union-attr]  # all unknown
    assert found["bmc.report.voltage/ProcessorModule_0_Vreg_0_CpuVoltage_0.value"] == 1.081


@pytest.mark.parametrize("name", [HPE_INTEL, SUPERMICRO])
def test_histories_and_values_of_no_sensor_are_no_present_values(name: str) -> None:
    assert count(readings(name), "bmc.report.power") == 0


@pytest.mark.parametrize("name", [LENOVO, NVSWITCH, BLUEFIELD, DMTF, X10, DELTA, HPE_AMD])
def test_reports_that_are_not_there_or_broken_are_unknown(name: str) -> None:
    assert isinstance(readings(name)["bmc.report.temperature"], Unknown)


@pytest.mark.parametrize("value", [None, "", "nan", "inf", "N/A", "12 C", True, [], {}, 10**400, "1" * 400])
def test_a_metric_that_is_no_number_is_unknown(value: object) -> None:
    assert isinstance(reporting(entry(value))["bmc.report.temperature/GPU_0_Temp_0.value"], Unknown)


@pytest.mark.parametrize(
    ("oem", "known"),
    [
        ({"V": {"MetricValueStale": False}}, True),
        ({"V": {}}, True),
        ({"V": {"MetricValueStale": True}}, False),
        ({"V": {"MetricValueStale": None}}, False),
        ({"V": {"MetricValueStale": "false"}}, False),
        ({"V": {"MetricValueStale": False}, "W": {"MetricValueStale": True}}, False),
        ({}, True),
        ([], False),
        ("N/A", False),
        (None, False),
        ({"V": "N/A"}, False),
    ],
)
def test_a_value_counts_only_where_nothing_calls_it_stale(oem: object, known: bool) -> None:
    reading = reporting(entry("25.5", Oem=oem))["bmc.report.temperature/GPU_0_Temp_0.value"]
    assert (reading == 25.5) is known


def test_several_values_of_one_sensor_are_a_history() -> None:
    found = reporting(entry("25"), entry("26"))
    assert isinstance(found["bmc.report.temperature/GPU_0_Temp_0.value"], Unknown)


def test_sensors_of_one_name_are_distinguished_by_their_chassis() -> None:
    found = reporting(entry("25", chassis="A"), entry("26", chassis="B"))
    assert found["bmc.report.temperature"] == ("A:GPU_0_Temp_0", "B:GPU_0_Temp_0")
    assert found["bmc.report.temperature/B:GPU_0_Temp_0.value"] == 26


def test_two_sensors_never_share_a_name_in_the_reports() -> None:
    """The name of the third sensor looks like the extended name of the first one."""
    forged = entry("27", "A:GPU_0_Temp_0", chassis="C")
    found = reporting(entry("25", chassis="A"), entry("26", chassis="B"), forged)
    names = found["bmc.report.temperature"]
    assert isinstance(names, tuple)
    assert len(names) == 3
    assert sorted(str(found[f"bmc.report.temperature/{spell_key(name)}.value"]) for name in names) == [
        "25.0",
        "26.0",
        "27.0",
    ]


@pytest.mark.parametrize("sensor", ["CPU_0_TempLimit_0", "GPU_0_Energy_0", "CPU_0_EnforcedEDPp_0", "x"])
def test_the_name_of_a_sensor_does_not_decide_what_a_report_says(sensor: str) -> None:
    place = f"{CHASSIS}/G/Sensors/{sensor}"
    for body, word, value in (
        ({"ReadingUnits": "Cel"}, "temperature", 25),
        ({"ReadingUnits": "Cel", "ReadingBasis": "Headroom"}, "headroom", 25),
        ({"ReadingUnits": "W"}, "power", 25),
        ({"ReadingUnits": "kW.h"}, "energy", 25 * 3.6e6),
    ):
        found = reporting(entry("25", sensor), sensors={place: {"Id": "s", "Reading": 1, **body}})
        assert {path: r for path, r in found.items() if path.endswith(f"{sensor}.value")} == {
            f"bmc.report.{word}/{sensor}.value": value
        }


@pytest.mark.parametrize("lost", [LOST, Unknown(Reason.NOT_COLLECTED, "HTTP 404"), {"Id": "s", "Reading": 1}])
def test_a_report_of_a_sensor_whose_meaning_is_unknown_gives_no_value(lost: Body | Unknown) -> None:
    found = reporting(entry("25"), entry("26", "other"), sensors={f"{CHASSIS}/G/Sensors/other": lost})
    assert not [path for path in found if path.endswith("/other.value")]
    assert isinstance(found["bmc.report.temperature"], Unknown)
    assert found["bmc.report.temperature/GPU_0_Temp_0.value"] == 25


@pytest.mark.parametrize("values", [None, "x", {}, [None], [3], [{"MetricProperty": None}], [{"MetricProperty": 5}]])
def test_a_report_that_is_none_leaves_the_list_unknown(values: object) -> None:
    assert isinstance(reporting(MetricValues=values)["bmc.report.temperature"], Unknown)


# Every sensor


@pytest.mark.parametrize(
    ("name", "sensors", "temperatures", "powers", "voltages"),
    [
        (DELL, 33, 6, 5, 8),
        (GB200, 236, 38, 13, 12),
        (NVSWITCH, 5, 3, 2, 0),
        (BLUEFIELD, 20, 4, 0, 16),
        (HPE_INTEL, 86, None, None, None),
        (DGX, 503, None, None, None),
    ],
)
def test_sensors_are_split_by_kind_unless_one_has_none(
    name: str, sensors: int, temperatures: int | None, powers: int | None, voltages: int | None
) -> None:
    found = readings(name)
    assert count(found, "bmc.sensor") == sensors
    kinds = [count(found, f"bmc.sensor.{word}") for word in ("temperature", "power", "voltage")]
    assert kinds == [temperatures, powers, voltages]


def test_a_sensor_is_read_in_its_unit() -> None:
    assert readings(DELL)["bmc.sensor.temperature/SystemBoardInletTemp.value"] == 25
    assert readings(DELL)["bmc.sensor.voltage/PS1Voltage.value"] == 240
    assert readings(DGX)["bmc.sensor.temperature/HGX_GPU_SXM_1_TEMP_0.value"] == 26.75
    assert readings(GB200)["bmc.sensor.voltage/Chassis_0_LeakDetector_0_ColdPlate.value"] == 1.7321


def test_a_current_in_watts_is_a_power_and_an_air_flow_in_rpm_is_a_speed() -> None:
    assert readings(LENOVO)["bmc.sensor/65L0.kind"] == "power"
    assert sensing({"Id": "f", "ReadingType": "AirFlow", "ReadingUnits": "RPM"})["bmc.sensor/f.kind"] == "speed"


def test_a_flag_among_temperatures_reads_nothing() -> None:
    flag = {"Id": "OverTemp", "ReadingType": "Temperature", "ReadingUnits": "", "Reading": 0}
    found = sensing(flag)
    assert found["bmc.sensor.temperature"] == ("OverTemp",)
    assert isinstance(found["bmc.sensor.temperature/OverTemp.value"], Unknown)


@pytest.mark.parametrize("value", [None, "", "N/A", True, [], {}, 10**400, "nan"])
def test_a_reading_that_is_none_is_unknown(value: object) -> None:
    found = sensing({"Id": "a", "ReadingUnits": "Cel", "Reading": value})
    assert isinstance(found["bmc.sensor.temperature/a.value"], Unknown)


def test_a_power_of_zero_is_not_known_and_a_fan_that_stands_is() -> None:
    found = sensing({"Id": "p", "ReadingUnits": "W", "Reading": 0}, {"Id": "f", "ReadingUnits": "RPM", "Reading": 0})
    assert isinstance(found["bmc.sensor.power/p.value"], Unknown)
    assert found["bmc.sensor.speed/f.value"] == 0


@pytest.mark.parametrize("mute", [{"Id": "m"}, {"Id": "m", "ReadingType": None}, {"Id": "m", "ReadingUnits": 7}])
def test_a_sensor_without_kind_leaves_every_kind_unknown(mute: dict[str, object]) -> None:
    found = sensing({"Id": "a", "ReadingUnits": "Cel", "Reading": 20}, mute)
    assert isinstance(found["bmc.sensor.temperature"], Unknown)
    assert found["bmc.sensor"] == ("a", "m")
    assert found["bmc.sensor.temperature/a.value"] == 20


def test_a_sensor_that_did_not_answer_leaves_every_list_unknown() -> None:
    found = sensing({"Id": "a", "ReadingUnits": "Cel", "Reading": 20}, LOST)
    assert (found["bmc.sensor"], found["bmc.sensor.temperature"]) == (LOST, LOST)


# Units that are not known


def test_a_sensor_with_an_unknown_unit_is_given_with_the_unit_as_returned() -> None:
    found = sensing(
        {"Id": "light", "Reading": 12.5, "ReadingUnits": "lx"},
        {"Id": "height", "Reading": 340, "ReadingType": "Altitude"},
        {"Id": "spare", "Reading": 30, "ReadingUnits": "W", "ReadingBasis": "Headroom"},
        {"Id": "fan", "Reading": 30, "ReadingUnits": "W"},
        {"Id": "odd", "Reading": "bright", "ReadingUnits": "lx"},
    )
    assert found["bmc.sensor.other"] == ("height", "light", "odd", "spare")
    values = {key: found[f"bmc.sensor.other/{key}.value"] for key in ("height", "light", "spare")}
    assert values == {"height": "340", "light": "12.5 lx", "spare": "30 W (headroom)"}
    assert isinstance(found["bmc.sensor.other/odd.value"], Unknown)
    assert found["bmc.sensor.power"] == ("fan",)


def test_a_unit_cannot_forge_a_line_or_a_long_text() -> None:
    found = sensing({"Id": "a", "Reading": 1, "ReadingUnits": "lx\n\x1b[2J" + "y" * 500})
    value = found["bmc.sensor.other/a.value"]
    assert isinstance(value, str)
    assert value.isprintable()
    assert len(value) < 100


def test_a_report_lists_a_sensor_with_an_unknown_unit_too() -> None:
    found = reporting(entry("7"), sensors={f"{CHASSIS}/G/Sensors/GPU_0_Temp_0": {"Id": "s", "ReadingUnits": "lx"}})
    assert found["bmc.report.other/GPU_0_Temp_0.value"] == "7 lx"
    assert found["bmc.report.temperature"] == ()


def test_a_sensor_that_reports_neither_unit_nor_type_makes_every_list_incomplete() -> None:
    found = sensing({"Id": "a", "Reading": 1}, {"Id": "b", "Reading": 1, "ReadingUnits": "lx"})
    assert isinstance(found["bmc.sensor.other"], Unknown)
    assert found["bmc.sensor.other/b.value"] == "1 lx"
