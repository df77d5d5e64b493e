"""Xids: the parser of one line of NVIDIA's kernel driver, and the table of what each Xid's number means.

The table of Xids has the actions of NVIDIA's catalogue, and the ratings (serious or not) of four tools that run on
large fleets. An Xid that these tools rate differently is disputed. The table of Xids has no severity of its own.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex

XIDS, SXIDS = "NVRM: Xid", " SXid ("
"""A text in every line about an error of a GPU (Xid), and a text in every line about an error of an NVSwitch (SXid)."""

# In MIG mode, the GPU instance and the compute instance follow the address if the error belongs to them
# (kernel_rc.c of NVIDIA's open kernel modules); drivers before 300 leave `PCI:` out.
_PLACE = (
    r"\((?:PCI:)?(?P<domain>[0-9a-fA-F]{4,8}):(?P<device>[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.(?P<function>[0-7]))?"
    r"(?: GPU-I:[0-9]{1,5}(?: GPU-CI:[0-9]{1,5})?)?\)"
)
XID = regex(rf"NVRM: Xid {_PLACE}: (?P<code>[0-9]{{1,5}})\b(?P<rest>[^\n]*)")
SXID = regex(rf"nvidia-nvswitch[0-9]{{1,3}}: SXid {_PLACE}: (?P<code>[0-9]{{1,6}})\b(?P<rest>[^\n]*)")
_WHOSE = regex(r"(?P<pid>, pid='?(?:[0-9]{1,10}|<unknown>)'?)(?:, name=.{0,20}?(?=, |$))?(?P<rest>.*)")
_NVLINK = regex(
    r"(?P<unit>[A-Z][A-Z0-9_]{1,40}(?:/[A-Z][A-Z0-9_]{1,40})?) +(?P<severity>Fatal|Nonfatal) +"
    r"XC[0-9]{1,3} +i[0-9]{1,3} +Link +(?P<link>-?[0-9]{1,3}) +\("
)
_RECOVERY = regex(
    r"GPU recovery action changed from 0x[0-9a-f]{1,8} \([^()]{1,60}\) to 0x[0-9a-f]{1,8} \((?P<action>[^()]{1,60})\)"
)
_SWITCH = regex(r", (?P<severity>Fatal|Non-fatal), (?:Link (?P<link>[0-9]{1,3}) )?(?P<words>.{1,80})")

NVLINK = frozenset(range(144, 151))
"""Numbers of the Xids of Blackwell's NVLink; their lines end with sub-fields that identify the error."""
RECOVERY = 154


@dataclass(frozen=True, slots=True)
class Xid:
    """One Xid: the GPU's PCI address, the Xid's number, the line without the process name, and the details at its end.

    In MIG mode, the line of an Xid may also name a GPU instance, which is in `text` but not in the PCI address `place`.
    """

    place: str
    code: int
    text: str
    detail: str

    @property
    def nvlink(self) -> "Nvlink | None":
        """The sub-fields of an NVLink error of Blackwell; None if the Xid is another error."""
        match = _NVLINK.match(self.detail) if self.code in NVLINK else None
        return Nvlink(match["unit"], match["severity"] == "Fatal", int(match["link"])) if match else None

    @property
    def recovery(self) -> str | None:
        """The action that the driver now requires to recover the GPU; None if the line is not Xid 154."""
        match = _RECOVERY.match(self.detail) if self.code == RECOVERY else None
        return match["action"] if match else None


@dataclass(frozen=True, slots=True)
class Nvlink:
    """One NVLink error: the failed unit, whether the driver reports the error as fatal, and the link (-1: no link)."""

    unit: str
    fatal: bool
    link: int


@dataclass(frozen=True, slots=True)
class SXid:
    """One SXid: the NVSwitch's PCI address, the SXid's number, its line; severity, description and link if printed."""

    place: str
    code: int
    text: str
    fatal: bool | None
    words: str
    link: int | None


def xid(message: str) -> Xid | None:
    """Parse a message of the GPU driver; None if it is not an Xid."""
    match = XID.match(message)
    if match is None:
        return None
    whose = _WHOSE.match(match["rest"])
    rest = whose["pid"] + whose["rest"] if whose is not None else match["rest"]
    detail = whose["rest"] if whose is not None else match["rest"]
    return Xid(_address(match), int(match["code"]), message[: match.start("rest")] + rest, detail.lstrip(", "))


