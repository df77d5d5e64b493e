"""The output of `stat -f` for mounts, each with a time limit.

The output begins with a row `mount POINT` for each queried mount. A row `ok POINT BLOCK-SIZE BLOCKS FREE FREE-TO-USERS
INODES FREE-INODES` or `failed POINT COMPLAINT` follows for each mount that responds, in the order of the responses. The
last row of the output is `end`. In a mount point, blanks and similar characters are escaped as in /proc/mounts.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

LEAVES = ("size", "free", "used_share", "inodes_used_share")
"""Properties of a filesystem: its size and the space free to users in GiB, used space and used inodes in percent."""

_ROW = regex(r"(mount|ok|failed) (/\S{0,4095})(?: (.{0,4096}))?")
_NUMBERS = regex(r"[0-9]{1,20}(?: [0-9]{1,20}){5}")


@dataclass(frozen=True)
class StatfsReply:
    """The result of `stat -f` for one mount: its numbers, an error message, or no response in time (`well` is None)."""

    point: str
    well: bool | None = None
    words: str = ""

    def responds(self) -> Reading:
        """Return whether the mount responds without an error; unknown if the login may not read the mount."""
        if self.well or self.well is None:
            return self.well is True
        refused = self.refused()
        return refused if refused.reason is Reason.DENIED else False

    def measured(self, seconds: int) -> dict[str, Reading]:
        """Return a reading for each name in LEAVES; unknown if the mount gave an error, or no response in `seconds`."""
        if self.well:
            return self._filled()
        silent = Unknown(Reason.TIMEOUT, f"the mount did not respond within {seconds} s")
        return dict.fromkeys(LEAVES, silent if self.well is None else self.refused())

    def _filled(self) -> dict[str, Reading]:
        try:
            return filled(self.words)
        except Unreadable as error:
            return dict.fromkeys(LEAVES, Unknown(error.reason, str(error)))

    def refused(self) -> Unknown:
        """Return why a mount has no size: the end of the error message of `stat -f`, which is the kernel's reason."""
        word = clean((self.words or "no message").rpartition(": ")[2])
        return Unknown(Reason.DENIED if "ermission denied" in word else Reason.NOT_COLLECTED, word)


def answers(text: str) -> list[StatfsReply]:
    """Return the last result of `stat -f` for each queried mount; raises Unreadable on incomplete output."""
    lines = rows(text)
    matches = [_ROW.fullmatch(row) for row in lines[:-1]]
    if lines[-1:] != ["end"] or None in matches:
        raise Unreadable(f"incomplete output of stat -f: {text[-80:]!r}")
    found = [match for match in matches if match]
    values = {
        match[2]: StatfsReply(match[2], match[1] == "ok", match[3] or "") for match in found if match[1] != "mount"
    }
    asked = dict.fromkeys(match[2] for match in found if match[1] == "mount")
    return [values.get(point, StatfsReply(point)) for point in asked]


def filled(numbers: str) -> dict[str, Reading]:
    """Return the readings of a mount from `BLOCK-SIZE BLOCKS FREE FREE-TO-USERS INODES FREE-INODES`.

    Raises Unreadable if the text has another form, or if more blocks are free than the mount has. If more inodes are
    free than the mount has, only the share of used inodes is unknown: Ceph's client (fs/ceph/super.c of the kernel)
    returns -1 free inodes.
    """
    if not _NUMBERS.fullmatch(numbers):
        raise Unreadable(f"not the numbers of a filesystem: {numbers[:80]!r}")
    unit, blocks, free, left, inodes, rest = map(int, numbers.split())
    if max(free, left) > blocks:
        raise Unreadable(f"more blocks are free than exist: {numbers}")
    gib = unit / (1 << 30)
    items = (blocks * gib, left * gib, _share(blocks, free, left), _share(inodes, rest, rest))
    return dict(zip(LEAVES, items, strict=True))


def _share(total: int, free: int, left: int) -> Reading:
    """Return how much of the space for ordinary users is used, in percent, as df computes it."""
    if free > total:
        return Unknown(Reason.UNPARSABLE, f"more is free than exists: {free} of {total}")
    used = total - free
    return round(100 * used / (used + left), 1) if used + left > 0 else Unknown(Reason.UNPARSABLE, "the size is 0")
