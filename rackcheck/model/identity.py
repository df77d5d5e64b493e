"""What tells one machine, or one part, from every other: serial numbers, UUIDs and hardware addresses, spelled one way.

Texts that makers leave where an identity should be, and addresses that software makes up, are no identity. Pure.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rackcheck.model.fact import Absent, Reading, Reason, Unknown

BLANKS = (
    "to be filled by o.e.m.", "to be filled by oem", "not specified", "not available", "not applicable",
    "default string", "system manufacturer", "system product name", "system serial number", "system version",
    "o.e.m.", "oem", "none", "n/a", "na", "unknown", "empty", "undefined", "chassis serial number",
    "0123456789", "-", ".",
)  # fmt: skip
"""What makers leave in a DMI table where they should have written something, in small letters."""

_NONE = frozenset(
    {
        *BLANKS, "null", "nil", "(null)", "absent", "default", "invalid", "not present", "not provided", "not set",
        "no serial", "serial", "serial number", "base board serial number", "board serial number", "redacted",
        "product serial number", "filled by oem", "fill by oem", "oem serial number", "unset", "no dimm", "test",
    }
)  # fmt: skip
"""Texts that are no serial number, in small letters."""

_COUNTED = ("01234567890123456789abcdef", "1234567890123456789abcdef")
"""What is counted up where a number should be; as far as it is counted."""

_HEX = frozenset("0123456789abcdef")
_PARTED = str.maketrans("", "", ":.-{} \t")
_MARKS = re.compile(r"[\W_]")


_TMFIFO = "001acaffff"
"""BlueField DPUs give both ends of their tmfifo_net0 one address each, which all of them share."""

_SAYS_NONE = re.compile(
    r"(?:says (?:nothing|(['\"]).*\1)|the maker left it as (['\"]).*\2|lists none"
    r"|(?:this BMC|/\S+) (?:has|lists) no [\w /]+|no \w+ of this BMC has [\w /]+)\Z",
    re.DOTALL,
)
"""How readers put it that a machine answered and gave no identity: null, empty, words of its maker, an empty list."""

SPELLED = 200
"""Characters of an identity that are looked at: none is longer."""


_BARE = frozenset(re.sub(r"[\W_]", "", text) for text in _NONE) | {
    "tobefilled", "noassettag", "assettag", "unspecified", "tbd", "invalidserial", "invalidserialnumber", "nana",
    "type1systemserialnumber", "type2boardserialnumber", "type3chassisserialnumber", "nonumber", "noserialnumber",
}  # fmt: skip
"""The same without blanks and marks, and others of their kind."""

_BEFORE = re.compile(r"0x|[bcs]?sn(?=[0-9])")
"""What stands before a number that is none: 0x00000000, SN00000000."""


def serial(value: str) -> str:
    """Spell a serial number: small letters, no blanks; empty where it is none."""
    low = value[:SPELLED].strip().casefold()
    plain = low.isalnum()
    spelt = low if plain else "".join(low.split())
    bare = low if plain else _MARKS.sub("", spelt)
    if low in _NONE or bare in _BARE or len(set(bare)) < 2:
        return ""
    bare = _BEFORE.sub("", bare, count=1) if _BEFORE.match(bare) else bare
    if len(set(bare)) < 2:
        return ""
    return "" if len(bare) > 4 and bare.startswith(("0123", "1234")) and _counted(bare) else spelt


def _counted(bare: str) -> bool:
    return any(run.startswith(bare) for run in _COUNTED)


def serials(value: str) -> tuple[str, ...]:
    """Spell the serial numbers of a main board: Dell writes the service tag before, parted by full stops."""
    parts = value.split(".") if value.startswith(".") else (value,)
    return tuple(filter(None, map(serial, parts)))


def uuid(value: str) -> str:
    """Spell a UUID; one way for all orders of its bytes that firmware uses, empty where it is none.

    SMBIOS writes the first three fields with their lowest byte first, and not all read them so; Dell's iDRAC has the
    host's with all bytes turned round for its own.
    """
    digits = value[:SPELLED].casefold().translate(_PARTED).removeprefix("gpu").removeprefix("0x")
    if len(digits) != 32 or not _HEX.issuperset(digits):
        return serial(value)
    spelt = _ordered(bytes.fromhex(digits))
    return "" if spelt in _SHARED or digits.count(digits[:2]) >= 16 or digits.count("f") >= 24 else spelt


def _ordered(value: bytes) -> str:
    """Give the least order of a UUID's bytes: from either end, with the fields at either end as they are or turned."""
    ends = ((value[:8], value[8:]), (value[:7:-1], value[7::-1]))
    return min(min(a, _fields(a)) + min(b, _fields(b[::-1])[::-1]) for a, b in ends).hex()


def _fields(half: bytes) -> bytes:
    return half[3::-1] + half[5:3:-1] + half[:5:-1]


_SHARED = frozenset(
    _ordered(bytes.fromhex(each))
    for each in (
        "03000200040005000006000700080009",
        "00020003000400050006000700080009",
        "00010203040506070809 0a0b0c0d0e0f".replace(" ", ""),
        "07090201010303010807060504030201",
        "12345678123456781234567812345678",
        "12345678123412341234123456789abc",
        "deadbeefdeadbeefdeadbeefdeadbeef",
        "8e275844178f44a8aceba7d7e5178c63",
        "890e2d14cacd45d1ae66bc80e8bfeb0f",
        "dc698397fa544cf282c8b1b5307a6a7f",
    )
)
"""UUIDs that makers gave to whole series of boards.

Collected by CapaSystems (Non-Unique UUID, capasystems.atlassian.net/wiki/spaces/CI64DOC/pages/19306236205) and in the
field (SMBIOS UUID FAIL, howtowriteaprogram.blogspot.com/2012/06/smbios-uuid-fail.html). Zeros and ones are none by the
SMBIOS specification (DSP0134, System Information: UUID).
"""


