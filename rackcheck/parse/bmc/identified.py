"""Identify the machine that a BMC manages, by comparing values of several resources with a table of machines."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Unknown, clean
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.host import hosts
from rackcheck.parse.bmc.item import gather, members

LINKS = {
    "root": "root",
    "system": "Systems/*",
    "baseboard": "Systems/*",
    "chassis": "Chassis/*",
    "cpu": "Systems/*/Processors/*",
    "gpu": "Systems/*/Processors/*",
}
"""Kinds of resources whose values identify a machine, and their paths; `baseboard` is a system other than the host."""

COUNT = "Count"
"""The name in a `Sign` that stands for the number of resources of one kind; all other names are property names.

A number of resources that differs from the table does not exclude a machine: a resource may be broken, or listed twice.
"""

ENOUGH = 2
"""Minimum number of kinds of resources that must have a matching value.

One kind is not enough, because two kinds of machine may have a board with the same name.
"""


@dataclass(frozen=True)
class Sign:
    """A property of one kind of resource, and the values (normalised by `fold`) that identify a machine."""

    kind: str
    name: str
    words: frozenset[str]

    @property
    def place(self) -> tuple[str, str]:
        """The kind of the resource, and the name of the property to read from it."""
        return self.kind, self.name


@dataclass(frozen=True)
class KnownMachine:
    """A machine of the table: values in `names` name the machine, values in `fits` only support a match."""

    name: str
    names: tuple[Sign, ...]
    fits: tuple[Sign, ...]
    must: frozenset[tuple[str, str]]
    """Properties of a machine that must have one of the values in the table of machines.

    A different value excludes the machine; if the property could not be read, the match is uncertain.
    """

    against: frozenset[tuple[str, str]]
    """Properties that exclude the machine if they have a different value, but not if they are missing.

    A property in neither `must` nor `against` may have a different value, because it may name a part or a variant.
    """

    within: str
    """Name of the table's entry for this machine's wider family, which also matches this machine; empty if none."""

    @property
    def signs(self) -> tuple[Sign, ...]:
        """All identifying values of the machine, `names` and `fits`."""
        return (*self.names, *self.fits)


@dataclass
class ReportedIdentity:
    """Values that a BMC reports to identify its machine, and why some of them could not be read.

    `values` has the values of each property, and `silent` the reason why a property could not be read. `unread` has the
    reason why resources of one kind could not be read.
    """

    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    silent: dict[tuple[str, str], Unknown] = field(default_factory=dict)
    unread: dict[str, Unknown] = field(default_factory=dict)

    def mute(self, sign: Sign) -> Unknown | None:
        """Why the property of `sign` may have more values than were read; None if all were read."""
        return self.unread.get(sign.kind) or self.silent.get(sign.place)

    def texts(self, sign: Sign) -> list[str]:
        """Return the distinct values that the BMC reports for the property of `sign`, in their original spelling.

        They are sorted, because a BMC may list its resources in any order.
        """
        return sorted(set(self.values.get(sign.place, ())))

    def fitting(self, sign: Sign) -> list[str]:
        """Return the reported values of the property of `sign` that are among its identifying values."""
        return [value for value in self.texts(sign) if fold(value) in sign.words]

    def other(self, sign: Sign) -> list[str]:
        """Return the reported values of the property of `sign` that are not among its identifying values."""
        return [value for value in self.texts(sign) if fold(value) not in sign.words]


def table(raw: Mapping[str, Any]) -> tuple[KnownMachine, ...]:
    """Read the table of machines."""
    return tuple(
        KnownMachine(
            row["name"],
            tuple(_signs(row["names"])),
            tuple(_signs(row.get("fits", {}))),
            frozenset(_place(name) for name in row.get("must", ())),
            frozenset(_place(name) for name in row.get("against", ())),
            row.get("within", ""),
        )
        for row in raw["machines"]
    )


def _signs(raw: Mapping[str, list[str]]) -> Iterator[Sign]:
    for name, words in raw.items():
        yield Sign(*_place(name), frozenset(fold(str(word)) for word in words))


def _place(name: str) -> tuple[str, str]:
    kind, _, prop = name.partition(".")
    return kind, prop


def fold(text: str) -> str:
    """Remove letter case and blanks: `DGX  H100 ` and `dgxh100` become identical."""
    return "".join(text.casefold().split())


def identify(known: Iterable[KnownMachine], docs: Documents) -> tuple[Reading, Reading]:
    """Return the name of the machine that a BMC manages, and the evidence for it.

    A machine is identified if one of its `names` matches, a value of another kind of resource (in `names` or `fits`)
    matches, and no value excludes the machine. If both a machine and its wider family match, the result is the machine.
    If no machine of the table matches, or several match, the result is absent. If a value that could change the result
    is missing or could not be read, the result is unknown.
    """
    machines = tuple(known)
    identity = gathered(docs, machines)
    rows = [(machine, *_judge(machine, identity)) for machine in machines]
    wider = {machine.within for machine, fit, _ in rows if fit}
    sure = [machine for machine, fit, _ in rows if fit and machine.name not in wider]
    doubts = [(machine, why) for machine, _, why in rows if why is not None]
    if sure:  # then a machine whose `names` do not match is not a candidate, nor is the wider family
        settled = {*wider, *(machine.name for machine in sure)}
        doubts = [(m, why) for m, why in doubts if m.name not in settled and any(map(identity.fitting, m.names))]
    for machine, why in doubts:
        lost = Unknown(why.reason, f"the machine may be {machine.name}: {clean(why.detail)}")
        return lost, lost
    if len(sure) == 1:
        return sure[0].name, tuple(_evidence(sure[0], identity))
    hints = sure or [machine for machine, _, _ in rows if any(map(identity.fitting, machine.names))]
    listed = tuple(f"{machine.name}: {each}" for machine in hints for each in _evidence(machine, identity))
    several = " or ".join(machine.name for machine in sure)
    return Absent(f"several known machines match: {several}" if sure else "no known machine matches"), listed


def _judge(machine: KnownMachine, identity: ReportedIdentity) -> tuple[bool, Unknown | None]:
    """Return whether the reported values match `machine`, and the reason if this is uncertain."""
    if any(identity.other(sign) for sign in machine.signs if sign.place in machine.must | machine.against):
        return False, None
    named = any(map(identity.fitting, machine.names))
    kinds = {sign.kind for sign in machine.signs if identity.fitting(sign)}
    silent = [(sign, why) for sign in machine.signs if (why := identity.mute(sign)) is not None]
    if named and len(kinds) >= ENOUGH:
        doubt = next((why for sign, why in silent if sign.place in machine.must), None)
        return doubt is None, doubt
    may_be_named = named or any(sign in machine.names for sign, _ in silent)
    if may_be_named and len(kinds | {sign.kind for sign, _ in silent}) >= ENOUGH:
        return False, silent[0][1]
    return False, None


def _evidence(machine: KnownMachine, identity: ReportedIdentity) -> Iterator[str]:
    for sign in machine.signs:
        words = identity.fitting(sign)
        if words:
            yield _sentence(sign, words)
    for sign in machine.signs:
        words = identity.other(sign) if sign.place in machine.must | machine.against else []
        if words:
            yield f"against it: {_sentence(sign, words)}"


def _sentence(sign: Sign, words: list[str]) -> str:
    if sign.name == COUNT:
        return f"{LINKS[sign.kind]} has {words[0]} {sign.kind.upper()}s"
    place = "the root's " if sign.kind == "root" else f"{LINKS[sign.kind]}."
    of = f" of a {sign.kind.upper()}" if sign.kind in ("cpu", "gpu") else ""
    return f"{place}{sign.name}{of} is {', '.join(repr(clean(word, 80)) for word in words[:8])}"


def gathered(docs: Documents, known: Iterable[KnownMachine]) -> ReportedIdentity:
    """Collect from the BMC's resources the values of all properties in the table of machines."""
    identity = ReportedIdentity()
    asked: dict[str, set[str]] = {kind: set() for kind in LINKS}
    for sign in (sign for machine in known for sign in machine.signs):
        asked[sign.kind].add(sign.name)
    found = _resources(docs, identity)
    for kind, names in asked.items():
        for name in sorted(names):
            if name == COUNT:
                identity.values[kind, name] = [str(len(found[kind]))]
                continue
            for resource in found[kind]:
                reading = resource.read(name).reading
                if isinstance(reading, str):
                    identity.values.setdefault((kind, name), []).append(reading)
                elif isinstance(reading, Unknown):
                    why = Unknown(reading.reason, f"{resource.uri}: {clean(reading.detail, 100)}")
                    identity.silent.setdefault((kind, name), why)
    return identity


