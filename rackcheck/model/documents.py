"""Resources fetched from one BMC: follows links from the service root, and tolerates malformed bodies."""

import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.resource import MEMBERS, ROOT, Body, Resource, check_count, inside, same_place, why

HANDSHAKE = "tls:handshake"
"""Dictionary key of the TLS handshake in `Documents.bodies`; it is not a URI path, so no link can lead to it."""


NEXT = ("Members@odata.nextLink", "@odata.nextLink")
"""Properties that contain the link to the next page of a collection, as named by Redfish and by plain OData."""

PAGES = 200
"""Maximum number of pages of one collection that are read."""


SPELLINGS = 4
"""Maximum number of members, whose URIs differ only in the case of letters, with which another one is compared."""


SHOWN = 3
"""Maximum number of names of an object's properties in a reason."""


class Missing(Exception):
    """Raised if linked resources (`uris`) have not been fetched yet.

    `whole` contains those `uris` that are collections of which every member will be fetched.
    """

    def __init__(self, uris: Iterable[str], whole: Iterable[str] = ()) -> None:
        self.uris, self.whole = frozenset(uris), frozenset(whole)
        super().__init__(", ".join(sorted(self.uris)))


@dataclass(frozen=True)
class Walk:
    """A path whose next link depends on the previous resource: the function `go` chooses and follows the links.

    `description` is a text for users: where the path leads, and in which case. A resource that has not been fetched yet
    is unknown when `go` reads it; `go` must not treat the resource as absent.
    """

    description: str
    go: Callable[["Documents"], object] = field(compare=False)

    def __str__(self) -> str:
        return self.description


LinkPattern = str | Walk
"""The names of links from the service root, as in `Systems/*/Bios`, or a `Walk`, whose function chooses the links."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The resources that one step leads to from one resource, and the reason if some of them may be missing."""

    resources: tuple[Resource, ...] = ()
    failed: Unknown | None = None


