"""Contents of amdgpu's files in sysfs: values in bytes, microwatts and the like, names of GPU modes, bad pages.

Each function of this module takes the content of one file of amdgpu.
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
    """Convert thousandths of a degree Celsius to degrees."""
    return whole(content) / 1000


def percent(content: str) -> float:
    """Read a percentage; raises Unreadable above 100, which amdgpu may print while it has no value."""
    share = whole(content)
    if not 0 <= share <= 100:
        raise Unreadable(f"not a percentage from 0 to 100: {share}")
    return float(share)


def hexadecimal(content: str) -> str:
    """Return a hexadecimal number such as `0x0000004b` as text; raises Unreadable on any other text."""
    word = line(content)
    if not re.fullmatch(r"0x[0-9a-f]{1,16}", word):
        raise Unreadable(f"not a hexadecimal number: {word[:80]!r}")
    return word


def words(content: str) -> tuple[str, ...]:
    """Return the words of one line such as `SPX, DPX, QPX, CPX`; commas and blanks separate them."""
    return tuple(line(content).replace(",", " ").split())


def bad_pages(content: str) -> str:
    """Return the status letters of the bad pages, one for each page, as one text; empty if there are no bad pages.

    A bad page is one line `0x00000001 : 0x00001000 : R`, which ends with the status letter: `R` is a page that is no
    longer used, `P` a page that will be retired, `F` a page that could not be retired.
    """
    found = [re.fullmatch(r"0x[0-9a-f]{8,16} : 0x[0-9a-f]{8,16} : ([RPF])", row) for row in rows(content)]
    if None in found:
        raise Unreadable(f"not a list of pages: {content[:80]!r}")
    return "".join(match[1] for match in found if match)
