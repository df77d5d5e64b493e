"""Readers of common shapes: texts in, values out; what cannot be read is said, never guessed."""

import bisect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rackcheck.core.fact import Absent, Reason, Unknown, Unreadable, Value, clean
from rackcheck.core.fact import Sourced as Sourced  # noqa: PLC0414  readers look for it here

SILENT = Unknown(Reason.NOT_COLLECTED, "head said nothing of it")
"""Why a file is not known of which a node said neither what it holds nor that it is not there."""

_BLANKS = " \t\r\n"
"""What may stand around a number; other white space is nothing that a kernel prints."""


def flag(word: str, *, yes: str, no: str) -> bool:
    """Read a two-word answer; a third word is not a no."""
    if word not in (yes, no):
        raise Unreadable(f"neither {yes!r} nor {no!r}: {clean(word)!r}")
    return word == yes


def bit(text: str) -> bool:
    """Read the kernel's 0 or 1."""
    return flag(text.strip(), yes="1", no="0")


def whole(text: str) -> int:
    """Read a decimal whole number and nothing else."""
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
    """Give the one line of a file; an empty one, or several, is not what was promised."""
    stripped = text.strip()
    if not stripped or "\n" in stripped:
        raise Unreadable(f"not one line: {clean(text)!r}")
    return stripped


def rows(text: str) -> list[str]:
    """Give the lines of an answer that came whole; a last line without an end was cut."""
    if text and not text.endswith("\n"):
        raise Unreadable(f"cut in its last line: {clean(text.rpartition(chr(10))[2])!r}")
    return text.split("\n")[:-1]


def kib(text: str) -> float:
    """Read the kernel's `2048 kB`, which are KiB."""
    if not re.fullmatch(r"[0-9]{1,20} kB", text):
        raise Unreadable(f"not a size in kB: {clean(text)!r}")
    return float(text.removesuffix(" kB"))


def numbers(text: str, *, limit: int = 65_536) -> frozenset[int]:
    """Read the kernel's list of CPUs: `0-3,8`; an empty one names none."""
    found: set[int] = set()
    named = 0  # a kernel names each number once; who repeats them wants us to count for ever
    for part in text.strip().split(",") if text.strip() else ():
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        named += 1 if match is None else max(1, int(match[2] or match[1]) - int(match[1]) + 1)
        if match is None or int(match[2] or match[1]) >= limit or named > limit:
            raise Unreadable(f"not a list of numbers below {limit}: {clean(text)!r}")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(found)


def chosen(text: str) -> str:
    """Give the bracketed word of `always [madvise] never`."""
    found = re.findall(r"\[([^\[\]\s]+)\]", text)
    if len(found) != 1:
        raise Unreadable(f"no single [word]: {clean(text)!r}")
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
    """Take shell quotes off a value of os-release and its like."""
    stripped = text.strip()
    if len(stripped) >= 2 and stripped[0] == stripped[-1] and stripped[0] in "\"'":
        stripped = stripped[1:-1]
    return re.sub(r"\\(.)", r"\1", stripped)


@lru_cache(maxsize=4096)
def _glob(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*|\?|\[[^\]]+\])", glob)
    shown = [
        "([^/]*)" if p == "*" else "([^/])" if p == "?" else f"({p})" if p[:1] == "[" else re.escape(p) for p in parts
    ]
    return re.compile("".join(shown))


@dataclass(frozen=True)
class Files:
    """Files of a node as they were read, and why others could not be; with `trouble`, there may be more of them."""

    contents: Mapping[str, str]
    refused: Mapping[str, Unknown]
    trouble: Unknown | None = None

    def text(self, path: str) -> str:
        """Give a file's whole text; raises Unreadable where there is none to read."""
        if path in self.contents:
            return self.contents[path]
        trouble = self.refused.get(path, self.trouble)
        if trouble is not None:
            raise Unreadable(f"{path}: {trouble.detail}", trouble.reason)
        raise Unreadable(f"{path} is not there", Reason.NOT_COLLECTED)

    def read(self, path: str, reader: Callable[[str], Value] = line) -> Sourced:
        """Read one file with one reader: its value, absent where there is no file, unknown where it resists."""
        if path in self.contents:
            try:
                return Sourced(reader(self.contents[path]), path)
            except Unreadable as error:
                return Sourced(Unknown(error.reason, f"{path}: {error}"), path)
        return Sourced(self.refused.get(path, self.trouble or Absent(f"no {path}")), path)

    def has(self, path: str) -> bool:
        """Whether the file is there, readable or not; raises Unreadable where nobody knows."""
        refusal = self.refused.get(path)
        there = path in self.contents or refusal not in (None, SILENT)
        trouble = SILENT if refusal == SILENT else self.trouble
        if not there and trouble is not None:
            raise Unreadable(f"{path}: {trouble.detail}", trouble.reason)
        return there

    def found(self, glob: str) -> Iterator[tuple[str, ...]]:
        """What the stars of a glob stood for, once for every file that is there, in the order of their numbers.

        A folder that would not be listed raises Unreadable: nobody knows what is in it.
        """
        hidden = self.refused.get(glob)
        if hidden is not None:
            raise Unreadable(f"{glob}: {hidden.detail}", hidden.reason)
        pattern = _glob(glob)
        matches = (pattern.fullmatch(path) for path in {*self.contents, *self.refused})
        yield from sorted({m.groups() for m in matches if m}, key=lambda keys: [natural(k) for k in keys])


def covers(glob: str, path: str) -> bool:
    """Whether a glob of the node's shell would name this file."""
    return _glob(glob).fullmatch(path) is not None


def matching(paths: Sequence[str], glob: str) -> Iterator[str]:
    """Find what a glob covers in a sorted list of paths: only those that begin as it does are looked at."""
    prefix = re.split(r"[*?\[]", glob, maxsplit=1)[0]
    fits = _glob(glob).fullmatch
    for at in range(bisect.bisect_left(paths, prefix), len(paths)):
        if not paths[at].startswith(prefix):
            return
        if fits(paths[at]):
            yield paths[at]


@lru_cache(maxsize=65536)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Give a sort key under which gpu/2 stands before gpu/10."""
    parts = re.findall(r"\d{1,18}|\D+|\d+", text)
    return tuple((0, int(p), p) if p.isdecimal() and len(p) <= 18 else (1, 0, p) for p in parts)
