"""Order of versions, by the scheme of the fact: what cannot be ordered is not guessed.

| scheme | reads |
| --- | --- |
| dotted | `570.86.15`; 28.10 is 28.10.0, and more than 28.9 |
| hex-dotted | `96.00.AF.00.01` |
| prefixed | `v2.14.1`, `28.39.1002 (MT_0000000838)`, `iLO 5 v2.72` |
| date | `2024-03-01`, `20240301`, and as SMBIOS has it `03/01/2024` |
| kernel | `5.15.0-1053-nvidia` |
| deb, rpm | a package's version, as dpkg and rpm compare them |
| opaque | any text, for equality only |
"""

import re
from collections.abc import Callable

from rackcheck.model.version_date import read_date
from rackcheck.model.version_deb import read_deb
from rackcheck.model.version_key import Key, Unordered, reader, shown, significant
from rackcheck.model.version_prefixed import read_prefixed
from rackcheck.model.version_rpm import read_rpm

__all__ = ["SCHEMES", "Unordered", "order"]

_DOTTED = re.compile(r"[0-9]+(\.[0-9]+)*\Z")
_HEX = re.compile(r"[0-9A-Fa-f]{1,4}(\.[0-9A-Fa-f]{1,4})+\Z")
_KERNEL = re.compile(
    r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-([0-9]{1,9})(?:\.([0-9]{1,9}))?)?(?:[-.+_~].*)?\Z"
)


def _dotted(text: str) -> Key | None:
    return Key(significant([int(part) for part in text.split(".")])) if _DOTTED.match(text) else None


def _hex_dotted(text: str) -> Key | None:
    return Key(significant([int(part, 16) for part in text.split(".")])) if _HEX.match(text) else None


def _kernel(text: str) -> Key | None:
    # Release, patch level and the distribution's build number (5.15.0-1053-nvidia). What follows is flavour:
    # it tells builds apart, and orders nothing.
    match = _KERNEL.match(text)
    return None if match is None else Key(tuple(int(part or 0) for part in match.groups()))


def _opaque(_: str) -> Key | None:
    return None


SCHEMES: dict[str, Callable[[str], Key]] = {
    "dotted": reader(_dotted, "is not dotted numbers"),
    "hex-dotted": reader(_hex_dotted, "is not dotted hexadecimal"),
    "prefixed": reader(read_prefixed, "is not one dotted number with words beside it"),
    "date": reader(read_date, "is not a date that can be read one way only"),
    "kernel": reader(_kernel, "is not a kernel release"),
    "deb": reader(read_deb, "is not a version of a Debian package"),
    "rpm": reader(read_rpm, "is not a version of an RPM package"),
    "opaque": reader(_opaque, "can be compared for equality only"),
}
"""The reader of each scheme; it raises Unordered for what it cannot order."""


def order(scheme: str, left: str, right: str) -> int:
    """Compare two versions: negative, zero or positive; raises Unordered where the scheme cannot."""
    read = SCHEMES[scheme]
    a, b = read(left), read(right)
    if a.family != b.family:
        raise Unordered(f"{shown(left)} and {shown(right)} do not count the same thing")
    if a.numbers != b.numbers:
        return 1 if a.numbers > b.numbers else -1
    if a.build != b.build or (a.note and b.note and a.note != b.note):
        raise Unordered(f"{shown(left)} and {shown(right)} are two builds of one number")
    return 0
