"""Order of the versions of RPM packages: rpm-version(7).

    [epoch:]version[-release]              0:5.14.0-503.11.1.el9_5         1.0~rc1^git3-2

Version and release are runs of letters and runs of digits; what stands between them parts them and counts for
nothing. `~` comes before the end, the end before `^`, that before letters, and letters before numbers.
"""

import re
from collections.abc import Iterator

from rackcheck.model.version_key import Key

_PART = re.compile(r"[0-9A-Za-z._+~^]+\Z")
_EPOCH = re.compile(r"[0-9]+\Z")
_SEGMENT = re.compile(r"[0-9]+|[A-Za-z]+|[~^]")

_NO_RELEASE, _RELEASE = 0, 1
_TILDE, _END, _CARET, _LETTERS, _NUMBER = range(5)


def read_rpm(text: str) -> Key | None:
    """Read a version; one without a release is older than any with one. None for what rpm does not build."""
    epoch, colon, rest = text.partition(":")
    if not colon:
        epoch, rest = "0", text
    version, dash, release = rest.rpartition("-")
    if not dash:
        version = rest
    if not (_EPOCH.match(epoch) and _PART.match(version) and (not dash or _PART.match(release))):
        return None
    behind = (_RELEASE, *_part(release)) if dash else (_NO_RELEASE,)
    return Key((int(epoch), *_part(version), *behind))


def _part(text: str) -> Iterator[int]:
    """Give a part as numbers that compare as it does."""
    for segment in _SEGMENT.findall(text):
        if segment in "~^":
            yield _TILDE if segment == "~" else _CARET
        elif segment.isdecimal():
            yield _NUMBER
            yield int(segment)
        else:
            yield _LETTERS
            yield from map(ord, segment)
            yield 0  # so that `a` comes before `aa`
    yield _END