def mac(value: str) -> str:
    """Spell an Ethernet address as Linux does; empty for another one, and for one that software made up.

    In the first octet, 2 marks an address that is not the maker's, and 1 one of many receivers (IEEE 802).
    """
    digits = value[:SPELLED].casefold().translate(_PARTED)
    if len(digits) != 12 or digits[1] not in "048c" or not _HEX.issuperset(digits) or digits.startswith(_TMFIFO):
        return ""
    return "" if len(set(digits)) == 1 else ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def guid(value: str) -> str:
    """Spell a GUID of InfiniBand as sixteen digits; empty where it is none: a virtual function has zeros."""
    digits = value[:SPELLED].casefold().translate(_PARTED).removeprefix("0x")
    return digits if len(digits) == 16 and _HEX.issuperset(digits) and len(set(digits)) > 1 else ""


_TO_HOST = re.compile(
    r"(?:to[-_ ]?(?:host|manager|hmc|bmc)|[a-z]*usb[0-9]*|rndis[0-9]*|hmc[a-z]*[0-9]*|tmfifo_net[0-9]*)"
)


def between(name: str) -> bool:
    """Whether an interface, by its name, is one end of the network inside a machine: BMC and host over USB."""
    return _TO_HOST.fullmatch(name.casefold()) is not None


def lacking(reading: Reading) -> Unknown | None:
    """Give why an identity is not known; none where there is one, or none for certain."""
    return reading if isinstance(reading, Unknown) and not gives_none(reading) else None


def gives_none(reading: Reading) -> bool:
    """Whether it is known that there is no identity: nothing is there, or what is there says nothing."""
    if isinstance(reading, Absent):
        return True
    return (
        isinstance(reading, Unknown)
        and reading.reason is Reason.NOT_COLLECTED
        and _SAYS_NONE.search(reading.detail) is not None
    )


class Spot(NamedTuple):
    """Where an identity is given, and how it is spelled there."""

    place: str
    said: str


@dataclass(frozen=True, slots=True)
class PlaneIdentities:
    """Identities of one kind that one plane gives, by how they are spelled here; and why there may be more."""

    keys: Mapping[str, Spot]
    lost: Unknown | None = None


Spell = Callable[[str], str | tuple[str, ...]]


def given(readings: Iterable[tuple[str, Reading]], spell: Spell, hidden: Unknown | None = None) -> PlaneIdentities:
    """Spell the identities of several places; what is no text is none."""
    keys: dict[str, Spot] = {}
    seen: set[str] = set()  # two planes give most of them alike
    lost = None if hidden is None else lacking(hidden)
    for place, reading in readings:
        if isinstance(reading, str):
            if reading in seen:
                continue
            seen.add(reading)
            spelt = spell(reading)
            for key in (spelt,) if isinstance(spelt, str) else spelt:
                if key:
                    keys.setdefault(key, Spot(place, reading))
        elif isinstance(reading, Unknown) and not gives_none(reading):
            lost = lost or reading
    return PlaneIdentities(keys, lost)


def held(host: PlaneIdentities, bmc: PlaneIdentities) -> bool | Unknown | None:
    """Whether two planes give one identity: true where any is shared, None where one of them gives none for certain."""
    if host.keys.keys() & bmc.keys.keys():
        return True
    if any(not side.keys and side.lost is None for side in (host, bmc)):
        return None
    lost = bmc.lost or host.lost
    return lost if lost is not None else False


def settled_by(answers: Iterable[bool | Unknown | None]) -> bool | Unknown | None:
    """Lay several answers about one kind together: one that is shared settles it, and else all must differ."""
    rows = list(answers)
    if True in rows:
        return True
    lost = next((each for each in rows if isinstance(each, Unknown)), None)
    return lost if lost is not None else (False if False in rows else None)


@dataclass(frozen=True, slots=True)
class IdentityComparison:
    """One kind of identity on both planes; one that does not decide can show one machine, and never two."""

    kind: str
    answer: bool | Unknown | None
    says: str = ""
    decides: bool = True


def common(kinds: Iterable[IdentityComparison]) -> tuple[str, ...] | Unknown:
    """Name the kinds that both planes give alike; unknown while one of them is."""
    rows = list(kinds)
    lost = next((each.answer for each in rows if isinstance(each.answer, Unknown)), None)
    return lost if lost is not None else tuple(each.kind for each in rows if each.answer is True)


def differing(kinds: Iterable[IdentityComparison]) -> tuple[str, ...] | Unknown:
    """Say which identities differ: one does whatever others do; none only where one is shared and none may differ."""
    rows = list(kinds)
    found = tuple(each.says for each in rows if each.decides and each.answer is False)
    if found:
        return found
    lost = next((e.answer for e in rows if isinstance(e.answer, Unknown) and (e.decides or not _shared(rows))), None)
    if lost is not None:
        return lost
    if not _shared(rows):
        return Unknown(Reason.NOT_COLLECTED, "the host and the BMC give no identity in common")
    return ()


def _shared(rows: Iterable[IdentityComparison]) -> bool:
    return any(each.answer is True for each in rows)
