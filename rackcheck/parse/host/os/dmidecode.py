"""The output of `dmidecode`: structures, by which the firmware describes the parts of the machine."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rackcheck.model.by_part import Fixed
from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import number, rows, whole

END_OF_TABLE = 127
"""Type number of the structure that ends every SMBIOS table since SMBIOS 2.2."""

BLANK = frozenset(
    {"", "unknown", "not specified", "not provided", "unspecified", "no dimm", "no module installed", "empty",
     "none", "(none)", "n/a", "<out of spec>", "<bad index>", "not present", "no asset tag", "--"}
)  # fmt: skip
"""Texts that dmidecode or a vendor uses for an empty field, in lower case."""

_HANDLE = regex(r"Handle (0x[0-9A-Fa-f]{1,8}), DMI type ([0-9]{1,3}), [0-9]{1,6} bytes\.?")
_SIZES = {"bytes": 2.0**-30, "kB": 2.0**-20, "MB": 2.0**-10, "GB": 1.0, "TB": 2.0**10, "PB": 2.0**20}


BLOCK = 4096
"""Maximum length of a structure's text that is kept."""


@dataclass(frozen=True)
class Structure(Fixed):
    """One SMBIOS structure: its handle, the number of its type, its fields, and the further lines below each field."""

    handle: str
    kind: int
    fields: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def first(self, *keys: str) -> str | None:
        """Return the value of the first field in `keys` that has one; a text in BLANK does not count as a value."""
        items = (self.fields.get(key, "") for key in keys)
        # An older dmidecode writes <OUT OF SPEC> for a number that was added to the specification after its release.
        return next((v for v in items if v.casefold() not in BLANK and "<OUT OF SPEC>" not in v), None)

    def missing(self, key: str) -> Unknown:
        """Return the Unknown reading for a field without a value."""
        shown = f"{key}: {self.fields[key]}" if key in self.fields else f"no {key}"
        return Unknown(Reason.NOT_COLLECTED, f"dmidecode {self.handle}: {clean(shown)}")

    def text(self, *keys: str) -> str | Unknown:
        """Return the unchanged value of the first field in `keys` that has one; Unknown if no field has a value."""
        message = self.first(*keys)
        return self.missing(keys[0]) if message is None else message

    def value(self, read: Callable[[str], float], *keys: str) -> float | Unknown:
        """Return the first value among the fields `keys`, converted by `read`; Unknown without such a value."""
        message = self.first(*keys)
        if message is None:
            return self.missing(keys[0])
        try:
            return read(message)
        except Unreadable as error:
            return Unknown(error.reason, f"dmidecode {self.handle}: {keys[0]}: {error}")

    def count(self, key: str) -> int | Unknown:
        """Return a field as a whole number; Unknown if the field has no value, or its value is not a whole number."""
        reading = self.value(whole, key)
        return reading if isinstance(reading, Unknown) else int(reading)


def structures(text: str) -> tuple[Structure, ...]:
    """Read every SMBIOS structure in order; raises Unreadable if the structure that ends the table is missing."""
    rows(text)  # raises Unreadable if the text was cut
    found = tuple(each for block in text.split("\n\n") for each in _in_block(block))
    if not found and "No SMBIOS nor DMI entry point found" in text:
        raise Unreadable("this machine has no SMBIOS table", Reason.NOT_COLLECTED)
    if not found or found[-1].kind != END_OF_TABLE:
        raise Unreadable("incomplete output of dmidecode: no End Of Table")
    return found


def _in_block(block: str) -> tuple[Structure, ...]:
    """Read the structures between two empty lines; most are equal on all nodes of a rack, and are read once."""
    return _kept(block) if len(block) <= BLOCK else tuple(_structures(block.split("\n")))


@lru_cache(maxsize=1024)
def _kept(block: str) -> tuple[Structure, ...]:
    return tuple(_structures(block.split("\n")))


def _structures(lines: list[str]) -> Iterator[Structure]:
    head: tuple[str, int] | None = None
    fields: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    last = ""
    for row in [*lines, ""]:
        match = _HANDLE.fullmatch(row)
        if head is not None and (match is not None or not row.strip()):
            yield Structure(*head, fields, {key: tuple(items) for key, items in lists.items()})
            head = None
        if match is not None:
            head, fields, lists, last = (match[1].upper().replace("X", "x"), int(match[2])), {}, {}, ""
        elif head is None or not row.startswith("\t"):
            continue  # the name of the structure's type, and dmidecode's notes on itself
        elif not row.startswith("\t\t"):
            key, _, value = row.partition(":")
            last = key.strip()
            fields.setdefault(last, value.strip())
        elif last:
            lists.setdefault(last, []).append(row.strip())


def gibibytes(text: str) -> float:
    """Convert a size to GiB; SMBIOS counts in powers of 1024, whatever unit dmidecode prints."""
    digits, _, unit = text.partition(" ")
    if unit not in _SIZES:
        raise Unreadable(f"not a size: {clean(text)!r}")
    return whole(digits) * _SIZES[unit]


def measured(*units: str) -> Callable[[str], float]:
    """Return a function that reads a number followed by one of these units."""

    def reader(text: str) -> float:
        digits, _, unit = text.partition(" ")
        if unit not in units:
            raise Unreadable(f"not a number of {units[0]}: {clean(text)!r}")
        return number(digits)

    return reader


def named(found: list[Structure], *keys: str) -> list[tuple[str, Structure]]:
    """Return each structure with a unique name, which consists of the values of as few `keys` as possible.

    If even the values of all `keys` do not make the names unique, a name is the value of the first key and the
    structure's handle.
    """
    for used in range(1, len(keys) + 1):
        names = [" ".join(message for key in reversed(keys[:used]) if (message := s.first(key))) for s in found]
        if all(names) and len(set(names)) == len(names):
            return list(zip(names, found, strict=True))
    return [(f"{s.first(keys[0]) or ''} {s.handle}".strip(), s) for s in found]
