"""What sensors and their excerpts measure: on recorded machines, and on copies whose sensors are changed."""

from collections.abc import Mapping
from typing import Any

import pytest
from trees import ALL, DELL, DGX, DMTF, GB200, LENOVO, bmc_probes, read, readings, resource, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.resource import ROOT, Body
from rackcheck.parse.bmc.reading_kind import KINDS
from rackcheck.probe.collect import collect

GPU = f"{ROOT}/Systems/HGX_Baseboard_0/Processors/GPU_SXM_1"
METRICS = f"{GPU}/EnvironmentMetrics"
CHASSIS = f"{ROOT}/Chassis/HGX_GPU_SXM_1"
HEAT = f"{CHASSIS}/Sensors/HGX_GPU_SXM_1_TEMP_0"
ROOM = f"{CHASSIS}/Sensors/HGX_GPU_SXM_1_TEMP_1"
DRAM = f"{CHASSIS}/Sensors/HGX_GPU_SXM_1_DRAM_0_Temp_0"
POWER = f"{CHASSIS}/Sensors/HGX_GPU_SXM_1_Power_0"
LIST = f"{CHASSIS}/ThermalSubsystem/ThermalMetrics"
MISSING = {"error": {"code": "Base.1.8.GeneralError"}}
GONE = f"{CHASSIS}/Sensors/nothing"


def of(name: str, changes: Mapping[str, object], *probes: str) -> dict[str, Reading]:
    """The facts of some probes of a tree that serves changed bodies."""
    found = bmc_probes()
    leaves = collect([found[each] for each in probes], read(name, changes, *probes))
    return {path: leaf.reading for path, leaf in leaves.items()}


def gpu(changes: Mapping[str, object]) -> tuple[Reading, Reading]:
    """The temperature and the headroom of the first GPU of the recorded DGX H100, with changed bodies."""
    found = of(DGX, changes, "bmc_gpu_temperature")
    assert (found["bmc.gpu/GPU_SXM_2.temperature"], found["bmc.gpu/GPU_SXM_2.headroom"]) == (31, 55)
    return found["bmc.gpu/GPU_SXM_1.temperature"], found["bmc.gpu/GPU_SXM_1.headroom"]


def less(uri: str, *gone: str, name: str = DGX, **more: object) -> dict[str, object]:
    """A recorded body without some properties, and with others."""
    return {key: value for key, value in resource(name, uri).items() if key not in gone} | more


def excerpt(**body: object) -> dict[str, object]:
    """The EnvironmentMetrics of the first GPU with another excerpt of its temperature."""
    return {METRICS: less(METRICS, TemperatureCelsius=body)}


def limits(**values: float | None) -> dict[str, dict[str, float | None]]:
    return {name: {"Reading": value} for name, value in values.items()}


def listed(**changes: object) -> dict[str, object]:
    """The list of temperatures of the first GPU's chassis, with changes to its last entry, which is the headroom."""
    body = resource(DGX, LIST)
    entries: Any = body["TemperatureReadingsCelsius"]
    assert entries[2]["DataSourceUri"] == ROOM
    changed = {key: value for key, value in {**entries[2], **changes}.items() if value != "-"}
    return {LIST: {**body, "TemperatureReadingsCelsius": [*entries[:2], changed]}}


# One sensor


def sensor(**body: object) -> dict[str, Reading]:
    """The facts of a BMC with one sensor."""
    place = f"{ROOT}/Chassis/0/Sensors"
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": {"@odata.id": f"{ROOT}/Chassis"}},
        f"{ROOT}/Chassis": {"Members": [{"@odata.id": f"{ROOT}/Chassis/0"}]},
        f"{ROOT}/Chassis/0": {"Id": "0", "Sensors": {"@odata.id": place}},
        place: {"Members": [{"@odata.id": f"{place}/s"}]},
        f"{place}/s": {"Id": "s", "Reading": 40, **body},
    }
    probes = [bmc_probes()[name] for name in ("bmc_sensors", "bmc_beyond")]
    leaves = collect(probes, BmcCapture(bodies))
    return {path: leaf.reading for path, leaf in leaves.items()}


