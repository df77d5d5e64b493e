"""One Redfish resource: its URI, its body or why the body is missing, its properties and the parts inside it."""

import json
import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable, Value, clean
from rackcheck.model.lazy import lazy
from rackcheck.model.redfish_value import BROKEN, MOST, measured, text_of
from rackcheck.model.text import Sourced

ROOT = "/redfish/v1"

MEMBERS = 10_000
"""Maximum number of members of one collection, parts of one list, and resources at one step of a walk."""

Body = Mapping[str, Any]

LARGEST = 64 << 10
"""Maximum size of `Resource.content` in bytes: a copy of a larger body would count twice in the memory of a node."""

FLAT = 2
"""The format of `marshal` whose output depends on the values alone; later ones depend on shared objects, too."""


def same_place(uri: str) -> str:
    """Normalise a URI for comparison: no fragment, no slash at the end."""
    return uri.partition("#")[0].rstrip("/") or "/"


def inside(uri: str, *names: str) -> str:
    """Return the URI of a property inside a body: `/redfish/v1/Chassis/1/Power#/PowerSupplies/0`."""
    return "/".join((uri if "#" in uri else f"{uri}#", *names))


@dataclass(frozen=True)
class Resource:
    """One resource: its URI and body, or why the body is missing.

    `heard` is the arrival time of the resource (ISO 8601, UTC); it is set only for resources with a `DateTime`.
    `beside` is another resource that describes the same part: it is read if this one has no value for a property.
    """

    uri: str
    body: Body
    trouble: Unknown | None = None
    above: "Resource | None" = field(default=None, repr=False)
    heard: str | None = None
    beside: "Resource | None" = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The resource's own `Id` or `MemberId`; else the last segment of its URI."""
        for own in (self.body.get("Id"), self.body.get("MemberId")):
            if isinstance(own, str) and own.strip() and BROKEN not in own:
                return own.strip()
        return self.uri.rstrip("/").rpartition("/")[2]

    @lazy
    def unread(self) -> Unknown | None:
        """Why no property can be read: the resource was not fetched, or its body is empty; otherwise None."""
        if self.trouble is not None or any(not name.startswith("@") for name in self.body):
            return self.trouble
        return Unknown(Reason.NOT_COLLECTED, f"{self.uri} is an empty resource")

    @lazy
    def content(self) -> bytes | None:
        """Bytes that only this resource and those beside it have; None for a large body, or for one that is no JSON."""
        beside = self.beside.content if self.beside is not None else b""
        trouble = (self.trouble.reason.value, self.trouble.detail) if self.trouble is not None else None
        try:
            own: Any = self.uri, self.body, trouble, self.heard, beside
            found = None if beside is None else marshal.dumps(own, FLAT)
        except ValueError:
            return None
        return found if found is not None and len(found) <= LARGEST else None

    @property
    def alone(self) -> "Resource":
        """This resource and those beside it, without the resources above them."""
        beside = self.beside.alone if self.beside is not None else None
        return Resource(self.uri, self.body, self.trouble, heard=self.heard, beside=beside)

    def with_signs(self, *names: str) -> "Resource":
        """Return this resource and those beside it with -1, 0 or 1 in place of numbers, which differ at each reading.

        What is read from the result may depend on the sign of these properties, and not on their amount.
        """
        return self.with_body(lambda body: {name: _sign(v) if name in names else v for name, v in body.items()})

    def only(self, *names: str) -> "Resource":
        """Return this resource and those beside it with some of the properties alone."""
        return self.with_body(lambda body: {name: body[name] for name in names if name in body})

    def with_body(self, part: Callable[[Body], Body]) -> "Resource":
        """Return this resource and those beside it, each with what a function makes of its body."""
        beside = self.beside.with_body(part) if self.beside is not None else None
        return Resource(self.uri, part(self.body), self.trouble, self.above, self.heard, beside)

    @lazy
    def state(self) -> Value | Unknown:
        """The reading of `Status.State`."""
        found = self.read("Status.State").reading
        assert not isinstance(found, Absent), "a missing property is unknown"
        return found

    @property
    def owner(self) -> "Resource | None":
        """The nearest resource above this one that is a member of a collection: for a fan, the chassis."""
        at = self.above
        while at is not None and not (at.above is not None and isinstance(at.above.body.get("Members"), list)):
            at = at.above
        return at

    def value(self, name: str) -> object:
        """Return the property at a dotted name (`Status.Health`); None if it is null or missing."""
        return self._at(name.split("."))

    def _at(self, names: Iterable[str]) -> object:
        if self.trouble is not None:
            raise Unreadable(self.trouble.detail, self.trouble.reason)
        at: object = self.body
        for name in names:
            # A check for `dict` is much faster than one for an abstract class, and a node has 10,000 properties.
            at = at.get(name) if isinstance(at, dict) or isinstance(at, Mapping) else None  # noqa: SIM101  two checks
        return at

    def read(self, name: str, reader: Callable[[object], Value] = text_of) -> Sourced:
        """Read one property with one reader; null and missing are unknown, never absent.

        If it is null or missing here, and known in the resource `beside` this one, that value and its source are
        returned; an invalid value stays unknown.
        """
        names = name.split(".")
        source = inside(self.uri, *names)
        try:
            return Sourced(reader(self._at(names)), source)
        except Unreadable as error:
            silent = error.reason is Reason.NOT_COLLECTED
            other = self.beside.read(name, reader) if silent and self.beside is not None else None
            if other is not None and not isinstance(other.reading, Unknown):
                return other
            return Sourced(Unknown(error.reason, f"{name} {error}"), source)

    def parts(self, name: str) -> Iterator["Resource"]:
        """Yield the members of a list inside this body (`Fans` of the old Thermal resource); none if there is no list.

        A part that the list contains twice, with the same URI and the same content, is yielded once. If the list is
        null or incomplete, the members found are yielded first, and Unreadable is raised at the end.
        """
        if self.unread is not None:
            raise Unreadable(self.unread.detail, self.unread.reason)
        if name not in self.body:
            return
        found = self.body[name]
        if not isinstance(found, list):
            raise Unreadable(f"{self.uri}: {name} is not a list", why(found))
        seen: set[tuple[str, str]] = set()
        for index, part in enumerate(found[:MEMBERS]):
            if isinstance(part, Mapping) and not _repeated(part, seen):
                yield Resource(inside(self.uri, name, str(index)), part, above=self)
        if len(found) > MEMBERS:
            raise Unreadable(f"{self.uri} has more than {MEMBERS} {name}", Reason.TOO_LARGE)
        odd = [part for part in found if not isinstance(part, Mapping)]
        if odd:
            raise Unreadable(f"{self.uri}: an item of {name} is not an object: {clean(repr(odd[0]))}")
        check_count(self, name, len(found))