def _resources(docs: Documents, identity: ReportedIdentity) -> dict[str, list[Resource]]:
    """Return the resources of each kind, and note in `identity` why a list may be incomplete."""
    root, no_root = gather(docs.at(""))
    systems, trouble = members(docs, "Systems")
    main, no_host = hosts(docs)
    chassis, no_chassis = members(docs, "Chassis")
    processors: list[Resource] = []
    unread = trouble
    for system in systems:
        more, cut = gather(docs.at("Processors/*", system))
        processors, unread = processors + more, unread or cut
    types = [(each, each.read("ProcessorType").reading) for each in processors]
    unread = unread or next((kind for _, kind in types if isinstance(kind, Unknown)), None)
    lost = {"root": no_root, "system": no_host, "baseboard": trouble, "chassis": no_chassis}
    lost |= {"cpu": unread, "gpu": unread}
    identity.unread |= {kind: why for kind, why in lost.items() if why is not None}
    places = {system.uri for system in main}
    return {
        "root": root,
        "system": main,
        "baseboard": [system for system in systems if main and system.uri not in places],
        "chassis": chassis,
        "cpu": [each for each, kind in types if kind == "CPU" and _fitted(each)],
        "gpu": [each for each, kind in types if kind == "GPU" and _fitted(each)],
    }


def _fitted(resource: Resource) -> bool:
    return resource.read("Status.State").reading != "Absent"
