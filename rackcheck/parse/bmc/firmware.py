"""The function of each component in a BMC's firmware inventory, and its role: whether it runs, or is a copy."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackcheck.model.fact import Absent, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN, text_of
from rackcheck.model.resource import Resource

OTHER = "other"
"""The function of a firmware component that matches no row of the table."""

INSTALLED = "installed"
REPEATED = "repeated"
"""The role of a duplicate entry for a component that is listed as installed (`Current-...` beside `Installed-...`)."""

TEXTS = ("Id", "Name", "Description", "SoftwareId")
LONG = 200
"""Maximum number of characters read of one text or link."""

MOST = 64
"""Maximum number of links, and of objects in Oem, that are read of one component."""


@dataclass(frozen=True)
class SignRow:
    """One row of the table of firmware: a function or a role, and the words, links and states that identify it."""

    name: str
    words: re.Pattern[str]
    links: re.Pattern[str] | None = None
    states: frozenset[str] = frozenset()
    help: str = ""


@dataclass(frozen=True)
class SignTable:
    """The rows that determine a component's function, and the rows that determine its role.

    In `functions` and in `roles`, the first row that matches the component is used.
    """

    functions: tuple[SignRow, ...]
    roles: tuple[SignRow, ...]
    unsettled: frozenset[str]
    """States in which a component does not run; if no row of `roles` matches such a component, its role is unknown."""

    single: frozenset[str]
    """Functions whose components have separate facts elsewhere, or are not firmware."""

    @property
    def counted(self) -> tuple[SignRow, ...]:
        """The rows of all functions that are not in `single`; for each of these functions, a fact lists what runs."""
        return tuple(row for row in self.functions if row.name not in self.single)


@dataclass(frozen=True)
class FirmwareComponent:
    """One firmware component: its function and the evidence for it, and its role, which shows whether it runs."""

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
    """Read the table of the functions and roles of firmware components."""
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
    """Return each component with its function and role; `resources` are pairs of a name and a component's resource."""
    keyed = list(resources)
    installed = {rest for _, r in keyed for word, rest in [_prefix(r)] if word == INSTALLED}
    return [FirmwareComponent(key, r, *function(known, r), role(known, r, installed)) for key, r in keyed]


def function(known: SignTable, component: Resource) -> tuple[Reading, tuple[str, ...]]:
    """Return the function of a firmware component, and the evidence for it.

    If no row of the table matches, the function is `other`, or unknown if the component has no readable name.
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
    """Return the role of a component.

    `installed` has the Ids in the inventory that begin with `Installed-`, without this prefix. A component counts as
    running unless its name or state shows otherwise, because a firmware inventory lists what runs. If the name or state
    of a component cannot be read, it may be a copy that does not run, so its role is unknown. A component whose state
    is Absent does not exist, so its role is absent.
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
        return Unknown(
            Reason.NOT_COLLECTED, f"Status.State is {state}, and its Id, Name and Description do not show its purpose"
        )
    if isinstance(name, Unknown):
        return name
    return state if isinstance(state, Unknown) and "Status" in component.body else INSTALLED


def of(found: Iterable[FirmwareComponent], name: str) -> Iterator[FirmwareComponent]:
    """Yield the components that have the function `name`, and that run, are absent, or may run."""
    return (c for c in found if c.function == name and (c.role == INSTALLED or not isinstance(c.role, str)))


def gap(found: list[FirmwareComponent], name: str) -> Unknown | None:
    """Return why the components with the function `name` may be incomplete; an empty list counts as incomplete."""
    odd = next((c for c in found if isinstance(c.function, Unknown)), None)
    if odd is not None:
        return Unknown(Reason.NOT_COLLECTED, f"the function of {clean(odd.key, 60)} is unknown: {odd.function}")
    if not any(of(found, name)):
        return Unknown(Reason.NOT_COLLECTED, f"none of {len(found)} components matches {name}")
    return None


def _texts(component: Resource) -> Iterator[tuple[str, str]]:
    """Yield the texts that describe a component, by property name, in lower case.

    If a text has `RunTogether` words, a second line repeats the text with these words split.
    """
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
    """Return whether a component's description is a single word, as a name is, and not a sentence."""
    value = component.body.get("Description")
    return isinstance(value, str) and len(value.split()) == 1


def _prefix(component: Resource) -> tuple[str, str]:
    word, _, rest = component.id.partition("-")
    return word.lower(), rest
