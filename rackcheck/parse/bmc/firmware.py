"""The function of each component in a BMC's firmware inventory, and its role: whether it runs, or is a copy."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackcheck.model.by_part import Fixed, of_part
from rackcheck.model.documents import Documents, Missing
from rackcheck.model.fact import Absent, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN, text_of
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource

INVENTORY = "UpdateService/FirmwareInventory"
"""Path of the collection of firmware components."""

OTHER = "other"
"""The function of a firmware component that matches no row of the table."""

INSTALLED = "installed"
REPEATED = "repeated"
"""The role of a duplicate entry for a component that is listed as installed (`Current-...` beside `Installed-...`)."""

TEXTS = ("Id", "Name", "Description", "SoftwareId")
PART = ("Id", "Name", "Model", "ProcessorType", "SwitchType")
"""Properties of the part that a component links to, which describe the part."""

WORDS = ("words", "more")
"""Patterns of one row of the table of firmware: words of recorded machines, and words that no recorded machine has."""

SENTENCES = frozenset({"Description"})
"""Properties that may hold a sentence; they are used only if nothing else matches."""

NAME = 4
"""Maximum number of words of a description that counts as a name: `BMC image`, `Universal Backplane Manager`."""

LONG = 200
"""Maximum number of characters read of one text or link."""

MOST = 64
"""Maximum number of links, and of objects in Oem, that are read of one component."""


_PARTED = (regex(r"(?<=[a-z])(?=[A-Z])"), regex(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})"))


@dataclass(frozen=True)
class SignRow:
    """One row of the table of firmware: a function or a role, and the words, links and states that identify it."""

    name: str
    words: re.Pattern[str]
    links: re.Pattern[str] | None = None
    states: frozenset[str] = frozenset()
    help: str = ""


@dataclass(frozen=True)
class SignTable(Fixed):
    """The rows that determine a component's function, and the rows that determine its role.

    In `functions` and in `roles`, the first row that matches the component is used.
    """

    functions: tuple[SignRow, ...]
    roles: tuple[SignRow, ...]
    unsettled: frozenset[str]
    """States in which a component does not run; if no row of `roles` matches such a component, its role is unknown."""

    single: frozenset[str]
    """Functions whose components have separate facts elsewhere, or are not firmware."""

    parts: Mapping[str, frozenset[str]]
    """Collections of parts whose own resources describe them, and the functions that firmware of such a part may have.

    The parts that a component links to are used if nothing else matches.
    """

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
    possible: frozenset[str] | None = None
    """The functions that it may have if `function` is unknown; None if it may have any."""

    @property
    def version(self) -> Sourced:
        """The running version; unknown if the component's role is unknown, absent if the component is absent."""
        return self.read_version(text_of)

    def read_version(self, reader: Callable[[object], str]) -> Sourced:
        """Return the running version as `version` does, read with `reader`."""
        sourced = self.resource.read("Version", reader)
        return sourced if isinstance(self.role, str) else Sourced(self.role, sourced.source)


def table(raw: Mapping[str, Any]) -> SignTable:
    """Read the table of the functions and roles of firmware components."""
    return SignTable(
        tuple(_row(name, row) for name, row in raw["functions"].items()),
        tuple(_row(name, row) for name, row in raw["roles"].items()),
        frozenset(raw["unsettled"]),
        frozenset(raw["scalar"]),
        {name: frozenset(functions) for name, functions in raw["parts"].items()},
    )


def _row(name: str, row: Mapping[str, Any]) -> SignRow:
    return SignRow(
        name,
        regex(rf"(?<![a-z])(?:{'|'.join(row[name] for name in WORDS if name in row)})(?![a-z])"),
        regex(row["links"]) if "links" in row else None,
        frozenset(row.get("states", ())),
        row.get("help", ""),
    )


def components(
    known: SignTable, resources: Iterable[tuple[str, Resource]], docs: Documents | None = None
) -> list[FirmwareComponent]:
    """Return each component with its function and role; `resources` are pairs of a name and a component's resource.

    If `docs` is given, a component that its own texts do not identify is identified by the part that it links to.
    """
    keyed = list(resources)
    installed = {rest for _, r in keyed for word, rest in [_prefix(r)] if word == INSTALLED}
    return [_component(known, key, r, role(known, r, installed), docs) for key, r in keyed]


def _component(
    known: SignTable, key: str, resource: Resource, role: Reading, docs: Documents | None
) -> FirmwareComponent:
    name, by = function(known, resource, docs)
    possible = possible_functions(known, resource, docs) if isinstance(name, Unknown) else None
    return FirmwareComponent(key, resource, name, by, role, possible)


def function(known: SignTable, component: Resource, docs: Documents | None = None) -> tuple[Reading, tuple[str, ...]]:
    """Return the function of a firmware component, and the evidence for it.

    The evidence is tried in this order: its names and links, the part that it links to, a short description. If no row
    of the table matches, the function is `other`, or unknown if the component has no readable name, or if the
    part that it links to could not be read.
    """
    own = _own_function(known, component)
    if own is not None:
        return own
    texts = dict(_texts(component, TEXTS))
    parts, lost = parts_of(known, component, docs)
    for part in parts:
        found = _by_part(known, part)
        if found is not None:
            return found
    for row in known.functions if lost is None and _short(component) else ():
        if by := _hits(row, texts):
            return row.name, tuple(by.values())
    name = component.read("Name").reading
    return (name if isinstance(name, Unknown) else lost or OTHER), ()