def sxid(message: str) -> SXid | None:
    """Parse a message of an NVSwitch; None if it is not an SXid.

    If several lines are about one error of an NVSwitch, only the first has a severity and a description.
    """
    match = SXID.match(message)
    if match is None:
        return None
    first = _SWITCH.match(match["rest"])
    if first is None:
        return SXid(_address(match), int(match["code"]), message, None, "", None)
    link = int(first["link"]) if first["link"] else None
    fatal = first["severity"] == "Fatal"
    return SXid(_address(match), int(match["code"]), message, fatal, first["words"].strip(), link)


def _address(match: re.Match[str]) -> str:
    """Spell a PCI address as the kernel and `gpu/*.pci` do; if the driver prints no function, the function is 0."""
    return f"{int(match['domain'], 16):04x}:{match['device'].lower()}.{match['function'] or 0}"


@dataclass(frozen=True, slots=True)
class XidMeaning:
    """One row of the table of Xids: an Xid's number, title, actions in NVIDIA's catalogue, and ratings by tools."""

    code: int
    title: str
    mnemonic: str
    immediate: str
    investigatory: str
    dcgm: str
    azure_nhc: str
    azure_healthagent: str
    imbue: str

    @property
    def opinions(self) -> tuple[bool, ...]:
        """Whether each of four tools rates the Xid as serious, in the order DCGM, Azure's two tools, Imbue."""
        return (
            self.dcgm == "FAIL",
            self.azure_nhc == "yes",
            self.azure_healthagent == "error",
            self.imbue == "yes",
        )

    @property
    def serious(self) -> bool | None:
        """Whether all four tools rate the Xid as serious (True) or none does (False); None if they disagree."""
        return True if all(self.opinions) else None if any(self.opinions) else False


_COLUMNS = {
    "xid": "code",
    "title": "title",
    "mnemonic": "mnemonic",
    "catalog_immediate_action": "immediate",
    "catalog_investigatory_action": "investigatory",
    "dcgm_always_watched": "dcgm",
    "azure_nhc_fails_node": "azure_nhc",
    "azure_healthagent_severity": "azure_healthagent",
    "imbue_hardware_class": "imbue",
}


def table(text: str) -> Mapping[int, XidMeaning]:
    """Read the table of Xids; raises Unreadable if it lacks a column or contains an Xid's number twice."""
    found: dict[int, XidMeaning] = {}
    for row in csv.DictReader(io.StringIO(text)):
        missing = [column for column in _COLUMNS if row.get(column) is None]
        if missing:
            raise Unreadable(f"the table of Xids lacks {', '.join(missing)}")
        values = {name: row[column] for column, name in _COLUMNS.items() if column != "xid"}
        entry = XidMeaning(code=int(row["xid"]), **values)
        if entry.code in found:
            raise Unreadable(f"the table of Xids has {entry.code} twice")
        found[entry.code] = entry
    return found


UNLISTED = "not in our table"
"""Text that is shown as the title and as the action of an Xid that is not in the table of Xids."""
SILENT = "none given"
"""Text that is shown as the action of an Xid for which NVIDIA's catalogue has no action."""


def named(codes: Iterable[int], known: Mapping[int, XidMeaning]) -> tuple[str, ...]:
    """Return each Xid's number and title, in numeric order; an Xid that is not in the table has the title UNLISTED."""
    return tuple(f"{code} {known[code].title if code in known else UNLISTED}" for code in sorted(set(codes)))


def actions(codes: Iterable[int], known: Mapping[int, XidMeaning], column: str) -> tuple[str, ...]:
    """Return the distinct actions for these Xids, in alphabetical order; `column` is `immediate` or `investigatory`."""
    return tuple(sorted({(getattr(known[c], column) or SILENT) if c in known else UNLISTED for c in codes}))


def by_agreement(codes: Iterable[int], known: Mapping[int, XidMeaning]) -> Mapping[str, tuple[str, ...]]:
    """Group the numbers of Xids by the ratings of four tools; each group is in numeric order.

    An Xid is in the group `serious` if all four tools rate it as serious, `mild` if none does, `disputed` if only some
    do, and `unlisted` if it is not in the table.
    """
    parts: dict[str, list[str]] = {"serious": [], "mild": [], "disputed": [], "unlisted": []}
    for code in sorted(set(codes)):
        opinion = known[code].serious if code in known else None
        part = "unlisted" if code not in known else "disputed" if opinion is None else "serious" if opinion else "mild"
        parts[part].append(str(code))
    return {part: tuple(found) for part, found in parts.items()}
