"""Values of BIOS attributes that are objects: the current one is read, the next boot's is pending, none is guessed."""

import pytest
from trees import DELL, bmc_probes, completed, resource

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reading, Unknown
from rackcheck.parse.bmc.bios_value import by_name, pending, scalar
from rackcheck.probe.collect import collect

BIOS = "/redfish/v1/Systems/System.Embedded.1/Bios"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"CurrentValue": "Enabled", "AllowableValues": ["Enabled", "Disabled"]}, "Enabled"),
        ({"current_value": "Enabled", "default_value": "Disabled"}, "Enabled"),
        ({"currentValue": True, "readOnly": False}, "true"),
        ({"current": 4, "default": 1}, "4"),
        ({"CurrentSetting": "4", "ValueName": "NPS4"}, "4"),
        ({"value": "Auto", "options": ["Auto"]}, "Auto"),
        ({"DefaultValue": "Enabled"}, None),
        ({"CurrentValue": None, "Value": "Enabled"}, None),
        ({"CurrentValue": "Enabled", "current_value": "Disabled"}, None),
        ({"CurrentValue": 1, "current_value": True}, None),
        ({"CurrentValue": {"Value": "Enabled"}}, None),
        ({"CurrentValue": ["Enabled"]}, None),
        ({}, None),
        ([], None),
    ],
)
def test_only_a_clear_current_value_is_read(value: object, expected: str | None) -> None:
    assert scalar(value) == expected


def test_a_pending_value_is_not_the_current_one() -> None:
    held = {"current_value": "Enabled", "pending_value": "Disabled"}
    assert (scalar(held), pending(held)) == ("Enabled", "Disabled")
    assert pending("Disabled") is None
    assert pending({"CurrentValue": "Enabled", "PendingValue": None}) is None


def test_a_list_of_named_objects_has_each_name_once() -> None:
    entries: list[object] = [{"AttributeName": "A", "CurrentValue": 1}, {"AttributeName": "B", "CurrentValue": "x"}]
    assert {name: scalar(held) for name, held in by_name(entries).items()} == {"A": "1", "B": "x"}
    assert scalar(by_name([*entries, {"AttributeName": "A", "CurrentValue": 2}])["A"]) is None
    assert by_name([*entries, {"CurrentValue": 2}]) == {}


def facts(attributes: object) -> dict[str, Reading]:
    """The BIOS facts of a recorded machine with other attributes."""
    probe = bmc_probes()["bmc_bios"]
    bodies = completed(DELL, probe.ask.links, {BIOS: {**resource(DELL, BIOS), "Attributes": attributes}})
    return {path: leaf.reading for path, leaf in collect([probe], BmcCapture(bodies)).items()}


def recorded() -> dict[str, object]:
    attributes = resource(DELL, BIOS)["Attributes"]
    assert isinstance(attributes, dict)
    return attributes


def test_a_bios_of_objects_reads_like_a_bios_of_plain_values() -> None:
    plain = facts(recorded())
    assert facts({name: {"current_value": value, "is_read_only": False} for name, value in recorded().items()}) == plain
    assert facts([{"AttributeName": name, "CurrentValue": value} for name, value in recorded().items()]) == plain


def test_an_object_that_cannot_be_read_is_unknown_for_its_setting_alone() -> None:
    plain, found = facts(recorded()), facts({**recorded(), "LogicalProc": {"state": "Enabled"}})
    changed = {path for path in plain if found[path] != plain[path]}
    assert isinstance(found["bios.smt"], Unknown)
    assert "LogicalProc" in found["bios.smt"].detail
    assert changed <= {"bios.smt", "bios.attribute/LogicalProc", "bios.pending"}


def test_an_object_s_value_for_the_next_boot_is_pending() -> None:
    later = facts({**recorded(), "LogicalProc": {"current_value": "Enabled", "pending_value": "Disabled"}})
    assert (later["bios.smt"], later["bios.pending/smt"]) == ("enabled", "disabled")
    same = facts({**recorded(), "LogicalProc": {"current_value": "Enabled", "pending_value": "Enabled"}})
    assert "bios.pending/smt" not in same
