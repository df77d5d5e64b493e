"""The output of `lspci -vv`: the configuration space of each PCI function, register by register.

Based on recorded outputs of many versions of lspci. The output has these forms, which may differ between versions:

    function    `0000:1b:00.0 3D controller [0302]: NVIDIA Corporation ... [10de:2330] (rev a1)`, then indented lines;
                -vv ends each with an empty line, so cut output is detected
    capability  `Capabilities: [60] Express (v2) Endpoint`; at 0x100 and above, an extended capability
    register    `DevCtl: CorrErr+ ...` two tabs deep; deeper lines continue it, except AtomicOpsCap and AtomicOpsCtl,
                which newer versions print one tab deeper and older versions at the same depth
    bit         a name and `+` or `-`, with or without a comma

A field that this version of lspci does not print is unknown, not absent, as lspci leaves out what it cannot decode.
lspci prints `<access denied>` instead of capabilities that only root may read. A PCI function that fell off the bus
reads all ones.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from rackcheck.model.by_part import Fixed
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

EXPRESS, AER, ACS = "Express", "Advanced Error Reporting", "Access Control Services"
ATS, PRI, PASID = "Address Translation Service", "Page Request Interface", "Process Address Space ID"
RESIZABLE, SECONDARY, L1_SUBSTATES = "Physical Resizable BAR", "Secondary PCI Express", "L1 PM Substates"

REGISTER = 1024
"""Maximum length of the text of a register whose bits are cached; the longest that was recorded has 264 characters."""

BLOCK = 8192
"""Maximum length of a function's block of lines that is cached; the longest that was recorded has 7,688."""

EXTENDED = 0x100
"""Offset of the first extended capability; configuration space above it is readable only if firmware describes it."""

_UNDECODED = {
    AER: "01",
    ACS: "0d",
    ATS: "0f",
    PRI: "13",
    RESIZABLE: "15",
    SECONDARY: "19",
    PASID: "1b",
    L1_SUBSTATES: "1e",
}
"""Ids of extended capabilities in hexadecimal; lspci prints the id (`#19`) of a capability that it cannot decode."""

