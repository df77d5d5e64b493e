"""What was fetched of one BMC: links followed from the service root, pages gathered once, odd bodies survived."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.resource import MEMBERS, ROOT, Body, Resource, check_count, inside, same_place, why

HANDSHAKE = "tls:handshake"
"""Under this name stands what a BMC's handshake told, beside what it answered; no link can lead there."""


NEXT = ("Members@odata.nextLink", "@odata.nextLink")
"""Where a page names the one that follows it: as Redfish says, and as OData alone does."""

PAGES = 200
"""Pages of one collection that are read at most."""


class Missing(Exception):
    """Resources that a link leads to have not been fetched yet; of those `whole`, every member will be asked for."""

    def __init__(self, uris: Iterable[str], whole: Iterable[str] = ()) -> None:
        self.uris, self.whole = frozenset(uris), frozenset(whole)
        super().__init__(", ".join(sorted(self.uris)))


@dataclass(frozen=True)
class Walk:
    """A way whose next step depends on what stands at the last: a reader goes it, and what it misses is asked for.

    `said` tells people where it leads, and when. Until something came it is unknown to the reader, which must not
    take it for what is not there; one that can hold that law can be walked.
    """

    said: str
    go: Callable[["Documents"], object] = field(compare=False)

    def __str__(self) -> str:
        return self.said


LinkPattern = str | Walk
"""Names of links from the service root, one after the other, or a way that a reader chooses."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Where one step leads from one resource, and why that may not be all."""

    resources: tuple[Resource, ...] = ()
    failed: Unknown | None = None


