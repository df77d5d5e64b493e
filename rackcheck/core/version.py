"""Order of versions, by the scheme of the fact: what cannot be ordered is not guessed."""

import re
from collections.abc import Callable

Key = tuple[int, ...]

_DOTTED = re.compile(r"\d{1,30}(\.\d{1,30})*\Z")
_HEX = re.compile(r"[0-9A-Fa-f]{1,4}(\.[0-9A-Fa-f]{1,4})+\Z")
_KERNEL = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-(\d{1,9})(?:\.(\d{1,9}))?)?(?:[-.+_~].*)?\Z")


class Unordered(ValueError):
    """A version that its scheme cannot order."""


def _dotted(text: str) -> Key:
    if not _DOTTED.match(text):
        raise Unordered(f"{text!r} is not dotted numbers")
    return tuple(map(int, text.split(".")))


def _hex_dotted(text: str) -> Key:
    if not _HEX.match(text):
        raise Unordered(f"{text!r} is not dotted hexadecimal")
    return tuple(int(part, 16) for part in text.split("."))


def _kernel(text: str) -> Key:
    # Release, patch level and the distribution's build number (5.15.0-1053-nvidia). What follows is flavour:
    # it tells builds apart, and orders nothing.
    match = _KERNEL.match(text)
    if match is None:
        raise Unordered(f"{text!r} is not a kernel release")
    return tuple(int(part or 0) for part in match.groups())


def _opaque(text: str) -> Key:
    raise Unordered(f"{text!r} can be compared for equality only")


SCHEMES: dict[str, Callable[[str], Key]] = {
    "dotted": _dotted,
    "hex-dotted": _hex_dotted,
    "kernel": _kernel,
    "opaque": _opaque,
}


def order(scheme: str, left: str, right: str) -> int:
    """Compare two versions: negative, zero or positive; raises Unordered where the scheme cannot."""
    read = SCHEMES[scheme]
    a, b = read(left.strip()), read(right.strip())
    width = max(len(a), len(b))
    a, b = a + (0,) * (width - len(a)), b + (0,) * (width - len(b))
    return (a > b) - (a < b)
