"""Order of the versions of Debian packages: Debian policy 5.6.12, deb-version(7).

    [epoch:]upstream[-revision]            1:23.10-1.2310055       2.4~rc1+dfsg-1ubuntu0.1

Upstream and revision are read as letters and numbers in turn. Among letters `~` comes before the end, the end before
`A` to `z`, and these before every other sign.
"""

import re
from collections.abc import Iterator

from rackcheck.model.version_key import Key

_UPSTREAM = re.compile(r"[0-9A-Za-z.+~:-]+\Z")
_REVISION = re.compile(r"[0-9A-Za-z.+~]+\Z")
_EPOCH = re.compile(r"[0-9]+\Z")
_TURN = re.compile(r"([^0-9]*)([0-9]*)")

_BEFORE, _END, _BEHIND = 0, 1, 256  # `~`; the end of letters; what every sign but a letter is moved by


def read_deb(text: str) -> Key | None:
    """Read a version; none for what the policy does not allow."""
    epoch, colon, rest = text.partition(":")
    if not colon:
        epoch, rest = "0", text
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, "0"  # none is the same as 0
    if not (_EPOCH.match(epoch) and _UPSTREAM.match(upstream) and _REVISION.match(revision)):
        return None
    return Key((int(epoch), *_part(upstream), *_part(revision)))


def _part(text: str) -> Iterator[int]:
    """Give a part as numbers that compare as it does; the last turn, of nothing, ends it."""
    for letters, digits in _TURN.findall(text):
        yield from map(_weight, letters)
        yield _END
        yield int(digits or 0)


def _weight(sign: str) -> int:
    if sign == "~":
        return _BEFORE
    return ord(sign) if sign.isalpha() else ord(sign) + _BEHIND