def _sign(value: object) -> object:
    """Return the sign of a number of a plausible size, and any other value unchanged."""
    if type(value) is not int and type(value) is not float:
        return value
    return (value > 0) - (value < 0) if -MOST < value < MOST else value


def _repeated(part: Body, seen: set[tuple[str, str]]) -> bool:
    """Return whether a part with this URI and this content is in `seen`; if not, add it.

    A URI without a fragment is the URI of the resource that contains the list, not of the part. The content is compared
    as one sorted text, because a BMC may return thousands of different parts with one URI.
    """
    uri = part.get("@odata.id")
    if not isinstance(uri, str) or "#" not in uri:
        return False
    alike = (uri, json.dumps(part, sort_keys=True))
    if alike in seen:
        return True
    seen.add(alike)
    return False


def check_count(resource: Resource, name: str, value: int) -> None:
    """Check the length of a list (`value`) against its count; raises Unreadable if the count is larger or invalid.

    A count below the length of the list is accepted, since an example of the DMTF has such a count.
    """
    count = counted(resource, name)
    if count is not None and count > value:
        raise Unreadable(f"{resource.uri} reports a count of {count} {name}, but lists {value}")


def counted(resource: Resource, name: str) -> int | None:
    """Return the count of a list (`NAME@odata.count`), a number or a text; None if there is no count.

    Raises Unreadable if the count is not a whole number of at least zero.
    """
    value = resource.body.get(f"{name}@odata.count")
    if value is None:
        return None
    number = measured(value)
    if number < 0 or number != int(number):
        raise Unreadable(f"{resource.uri} reports an invalid count of {name}: {number:g}")
    return int(number)


def why(value: object) -> Reason:
    """Return the reason why a value is invalid: not collected if it is null, else unparsable."""
    return Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
