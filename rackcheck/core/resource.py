"""Redfish resources: links followed from the service root, pages gathered once, odd bodies survived."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.core.fact import Reason, Unknown, Unreadable, Value, clean
from rackcheck.core.read import Sourced

ROOT = "/redfish/v1"
PAGES = 200
"""Pages of one collection that are read at most."""

MEMBERS = 10_000
"""Members of one collection that are followed at most."""

Body = Mapping[str, Any]

_BLANK = frozenset(
    {
        *("", "-", "--", "-*", "null", "none", "undefined", "unknown", "n/a", "na", "not available", "not specified"),
        *("not present", "version not available", "to be filled by o.e.m.", "default string"),
    }
)
"""Texts that BMCs give for a value they do not have (seen in the recorded trees and in field reports)."""


def said(value: object) -> str:
    """Give a text that says something; `null`, `N/A` and their like raise Unreadable."""
    if not isinstance(value, str):
        raise Unreadable(
            f"not a text: {clean(repr(value))}", Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
        )
    if value.strip().casefold() in _BLANK:
        raise Unreadable(f"says {value.strip()!r}", Reason.NOT_COLLECTED)
    return value.strip()


def measured(value: object) -> float:
    """Give a number, also from a text that is one (metric reports); null is not a zero."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?", value.strip(" \t\r\n")):
        return float(value.strip(" \t\r\n"))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable(
            f"not a number: {clean(repr(value))}",
            Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE,
        )
    if not -1e15 < value < 1e15:
        raise Unreadable("a number beyond any measurement")
    return float(value)


def truth(value: object) -> bool:
    """Give a JSON true or false; null is neither."""
    if not isinstance(value, bool):
        raise Unreadable(
            f"neither true nor false: {clean(repr(value))}",
            Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE,
        )
    return value


def same_place(uri: str) -> str:
    """Spell a URI the one way we compare it: no fragment, no slash at the end."""
    return uri.partition("#")[0].rstrip("/") or "/"


def inside(uri: str, *names: str) -> str:
    """Spell the place of a property inside a body: `/redfish/v1/Chassis/1/Power#/PowerSupplies/0`."""
    return "/".join((uri if "#" in uri else f"{uri}#", *names))


@dataclass(frozen=True)
class Resource:
    """One resource: its URI and body, or why the body could not be had.

    `heard` is when it came, ISO 8601 in UTC; only resources that tell a time of their own have it.
    """

    uri: str
    body: Body
    trouble: Unknown | None = None
    above: "Resource | None" = field(default=None, repr=False)
    heard: str | None = None

    @property
    def id(self) -> str:
        """The resource's own Id; else the last word of its URI."""
        for own in (self.body.get("Id"), self.body.get("MemberId")):
            if isinstance(own, str) and own.strip():
                return own.strip()
        return self.uri.rstrip("/").rpartition("/")[2]

    @property
    def owner(self) -> "Resource | None":
        """The nearest resource above that is a member of a collection: the chassis of a fan."""
        at = self.above
        while at is not None and not (at.above is not None and isinstance(at.above.body.get("Members"), list)):
            at = at.above
        return at

    def value(self, name: str) -> object:
        """Give the property at a dotted name (`Status.Health`); None where it is null or missing."""
        if self.trouble is not None:
            raise Unreadable(self.trouble.detail, self.trouble.reason)
        at: object = self.body
        for part in name.split("."):
            at = at.get(part) if isinstance(at, Mapping) else None
        return at

    def read(self, name: str, reader: Callable[[object], Value] = said) -> Sourced:
        """Read one property with one reader; null and missing are unknown, never absent."""
        source = inside(self.uri, *name.split("."))
        try:
            return Sourced(reader(self.value(name)), source)
        except Unreadable as error:
            return Sourced(Unknown(error.reason, f"{name} {error}"), source)

    def parts(self, name: str) -> Iterator["Resource"]:
        """Give the members of an array inside this body (`Fans` of the old Thermal resource)."""
        found = self.value(name)
        if found is None:
            return
        if not isinstance(found, list):
            raise Unreadable(f"{self.uri}: {name} is not a list")
        for index, part in enumerate(found):
            if isinstance(part, Mapping):
                yield Resource(inside(self.uri, name, str(index)), part, above=self)


class Missing(Exception):
    """A resource that a link leads to has not been fetched yet."""

    def __init__(self, uris: set[str]) -> None:
        super().__init__(", ".join(sorted(uris)))
        self.uris = uris