@of_part
def _own_function(known: SignTable, component: Resource) -> tuple[str, tuple[str, ...]] | None:
    texts, links = dict(_texts(component, TEXTS)), tuple(_links(component))
    for row in known.functions:
        by = _hits(row, texts)
        linked = [f"RelatedItem: {clean(uri)}" for uri in links if row.links is not None and row.links.search(uri)]
        if linked or any(name not in SENTENCES for name in by):
            return row.name, (*by.values(), *linked)
    return None


def _short(component: Resource) -> bool:
    """Return whether the description of a component is a name and not a sentence, which may name other parts too."""
    value = component.body.get("Description")
    return isinstance(value, str) and len(value.split()) <= NAME


def _hits(row: SignRow, texts: Mapping[str, str]) -> dict[str, str]:
    return {name: f"{name}: {hit[0].strip()}" for name, text in texts.items() if (hit := row.words.search(text))}


def _by_part(known: SignTable, part: Resource) -> tuple[str, tuple[str, ...]] | None:
    texts = {name: f"{text} switch" if name == "SwitchType" else text for name, text in _texts(part, PART)}
    for row in known.functions:
        if by := _hits(row, texts):
            return row.name, tuple(f"RelatedItem: {clean(part.uri)} {each}" for each in by.values())
    return None


def parts_of(known: SignTable, component: Resource, docs: Documents | None) -> tuple[list[Resource], Unknown | None]:
    """Return the parts that a component links to and whose resources describe them, and why one could not be read."""
    found: list[Resource] = []
    lost: Unknown | None = None
    for uri in _links(component) if docs is not None else ():
        if docs is None or _collection(known, uri) is None:
            continue
        part = _part(docs, uri, component)
        if part.unread is None:
            found.append(part)
        else:
            lost = lost or Unknown(part.unread.reason, f"{part.uri}: {part.unread.detail}")
    return found, lost


def _collection(known: SignTable, uri: str) -> str | None:
    """Return the collection of a part whose own resource describes it, by the part's URI; None for any other URI."""
    *_, name, last = uri.split("/") if uri.count("/") > 1 else ("", "")
    return name if name in known.parts and last else None


def _part(docs: Documents, uri: str, component: Resource) -> Resource:
    """Return a part that a component links to; if the link is invalid or was not followed, the reason is its trouble.

    Captures of earlier versions may not contain the part.
    """
    try:
        return docs.fetched(uri, component)
    except Unreadable as error:
        return Resource(uri, {}, Unknown(error.reason, str(error)))
    except Missing:
        return Resource(uri, {}, Unknown(Reason.NOT_COLLECTED, "not fetched"))


def possible_functions(known: SignTable, component: Resource, docs: Documents | None) -> frozenset[str] | None:
    """Return the functions that a component may have, by the parts that it links to and its description; None: any.

    A part that could not be read may be any part of its collection: a PCIe device is no power supply.
    """
    if isinstance(component.read("Name").reading, Unknown):
        return None
    names = {_collection(known, uri) for uri in _links(component)} if docs is not None else set()
    found = [known.parts[name] for name in names if name is not None]
    described = {row.name for row in known.functions if _hits(row, dict(_texts(component, TEXTS)))}
    return frozenset(described.union(*found))


def role(known: SignTable, component: Resource, installed: Collection[str] = ()) -> Reading:
    """Return the role of a component.

    `installed` has the Ids in the inventory that begin with `Installed-`, without this prefix. A component counts as
    running unless its name or state shows otherwise, because a firmware inventory lists what runs. If the name or state
    of a component cannot be read, it may be a copy that does not run, so its role is unknown. A component whose state
    is Absent does not exist, so its role is absent.
    """
    word, rest = _prefix(component)
    if word == "current" and rest in installed:
        return REPEATED  # by its name alone, also if it is listed and does not exist
    return _own_role(known, component)


@of_part
def _own_role(known: SignTable, component: Resource) -> Reading:
    if component.unread is not None:
        return component.unread
    if _prefix(component)[0] in (INSTALLED, "current"):
        return INSTALLED
    name, state = component.read("Name").reading, component.read("Status.State").reading
    texts = [
        t
        for sign, t in _texts(component, TEXTS)
        if sign in ("Id", "Name") or (sign == "Description" and _one(component))
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
    """Return why the components with the function `name` may be incomplete; an empty list counts as incomplete.

    A component of unknown function makes the lists of those functions incomplete that it may have.
    """
    odd = next(
        (c for c in found if isinstance(c.function, Unknown) and (c.possible is None or name in c.possible)), None
    )
    if odd is not None:
        return Unknown(Reason.NOT_COLLECTED, f"the function of {clean(odd.key, 60)} is unknown: {odd.function}")
    if not any(of(found, name)):
        return Unknown(Reason.NOT_COLLECTED, f"none of {len(found)} components matches {name}")
    return None


def _texts(component: Resource, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts that describe a component or a part, by property name, in lower case.

    If a text has `RunTogether` words or `BMCImage` words, further lines repeat the text with these words split.
    """
    signs: list[tuple[str, object]] = [(name, component.body.get(name)) for name in names]
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
        spelt = dict.fromkeys((text, *(parting.sub(" ", text) for parting in _PARTED)))
        yield name, "\n".join(re.sub(r"[^a-z0-9]+", " ", each.lower()).strip() for each in spelt)


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