_HEAD = regex(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (\S.*)")
_HEX = regex(r"[0-9a-f]{2,3}:(?: [0-9a-f]{2}){1,16}")
_CAPABILITY = regex(r"Capabilities: \[([0-9a-f]{2,3})(?: v[0-9]{1,3})?\] (.*)")
_REGISTER = regex(r"([A-Za-z][\w #/-]{0,40}):\s*(.*)")
_ATOMICS = regex(r"(AtomicOpsC(?:ap|tl)):\s*(.*)")
_BIT = regex(r"(?<![\w.)-])([A-Za-z0-9][\w./()-]{0,40}?)([+-])(?=[\s,;)]|$)")
_NEXT = regex(r"\n(?![ \t])")
"""The beginning of a line that is not indented."""

_REVISION = regex(r"\(rev ([0-9a-f]{2})\)")

DENIED = Unknown(Reason.DENIED, "needs root: the rest of the configuration space is shown to root only")
SILENT = Unknown(Reason.NOT_READY, "the function does not respond: its configuration space reads all ones")
BROKEN = Unknown(Reason.UNPARSABLE, "the chain of capabilities is broken or endless")
UNREACHED = Unknown(Reason.NOT_COLLECTED, "no function of this PCI domain shows an extended configuration space")


@dataclass(frozen=True)
class Capability:
    """One PCI capability: its name as printed, its offset in the configuration space, and its registers as text."""

    name: str
    at: int
    registers: Mapping[str, str]


@dataclass(frozen=True)
class PciFunction(Fixed):
    """One PCI function as lspci shows it; `extended` shows whether its extended capabilities could be read."""

    address: str
    title: str
    lines: tuple[str, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    extended: bool = True
    trouble: Unknown | None = None

    @property
    def revision(self) -> str:
        """The PCI function's revision as two hexadecimal digits; empty if lspci prints no revision."""
        match = _REVISION.search(self.title)
        return match[1] if match else ""

    def line(self, name: str) -> str | None:
        """Return the value of a line indented by one tab, such as `Kernel driver in use`; None without such a line."""
        return next((row.partition(": ")[2] for row in self.lines if row.startswith(f"{name}: ")), None)

    def capability(self, name: str) -> Capability | Absent | Unknown:
        """Return the capability whose name begins with `name`; absent if the PCI function has no such capability.

        The result is Unknown if lspci could not read or decode the capability.
        """
        for found in self.capabilities:
            if found.name.startswith(name):
                return found
        if self.trouble is not None:
            return self.trouble
        if name in _UNDECODED:
            if any(found.at >= EXTENDED and found.name == f"#{_UNDECODED[name]}" for found in self.capabilities):
                return Unknown(Reason.NOT_COLLECTED, f"this version of lspci does not decode {name}")
            if not self.extended and not isinstance(self.capability(EXPRESS), Absent):
                return UNREACHED
        return Absent(f"no {name} capability")

    def only(self, capability: str, kinds: tuple[str, ...], *, but: bool = False) -> Absent | Unknown | None:
        """Return why a PCI function of this kind cannot have a property; None if it can have the property.

        Only PCI functions whose kind is in `kinds` have the property; if `but` is true, only functions whose
        kind is not in `kinds` have it.
        """
        found = self.capability(capability)
        if not isinstance(found, Capability):
            return found
        return Absent(f"not defined for a {kind(found.name)}") if any(k in found.name for k in kinds) is but else None

    def register(self, capability: str, name: str) -> str | Absent | Unknown:
        """Return the text of a capability's register; Unknown if this version of lspci does not print the register."""
        found = self.capability(capability)
        if not isinstance(found, Capability):
            return found
        if name in found.registers:
            return found.registers[name]
        return _lacking(found, name) or Unknown(Reason.NOT_COLLECTED, f"this version of lspci prints no {name}")

    def bits(self, capability: str, register: str) -> Mapping[str, bool] | Absent | Unknown:
        """Return the bits of a capability's register by their names."""
        text = self.register(capability, register)
        return bits(text) if isinstance(text, str) else text

    def flag(self, capability: str, register: str, *names: str) -> bool | Absent | Unknown:
        """Return one bit, by the first of its `names` that this version of lspci prints; Unknown if it prints none."""
        found = self.bits(capability, register)
        if isinstance(found, Absent | Unknown):
            return found
        for name in names:
            if name in found:
                return found[name]
        return Unknown(Reason.NOT_COLLECTED, f"this version of lspci prints no {names[0]} in {register}")

    def raised(self, capability: str, register: str) -> tuple[str, ...] | Absent | Unknown:
        """Return the names of a register's set bits, in the register's order; unknown for a register without bits."""
        found = self.bits(capability, register)
        if isinstance(found, Absent | Unknown):
            return found
        if not found:
            return Unknown(Reason.UNPARSABLE, f"no bits in {register}")
        return tuple(name for name, on in found.items() if on)

    def field(self, capability: str, register: str, pattern: str, read: Callable[[str], Value] = str) -> Reading:
        """Return the first group of `pattern` in a register's text, converted by `read`; Unknown if nothing matches."""
        text = self.register(capability, register)
        if not isinstance(text, str):
            return text
        match = re.search(pattern, text)
        if match is None:
            return Unknown(Reason.UNPARSABLE, f"{register} contains no {pattern}: {clean(text, 80)!r}")
        try:
            return read(match[1])
        except Unreadable as error:
            return Unknown(error.reason, str(error))


def _lacking(capability: Capability, name: str) -> Absent | None:
    """Return why a PCI function of this kind lacks a register; None if no reason is known."""
    if not capability.name.startswith(EXPRESS):
        return None
    second = name.endswith("2") or name.startswith("AtomicOps")
    if "(v1)" in capability.name and second:
        return Absent("the first version of PCI Express has no such register")
    if "Root Complex" in capability.name and name.startswith("Lnk"):
        return Absent("no link: the function is part of the root complex")
    if name.startswith("Slt") and "(Slot+)" not in capability.name:
        return Absent("no slot")
    if name == "LnkCtl2" and "LnkSta2" in capability.registers:
        return Absent("function 0 of the device controls the link")
    if name == "AtomicOpsCap" and "AtomicOpsCtl" in capability.registers:
        return Absent("the function has no memory for atomic operations")
    return None


def kind(name: str) -> str:
    """Return the kind of a PCI function, such as `Root Port` from `Express (v2) Root Port (Slot+), MSI 00`."""
    return re.sub(r"^Express (?:\(v[0-9]{1,2}\) )?|(?: \(Slot[+-]\))?(?:, (?:MSI|IntMsgNum) [0-9a-f]{1,4})?$", "", name)


def bits(text: str) -> Mapping[str, bool]:
    """Return the bits in `CorrErr+ NonFatalErr-, FatalErr-` by name; if a name is repeated, its first bit counts."""
    return _known_bits(text) if len(text) <= REGISTER else _bits(text)


def _bits(text: str) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for name, sign in _BIT.findall(text):
        found.setdefault(name, sign == "+")
    return found


_known_bits = lru_cache(maxsize=4096)(_bits)


@lru_cache(maxsize=2)
def functions(answer: str) -> tuple[PciFunction, ...]:
    """Read the output of `lspci -vv`, also with -n, -nn or -D; raises Unreadable on incomplete or other output.

    Several probes of a node read the same output of lspci, so the parsed result is cached.
    """
    found = _by_block(answer) or _parted(rows(answer))
    if not found:
        raise Unreadable("lspci shows no function")
    if not answer.endswith("\n\n"):
        raise Unreadable("incomplete output: no empty line after the last function")
    return found


def listed(answer: str) -> tuple[PciFunction, ...]:
    """Read the output of `lspci` or `lspci -k`; does not detect whether the end of the output is missing."""
    return _parted(rows(answer))


@dataclass
class _Draft:
    """A PCI function of which not all lines have been read yet."""

    address: str
    title: str
    lines: list[str] = field(default_factory=list)
    capabilities: list[tuple[str, int, list[tuple[str, list[str]]]]] = field(default_factory=list)
    inside: list[tuple[str, list[str]]] | None = None
    trouble: Unknown | None = None

    def first(self, row: str) -> None:
        """Read a line that is indented by one tab: a capability, or a property of the PCI function."""
        match = _CAPABILITY.fullmatch(row)
        if match is not None:
            name = match[2].removesuffix(" <?>")
            if "<chain " in name:
                self.trouble = BROKEN
            self.inside = []
            self.capabilities.append((name, int(match[1], 16), self.inside))
        elif row.startswith("!!! Unknown header type 7f"):
            self.trouble = SILENT
        elif "<access denied" in row:
            self.trouble = self.trouble or DENIED
        else:
            self.inside = None
            self.lines.append(row)

    def deeper(self, row: str, depth: int) -> None:
        """Read a line below a capability: a register, or the continuation of the register before it."""
        if self.inside is None:
            return
        registers = self.inside
        atomics = _ATOMICS.fullmatch(row)
        match = _REGISTER.fullmatch(row) if depth == 2 else None
        if atomics is not None and depth > 2 and registers:
            registers.insert(-1, (atomics[1], [atomics[2]]))
        elif match is not None:
            registers.append((match[1], [match[2]]))
        elif registers:
            registers[-1][1].append(row)

    def made(self, extended: bool) -> PciFunction:
        """Return the complete PCI function; if a capability has a register twice, the first one counts."""
        found = []
        for name, at, registers in self.capabilities:
            table: dict[str, str] = {}
            for register, texts in registers:
                table.setdefault(register, " ".join(texts))
            found.append(Capability(name, at, table))
        # `rev ff` with capabilities is a revision; without any capability, lspci read all ones.
        trouble = SILENT if "(rev ff)" in self.title and not found else self.trouble
        return PciFunction(self.address, self.title, tuple(self.lines), tuple(found), extended, trouble)


@dataclass(frozen=True, slots=True)
class _Block:
    """A PCI function that was read by itself; `far` shows whether it has extended capabilities.

    `near` is the function if those of no function of its PCI domain could be read.
    """

    function: PciFunction
    near: PciFunction
    far: bool


def _by_block(answer: str) -> tuple[PciFunction, ...]:
    """Read an output of which each block of lines is one PCI function; empty for any other output.

    Most functions of a node have the same block on all nodes of a rack, which is read once.
    """
    *texts, end = answer.split("\n\n")
    if end or any(len(text) > BLOCK for text in texts):
        return ()
    blocks = [block for text in texts if (block := _block(text)) is not None]
    if len({block.function.address for block in blocks}) < len(texts):
        return ()
    seen = {_domain(block.function.address) for block in blocks if block.far}
    return tuple(each.function if _domain(each.function.address) in seen else each.near for each in blocks)


@lru_cache(maxsize=512)
def _block(text: str) -> _Block | None:
    """Read a block of lines; None if it is not exactly one PCI function."""
    if _NEXT.search(text) or text[:1].isspace():
        return None
    try:
        (function,) = _parted([*text.split("\n")])
    except (Unreadable, ValueError):
        return None
    far = any(each.at >= EXTENDED for each in function.capabilities)
    return _Block(replace(function, extended=True), replace(function, extended=False), far)


def _parted(lines: list[str]) -> tuple[PciFunction, ...]:
    drafts: dict[str, _Draft] = {}
    last: _Draft | None = None
    for row in lines:
        bare = row.lstrip(" \t")
        # A tab is eight columns; pasted output may have blanks in place of tabs.
        depth = (len(row[: len(row) - len(bare)].expandtabs(8)) + 7) // 8
        if not bare or (depth == 0 and _HEX.fullmatch(bare.rstrip())):
            continue
        if depth == 0:
            last = _headed(row)
            if drafts.setdefault(last.address, last) is not last:
                raise Unreadable(f"{last.address} is listed twice")
        elif last is None:
            raise Unreadable(f"a line before any function: {clean(row, 80)!r}")
        elif depth == 1:
            last.first(bare.rstrip())
        else:
            last.deeper(bare.rstrip(), depth)
    seen = {_domain(d.address) for d in drafts.values() for _, at, _ in d.capabilities if at >= EXTENDED}
    return tuple(draft.made(_domain(address) in seen) for address, draft in drafts.items())


def _headed(row: str) -> _Draft:
    match = _HEAD.fullmatch(row)
    if match is None:
        raise Unreadable(f"not a PCI function: {clean(row, 80)!r}")
    return _Draft(f"{match[1] or '0000'}:{match[2]}", match[3])


def _domain(address: str) -> str:
    return address.rpartition(":")[0].rpartition(":")[0]


_SIZES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}


def size(text: str) -> float:
    """Convert a size such as `256MB` to GiB; by MB, lspci means 2^20 bytes."""
    match = re.fullmatch(r"([0-9]{1,6})([KMGTP]?B)", text)
    if match is None:
        raise Unreadable(f"not a size: {clean(text, 40)!r}")
    return int(match[1]) * _SIZES[match[2]] / (1 << 30)


def resizable(function: PciFunction) -> Iterator[tuple[int, float, tuple[str, ...]]]:
    """Yield each resizable BAR: its number, its current size in GiB, and the possible sizes as lspci spells them."""
    found = function.capability(RESIZABLE)
    for name, text in found.registers.items() if isinstance(found, Capability) else ():
        match = re.fullmatch(r"current size: (\S{1,12}), supported:((?: [0-9]{1,6}[KMGTP]?B){0,64})", text)
        number = re.fullmatch(r"BAR ([0-5])", name)
        if number is None or match is None:
            raise Unreadable(f"not a resizable BAR: {clean(f'{name}: {text}', 80)!r}")
        yield int(number[1]), size(match[1]), tuple(match[2].split())