@dataclass(frozen=True)
class Documents:
    """What was fetched of one BMC, by URI, and when those bodies came that tell a time."""

    bodies: Mapping[str, Body | Unknown]
    times: Mapping[str, str] = field(default_factory=dict)

    def at(self, link: str, start: Resource | None = None) -> Iterator[Resource]:
        """Every resource that a link path leads to, from the root or from `start`; none where there is no such link.

        A member that could not be fetched is given, troubled. Where a branch could not be read, or not to its end,
        what there is comes first, and Unreadable is raised at the end: the items are not all.
        Raises Missing with the URIs to fetch first, all that can be known at once.
        """
        here = [start or self._fetched(ROOT, None)]
        failed: Unreadable | None = None
        for step in link.split("/") if link else ():
            missing: set[str] = set()
            below: list[Resource] = []
            for resource in here:
                try:
                    for found in self._step(resource, step):
                        below.append(found)  # noqa: PERF402  what came before a failure stays
                except Missing as more:
                    missing |= more.uris
                except Unreadable as error:
                    failed = failed or error
            if missing:
                raise Missing(missing)
            here = below
        yield from here
        if failed is not None:
            raise failed

    def _step(self, resource: Resource, step: str) -> Iterator[Resource]:
        if resource.trouble is not None:
            raise Unreadable(f"{resource.uri}: {resource.trouble.detail}", resource.trouble.reason)
        if step != "*":
            target = resource.body.get(step)
            if target is not None:
                yield self._follow(resource, step, target)
            return
        wanted: set[str] = set()
        found: dict[str, Resource] = {}
        failed: Unreadable | None = None
        try:
            for uri in self._members(resource):
                try:
                    found.setdefault(uri, self._fetched(uri, resource))
                except Missing as more:
                    wanted |= more.uris
        except Missing as more:
            wanted |= more.uris
        except Unreadable as error:
            failed = error
        if wanted:
            raise Missing(wanted)
        yield from found.values()
        if failed is not None:
            raise failed

    def _follow(self, resource: Resource, step: str, target: object) -> Resource:
        if isinstance(target, Mapping):
            link = target.get("@odata.id")
            if link is None:
                return Resource(inside(resource.uri, step), target, above=resource)
            return self._fetched(_safe(link, resource.uri), resource)
        if isinstance(target, list):
            return Resource(inside(resource.uri, step), {"Members": target}, above=resource)
        raise Unreadable(f"{resource.uri}: {step} is not a link: {clean(repr(target))}")

    def _members(self, collection: Resource) -> Iterator[str]:
        page = collection
        seen = {same_place(collection.uri)}
        failed: Unreadable | None = None
        told = 0
        while True:
            if page.trouble is not None:
                raise Unreadable(f"{page.uri}: {page.trouble.detail}", page.trouble.reason)
            members = page.body.get("Members")
            if not isinstance(members, list):
                raise Unreadable(f"{page.uri} has no list of Members")
            for member in members:
                told += 1
                if told > MEMBERS:
                    raise Unreadable(f"{collection.uri} has more than {MEMBERS} members", Reason.NOT_READ_FURTHER)
                try:
                    uri = _safe(member["@odata.id"] if isinstance(member, Mapping) else None, page.uri)
                except (Unreadable, KeyError):
                    failed = failed or Unreadable(f"{page.uri}: a member is not a link: {clean(repr(member))}")
                else:
                    yield uri
            link = page.body.get("Members@odata.nextLink")
            following = _safe(link, page.uri) if link is not None else None
            # The recorded DGX H100 names a page as the one that follows itself.
            if following is None or following in seen:
                break
            if len(seen) >= PAGES:
                raise Unreadable(f"{collection.uri} has more than {PAGES} pages", Reason.NOT_READ_FURTHER)
            seen.add(following)
            page = self._fetched(following, collection)
        if failed is not None:
            raise failed

    def _fetched(self, uri: str, above: Resource | None) -> Resource:
        place = same_place(uri)
        body = self.bodies.get(place)
        if body is None:
            raise Missing({place})
        if isinstance(body, Unknown):
            return Resource(uri, {}, body, above)
        return Resource(uri, body, above=above, heard=self.times.get(place))


def _safe(link: object, uri: str) -> str:
    """Take a link only if it is a plain path of the same BMC: a hostile one may not send us elsewhere."""
    if not isinstance(link, str) or not re.fullmatch(r"/(?!/)[\x21-\x7e ]{0,2000}", link) or "\\" in link:
        raise Unreadable(f"{uri}: not a link of this BMC: {clean(repr(link))}")
    return same_place(link)


def wanted(links: tuple[str, ...], bodies: Mapping[str, Body | Unknown]) -> set[str]:
    """Name the URIs that must be fetched next so that these links can be followed; empty when all can."""
    uris: set[str] = set()
    for link in links:
        try:
            list(Documents(bodies).at(link))
        except Missing as more:
            uris |= more.uris
        except Unreadable:
            continue  # what cannot be followed is said by the reader of the probe that asked for it
    return uris
