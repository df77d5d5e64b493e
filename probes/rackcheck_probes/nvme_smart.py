"""The verdict of smartctl on each NVMe drive, for nodes without nvme-cli."""

from collections.abc import Mapping
from typing import Any

from rackcheck import (
    Class,
    Facts,
    Reason,
    Shell,
    Unknown,
    Unreadable,
    flag,
    integer,
    probe,
    quantity,
    spell_key,
)
from rackcheck.core import read
from rackcheck.core.fact import Reading
from rackcheck.core.read import nvme
from rackcheck_probes.nvme_health import CONTROLLERS

LOG = "nvme_smart_health_information_log"
COUNTS: dict[str, nvme.Field] = {
    "spare": (("available_spare",), float),
    "used": (("percentage_used",), float),
    "media_errors": (("media_errors",), int),
}
TESTS = "nvme_self_test_log"
FAILED = {5, 6, 7}
"""Results of a self-test that failed: by a fatal error, or in a segment (NVMe base specification, device self-test
log); others ended well or were ended by somebody."""
LOOKED = tuple(status for status in range(128) if not status & 0b11)
"""smartctl's statuses that come with an answer: a bit for each thing it found wrong, the first two for not looking."""


def passed(said: str | Unknown) -> Reading:
    """Read the verdict: the drive has no critical warning."""
    if isinstance(said, Unknown):
        return said
    try:
        verdict = nvme.inside(nvme.document(said), "smart_status").get("passed")
    except Unreadable as error:
        return Unknown(error.reason, str(error))
    return verdict if isinstance(verdict, bool) else Unknown(Reason.UNPARSABLE, f"no verdict: {verdict!r:.80}")


def tests(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the entries of the log of self-tests; none where the drive has done none."""
    if TESTS not in told:
        raise Unreadable("smartctl before 7.4, or a drive without self-tests", Reason.NOT_COLLECTED)
    table = nvme.inside(told, TESTS).get("table", [])
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise Unreadable(f"no table of self-tests: {table!r:.80}")
    return table


def self_tests(said: str | Unknown) -> tuple[Reading, Reading]:
    """Count the self-tests of the log, and those of them that found the drive failing."""
    if isinstance(said, Unknown):
        return said, said
    try:
        results = [nvme.counted(nvme.inside(row, "self_test_result"), "value") for row in tests(nvme.document(said))]
    except Unreadable as error:
        why = Unknown(error.reason, str(error))
        return why, why
    return len(results), sum(result in FAILED for result in results)


@probe(
    Shell("smartctl -a -j /dev/{}", each=CONTROLLERS, root=True, seconds=30),
    gives={
        "nvme/*.smart.passed": flag("Whether the drive warns of nothing critical.", Class.MEASUREMENT),
        "nvme/*.smart.spare": quantity("%", "Spare blocks that are left, as smartctl reads it.", Class.MEASUREMENT),
        "nvme/*.smart.used": quantity(
            "%", "Wear, as smartctl reads it: the share of its rated life; may exceed 100.", Class.MEASUREMENT
        ),
        "nvme/*.smart.media_errors": integer(
            "Errors of data that the drive could not correct, as smartctl reads it.", Class.COUNTER
        ),
        "nvme/*.smart.self_tests": integer(
            "Self-tests in the drive's log, 20 at most; unknown before smartctl 7.4.", Class.COUNTER
        ),
        "nvme/*.smart.self_tests_failed": integer("Of these, those that found the drive failing.", Class.COUNTER),
    },
)
def nvme_smart(answer: str) -> Facts:
    """Read each controller's health as smartctl gives it."""
    for name, said in read.each(answer, ok=LOOKED).items():
        item = f"nvme/{spell_key(name)}.smart"
        yield f"{item}.passed", passed(said)
        done, failed = self_tests(said)
        yield f"{item}.self_tests", done
        yield f"{item}.self_tests_failed", failed
        for leaf, reading in nvme.counts(said, COUNTS, LOG).items():
            yield f"{item}.{leaf}", reading
