"""Orders versions by the scheme of the fact; a version that the scheme cannot read has no order. Nothing is guessed.

| scheme | reads |
| --- | --- |
| dotted | `570.86.15`; 28.10 is 28.10.0, and more than 28.9 |
| hex-dotted | `96.00.AF.00.01` |
| prefixed | `v2.14.1`, `28.39.1002 (MT_0000000838)`, `iLO 5 v2.72` |
| date | `2024-03-01`, `20240301`, and the SMBIOS form `03/01/2024` |
| kernel | `5.15.0-1053-nvidia` |
| deb, rpm | a package's version, as dpkg and rpm compare them |
| opaque | any text, for equality only |
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from rackcheck.model.regex import regex

__all__ = ["SCHEMES", "Unordered", "order"]

LONGEST = 1000
"""Maximum number of characters of a version: more than ten times the longest recorded version, and cheap to parse."""


class Unordered(ValueError):
    """A version that its scheme cannot order."""


@dataclass(frozen=True, slots=True)
class VersionKey:
    """The result of parsing a version by its scheme.

    Versions are ordered by `numbers`. Versions of different families have no order. If the numbers are equal, versions
    with different builds or different notes have no order; a version without a note equals versions with any note.
    """

    numbers: tuple[int, ...]
    family: str = ""
    build: str = ""
    note: str = ""


def shown(text: str) -> str:
    """Return a version in quotes for a message; a long version is cut."""
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def reader(read: Callable[[str], VersionKey | None], refusal: str) -> Callable[[str], VersionKey]:
    """Return a reader that strips blanks; it raises Unordered if `read` returns None, or if the text is too long."""

    def bounded(text: str) -> VersionKey:
        key = read(text.strip()) if len(text) <= LONGEST else None
        if key is None:
            raise Unordered(f"{shown(text)} {refusal}")
        return key

    return bounded


def significant(numbers: list[int]) -> tuple[int, ...]:
    """Return numbers without trailing zeros, so that 28.10 equals 28.10.0."""
    end = len(numbers)
    while end and not numbers[end - 1]:
        end -= 1
    return tuple(numbers[:end])


_EPOCH = regex(r"[0-9]+\Z")
_DOTTED = regex(r"[0-9]+(\.[0-9]+)*\Z")
_HEX = regex(r"[0-9A-Fa-f]{1,4}(\.[0-9A-Fa-f]{1,4})+\Z")
_KERNEL = regex(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-([0-9]{1,9})(?:\.([0-9]{1,9}))?)?(?:[-.+_~].*)?\Z")


def _dotted(text: str) -> VersionKey | None:
    return VersionKey(significant([int(part) for part in text.split(".")])) if _DOTTED.match(text) else None


def _hex_dotted(text: str) -> VersionKey | None:
    return VersionKey(significant([int(part, 16) for part in text.split(".")])) if _HEX.match(text) else None


def _kernel(text: str) -> VersionKey | None:
    # Release, patch level and the distribution's build number (5.15.0-1053-nvidia). The rest is the flavour: it
    # distinguishes builds, but has no order.
    match = _KERNEL.match(text)
    return None if match is None else VersionKey(tuple(int(part or 0) for part in match.groups()))


def _opaque(_: str) -> VersionKey | None:
    return None


# ---- dates -----------------------------------------------------------------------------------------------------------

# Order of dates that are used as versions, by the day.
#
# Three forms are read: the year first (`2024-03-01`, `20240301`), and the month first with slashes, which the
# SMBIOS specification (DSP0134, BIOS Information) defines for a BIOS's release date. Ambiguous dates are not
# ordered: a year of two digits, the day first, a time of day without its zone.

_DAYS = (
    # Redfish writes a day as midnight UTC, its first second.
    regex(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:T00:00:00(?:Z|\+00:00))?\Z"),
    # Eight digits that begin with a year of these centuries cannot be a date with the month first: that month would be
    # 19 or 20.
    regex(r"(?P<year>(?:19|20)[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})\Z"),
    regex(r"(?P<month>[0-9]{2})/(?P<day>[0-9]{2})/(?P<year>[0-9]{4})\Z"),
)


def _date(text: str) -> VersionKey | None:
    """Parse a date; None for a text of another form, or an invalid day."""
    for form in _DAYS:
        match = form.match(text)
        if match is not None:
            try:
                day = date(int(match["year"]), int(match["month"]), int(match["day"]))
            except ValueError:
                return None
            return VersionKey((day.year, day.month, day.day))
    return None


# ---- numbers with words beside them ----------------------------------------------------------------------------------

# Order of dotted numbers with words beside them, as firmware writes its version.
#
#     28.39.1002 (MT_0000000838)      v2.14.1      HGX_FW_BMC 24.01      A42 v2.60 (08/11/2022)      BF-24.10-10
# The words before the number name the versioned component: two versions with different words have no order. A `v` is
# ignored. The text after the number distinguishes builds of the same number, but has no order: `-1` is a later build
# for one vendor and an earlier build for another. A missing bracket matches any bracket.

_NUMBER = regex(r"(?<![0-9])[0-9]+(?:\.[0-9]+)+")
_ALONE = regex(r"(?:[vV]\.?\s*)?([0-9]+)\Z")
_V = regex(r"(?<![0-9A-Za-z])[vV]\.?\s*\Z")
_PARTING = " :-_/=,"


def _prefixed(text: str) -> VersionKey | None:
    """Parse a version such as `iLO 5 v2.72`; None unless it is a single integer, or has exactly one dotted number."""
    rest, note = _bracket(text)
    alone = _ALONE.match(rest)
    if alone is not None:
        return VersionKey(significant([int(alone[1])]), note=note)
    found = list(_NUMBER.finditer(rest))
    before = _V.sub("", rest[: found[0].start()]) if found else ""
    build = rest[found[0].end() :] if found else ""
    # A letter or a point next to the number means that the number continues, or that it is hexadecimal.
    if len(found) != 1 or before[-1:] not in {"", *_PARTING} or build[:1] == "." or build[:1].isalnum():
        return None
    numbers = significant([int(part) for part in found[0][0].split(".")])
    return VersionKey(numbers, " ".join(before.split()).rstrip(_PARTING), " ".join(build.split()), note)


def _bracket(text: str) -> tuple[str, str]:
    """Split off the text in brackets at the end of a version, such as a board or a date."""
    head, opened, inside = text.removesuffix(")").rpartition("(")
    if not text.endswith(")") or not opened or ")" in inside:
        return text, ""
    return head.rstrip(), " ".join(inside.split())


# ---- packages of Debian ----------------------------------------------------------------------------------------------

# Order of the versions of Debian packages: Debian policy 5.6.12, deb-version(7).
#
#     [epoch:]upstream[-revision]            1:23.10-1.2310055       2.4~rc1+dfsg-1ubuntu0.1
# Upstream and revision are split into alternating letters and numbers. Among letters, `~` sorts before the end of the
# text, the end before `A` to `z`, and these before every other character.

_DEB_UPSTREAM = regex(r"[0-9A-Za-z.+~:-]+\Z")
_DEB_REVISION = regex(r"[0-9A-Za-z.+~]+\Z")
_DEB_TURN = regex(r"([^0-9]*)([0-9]*)")

_DEB_BEFORE, _DEB_END, _DEB_BEHIND = 0, 1, 256  # `~`; the end of letters; the offset of every character but letters


def _deb(text: str) -> VersionKey | None:
    """Parse the version of a Debian package; None for a version that Debian policy does not allow."""
    epoch, colon, rest = text.partition(":")
    if not colon:
        epoch, rest = "0", text
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, "0"  # a missing revision equals 0
    if not (_EPOCH.match(epoch) and _DEB_UPSTREAM.match(upstream) and _DEB_REVISION.match(revision)):
        return None
    return VersionKey((int(epoch), *_deb_part(upstream), *_deb_part(revision)))


def _deb_part(text: str) -> Iterator[int]:
    """Yield numbers that sort as the text does; the last match of the pattern is the empty end of the text."""
    for letters, digits in _DEB_TURN.findall(text):
        yield from map(_deb_weight, letters)
        yield _DEB_END
        yield int(digits or 0)


def _deb_weight(sign: str) -> int:
    if sign == "~":
        return _DEB_BEFORE
    return ord(sign) if sign.isalpha() else ord(sign) + _DEB_BEHIND


# ---- packages of RPM -------------------------------------------------------------------------------------------------

# Order of the versions of RPM packages: rpm-version(7).
#
#     [epoch:]version[-release]              0:5.14.0-503.11.1.el9_5         1.0~rc1^git3-2
#
# Version and release are runs of letters and runs of digits; other characters only separate them. The order is: `~`,
# the end of the text, `^`, letters, numbers.

_RPM_PART = regex(r"[0-9A-Za-z._+~^]+\Z")
_RPM_SEGMENT = regex(r"[0-9]+|[A-Za-z]+|[~^]")

_RPM_NO_RELEASE, _RPM_RELEASE = 0, 1
_RPM_TILDE, _RPM_END, _RPM_CARET, _RPM_LETTERS, _RPM_NUMBER = range(5)


def _rpm(text: str) -> VersionKey | None:
    """Parse the version of an RPM package; None for a form that rpm does not build.

    A version without a release is older than the same version with any release.
    """
    epoch, colon, rest = text.partition(":")
    if not colon:
        epoch, rest = "0", text
    version, dash, release = rest.rpartition("-")
    if not dash:
        version = rest
    if not (_EPOCH.match(epoch) and _RPM_PART.match(version) and (not dash or _RPM_PART.match(release))):
        return None
    behind = (_RPM_RELEASE, *_rpm_part(release)) if dash else (_RPM_NO_RELEASE,)
    return VersionKey((int(epoch), *_rpm_part(version), *behind))


def _rpm_part(text: str) -> Iterator[int]:
    """Yield numbers that sort as the text does."""
    for segment in _RPM_SEGMENT.findall(text):
        if segment in "~^":
            yield _RPM_TILDE if segment == "~" else _RPM_CARET
        elif segment.isdecimal():
            yield _RPM_NUMBER
            yield int(segment)
        else:
            yield _RPM_LETTERS
            yield from map(ord, segment)
            yield 0  # so that `a` sorts before `aa`
    yield _RPM_END


# ---- schemes ---------------------------------------------------------------------------------------------------------

SCHEMES: dict[str, Callable[[str], VersionKey]] = {
    "dotted": reader(_dotted, "is not a dotted number"),
    "hex-dotted": reader(_hex_dotted, "is not a dotted hexadecimal number"),
    "prefixed": reader(_prefixed, "is not a text with exactly one dotted number"),
    "date": reader(_date, "is not an unambiguous date"),
    "kernel": reader(_kernel, "is not a kernel release"),
    "deb": reader(_deb, "is not a version of a Debian package"),
    "rpm": reader(_rpm, "is not a version of an RPM package"),
    "opaque": reader(_opaque, "can be compared for equality only"),
}
"""The reader of each scheme; a reader raises Unordered for a version that it cannot order."""


def order(scheme: str, left: str, right: str) -> int:
    """Compare two versions: negative, zero or positive; raises Unordered if the scheme cannot order them."""
    read = SCHEMES[scheme]
    a, b = read(left), read(right)
    if a.family != b.family:
        raise Unordered(f"{shown(left)} and {shown(right)} are versions of different series and cannot be ordered")
    if a.numbers != b.numbers:
        return 1 if a.numbers > b.numbers else -1
    if a.build != b.build or (a.note and b.note and a.note != b.note):
        raise Unordered(f"{shown(left)} and {shown(right)} are different builds of the same version number")
    return 0
