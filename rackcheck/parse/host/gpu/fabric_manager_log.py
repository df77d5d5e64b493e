"""The Fabric Manager's log: its size, the daemon's last start in it, and the errors and warnings after this start.

The first line of the answer is the size of the whole log in bytes. The further lines are those lines of the log's
newest part that have one of these forms:

    [Dec 19 2024 07:10:01] [INFO] [tid 1374] Fabric Manager version 535.161.08 is running with ...
    [Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0 ...
    the same with WARNING, FATAL or CRITICAL, and with or without `[tid 1374]`
"""

from dataclasses import dataclass

from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows, whole

_START = regex(r"\[[^\]]{1,40}\] \[[A-Z]{1,12}\] \[tid [0-9]{1,10}\] Fabric Manager version \S{1,40} is running\b")
_BAD = regex(r"\[[^\]]{1,40}\] \[(?P<level>WARNING|ERROR|FATAL|CRITICAL)\] (?:\[tid [0-9]{1,10}\] )?(?P<said>.*)")
_FATAL = regex(r"detected NVSwitch fatal error|Fabric Manager detected GPU NVL Fatal error")
_HARMLESS = regex(r"detected NVSwitch non-fatal error")
_SWITCH = regex(r"detected NVSwitch (?:non-)?fatal error (?P<code>[0-9]{1,6})\b")


@dataclass(frozen=True)
class Log:
    """A log of `size` bytes: whether its lines contain a start of the daemon, and a summary of the lines after it.

    If the daemon started several times, the summary covers the lines after the last start; without a start, it covers
    all lines. `fatal` counts the lines of the levels FATAL and CRITICAL, and the errors logged as fatal errors of an
    NVSwitch or of a GPU's NVLink; `failures` counts all errors except those logged as non-fatal errors of an NVSwitch.
    `sxids` are the distinct numbers of NVSwitch errors, fatal or not; `last` is the last error or warning without its
    time and level, empty if there is none.
    """

    size: int
    started: bool
    errors: int
    warnings: int
    fatal: int
    failures: int
    sxids: tuple[int, ...]
    last: str


def log(answer: str) -> Log:
    """Read the log's size and lines; raises Unreadable if the size is missing, or if a line has no known form."""
    found = rows(answer)
    if not found:
        raise Unreadable("the log's size is missing")
    size = whole(found[0])
    starts = [at for at, row in enumerate(found) if _START.match(row)]
    since = [row for row in found[starts[-1] if starts else 1 :] if not _START.match(row)]
    bad = []
    for row in since:
        match = _BAD.match(row)
        if match is None:
            raise Unreadable(f"a line is neither a start, a warning nor an error: {clean(row, 80)!r}")
        bad.append((match["level"], match["said"]))
    warnings = sum(level == "WARNING" for level, _ in bad)
    return Log(
        size,
        started=bool(starts),
        errors=len(bad) - warnings,
        warnings=warnings,
        fatal=sum(level in {"FATAL", "CRITICAL"} or _FATAL.match(value) is not None for level, value in bad),
        failures=sum(level != "WARNING" and _HARMLESS.match(value) is None for level, value in bad),
        sxids=tuple(sorted({int(match["code"]) for _, value in bad if (match := _SWITCH.match(value))})),
        last=clean(bad[-1][1]) if bad else "",
    )
