"""The verdict of smartctl on each NVMe drive, for nodes without nvme-cli."""

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
    },
)
def nvme_smart(answer: str) -> Facts:
    """Read each controller's health as smartctl gives it."""
    for name, said in read.each(answer, ok=LOOKED).items():
        item = f"nvme/{spell_key(name)}.smart"
        yield f"{item}.passed", passed(said)
        for leaf, reading in nvme.counts(said, COUNTS, LOG).items():
            yield f"{item}.{leaf}", reading
