"""Readers of common text formats; a reader returns a value, or raises Unreadable for any other text."""

import re
from functools import lru_cache

from rackcheck.model.fact import Unreadable, clean

_BLANKS = " \t\r\n"
"""White-space characters that are allowed around a number; a kernel prints no others there."""


def flag(word: str, *, yes: str, no: str) -> bool:
    """Return whether a text is the word `yes`; raises Unreadable if it is neither `yes` nor `no`."""
    if word not in (yes, no):
        raise Unreadable(f"neither {yes!r} nor {no!r}: {clean(word)!r}")
    return word == yes


def bit(text: str) -> bool:
    """Read a 0 or 1 of the kernel as false or true."""
    return flag(text.strip(), yes="1", no="0")


def whole(text: str) -> int:
    """Read a decimal integer and nothing else."""
    digits = text.strip(_BLANKS)
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", digits):
        raise Unreadable(f"not a whole number: {clean(text)!r}")
    return int(digits)


def number(text: str) -> float:
    """Read a plain decimal number and nothing else."""
    digits = text.strip(_BLANKS)
    if not re.fullmatch(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?", digits):
        raise Unreadable(f"not a number: {clean(text)!r}")
    return float(digits)


def line(text: str) -> str:
    """Return the only line of a text; raises Unreadable if the text is empty or has several lines."""
    stripped = text.strip()
    if not stripped or "\n" in stripped:
        raise Unreadable(f"not one line: {clean(text)!r}")
    return stripped


def rows(text: str) -> list[str]:
    """Return the lines of an output; raises Unreadable if the last line has no line end, since the output was cut."""
    if text and not text.endswith("\n"):
        raise Unreadable(f"the last line is incomplete: {clean(text.rpartition(chr(10))[2])!r}")
    return text.split("\n")[:-1]


def kib(text: str) -> float:
    """Read a size like `2048 kB` in KiB, which is what the kernel means by kB."""
    if not re.fullmatch(r"[0-9]{1,20} kB", text):
        raise Unreadable(f"not a size in kB: {clean(text)!r}")
    return float(text.removesuffix(" kB"))


def numbers(text: str, *, limit: int = 65_536) -> frozenset[int]:
    """Read the kernel's list of CPUs: `0-3,8`; an empty text is an empty list."""
    found: set[int] = set()
    named = 0  # a kernel lists each number once; repeated ranges would be hostile input
    for part in text.strip().split(",") if text.strip() else ():
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        named += 1 if match is None else max(1, int(match[2] or match[1]) - int(match[1]) + 1)
        if match is None or int(match[2] or match[1]) >= limit or named > limit:
            raise Unreadable(f"not a list of numbers below {limit}: {clean(text)!r}")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(found)


def chosen(text: str) -> str:
    """Return the bracketed word of `always [madvise] never`."""
    found = re.findall(r"\[([^\[\]\s]+)\]", text)
    if len(found) != 1:
        raise Unreadable(f"not exactly one [word] in brackets: {clean(text)!r}")
    return str(found[0])


def key_values(text: str, *, separator: str = ":") -> dict[str, str]:
    """Read `key: value` lines; a line without the separator continues the value before it."""
    found: dict[str, str] = {}
    last = ""
    for row in text.splitlines():
        if not row.strip():
            continue
        key, mark, value = row.partition(separator)
        if mark and key.strip() and not (last and row[:1].isspace() and not value.strip() and " " in key.strip()):
            last = key.strip()
            found.setdefault(last, value.strip())
        elif last:
            found[last] = f"{found[last]} {row.strip()}"
        else:
            raise Unreadable(f"no {separator!r} in {clean(row)!r}")
    if not found:
        raise Unreadable(f"no line with {separator!r}")
    return found


def unquoted(text: str) -> str:
    """Remove shell quotes from a value of os-release and similar files."""
    stripped = text.strip()
    if len(stripped) >= 2 and stripped[0] == stripped[-1] and stripped[0] in "\"'":
        stripped = stripped[1:-1]
    return re.sub(r"\\(.)", r"\1", stripped)


@lru_cache(maxsize=65536)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that orders gpu/2 before gpu/10."""
    parts = re.findall(r"\d{1,18}|\D+|\d+", text)
    return tuple((0, int(p), p) if p.isdecimal() and len(p) <= 18 else (1, 0, p) for p in parts)