@dataclass(frozen=True)
class Documents:
    """The resources fetched from one BMC, by URI, and the arrival times of resources with a `DateTime`.

    Entries may be added to `bodies`, but must not be changed, since the results of following links are cached.
    """

    bodies: Mapping[str, Body | Unknown]
    times: Mapping[str, str] = field(default_factory=dict)
    _steps: dict[tuple[str, str, bool], _Found] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lists: dict[str, tuple[tuple[str, ...], Unknown | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _walks: dict[tuple[str, str], _Found] = field(default_factory=dict, init=False, repr=False, compare=False)
    _missed: dict[str, bool] | None = field(default=None, repr=False, compare=False)
    _followed: set[Hashable] = field(default_factory=set, init=False, repr=False, compare=False)
    kept: dict[Hashable, object] = field(default_factory=dict, init=False, repr=False, compare=False)
    """A cache for results that several readers compute from the same resources."""

    def at(self, link: str, start: Resource | None = None) -> Iterator[Resource]:
        """Yield every resource that a link path leads to, from the root or from `start`; none if there is no such link.

        A resource shared by several branches is returned once, so that its cost is not multiplied and its parts are not
        counted twice. A member of a collection that could not be fetched is returned with the reason instead of a body.
        If a branch could not be read completely, the resources found are yielded first, and Unreadable is raised at the
        end, because the items are not complete. A link that is null, or that is missing from a body without properties,
        also raises Unreadable at the end. Raises Missing if resources must be fetched first; the exception has all
        their URIs that are known so far.
        """
        if start is not None and start.trouble is not None:
            found = self._led_to(link, start)
        else:  # a path is followed once for all readers
            key = link, "" if start is None else start.uri
            known = self._walks.get(key)
            found = self._walks[key] = self._led_to(link, start) if known is None else known
        yield from found.resources
        if found.failed is not None:
            raise Unreadable(found.failed.detail, found.failed.reason)

    def _led_to(self, link: str, start: Resource | None) -> _Found:
        """Follow a link path; raises Missing as `at` does."""
        here = [start or self._fetched(ROOT, None)]
        failed: Unknown | None = None
        steps = link.split("/") if link else []
        for number, step in enumerate(steps, start=1):
            following = steps[number] if number < len(steps) else None
            missing: set[str] = set()
            whole: set[str] = set()
            below: dict[str, Resource] = {}
            for resource in here:
                try:
                    found = self._step(resource, step, listed=following == "*")
                except Missing as more:
                    missing |= more.uris
                    whole |= more.whole
                    continue
                failed = failed or found.failed
                for each in found.resources:
                    below.setdefault(each.uri, _without_body(each) if _is_odd(each, step, following) else each)
                if len(below) > MEMBERS:
                    failed = Unknown(Reason.TOO_LARGE, f"{link} leads to more than {MEMBERS} resources")
                    break
            if missing:
                raise Missing(missing, whole)
            here = list(below.values())[:MEMBERS]
        return _Found(tuple(here), failed)

    @property
    def handshake(self) -> Resource:
        """The BMC's TLS handshake: a resource with Protocol, Cipher, Certificate, Seen; unknown if not recorded."""
        body, root = self.bodies.get(HANDSHAKE), self.bodies.get(ROOT)
        if body is None:  # if no session could be opened, that is the reason returned
            kept = Unknown(Reason.NOT_COLLECTED, "this run did not keep the handshake")
            return Resource(HANDSHAKE, {}, root if isinstance(root, Unknown) else kept)
        return Resource(HANDSHAKE, {}, body) if isinstance(body, Unknown) else Resource(HANDSHAKE, body)

    def listed(self, collection: Resource) -> Iterator[str]:
        """Yield the URIs of a collection's members without fetching them; raises Missing or Unreadable as `at` does."""
        return self._members(collection)

    def page(self, collection: Resource) -> tuple[str, ...]:
        """Return the URIs that one page of a collection lists; raises Unreadable if one of them is invalid."""
        uris, odd = self._listed(collection)
        if odd is not None:
            raise Unreadable(odd.detail, odd.reason)
        return uris

    def fetched(self, uri: str, above: Resource) -> Resource:
        """Return the resource at a URI that a body contains.

        Raises Missing if the resource has not been fetched yet, and Unreadable if the text is not a valid URI.
        """
        return self._fetched(_safe(uri, above.uri), above)

    def wanted(self, links: Iterable[LinkPattern]) -> dict[str, bool]:
        """Return the URIs that must be fetched next to follow these links; empty if all links can be followed.

        The returned dictionary maps each URI to true if the URI is a collection whose members will all be fetched.
        A link that needs no further resource is not followed again, since it depends only on bodies that are there.
        """
        uris: dict[str, bool] = {}
        for link in links:
            name = link.go if isinstance(link, Walk) else link  # walks are equal if their descriptions are
            if name in self._followed:
                continue
            needed = self._walked(link) if isinstance(link, Walk) else self._needed(link)
            if not needed:
                self._followed.add(name)
            _merge(uris, needed)
        return uris

    def _needed(self, link: str) -> dict[str, bool]:
        """Follow a link path, and return the URIs of resources that must be fetched first."""
        try:
            deque(self.at(link), maxlen=0)
        except Missing as more:
            return {uri: uri in more.whole for uri in more.uris}
        except Unreadable:
            pass  # links that cannot be followed are reported by the reader of their probe
        return {}

    def _walked(self, walk: Walk) -> dict[str, bool]:
        """Run a `Walk` and return the URIs of resources that it needed and that have not been fetched yet.

        If its function fails on a body, the resources needed until then are returned. The reader of its probe then
        fails on the same body or on a resource that is not fetched, and only the facts of this probe are unknown.
        """
        missed: dict[str, bool] = {}
        try:
            gone = walk.go(Documents(self.bodies, self.times, missed))
            if isinstance(gone, Iterator):
                deque(gone, maxlen=0)
        except Exception:  # noqa: BLE001  a body may be hostile: it must not end the reading of the node
            return missed
        return missed

    def _step(self, resource: Resource, step: str, *, listed: bool) -> _Found:
        """Follow one link of a resource, or with `*` all members; with `listed`, the link may be a list of links."""
        if resource.trouble is not None:
            return _Found((), Unknown(resource.trouble.reason, f"{resource.uri}: {resource.trouble.detail}"))
        known = self._steps.get((resource.uri, step, listed))
        if known is None:
            known = self._all(resource) if step == "*" else self._one(resource, step, listed=listed)
            self._steps[resource.uri, step, listed] = known
        return known

    def _one(self, resource: Resource, step: str, *, listed: bool) -> _Found:
        if resource.unread is not None:
            return _Found((), resource.unread)
        if step not in resource.body:
            return _Found()
        try:
            return _Found((self._follow(resource, step, listed=listed),))
        except Unreadable as error:
            return _Found((), Unknown(error.reason, str(error)))

    def _all(self, resource: Resource) -> _Found:
        wanted: set[str] = set()
        found: dict[str, Resource] = {}
        failed: Unknown | None = None
        try:
            for uri in self._members(resource):
                try:
                    member = found.setdefault(uri, self._fetched(uri, resource))
                except Missing as more:
                    wanted |= more.uris
                    continue
                if _is_collection(member.body):
                    failed = failed or Unknown(
                        Reason.UNPARSABLE, f"{uri} is listed as a member, but is itself a collection"
                    )
        except Missing as more:
            wanted |= more.uris
        except Unreadable as error:
            failed = failed or Unknown(error.reason, str(error))
        if wanted:
            raise Missing(wanted)
        return _Found(_each_once(found.values()), failed)

    def _follow(self, resource: Resource, step: str, *, listed: bool) -> Resource:
        target = resource.body[step]
        if isinstance(target, Mapping):
            link = target.get("@odata.id")
            if link is None:
                return Resource(inside(resource.uri, step), target, above=resource)
            try:
                return self._fetched(_safe(link, resource.uri), resource)
            except Missing as more:
                raise Missing(more.uris, more.uris if listed else ()) from None
        if isinstance(target, list) and listed and resource.uri != ROOT:  # the root has collections, and no list
            return Resource(inside(resource.uri, step), {"Members": target}, above=resource)
        raise Unreadable(f"{resource.uri}: {step} is not a link: {clean(repr(target))}", why(target))

    def _members(self, collection: Resource) -> Iterator[str]:
        page = collection
        seen = {same_place(collection.uri)}
        failed: Unknown | None = None
        names: set[str] = set()
        listed = 0
        while True:
            if page.trouble is not None:
                raise Unreadable(f"{page.uri}: {page.trouble.detail}", page.trouble.reason)
            uris, odd = self._listed(page)
            # A member that a page lists twice is one of the collection's members, and counts twice, as the BMC counted
            # it; a page that repeats an earlier page brings nothing new, and must not hide members that are missing.
            fresh = [uri for uri in uris if uri not in names]
            listed += len(fresh)
            new = list(dict.fromkeys(fresh))
            yield from new[: MEMBERS - len(names)]
            names |= set(new)
            failed = failed or odd
            if len(names) > MEMBERS:
                raise Unreadable(f"{collection.uri} has more than {MEMBERS} members", Reason.TOO_LARGE)
            link = next((page.body[name] for name in NEXT if page.body.get(name) is not None), None)
            following = _safe(link, page.uri) if link is not None else None
            # The recorded DGX H100 links a page to itself as the next page.
            if following is None or following in seen:
                break
            if len(seen) >= PAGES:
                raise Unreadable(f"{collection.uri} has more than {PAGES} pages", Reason.TOO_LARGE)
            seen.add(following)
            page = self._fetched(following, collection)
        if failed is not None:
            raise Unreadable(failed.detail, failed.reason)
        check_count(collection, "Members", listed)

    def _listed(self, page: Resource) -> tuple[tuple[str, ...], Unknown | None]:
        """Return the links to the members that one page lists, and the reason if one is invalid."""
        known = self._lists.get(page.uri)
        if known is not None:
            return known
        members = page.body.get("Members")
        if not isinstance(members, list):
            # Some BMCs leave the list out of a collection that they do not support; null is an invalid list.
            missing = Reason.UNPARSABLE if "Members" in page.body else Reason.NOT_COLLECTED
            raise Unreadable(f"{page.uri} has no list of Members", missing)
        uris: list[str] = []
        failed: Unknown | None = None
        for member in members[: MEMBERS + 1]:
            try:
                uris.append(_safe(member["@odata.id"] if isinstance(member, Mapping) else None, page.uri))
            except (Unreadable, KeyError):
                failed = failed or Unknown(
                    Reason.UNPARSABLE, f"{page.uri}: a member is not a link: {clean(repr(member))}"
                )
        self._lists[page.uri] = tuple(uris), failed
        return self._lists[page.uri]

    def _fetched(self, uri: str, above: Resource | None) -> Resource:
        place = same_place(uri)
        body = self.bodies.get(place)
        if body is None and self._missed is not None:
            self._missed.setdefault(place, False)
            return Resource(uri, {}, Unknown(Reason.NOT_COLLECTED, "not requested yet"), above)
        if body is None:
            raise Missing({place})
        if isinstance(body, Unknown):
            return Resource(uri, {}, body, above)
        return Resource(uri, body, above=above, heard=self.times.get(place))


def wanted(links: Iterable[LinkPattern], bodies: Mapping[str, Body | Unknown]) -> dict[str, bool]:
    """Return the URIs that must be fetched next to follow these links; empty if all links can be followed."""
    return Documents(bodies).wanted(links)


def _each_once(members: Iterable[Resource]) -> tuple[Resource, ...]:
    """Return each member once that is listed in two spellings, which differ in the case of letters.

    Some BMCs ignore the case, and return the same body; others have only one of both. Members with different bodies are
    different members.
    """
    found: dict[str, list[Resource]] = {}
    for member in members:
        alike = found.setdefault(member.uri.casefold(), [])
        if member.trouble is None and alike and alike[0].trouble is not None:
            alike.clear()
        if not alike or (member.trouble is None and all(each.body != member.body for each in alike[:SPELLINGS])):
            alike.append(member)
    return tuple(each for alike in found.values() for each in alike)


def _is_odd(resource: Resource, step: str, following: str | None) -> bool:
    """Return whether an object in place of a link is no resource: it has no type, and only other objects.

    All recorded BMCs give a resource inside a body a type; annotations (`@Redfish.Settings`), `Links`, `Oem` and what a
    vendor puts into `Oem` have none. An object with the link that is followed next is accepted without a type.
    """
    _, inner, place = resource.uri.partition("#")
    if not inner or not resource.body or step in {"Links", "Oem"} or "@" in step or "/Oem" in place:
        return False
    if "@odata.type" in resource.body or following in resource.body:
        return False
    return all(isinstance(value, Mapping) for name, value in resource.body.items() if not name.startswith("@"))


def _without_body(odd: Resource) -> Resource:
    """Return an object that is no resource as one that could not be read."""
    detail = f"neither a link nor a resource: an object with {clean(', '.join(list(odd.body)[:SHOWN]), 60)}"
    return replace(odd, body={}, trouble=Unknown(Reason.UNPARSABLE, detail))


def _is_collection(body: Body) -> bool:
    """Whether the resource is a collection: by its type, or, if it has no type, by its members.

    A count of members is not tested, since a BlueField-3 returns such a count in each entry of its firmware inventory.
    The property `Members` is tested only if the type is missing, since a GB200 returns `Members` in the entries of a
    log.
    """
    kind = body.get("@odata.type")
    return kind.endswith("Collection") if isinstance(kind, str) else "Members" in body


def _merge(uris: dict[str, bool], more: Mapping[str, bool]) -> None:
    for uri, whole in more.items():
        uris[uri] = uris.get(uri, False) or whole


def _safe(link: object, uri: str) -> str:
    """Return a link in normalised form; raises Unreadable unless the link is a plain path on the same BMC.

    A hostile link must not lead to another host.
    """
    if not isinstance(link, str) or not re.fullmatch(r"/(?!/)[\x21-\x7e ]{0,2000}", link) or "\\" in link:
        raise Unreadable(f"{uri}: not a link of this BMC: {clean(repr(link))}")
    return same_place(link)
