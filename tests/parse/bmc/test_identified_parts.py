"""Serials, part numbers and UUIDs that nobody stored are absent, wherever a BMC's identities are read."""

from typing import Any

import pytest
from trees import DGX, DMTF, HPE_AMD, LENOVO, SUPERMICRO, X10, bmc_probes, completed, read, readings

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.part import LABELS, identified
from rackcheck.probe.collect import collect

PLACEHOLDERS = (
    *("0", "0000000000", "00-00-00", "null", "undefined", "None", "N/A", "To be filled by O.E.M.", "Default string"),
    *("Not Specified", "0123456789", "   ", "", "nil", "NA", "To Be Filled By O.E.M"),
)
IDENTITIES = (".serial", ".part", ".part_number", ".sku", ".asset_tag", ".uuid")


@pytest.mark.parametrize("text", PLACEHOLDERS)
@pytest.mark.parametrize("name", sorted(LABELS))
def test_a_placeholder_is_absent(name: str, text: str) -> None:
    assert isinstance(identified(Resource("/a", {name: text}), name).reading, Absent)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("SerialNumber", text) for text in ("1662923610124", "F54P1G3", "MT2423600ANG", "12345678X")),
        *(("PartNumber", text) for text in ("P76706-B21", "1", "0WMWCRA01", "12345", "699-2G548-0201-TS3")),
        *(("AssetTag", text) for text in ("7", "Chicago-45Z-2381", "11")),
        *(("SKU", text) for text in ("0x1D1415D9", "F54P1G3")),
        ("UUID", "00000000-0000-0000-0000-AC1F6B18A45A"),
    ],
)
def test_an_identity_is_none_of_them(name: str, text: str) -> None:
    assert identified(Resource("/a", {name: f" {text} "}), name).reading == text


@pytest.mark.parametrize("value", [None, 7, [], "A\ufffd"])
def test_a_value_that_is_no_text_is_unknown(value: object) -> None:
    assert isinstance(identified(Resource("/a", {"SerialNumber": value}), "SerialNumber").reading, Unknown)


def test_a_uuid_of_zeros_is_absent() -> None:
    zeros = "00000000-0000-0000-0000-000000000000"
    assert isinstance(identified(Resource("/a", {"UUID": zeros}), "UUID").reading, Absent)


def planted(body: Any, text: str) -> Any:
    """The same body with every identity replaced by a placeholder."""
    if isinstance(body, dict):
        return {
            key: text if key in LABELS and isinstance(value, str) else planted(value, text)
            for key, value in body.items()
        }
    return [planted(each, text) for each in body] if isinstance(body, list) else body


@pytest.mark.parametrize("text", ["0123456789", "To be filled by O.E.M.", "00000000"])
@pytest.mark.parametrize("name", [DGX, HPE_AMD, LENOVO, SUPERMICRO, DMTF])
def test_no_fact_of_a_bmc_holds_a_placeholder_as_identity(name: str, text: str) -> None:
    plain = identities(readings(name))
    assert sum(isinstance(each, str) for each in plain.values()) >= 5
    bodies = {uri: planted(body, text) for uri, body in read(name).bodies.items()}
    found = collect(bmc_probes().values(), BmcCapture(bodies))
    held = identities({path: leaf.reading for path, leaf in found.items()})
    assert {path: each for path, each in held.items() if isinstance(each, str)} == {}


def identities(found: dict[str, Reading]) -> dict[str, Reading]:
    own = {path: each for path, each in found.items() if path.endswith(IDENTITIES) and "*" not in path}
    return {path: each for path, each in own.items() if path.startswith(("bmc.", "psu"))}


def test_a_board_without_a_stored_serial_has_none() -> None:
    assert isinstance(readings(X10)["bmc.host.serial"], Absent)
    assert isinstance(readings(X10)["bmc.host.sku"], Absent)
    assert completed(X10, ["Systems/*"], {})
