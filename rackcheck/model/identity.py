"""Identities of one machine or one part: serial numbers, UUIDs and hardware addresses, normalised to one spelling.

Placeholder texts of makers, and addresses made up by software, are no identity. Pure.
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
"""Placeholders that makers leave in DMI tables, in lower case."""

_NONE = frozenset(
    {
        *BLANKS, "null", "nil", "(null)", "absent", "default", "invalid", "not present", "not provided", "not set",
        "no serial", "serial", "serial number", "base board serial number", "board serial number", "redacted",
        "product serial number", "filled by oem", "fill by oem", "oem serial number", "unset", "no dimm", "test",
    }
)  # fmt: skip
"""Texts that are no serial number, in lower case."""

_COUNTED = ("01234567890123456789abcdef", "1234567890123456789abcdef")
"""Counting sequences used in place of a number, in any length."""

_HEX = frozenset("0123456789abcdef")
_PARTED = str.maketrans("", "", ":.-{} \t")
_MARKS = re.compile(r"[\W_]")


_TMFIFO = "001acaffff"
"""BlueField DPUs give both ends of tmfifo_net0 one address each, which all BlueField DPUs share."""

_SAYS_NONE = re.compile(
    r"(?:says (?:nothing|(['\"]).*\1)|the maker left it as (['\"]).*\2|lists none"
    r"|(?:this BMC|/\S+) (?:has|lists) no [\w /]+|no \w+ of this BMC has [\w /]+)\Z",
    re.DOTALL,
)
"""Wordings of readers for a machine without an identity: null, empty, a placeholder of its maker, an empty list."""

SPELLED = 200
"""Maximum characters of an identity that are read: none is longer."""


_BARE = frozenset(re.sub(r"[\W_]", "", text) for text in _NONE) | {
    "tobefilled", "noassettag", "assettag", "unspecified", "tbd", "invalidserial", "invalidserialnumber", "nana",
    "type1systemserialnumber", "type2boardserialnumber", "type3chassisserialnumber", "nonumber", "noserialnumber",
}  # fmt: skip
"""The same without blanks and punctuation, and similar texts."""

_BEFORE = re.compile(r"0x|[bcs]?sn(?=[0-9])")
"""Prefixes of numbers that are none: 0x00000000, SN00000000."""


def serial(value: str) -> str:
    """Normalise a serial number: lower case, no blanks; empty if it is not one."""
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
    """Normalise the serial numbers of a main board: Dell puts the service tag first, separated by full stops."""
    parts = value.split(".") if value.startswith(".") else (value,)
    return tuple(filter(None, map(serial, parts)))


def uuid(value: str) -> str:
    """Normalise a UUID; the same for all byte orders that firmware uses, empty if it is not one.

    SMBIOS stores the first three fields little-endian, and not all readers do so; Dell's iDRAC uses the host's UUID
    with all bytes reversed as its own.
    """
    digits = value[:SPELLED].casefold().translate(_PARTED).removeprefix("gpu").removeprefix("0x")
    if len(digits) != 32 or not _HEX.issuperset(digits):
        return serial(value)
    spelt = _ordered(bytes.fromhex(digits))
    return "" if spelt in _SHARED or digits.count(digits[:2]) >= 16 or digits.count("f") >= 24 else spelt


def _ordered(value: bytes) -> str:
    """Return the least byte order of a UUID: from either end, with the fields at either end as they are or reversed."""
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
field (SMBIOS UUID FAIL, howtowriteaprogram.blogspot.com/2012/06/smbios-uuid-fail.html). All zeros and all ones are no
UUID by the SMBIOS specification (DSP0134, System Information: UUID).
"""


def mac(value: str) -> str:
    """Normalise an Ethernet address as Linux does; empty for anything else, and for one made up by software.

    In the first octet, bit 2 marks a locally administered address, and bit 1 a group address (IEEE 802).
    """
    digits = value[:SPELLED].casefold().translate(_PARTED)
    if len(digits) != 12 or digits[1] not in "048c" or not _HEX.issuperset(digits) or digits.startswith(_TMFIFO):
        return ""
    return "" if len(set(digits)) == 1 else ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def guid(value: str) -> str:
    """Normalise a GUID of InfiniBand to sixteen digits; empty if it is not one: a virtual function has zeros."""
    digits = value[:SPELLED].casefold().translate(_PARTED).removeprefix("0x")
    return digits if len(digits) == 16 and _HEX.issuperset(digits) and len(set(digits)) > 1 else ""


_TO_HOST = re.compile(
    r"(?:to[-_ ]?(?:host|manager|hmc|bmc)|[a-z]*usb[0-9]*|rndis[0-9]*|hmc[a-z]*[0-9]*|tmfifo_net[0-9]*)"
)


def between(name: str) -> bool:
    """Whether an interface, by its name, is one end of the internal network between BMC and host over USB."""
    return _TO_HOST.fullmatch(name.casefold()) is not None


def lacking(reading: Reading) -> Unknown | None:
    """Return why an identity is unknown; None if there is one, or certainly none."""
    return reading if isinstance(reading, Unknown) and not gives_none(reading) else None


def gives_none(reading: Reading) -> bool:
    """Whether it is known that there is no identity: it is absent, or a placeholder."""
    if isinstance(reading, Absent):
        return True
    return (
        isinstance(reading, Unknown)
        and reading.reason is Reason.NOT_COLLECTED
        and _SAYS_NONE.search(reading.detail) is not None
    )


class Spot(NamedTuple):
    """Where an identity was found, and how it is spelled there."""

    place: str
    said: str


@dataclass(frozen=True, slots=True)
class PlaneIdentities:
    """The identities of one kind on one plane, by normalised spelling; and why there may be more."""

    keys: Mapping[str, Spot]
    lost: Unknown | None = None


Spell = Callable[[str], str | tuple[str, ...]]


def given(readings: Iterable[tuple[str, Reading]], spell: Spell, hidden: Unknown | None = None) -> PlaneIdentities:
    """Normalise the identities of several places; a value that is not a text is ignored."""
    keys: dict[str, Spot] = {}
    seen: set[str] = set()  # two planes return most of them alike
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
    """Whether two planes share an identity: true if any is shared, None if one of them certainly has none."""
    if host.keys.keys() & bmc.keys.keys():
        return True
    if any(not side.keys and side.lost is None for side in (host, bmc)):
        return None
    lost = bmc.lost or host.lost
    return lost if lost is not None else False


def settled_by(answers: Iterable[bool | Unknown | None]) -> bool | Unknown | None:
    """Join several results for one kind: one that is shared decides, otherwise all must differ."""
    rows = list(answers)
    if True in rows:
        return True
    lost = next((each for each in rows if isinstance(each, Unknown)), None)
    return lost if lost is not None else (False if False in rows else None)


@dataclass(frozen=True, slots=True)
class IdentityComparison:
    """One kind of identity on both planes; a kind that does not decide can show one machine, but never two."""

    kind: str
    answer: bool | Unknown | None
    says: str = ""
    decides: bool = True


def common(kinds: Iterable[IdentityComparison]) -> tuple[str, ...] | Unknown:
    """Return the kinds that both planes share; unknown if one of them is."""
    rows = list(kinds)
    lost = next((each.answer for each in rows if isinstance(each.answer, Unknown)), None)
    return lost if lost is not None else tuple(each.kind for each in rows if each.answer is True)


def differing(kinds: Iterable[IdentityComparison]) -> tuple[str, ...] | Unknown:
    """Return which identities differ: one suffices; none only if one is shared and no other may differ."""
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
