"""How busy the node is: the example of CONTRIBUTING.md, with a fact of its own."""

from rackcheck import Class, Facts, Files, Read, Unreadable, probe, quantity
from rackcheck.core import read

PLACE = "/proc/loadavg"


@probe(Read(PLACE), gives={"site.load": quantity("%", "Runnable tasks over a minute, 100 % each.", Class.MEASUREMENT)})
def site_load(files: Files) -> Facts:
    """Read the first number of loadavg."""
    words = files.text(PLACE).split()
    if len(words) != 5:
        raise Unreadable(f"not five words: {files.text(PLACE)[:80]!r}")
    yield "site.load", read.number(words[0]) * 100