def lists(found: Mapping[str, Reading]) -> set[str]:
    """The kinds under which the sensor is listed with a known value."""
    return {word for word in KINDS if isinstance(found.get(f"bmc.sensor.{word}/s.value"), (int, float))}


CEL = {"ReadingType": "Temperature", "ReadingUnits": "Cel"}
COLD = limits(LowerCaution=0, LowerCritical=-2, LowerFatal=-8)
HOT = limits(UpperCaution=80, UpperCritical=90, UpperFatal=95)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"ReadingBasis": "Zero"}, "temperature"),
        ({"ReadingBasis": "Headroom"}, "headroom"),
        ({"ReadingBasis": "Delta"}, "delta"),
        ({}, "temperature"),
        ({"ReadingBasis": None}, None),
        ({"ReadingBasis": "headroom"}, None),
        ({"ReadingBasis": 7}, None),
        ({"ReadingBasis": None, "Thresholds": HOT}, "temperature"),
        ({"ReadingBasis": "Zero", "Thresholds": COLD, "PhysicalContext": "GPU"}, "temperature"),
        ({"ReadingBasis": "Headroom", "Thresholds": HOT}, "headroom"),
        ({"Thresholds": COLD, "PhysicalContext": "GPU"}, "headroom"),
        ({"Thresholds": COLD, "PhysicalContext": "CPU"}, "headroom"),
        ({"Thresholds": COLD, "PhysicalContext": "Accelerator"}, "headroom"),
        ({"Thresholds": COLD, "RelatedItem": [{"@odata.id": GPU}]}, "headroom"),
        ({"Thresholds": COLD, "PhysicalContext": "Intake"}, None),
        ({"Thresholds": COLD}, None),
        ({"Thresholds": COLD, "PhysicalContext": None}, None),
        ({"Thresholds": {**COLD, **HOT}, "PhysicalContext": "GPU"}, "temperature"),
        ({"Thresholds": {**COLD, **limits(UpperCritical=None)}, "PhysicalContext": "GPU"}, None),
        ({"Thresholds": limits(UpperCaution=0, UpperCritical=-2), "PhysicalContext": "GPU"}, None),
        ({"Thresholds": limits(UpperCritical=0, LowerCritical=0), "PhysicalContext": "GPU"}, "temperature"),
        ({"Thresholds": limits(LowerCaution=None), "PhysicalContext": "GPU"}, "temperature"),
        ({"Thresholds": {}, "PhysicalContext": "GPU"}, "temperature"),
        ({"Thresholds": None, "PhysicalContext": "GPU"}, "temperature"),
        ({"Thresholds": "x", "PhysicalContext": "GPU"}, None),
        ({"Reading": -51, "PhysicalContext": "CPU"}, None),
        ({"Reading": -5, "PhysicalContext": "Intake"}, "temperature"),
        ({"Name": "CPU 1 Thermal Margin"}, None),
        ({"Thresholds": limits(LowerCaution=0, LowerCritical=0), "PhysicalContext": "GPU"}, None),
        ({"Name": "GPU TLIMIT", "PhysicalContext": "GPU"}, None),
        ({"Name": "CPU 1 Thermal Margin", "ReadingBasis": "Headroom"}, "headroom"),
        ({"Name": "Marginal Road Inlet Limit", "Thresholds": HOT}, "temperature"),
    ],
)
def test_reading_basis_or_else_the_direction_of_thresholds_decides(body: dict[str, Any], word: str | None) -> None:
    found = sensor(**{**CEL, **body})
    assert lists(found) == ({word} if word else set())
    if word is None:
        assert isinstance(found["bmc.sensor/s.kind"], Unknown)
        assert isinstance(found["bmc.sensor.temperature/s.value"], Unknown)
        assert found["bmc.sensor.temperature"] == ("s",)
    else:
        assert found["bmc.sensor/s.kind"] == word


