"""Reads whole collections in one reply with $expand: which BMCs support it, and how expanded replies are checked.

Many BMCs announce $expand, but not all of them support it: some return members without Id and Name, or only links. In
each expanded reply, one member is compared with the same resource fetched alone; if data is missing, the reply is
discarded.
"""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.resource import ROOT, Body, Resource, same_place

NEVER = frozenset({"entries", "sessions"})
"""The last path segments of collections that are never expanded: sessions, and logs, which may have 91,000 entries."""

NAMES = ("Id", "Name")
"""Properties that every resource has (DSP0266); some BMCs omit them from expanded members."""


LARGE = 8
"""One collection with at least this number of members is also fetched without $expand, to detect missing members."""

SAME = ("Id", "Name", "SerialNumber", "Model", "PartNumber", "Version", "MemberId")
"""Properties that do not change between replies: if they differ, two bodies belong to different resources."""

OF_ANSWER = frozenset({"@odata.context", "@odata.etag"})
"""Annotations of a reply, which are not properties of the resource; a resource fetched alone may have more of them."""

_EXPAND = regex(r"(?:\$|%24)expand=", re.IGNORECASE)


@dataclass(frozen=True)
class Denied:
    """A kind of BMC on which $expand is not used: values of its service root, the reason, and a public source."""

    root: Mapping[str, str]
    why: str
    source: str


DENIED = (
    Denied(
        {"Vendor": "AMI", "RedfishVersion": "1.11.0"},
        "expanded members come without Id, Name and ChassisType (NVIDIA DGX H100)",
        "github.com/NVIDIA/nv-redfish redfish/src/bmc_quirks.rs",
    ),
    Denied(
        {"Vendor": "AMI", "Oem.Ami.RtpVersion": "13.09.1"},
        "expanded members come without Id, Name and ChassisType (hosts of NVIDIA GB300)",
        "github.com/dsx-ai-factory/nv-redfish/pull/118",
    ),
)
"""BMCs that announce $expand, but return incomplete members; NVIDIA's NVSwitch tray does not announce $expand."""


@dataclass(frozen=True)
class Brought:
    """The content of one expanded reply: the collection or one page of it, with plain links, and its members by URI.

    `following` is the URI of the next page, if the BMC's link to the next page contains $expand.
    """

    collection: Body
    members: Mapping[str, Body]
    following: str | None = None


def query(root: Body) -> str | None:
    """Return the query that expands members by one level on this BMC; None if $expand must not be used."""
    features = root.get("ProtocolFeaturesSupported")
    value = features.get("ExpandQuery") if isinstance(features, Mapping) else None
    if not isinstance(value, Mapping) or any(_is(root, denied.root) for denied in DENIED):
        return None
    what = "." if value.get("NoLinks") is True else "*" if value.get("ExpandAll") is True else None
    if what is None:
        return None
    return f"$expand={what}($levels=1)" if value.get("Levels") is True else f"$expand={what}"


def allowed(uri: str) -> bool:
    """Return whether a collection may be expanded; log entries and sessions are never expanded."""
    return same_place(uri.partition("?")[0]).rpartition("/")[2].casefold() not in NEVER


def expanded_uri(uri: str, query: str) -> str:
    """Add the $expand query to the URI of a collection or a page."""
    return f"{uri}{'&' if '?' in uri else '?'}{query}"


def brought(uri: str, answer: Body) -> Brought | None:
    """Split an expanded reply; None if a member is only a link, or if the number of members is wrong.

    This function does not check whether members have all their properties; `whole` checks one member, which `proof`
    chooses.
    """
    held = answer.get("Members")
    if not isinstance(held, list) or not all(isinstance(member, Mapping) and _named(member) for member in held):
        return None
    next_page = answer.get("Members@odata.nextLink")
    paged = next_page is not None or "?" in uri
    count = answer.get("Members@odata.count")
    if (
        not isinstance(count, int)
        or isinstance(count, bool)
        or not (0 < len(held) <= count if paged else len(held) == count)
    ):
        return None
    links = [{"@odata.id": member.get("@odata.id")} for member in held]
    try:
        places = tuple(Documents({}).listed(Resource(uri, {"Members": links})))
    except Unreadable:
        return None
    inside = re.compile(re.escape(same_place(uri.partition("?")[0])) + "/[^/]+", re.IGNORECASE)
    ids = {member["Id"] for member in held}
    if len(set(places)) < len(held) or len(ids) < len(held) or not all(inside.fullmatch(place) for place in places):
        return None
    collection = {name: _linked(value, uri) for name, value in answer.items() if name != "Members"}
    following = None
    if isinstance(next_page, str) and _EXPAND.search(next_page):
        collection["Members@odata.nextLink"] = plain = _plain(next_page)
        following = same_place(plain)
    order = {name: links if name == "Members" else collection[name] for name in answer}
    return Brought(order, dict(zip(places, held, strict=True)), following)


def lists(uri: str, plain: Body, members: Mapping[str, Body]) -> bool:
    """Return whether the plain collection lists exactly these members on its first page."""
    try:
        places = set(Documents({uri: plain}).page(Resource(uri, plain)))
    except Unreadable:
        return False
    return places == set(members)


def proof(members: Mapping[str, Body], held: Container[str]) -> str | None:
    """Return the URI of the member with the fewest properties among those not in `held`; None if all are in `held`."""
    new = (uri for uri in members if uri not in held)
    return min(new, key=lambda uri: len(members[uri]), default=None)


def whole(expanded: Body, alone: Body) -> bool:
    """Return whether an expanded member has all properties of the resource fetched alone, two levels deep."""
    return all(expanded.get(name) == alone.get(name) for name in SAME) and all(
        name in expanded and _has_members(expanded[name], value)
        for name, value in alone.items()
        if name not in OF_ANSWER
    )


def _has_members(expanded: object, alone: object) -> bool:
    match alone:
        case Mapping():
            return isinstance(expanded, Mapping) and all(name in expanded for name in alone)
        case list():
            return (
                isinstance(expanded, list)
                and len(expanded) >= len(alone)
                and all(_has_members(e, a) for e, a in zip(expanded, alone, strict=False) if isinstance(a, Mapping))
            )
    return expanded is not None or alone is None


def _named(member: Body) -> bool:
    return all(isinstance(member.get(name), str) for name in NAMES)  # HPE has resources with an empty Name


def _is(root: Body, words: Mapping[str, str]) -> bool:
    here = Resource(ROOT, root)
    return all(here.value(name) == word for name, word in words.items())


def _linked(value: object, uri: str) -> object:
    """Restore plain links outside `Members`; the query `*` also expands links in `Links` and `Oem`."""
    match value:
        case {"@odata.id": str(link)} if "#" not in link and same_place(link) != same_place(uri):
            return {"@odata.id": link}
        case Mapping():
            return {name: _linked(inner, uri) for name, inner in value.items()}
        case list():
            return [_linked(inner, uri) for inner in value]
    return value


def _plain(link: str) -> str:
    """Return the link of a page without the $expand query."""
    path, _, rest = link.partition("?")
    words = [word for word in rest.split("&") if not _EXPAND.match(word)]
    return f"{path}?{'&'.join(words)}" if words else path
