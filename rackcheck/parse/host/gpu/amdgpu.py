"""Files of the amdgpu driver in sysfs: numbers in small units, names of GPU modes, retired pages.

Each reader takes the content of one file.
"""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import line, rows, whole


def gibibytes(content: str) -> float:
    """Convert bytes to GiB."""
    return whole(content) / (1 << 30)


def watts(content: str) -> float:
    """Convert microwatts to W."""
    return whole(content) / 1e6


def degrees(content: str) -> float:
    """Convert thousandths of a degree to C."""
    return whole(content) / 1000


def percent(content: str) -> float:
    """Read a percentage; a driver that cannot read it at the moment may print more than 100 %."""
    share = whole(content)
    if not 0 <= share <= 100:
        raise Unreadable(f"not a share: {share}")
    return float(share)


def hexadecimal(content: str) -> str:
    """Return a number such as `0x0000004b` as spelled: the order of firmware blocks' versions is not defined."""
    word = line(content)
    if not re.fullmatch(r"0x[0-9a-f]{1,16}", word):
        raise Unreadable(f"not a hexadecimal number: {word[:80]!r}")
    return word


def words(content: str) -> tuple[str, ...]:
    """Read `SPX, DPX, QPX, CPX`, or the same words separated by blanks only."""
    return tuple(line(content).replace(",", " ").split())


def bad_pages(content: str) -> str:
    """Return the last letters of the lines `0x00000001 : 0x00001000 : R`, one for each page; empty for an empty file.

    `R` is a page that is no longer used, `P` a page that will be retired, `F` a page that could not be retired.
    """
    found = [re.fullmatch(r"0x[0-9a-f]{8,16} : 0x[0-9a-f]{8,16} : ([RPF])", row) for row in rows(content)]
    if None in found:
        raise Unreadable(f"not a list of pages: {content[:80]!r}")
    return "".join(match[1] for match in found if match)