def test_an_undecided_sensor_leaves_other_kinds_known() -> None:
    found = sensor(**CEL, Thresholds=COLD)
    assert (found["bmc.sensor.power"], found["bmc.sensor.headroom"]) == ((), ())


@pytest.mark.parametrize(
    ("unit", "type_", "word", "value"),
    [
        ("Cel", "Temperature", "temperature", 40),
        ("C", None, "temperature", 40),
        ("DegreesC", "Temperature", "temperature", 40),
        ("Watts", "Current", "power", 40),
        ("Volts", None, "voltage", 40),
        ("Amps", None, "current", 40),
        ("RPM", "AirFlow", "speed", 40),
        ("%", "Percent", "percent", 40),
        ("Percent", None, "percent", 40),
        ("Percentage", None, "percent", 40),
        ("%", "Humidity", "humidity", 40),
        ("Percent", "Humidity", "humidity", 40),
        ("Hz", "Frequency", "frequency", 40),
        ("MHz", "Frequency", "frequency", 40e6),
        ("J", "EnergyJoules", "energy", 40),
        ("kW.h", "EnergykWh", "energy", 144e6),
        ("Pa", "Altitude", "pressure", 40),
        ("kPa", "PressurekPa", "pressure", 40e3),
        ("CFM", None, "airflow", 40),
        ("", None, "unitless", 40),
        (None, "EnergykWh", "energy", 144e6),
        (None, "Percent", "percent", 40),
        (None, "Frequency", "frequency", 40),
        ("g/m3", "AbsoluteHumidity", None, None),
        ("m", "Altitude", None, None),
        (None, "Altitude", None, None),
    ],
)
def test_units_are_read_as_makers_spell_them(
    unit: str | None, type_: str | None, word: str | None, value: float | None
) -> None:
    found = sensor(**({} if unit is None else {"ReadingUnits": unit}), ReadingType=type_)
    assert lists(found) == ({word} if word else set())
    assert found["bmc.sensor/s.kind"] == (word or "other")
    if word is not None:
        assert found[f"bmc.sensor.{word}/s.value"] == pytest.approx(value)


@pytest.mark.parametrize("basis", ["Headroom", "Delta"])
def test_the_headroom_of_a_power_is_no_power(basis: str) -> None:
    found = sensor(ReadingUnits="W", ReadingBasis=basis)
    assert (found["bmc.sensor/s.kind"], lists(found)) == ("other", set())
    assert lists(sensor(ReadingUnits="W", ReadingBasis="Zero")) == {"power"}
    assert lists(sensor(ReadingUnits="W", ReadingBasis=None)) == {
        "power"
    }  # BMCs return null for what they do not support


def test_every_threshold_of_every_kind_is_a_fact() -> None:
    every = {**COLD, **limits(UpperCaution=50, UpperCritical=60, UpperFatal=70)}
    expected = {
        "warning": 50,
        "critical": 60,
        "upper_fatal": 70,
        "lower_warning": 0,
        "lower_critical": -2,
        "lower_fatal": -8,
    }
    for unit, word in (("Cel", "temperature"), ("W", "power"), ("V", "voltage"), ("%", "percent"), ("Pa", "pressure")):
        found = sensor(ReadingUnits=unit, Thresholds=every)
        assert {leaf: found[f"bmc.sensor.{word}/s.{leaf}"] for leaf in expected} == expected
    assert sensor(ReadingUnits="kPa", Thresholds=every)["bmc.sensor.pressure/s.critical"] == 60e3
    room = sensor(**CEL, Thresholds=COLD, PhysicalContext="GPU")
    assert room["bmc.sensor.headroom/s.lower_critical"] == -2
    assert isinstance(room["bmc.sensor.headroom/s.critical"], Absent)
    null = sensor(ReadingUnits="V", Thresholds=limits(LowerCritical=None, UpperCritical=0.5))
    assert isinstance(null["bmc.sensor.voltage/s.lower_critical"], Unknown)
    assert null["bmc.sensor.voltage/s.critical"] == 0.5
    assert isinstance(sensor(ReadingUnits="V", Thresholds=None)["bmc.sensor.voltage/s.critical"], Unknown)


