"""What a component of a BMC's firmware inventory is for, and whether it is the running one."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackcheck.model.fact import Absent, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN, text_of
from rackcheck.model.resource import Resource

OTHER = "other"
"""The function of a component that none of the known signs fits."""

INSTALLED = "installed"
REPEATED = "repeated"
"""The role of a duplicate entry for a component that is listed as installed (`Current-...` beside `Installed-...`)."""

TEXTS = ("Id", "Name", "Description", "SoftwareId")
LONG = 200
"""Characters of one sign that are read."""

MOST = 64
"""Links and Oem parts of one component that are read."""


@dataclass(frozen=True)
class SignRow:
    """A function or a role, and its signs."""

    name: str
    words: re.Pattern[str]
    links: re.Pattern[str] | None = None
    states: frozenset[str] = frozenset()
    help: str = ""


@dataclass(frozen=True)
class SignTable:
    """Functions and roles, the deciding ones first."""

    functions: tuple[SignRow, ...]
    roles: tuple[SignRow, ...]
    unsettled: frozenset[str]
    """States of a component that does not run, though no word states its purpose."""

    single: frozenset[str]
    """Functions that have facts of their own elsewhere, or are no firmware."""

    @property
    def counted(self) -> tuple[SignRow, ...]:
        """Functions whose installed components are facts by function."""
        return tuple(row for row in self.functions if row.name not in self.single)


@dataclass(frozen=True)
class FirmwareComponent:
    """One component, its function and the signs for it, and whether it runs."""

    key: str
    resource: Resource
    function: Reading
    by: tuple[str, ...]
    role: Reading

    @property
    def version(self) -> Sourced:
        """The running version; unknown if the component's role is unknown, absent if the component is absent."""
        sourced = self.resource.read("Version")
        return sourced if isinstance(self.role, str) else Sourced(self.role, sourced.source)


def table(raw: Mapping[str, Any]) -> SignTable:
    """Read the table of functions and roles."""
    return SignTable(
        tuple(_row(name, row) for name, row in raw["functions"].items()),
        tuple(_row(name, row) for name, row in raw["roles"].items()),
        frozenset(raw["unsettled"]),
        frozenset(raw["scalar"]),
    )


def _row(name: str, row: Mapping[str, Any]) -> SignRow:
    return SignRow(
        name,
        re.compile(rf"(?<![a-z])(?:{row['words']})(?![a-z])"),
        re.compile(row["links"]) if "links" in row else None,
        frozenset(row.get("states", ())),
        row.get("help", ""),
    )


def components(known: SignTable, resources: Iterable[tuple[str, Resource]]) -> list[FirmwareComponent]:
    """Return each component with its function and role; `resources` come with their keys."""
    keyed = list(resources)
    installed = {rest for _, r in keyed for word, rest in [_prefix(r)] if word == INSTALLED}
    return [FirmwareComponent(key, r, *function(known, r), role(known, r, installed)) for key, r in keyed]


def function(known: SignTable, component: Resource) -> tuple[Reading, tuple[str, ...]]:
    """Return the function of a component, and the signs for it.

    It is `other` where no known sign fits, and unknown where the component has no name.
    """
    texts, links = dict(_texts(component)), tuple(_links(component))
    for row in known.functions:
        by = [f"{name}: {hit[0].strip()}" for name, text in texts.items() if (hit := row.words.search(text))]
        by += [f"RelatedItem: {clean(uri)}" for uri in links if row.links is not None and row.links.search(uri)]
        if by:
            return row.name, tuple(by)
    name = component.read("Name").reading
    return (name if isinstance(name, Unknown) else OTHER), ()


def role(known: SignTable, component: Resource, installed: Collection[str] = ()) -> Reading:
    """Return whether a component runs; `installed` are the names after `Installed-` in this inventory.

    A component runs unless a sign shows otherwise: an inventory of firmware lists what runs. If its name or state
    cannot be read, it may be a copy; one of the state Absent is not there.
    """
    if component.unread is not None:
        return component.unread
    word, rest = _prefix(component)
    if word in (INSTALLED, "current"):
        return REPEATED if word == "current" and rest in installed else INSTALLED
    name, state = component.read("Name").reading, component.read("Status.State").reading
    texts = [
        t for sign, t in _texts(component) if sign in ("Id", "Name") or (sign == "Description" and _one(component))
    ]
    for row in known.roles:
        if state in row.states or any(row.words.search(text) for text in texts):
            return row.name
    if state == "Absent":
        return Absent("Status.State is Absent")
    if state in known.unsettled:
        return Unknown(Reason.NOT_COLLECTED, f"Status.State is {state}, and no word says what it is kept for")
    if isinstance(name, Unknown):
        return name
    return state if isinstance(state, Unknown) and "Status" in component.body else INSTALLED


def of(found: Iterable[FirmwareComponent], name: str) -> Iterator[FirmwareComponent]:
    """Yield the components of one function that run, are absent, or may run."""
    return (c for c in found if c.function == name and (c.role == INSTALLED or not isinstance(c.role, str)))


def gap(found: list[FirmwareComponent], name: str) -> Unknown | None:
    """Return why the components of one function may be incomplete; an empty list is no proof that there is none."""
    odd = next((c for c in found if isinstance(c.function, Unknown)), None)
    if odd is not None:
        return Unknown(Reason.NOT_COLLECTED, f"{clean(odd.key, 60)} does not say what it is: {odd.function}")
    if not any(of(found, name)):
        return Unknown(Reason.NOT_COLLECTED, f"none of {len(found)} components is known as {name}")
    return None


def _texts(component: Resource) -> Iterator[tuple[str, str]]:
    """Yield every text sign by name, in lower case: as it stands, and with its `RunTogether` words split."""
    signs: list[tuple[str, object]] = [(name, component.body.get(name)) for name in TEXTS]
    if not isinstance(component.body.get("Id"), str):
        signs[0] = ("Id", component.id)
    oem = component.body.get("Oem")
    parts = list(oem.values())[:MOST] if isinstance(oem, Mapping) else []
    signs += [("Oem.DeviceContext", part.get("DeviceContext")) for part in parts if isinstance(part, Mapping)]
    for name, value in signs:
        try:
            text = text_of(value)[:LONG]
        except Unreadable:
            continue
        parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
        yield name, "\n".join(re.sub(r"[^a-z0-9]+", " ", t.lower()).strip() for t in dict.fromkeys((text, parted)))


def _links(component: Resource) -> Iterator[str]:
    related = component.body.get("RelatedItem")
    for item in related[:MOST] if isinstance(related, list) else ():
        link = item.get("@odata.id") if isinstance(item, Mapping) else None
        if isinstance(link, str) and BROKEN not in link:
            yield link[:LONG].replace("#", "")


def _one(component: Resource) -> bool:
    """Return whether the description is one word, as a name is, and not a sentence on anything."""
    value = component.body.get("Description")
    return isinstance(value, str) and len(value.split()) == 1


def _prefix(component: Resource) -> tuple[str, str]:
    word, _, rest = component.id.partition("-")
    return word.lower(), rest
