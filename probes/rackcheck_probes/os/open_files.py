"""How many open files the system has, and their share of the limit."""

import re

from rackcheck import Class, Facts, Files, Read, Unreadable, integer, probe, quantity, read

PLACE = "/proc/sys/fs/file-nr"


@probe(
    Read(PLACE),
    gives={
        "os.files.open": integer("File handles in use in the whole system.", Class.MEASUREMENT),
        "os.files.use": quantity("%", "Share of the handle limit (fs.file-max) in use.", Class.MEASUREMENT),
    },
)
def open_files(files: Files) -> Facts:
    """Read how many file handles are allocated, how many of these are free, and the limit."""
    match = re.fullmatch(r"([0-9]{1,20})\s+([0-9]{1,20})\s+([0-9]{1,20})", read.line(files.text(PLACE)))
    if match is None or int(match[3]) == 0:
        raise Unreadable(f"expected three numbers, the last above 0, got: {files.text(PLACE)[:80]!r}")
    used = int(match[1]) - int(match[2])
    yield "os.files.open", used
    yield "os.files.use", 100 * used / int(match[3])