@pytest.mark.parametrize(
    ("reading", "beyond", "near"),
    [
        (60, None, None),
        (1, None, None),
        (0, None, None),
        (-1, None, "-1, below 0 and near -2"),
        (-3, "-3, below -2", None),
    ],
)
def test_a_headroom_is_beyond_its_lower_threshold(reading: float, beyond: str | None, near: str | None) -> None:
    upper = limits(UpperCritical=50)
    found = sensor(**CEL, ReadingBasis="Headroom", Reading=reading, Thresholds={**COLD, **upper})
    for path, words in (("bmc.beyond", beyond), ("bmc.near", near)):
        assert found[path] == (("Chassis/0/Sensors/s",) if words else ())
        assert found.get(f'{path}/"Chassis/0/Sensors/s".reading') == words


def test_a_temperature_is_beyond_its_upper_threshold_also_where_that_is_fatal() -> None:
    for name in ("UpperCritical", "UpperFatal"):
        assert sensor(**CEL, Reading=50, Thresholds=limits(**{name: 50}))["bmc.beyond"]
        assert not sensor(**CEL, Reading=40, Thresholds=limits(**{name: 50}))["bmc.beyond"]


# GPUs


def test_the_temperature_of_a_gpu_is_not_its_headroom() -> None:
    assert gpu({}) == (26.75, 60)


@pytest.mark.parametrize(
    ("changes", "temperature", "headroom"),
    [
        ({ROOM: less(ROOM, ReadingBasis="Headroom")}, 26.75, 60),
        ({ROOM: less(ROOM, ReadingBasis="Zero")}, 60, Absent),
        ({ROOM: less(ROOM, ReadingBasis="Delta")}, 26.75, Absent),
        ({ROOM: less(ROOM, "Thresholds", ReadingBasis="Headroom")}, 26.75, 60),
        ({ROOM: less(ROOM, ReadingBasis=None, Thresholds={})}, None, None),
        ({ROOM: less(ROOM, PhysicalContext="Intake")}, None, None),
        ({HEAT: less(HEAT, ReadingBasis="Headroom")}, None, None),
        ({HEAT: less(HEAT, ReadingBasis=None)}, None, None),
        ({HEAT: less(HEAT, Thresholds=resource(DGX, ROOM)["Thresholds"]), ROOM: less(ROOM, "Thresholds")}, 60, 26.75),
        ({HEAT: less(HEAT, Id="X_TEMP_1", Name="TEMP 1"), ROOM: less(ROOM, Id="X_TEMP_0", Name="TEMP 0")}, 26.75, 60),
        ({HEAT: less(HEAT, ReadingUnits="W", ReadingType="Power")}, None, 60),
        ({HEAT: less(HEAT, RelatedItem=[{"@odata.id": f"{GPU[:-1]}2"}])}, None, 60),
        ({HEAT: less(HEAT, "RelatedItem")}, 26.75, 60),
        ({HEAT: less(HEAT, RelatedItem=[{"@odata.id": f"{ROOT}/Systems/HGX_Baseboard_0"}])}, 26.75, 60),
        ({HEAT: less(HEAT, PhysicalContext="Memory")}, None, 60),
        ({HEAT: MISSING}, None, None),
        (excerpt(DataSourceUri=ROOM, Reading=60), 26.75, 60),
        (excerpt(DataSourceUri=HEAT, Reading=27), 27, 60),
        (excerpt(DataSourceUri=POWER, Reading=71), 26.75, 60),
        (excerpt(DataSourceUri=GONE, Reading=60), 26.75, 60),
        (excerpt(DataSourceUri=None, Reading=60), 26.75, 60),
        (excerpt(DataSourceUri="", Reading=60), 26.75, 60),
        (excerpt(DataSourceUri="https://other/redfish", Reading=60), 26.75, 60),
        (excerpt(DataSourceUri=["x"], Reading=60), 26.75, 60),
        (excerpt(Reading=60), 26.75, 60),
        (excerpt(DataSourceUri=HEAT.replace("SXM_1", "SXM_2"), Reading=31), 26.75, 60),
        (listed(DataSourceUri="-"), 26.75, 60),
        (excerpt(Reading=60) | listed(DataSourceUri=GONE), None, None),
        (excerpt(Reading=60) | listed(DataSourceUri=None), None, None),
        (excerpt(Reading=60) | {LIST: less(LIST, "TemperatureReadingsCelsius")}, None, None),
        ({LIST: less(LIST, "TemperatureReadingsCelsius")}, None, 60),
        ({LIST: less(LIST, TemperatureReadingsCelsius=None)}, None, None),
    ],
)
def test_a_gpus_temperature_is_known_only_where_the_meaning_of_its_sensors_is(
    changes: dict[str, object], temperature: float | None, headroom: float | type[Absent] | None
) -> None:
    for reading, expected in zip(gpu(changes), (temperature, headroom), strict=True):
        if isinstance(expected, type):
            assert isinstance(reading, expected)
        elif expected is None:
            assert isinstance(reading, Unknown)
        else:
            assert reading == expected


