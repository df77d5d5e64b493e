"""Files of the amdgpu driver in sysfs: numbers in its small units, names of ways to run a GPU, pages given up.

Each reader takes the content of one file.
"""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import line, rows, whole


def gibibytes(content: str) -> float:
    """Read bytes, in GiB."""
    return whole(content) / (1 << 30)


def watts(content: str) -> float:
    """Read microwatts, in W."""
    return whole(content) / 1e6


def degrees(content: str) -> float:
    """Read thousandths of a degree, in C."""
    return whole(content) / 1000


def percent(content: str) -> float:
    """Read a share; a driver that cannot read it at the moment may print more than 100 %."""
    share = whole(content)
    if not 0 <= share <= 100:
        raise Unreadable(f"not a share: {share}")
    return float(share)


def hexadecimal(content: str) -> str:
    """Read a number such as `0x0000004b` as it is spelt: versions of firmware blocks have no order of their own."""
    word = line(content)
    if not re.fullmatch(r"0x[0-9a-f]{1,16}", word):
        raise Unreadable(f"not a hexadecimal number: {word[:80]!r}")
    return word


def words(content: str) -> tuple[str, ...]:
    """Read `SPX, DPX, QPX, CPX`, or the same with blanks only."""
    return tuple(line(content).replace(",", " ").split())


def bad_pages(content: str) -> str:
    """Return the last letters of the lines `0x00000001 : 0x00001000 : R`, one for each page; empty for an empty file.

    `R` is a page that is no longer used, `P` one that will be retired, `F` one that could not be.
    """
    found = [re.fullmatch(r"0x[0-9a-f]{8,16} : 0x[0-9a-f]{8,16} : ([RPF])", row) for row in rows(content)]
    if None in found:
        raise Unreadable(f"not a list of pages: {content[:80]!r}")
    return "".join(match[1] for match in found if match)
