"""Clocks: the node's compared with ours, and a BMC's with ours; what cannot be compared stays unknown."""

import os
import subprocess
from collections.abc import Mapping

import pytest
from recordings import answering, facts, os_probes
from trees import DELL, DGX, DMTF, bmc_probes, read

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.question import Shell
from rackcheck.model.resource import ROOT
from rackcheck.probe.collect import collect
from rackcheck.transport.wire import stamped

CLOCK = os_probes()["clock"]
CAME = "2026-01-01T12:00:00.500+00:00"


def node(output: str) -> Reading:
    """The facts about a node's clock from this answer."""
    return facts(CLOCK, answering(CLOCK, output))["time.offset"]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("1795245121.44 1795245121.443667681", 0.0),
        ("1795245121.44 1795248721.440000000", 3600.0),
        ("1795245121.44 1795245061.440000000", -60.0),
        ("1795245121.44 1795245122.%N", 0.56),
        ("1795245121.44 1795245122.", 0.56),
        ("1795245121.44 1795245122", 0.56),
        ("1795245121.44 12.5", -1795245108.94),
    ],
)
def test_the_offset_is_the_nodes_clock_less_ours(text: str, offset: float) -> None:
    assert node(f"{text}\n") == offset


@pytest.mark.parametrize("text", ["1795245121.44 ", " 1795245121.44", "a b", "1 2 3", "1795245121.44 -5", "1e9 1e9"])
def test_a_clock_that_one_side_did_not_report_is_unknown(text: str) -> None:
    reading = node(f"{text}\n")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.UNPARSABLE


def test_a_question_without_our_time_is_reported_as_such() -> None:
    assert node(" \n") == Unknown(Reason.NOT_COLLECTED, "the auditing machine's time was not passed to the command")


def reading_of(path: str) -> Reading:
    """The answer of this machine's shell to the real question, with the programs in these folders."""
    assert isinstance(CLOCK.ask, Shell)
    script = stamped(CLOCK.ask.command)
    done = subprocess.run(
        ["/bin/sh", "-s"], input=script, capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    return node(done.stdout)


def test_this_machines_clock_is_our_own() -> None:
    offset = reading_of(os.environ["PATH"])
    assert isinstance(offset, float)
    assert abs(offset) < 5


def test_a_node_without_date_is_unknown() -> None:
    assert isinstance(reading_of("/nowhere"), Unknown)


def manager(body: Mapping[str, object], came: str | None = CAME) -> Reading:
    """The facts about the clock of a BMC with this Manager, whose body came at this time."""
    uri = f"{ROOT}/Managers/1"
    bodies: dict[str, Mapping[str, object]] = {
        ROOT: {"Managers": {"@odata.id": f"{ROOT}/Managers"}},
        f"{ROOT}/Managers": {"Members": [{"@odata.id": uri}]},
        uri: {"Id": "1", **body},
    }
    capture = BmcCapture(bodies, {uri: came} if came else {})
    return collect([bmc_probes()["bmc_identity"]], capture)["bmc.manager/1.offset"].reading


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("2026-01-01T12:00:00Z", -0.5),
        ("2026-01-01T12:00:10+00:00", 9.5),
        ("2026-01-01T06:00:00-06:00", -0.5),
        ("2026-01-01T17:30:00.25+05:30", -0.25),
        ("2025-12-31T12:00:00Z", -86400.5),
        ("1970-01-01T00:00:00Z", -1767268800.5),
    ],
)
def test_a_bmcs_offset_is_its_clock_less_ours_in_whatever_zone(text: str, offset: float) -> None:
    assert manager({"DateTime": text}) == offset


def test_a_zone_beside_the_time_counts_where_the_time_has_none() -> None:
    assert manager({"DateTime": "2026-01-01T06:00:00", "DateTimeLocalOffset": "-06:00"}) == -0.5
    assert manager({"DateTime": "2026-01-01T12:00:00Z", "DateTimeLocalOffset": "-06:00"}) == -0.5


@pytest.mark.parametrize("beside", [None, "", "CST6CDT", 6])
def test_a_time_without_any_zone_is_unknown_not_off(beside: object) -> None:
    reading = manager({"DateTime": "2026-01-01T06:00:00", "DateTimeLocalOffset": beside})
    assert isinstance(reading, Unknown)
    assert "has no time zone" in reading.detail


@pytest.mark.parametrize(
    "value",
    ["N/A", "", None, 1767268800, True, [], "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T12:00:60Z",
     "0000-00-00T00:00:00Z", "2026-01-01T12:00:00+25:00", "٢٠٢٦-01-01T12:00:00Z", "2026-01-01 12:00:00Z"],
)  # fmt: skip
def test_what_is_no_time_is_unknown(value: object) -> None:
    assert isinstance(manager({"DateTime": value}), Unknown)


def test_the_ends_of_the_calendar_are_no_failure() -> None:
    assert isinstance(manager({"DateTime": "0001-01-01T00:00:00+14:00"}), float)
    assert isinstance(manager({"DateTime": "9999-12-31T23:59:59-14:00"}), float)


def test_a_run_that_kept_no_time_of_coming_leaves_the_offset_unknown() -> None:
    reading = manager({"DateTime": "2026-01-01T12:00:00Z"}, came=None)
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED
    assert isinstance(manager({"DateTime": "2026-01-01T12:00:00Z"}, came="yesterday"), Unknown)


def test_a_stored_run_without_times_still_loads_and_one_with_them_keeps_them() -> None:
    before = {"bodies": {ROOT: {"body": {"Id": "x"}}}}
    assert BmcCapture.from_json(before) == BmcCapture({ROOT: {"Id": "x"}})
    kept = BmcCapture({ROOT: {"Id": "x"}}, {ROOT: CAME})
    assert BmcCapture.from_json(kept.to_json()) == kept


@pytest.mark.parametrize("name", [DELL, DGX, DMTF])
def test_a_body_with_a_time_is_read_with_its_arrival_time(name: str) -> None:
    capture = read(name)
    dated = {u for u, body in capture.bodies.items() if not isinstance(body, Unknown) and "DateTime" in body}
    assert dated
    assert set(capture.times) == dated
    values = {path: leaf.reading for path, leaf in collect(bmc_probes().values(), capture).items()}
    offsets = [r for path, r in values.items() if path.endswith(".offset") and isinstance(r, float)]
    assert offsets
    assert all(offset < -86400 for offset in offsets)  # these machines were recorded years ago