def test_two_sensors_of_a_gpus_temperature_leave_it_unknown() -> None:
    body = resource(DGX, LIST)
    entries: Any = body["TemperatureReadingsCelsius"]
    place = f"{CHASSIS}/Sensors/HGX_GPU_SXM_1_TEMP_2"
    more = {LIST: {**body, "TemperatureReadingsCelsius": [*entries, {**entries[1], "DataSourceUri": place}]}}
    temperature, headroom = gpu(more | {place: less(HEAT, **{"@odata.id": place}, Id="TEMP_2", Reading=70)})
    assert isinstance(temperature, Unknown)
    assert "several sensors" in temperature.detail
    assert headroom == 60


# Lists, and recorded machines


def test_an_entry_of_a_list_has_the_meaning_of_its_sensor() -> None:
    def entry(changes: Mapping[str, object]) -> tuple[Reading, ...]:
        found = of(DGX, changes, "bmc_cooling_temperatures", "bmc_cooling")
        key = "sensor/HGX_GPU_SXM_1:GPU_SXM_1:2"
        return found[f"{key}.kind"], found[f"{key}.temperature"], found[f"{key}.headroom"]

    word, temperature, room = entry({})
    assert (word, room) == ("headroom", 60)
    assert isinstance(temperature, Absent)
    for change in ({"DataSourceUri": GONE}, {"DataSourceUri": None}, {"DataSourceUri": "-"}):
        assert all(isinstance(reading, Unknown) for reading in entry(listed(**change)))
    word, temperature, room = entry(listed(DataSourceUri=POWER))
    assert word == "other"
    assert isinstance(temperature, Absent)
    assert isinstance(room, Absent)
    assert entry(listed(DataSourceUri=HEAT))[:2] == ("temperature", 60)


def test_air_is_read_only_from_sensors_of_temperature() -> None:
    place = f"{ROOT}/Chassis/System.Embedded.1/Sensors/SystemBoardInletTemp"
    assert of(DELL, {}, "bmc_sensors_air")["bmc.thermal.inlet"] == 25
    for body in (less(place, name=DELL, ReadingBasis="Headroom"), less(place, name=DELL, ReadingUnits="W"), MISSING):
        found = of(DELL, {place: body}, "bmc_sensors_air")
        assert isinstance(found["bmc.thermal.inlet"], Unknown)
        assert found["bmc.thermal.outlet"] == 31