@dataclass(frozen=True)
class Documents:
    """What was fetched of one BMC, by URI, and when those bodies came that tell a time.

    `bodies` may grow, but what it holds stays: steps that were taken once are remembered.
    """

    bodies: Mapping[str, Body | Unknown]
    times: Mapping[str, str] = field(default_factory=dict)
    _steps: dict[tuple[str, str, bool], _Found] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lists: dict[str, tuple[tuple[str, ...], Unknown | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _missed: dict[str, bool] | None = field(default=None, repr=False, compare=False)

    def at(self, link: str, start: Resource | None = None) -> Iterator[Resource]:
        """Every resource that a link path leads to, from the root or from `start`; none where there is no such link.

        A resource that several branches share is given once: its cost must not be multiplied, nor its parts counted
        twice. A member that could not be fetched is given, troubled. Where a branch could not be read, or not to its
        end, what there is comes first, and Unreadable is raised at the end: the items are not all. That is so too
        where a link is null: only a resource that tells other things and has no such property has no such link.
        Raises Missing with the URIs to fetch first, all that can be known at once.
        """
        here = [start or self._fetched(ROOT, None)]
        failed: Unknown | None = None
        steps = link.split("/") if link else []
        for number, step in enumerate(steps, start=1):
            listed = steps[number : number + 1] == ["*"]
            missing: set[str] = set()
            whole: set[str] = set()
            below: dict[str, Resource] = {}
            for resource in here:
                try:
                    found = self._step(resource, step, listed=listed)
                except Missing as more:
                    missing |= more.uris
                    whole |= more.whole
                    continue
                failed = failed or found.failed
                for each in found.resources:
                    below.setdefault(each.uri, each)
                if len(below) > MEMBERS:
                    failed = Unknown(Reason.NOT_READ_FURTHER, f"{link} leads to more than {MEMBERS} resources")
                    break
            if missing:
                raise Missing(missing, whole)
            here = list(below.values())[:MEMBERS]
        yield from here
        if failed is not None:
            raise Unreadable(failed.detail, failed.reason)

    @property
    def handshake(self) -> Resource:
        """What the BMC showed before it answered: Protocol, Cipher, Certificate, Seen; unknown where nobody kept it."""
        body, root = self.bodies.get(HANDSHAKE), self.bodies.get(ROOT)
        if body is None:  # of one that let nobody in, that is the reason
            kept = Unknown(Reason.NOT_COLLECTED, "this run did not keep the handshake")
            return Resource(HANDSHAKE, {}, root if isinstance(root, Unknown) else kept)
        return Resource(HANDSHAKE, {}, body) if isinstance(body, Unknown) else Resource(HANDSHAKE, body)

    def listed(self, collection: Resource) -> Iterator[str]:
        """Give the URIs of a collection's members, without asking for any of them; raises as `at` does."""
        return self._members(collection)

    def page(self, collection: Resource) -> tuple[str, ...]:
        """Give the URIs that one page of a collection lists; raises Unreadable where one of them is none."""
        uris, odd = self._listed(collection)
        if odd is not None:
            raise Unreadable(odd.detail, odd.reason)
        return uris

    def fetched(self, uri: str, above: Resource) -> Resource:
        """Give the resource at a URI that a body named; raises Missing, and Unreadable where the text is no URI."""
        return self._fetched(_safe(uri, above.uri), above)

    def wanted(self, links: Iterable[LinkPattern]) -> dict[str, bool]:
        """Name the URIs that must be fetched next so that these links can be followed; empty when all can.

        With each stands whether it is a collection of which every member will be asked for.
        """
        uris: dict[str, bool] = {}
        for link in links:
            try:
                if isinstance(link, Walk):
                    _merge(uris, self._walked(link))
                else:
                    deque(self.at(link), maxlen=0)
            except Missing as more:
                _merge(uris, {uri: uri in more.whole for uri in more.uris})
            except Unreadable:
                continue  # what cannot be followed is said by the reader of the probe that asked for it
        return uris

    def _walked(self, walk: Walk) -> dict[str, bool]:
        """Name what a reader misses on its way: it goes on, as if what has not come could not be read."""
        missed: dict[str, bool] = {}
        try:
            gone = walk.go(Documents(self.bodies, self.times, missed))
            if isinstance(gone, Iterator):
                deque(gone, maxlen=0)
        except Unreadable:
            return missed
        return missed

    def _step(self, resource: Resource, step: str, *, listed: bool) -> _Found:
        """Take one step from one resource; `listed` says that a list of links may stand there: its members follow."""
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
                    found.setdefault(uri, self._fetched(uri, resource))
                except Missing as more:
                    wanted |= more.uris
        except Missing as more:
            wanted |= more.uris
        except Unreadable as error:
            failed = Unknown(error.reason, str(error))
        if wanted:
            raise Missing(wanted)
        return _Found(tuple(found.values()), failed)

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
        while True:
            if page.trouble is not None:
                raise Unreadable(f"{page.uri}: {page.trouble.detail}", page.trouble.reason)
            uris, odd = self._listed(page)
            new = [uri for uri in dict.fromkeys(uris) if uri not in names]
            yield from new[: MEMBERS - len(names)]
            names |= set(new)
            failed = failed or odd
            if len(names) > MEMBERS:
                raise Unreadable(f"{collection.uri} has more than {MEMBERS} members", Reason.NOT_READ_FURTHER)
            link = next((page.body[name] for name in NEXT if page.body.get(name) is not None), None)
            following = _safe(link, page.uri) if link is not None else None
            # The recorded DGX H100 names a page as the one that follows itself.
            if following is None or following in seen:
                break
            if len(seen) >= PAGES:
                raise Unreadable(f"{collection.uri} has more than {PAGES} pages", Reason.NOT_READ_FURTHER)
            seen.add(following)
            page = self._fetched(following, collection)
        if failed is not None:
            raise Unreadable(failed.detail, failed.reason)
        check_count(collection, "Members", len(names))

    def _listed(self, page: Resource) -> tuple[tuple[str, ...], Unknown | None]:
        """Give the links to the members that one page lists, and which of them is none."""
        known = self._lists.get(page.uri)
        if known is not None:
            return known
        members = page.body.get("Members")
        if not isinstance(members, list):
            raise Unreadable(f"{page.uri} has no list of Members")
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
            return Resource(uri, {}, Unknown(Reason.NOT_COLLECTED, "not asked yet"), above)
        if body is None:
            raise Missing({place})
        if isinstance(body, Unknown):
            return Resource(uri, {}, body, above)
        return Resource(uri, body, above=above, heard=self.times.get(place))


def wanted(links: Iterable[LinkPattern], bodies: Mapping[str, Body | Unknown]) -> dict[str, bool]:
    """Name the URIs that must be fetched next so that these links can be followed; empty when all can."""
    return Documents(bodies).wanted(links)


def _merge(uris: dict[str, bool], more: Mapping[str, bool]) -> None:
    for uri, whole in more.items():
        uris[uri] = uris.get(uri, False) or whole


def _safe(link: object, uri: str) -> str:
    """Take a link only if it is a plain path of the same BMC: a hostile one may not send us elsewhere."""
    if not isinstance(link, str) or not re.fullmatch(r"/(?!/)[\x21-\x7e ]{0,2000}", link) or "\\" in link:
        raise Unreadable(f"{uri}: not a link of this BMC: {clean(repr(link))}")
    return same_place(link)
