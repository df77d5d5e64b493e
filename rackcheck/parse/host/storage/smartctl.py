"""The JSON of `smartctl -a -j` on an NVMe drive: its health verdict, and the log of the drive's self-tests."""

from collections.abc import Mapping
from typing import Any

from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.storage import nvme

HEALTH = "nvme_smart_health_information_log"
"""Name of the JSON object in which smartctl prints the drive's health counters."""

LOOKED = tuple(status for status in range(128) if not status & 0b11)
"""Exit statuses of smartctl with usable output, that is, without bits 0 and 1, which mean that nothing was read."""

_TESTS = "nvme_self_test_log"
_FAILED = {5, 6, 7}
"""Results of self-tests that failed: with a fatal error, or in a segment (NVMe base specification, self-test log).

A self-test with a result that is not in _FAILED passed or was aborted.
"""


def passed(reading: str | Unknown) -> Reading:
    """Return smartctl's verdict: True if the drive has no critical warning; Unknown if smartctl prints no verdict."""
    if isinstance(reading, Unknown):
        return reading
    try:
        verdict = nvme.inside(nvme.document(reading), "smart_status").get("passed")
    except Unreadable as error:
        return Unknown(error.reason, str(error))
    return verdict if isinstance(verdict, bool) else Unknown(Reason.UNPARSABLE, f"no verdict: {verdict!r:.80}")


def self_tests(reading: str | Unknown) -> tuple[Reading, Reading]:
    """Count all self-tests in the drive's log, and the failed self-tests; both are Unknown if there is no log."""
    if isinstance(reading, Unknown):
        return reading, reading
    try:
        results = [
            nvme.counted(nvme.inside(row, "self_test_result"), "value") for row in _tests(nvme.document(reading))
        ]
    except Unreadable as error:
        why = Unknown(error.reason, str(error))
        return why, why
    return len(results), sum(result in _FAILED for result in results)


def _tests(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries in the drive's log of self-tests; empty if the drive has run no self-test."""
    if _TESTS not in values:
        raise Unreadable("smartctl is older than 7.4, or the drive has no self-tests", Reason.NOT_COLLECTED)
    table = nvme.inside(values, _TESTS).get("table", [])
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise Unreadable(f"no table of self-tests: {table!r:.80}")
    return table