HEADROOMS = {DGX: 8, GB200: 2}


@pytest.mark.parametrize("name", ALL)
def test_no_recorded_headroom_is_given_as_a_temperature(name: str) -> None:
    found = readings(name)
    rooms = [path for path, reading in found.items() if reading == "headroom" and path.startswith("bmc.sensor/")]
    assert len(rooms) == HEADROOMS.get(name, 0)
    odd = lower_only(name)
    assert len(odd) >= len(rooms)
    for path, reading in found.items():
        degrees = path.startswith(("bmc.sensor.temperature/", "bmc.report.temperature/")) and path.endswith(".value")
        if (degrees or path.endswith(".temperature")) and isinstance(reading, float):
            assert not any(f"/{key}." in path or f'"{key}".' in path for key in odd), path


def lower_only(name: str) -> set[str]:
    """The Ids of the sensors in degrees of a tree that have only lower thresholds."""
    found = set()
    for place in tree(name).glob("redfish/v1/Chassis/*/Sensors/*/index.json"):
        body = resource(name, f"/{place.parent.relative_to(tree(name))}")
        rows = body.get("Thresholds") or {}
        assert isinstance(rows, dict)
        if body.get("ReadingType") == "Temperature" and rows and all(key.startswith("Lower") for key in rows):
            found.add(str(body["Id"]))
    return found


def test_the_distance_of_a_lenovos_processor_from_its_limit_is_not_its_temperature() -> None:
    found = readings(LENOVO)
    assert isinstance(found['sensor/"CPU 1 DTS".temperature'], Unknown)
    assert found['sensor/"CPU 1 Temp".temperature'] == 27
    assert found["bmc.sensor.unitless/231L0.value"] == -51
    assert isinstance(found["bmc.sensor.temperature/231L0.value"], Unknown)


def test_a_limit_distance_whose_context_is_not_a_chip_is_neither_temperature_nor_headroom() -> None:
    found = readings(DGX)
    for key in (f"TLIMIT_GB_SXM{n}" for n in range(1, 9)):
        paths = [path for path in found if f"{key}." in path and path.endswith((".value", ".temperature", ".headroom"))]
        assert paths
        assert all(isinstance(found[path], Unknown) for path in paths), paths


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (DELL, "bmc.sensor.frequency/PSU.Slot.1_MaximumFrequency", None),
        (DMTF, "bmc.sensor.percent/CPUFan1", 80),
        (DMTF, "bmc.sensor.energy/PS1Energy", 7855 * 3.6e6),
        (GB200, "bmc.sensor.headroom/ProcessorModule_0_CPU_0_TempLimit_0", 46.844),
        (GB200, "bmc.sensor.temperature/ProcessorModule_0_CPU_0_TempAvg_0", 40.718),
        (DGX, "bmc.sensor.energy/HGX_GPU_SXM_1_Energy_0", None),
    ],
)
def test_readings_of_every_kind_stand_on_the_recorded_machines(name: str, path: str, value: float | None) -> None:
    collection, _, key = path.partition("/")
    reading = readings(name)[f"{collection}/{spell_key(key)}.value"]
    assert isinstance(reading, float)
    assert value is None or reading == pytest.approx(value)


def test_the_thresholds_of_a_recorded_headroom_and_voltage_are_facts() -> None:
    found = readings(GB200)
    room = "bmc.sensor.headroom/ProcessorModule_0_CPU_0_TempLimit_0"
    assert [found[f"{room}.{leaf}"] for leaf in ("lower_warning", "lower_critical", "lower_fatal")] == [0, -4, -5]
    assert found["bmc.sensor.voltage/Chassis_0_LeakDetector_0_ColdPlate.lower_critical"] == 1.617
    assert isinstance(found["bmc.sensor.voltage/Chassis_0_LeakDetector_0_ColdPlate.critical"], Absent)
