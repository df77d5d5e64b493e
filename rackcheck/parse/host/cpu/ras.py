"""Error counts of the hardware blocks of an AMD GPU, as amdgpu prints them, and their sums over all blocks."""

from collections.abc import Iterable

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import rows, whole

COUNTS = {"ue": "uncorrected", "ce": "corrected", "de": "deferred"}
NOT_NOW = "Query currently inaccessible"


def counts(content: str) -> dict[str, int]:
    """Read the error counts in the lines `ue: 0` and `ce: 1`, and in the line `de: 0` that newer drivers add."""
    if content.strip() == NOT_NOW:
        raise Unreadable("the GPU is being reset", Reason.NOT_READY)
    found = {}
    for row in rows(content):
        name, mark, number = row.partition(": ")
        if not mark or name not in COUNTS:
            raise Unreadable(f"not a count: {clean(row, 80)!r}")
        found[name] = whole(number)
    if not {"ue", "ce"} <= found.keys():
        raise Unreadable("ue or ce is missing")
    return found


def block(files: Files, place: str) -> dict[str, Reading]:
    """Return a block's error counts by amdgpu's names (`ue`, `ce`, `de`), all Unknown if the file cannot be read."""
    try:
        found = counts(files.text(place))
    except Unreadable as error:
        return dict.fromkeys(COUNTS, Unknown(error.reason, str(error)))
    return {name: found.get(name, Absent("this driver does not count these errors")) for name in COUNTS}


def total(items: Iterable[Reading]) -> Reading:
    """Add up the counts of one kind of error in all blocks; an unknown count makes the sum unknown.

    The sum leaves out absent counts, and is absent if all counts are absent.
    """
    every = tuple(items)
    unknown = next((one for one in every if isinstance(one, Unknown)), None)
    known = [one for one in every if isinstance(one, int)]
    return unknown or (sum(known) if known else Absent("no block counts these errors"))
