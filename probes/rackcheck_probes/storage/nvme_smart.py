"""smartctl's result for each NVMe drive, for nodes without nvme-cli."""

from rackcheck import Class, Facts, Shell, flag, integer, probe, quantity, read, spell_key
from rackcheck.parse.host.storage import nvme, smartctl
from rackcheck_probes.storage.nvme_health import CONTROLLERS

COUNTS: dict[str, nvme.LogField] = {
    "spare": (("available_spare",), float),
    "used": (("percentage_used",), float),
    "media_errors": (("media_errors",), int),
}


@probe(
    Shell("smartctl -a -j /dev/{}", each=CONTROLLERS, root=True, seconds=30),
    gives={
        "nvme/*.smart.passed": flag("Whether the drive reports no critical warning.", Class.MEASUREMENT),
        "nvme/*.smart.spare": quantity("%", "Spare blocks that are left, as smartctl reads it.", Class.MEASUREMENT),
        "nvme/*.smart.used": quantity(
            "%",
            "Wear, as smartctl reads it: the used share of the drive's rated life; may exceed 100.",
            Class.MEASUREMENT,
        ),
        "nvme/*.smart.media_errors": integer(
            "Data errors that the drive could not correct, as smartctl reads it.", Class.COUNTER
        ),
        "nvme/*.smart.self_tests": integer(
            "Self-tests in the drive's log, 20 at most; unknown before smartctl 7.4.", Class.COUNTER
        ),
        "nvme/*.smart.self_tests_failed": integer(
            "Self-tests in the drive's log that found the drive failing.", Class.COUNTER
        ),
    },
)
def nvme_smart(answer: str) -> Facts:
    """Read each controller's health as smartctl returns it."""
    for name, value in read.each(answer, ok=smartctl.LOOKED).items():
        item = f"nvme/{spell_key(name)}.smart"
        yield f"{item}.passed", smartctl.passed(value)
        done, failed = smartctl.self_tests(value)
        yield f"{item}.self_tests", done
        yield f"{item}.self_tests_failed", failed
        for leaf, reading in nvme.counts(value, COUNTS, smartctl.HEALTH).items():
            yield f"{item}.{leaf}", reading
