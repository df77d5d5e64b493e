"""The chassis of this node, and the parts that they list; chassis of other machines in one enclosure are left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.documents import Documents, Missing, Walk
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import MEMBERS, Resource
from rackcheck.parse.bmc.end import links, spelt
from rackcheck.parse.bmc.host import Gathered, Machine, machine
from rackcheck.parse.bmc.item import gather, gone, members, named_ones, not_there

LinkForm = tuple[str, str]
"""The path of a resource below a chassis, and where it lists items: `*` for its Members, else the name of an array."""

Ones = Callable[[list[Resource], Unknown | None], Gathered]
"""A function that leaves out resources whose names are unknown, and returns why the list may then be incomplete."""

BLADES = frozenset({"Blade", "Sled"})
"""Values of ChassisType of chassis that hold one machine, and are plugged into a chassis of several (DMTF's schema)."""

SINGLE = BLADES | {"RackMount", "StandAlone"}
"""Values of ChassisType of chassis that hold one machine (DMTF's schema)."""

LEVELS = 8
"""Maximum number of chassis around a chassis that are followed."""


@dataclass(frozen=True)
class _Tree:
    """The chassis of one BMC by URI, and for each the chassis around it."""

    places: Mapping[str, Resource]
    parents: Mapping[str, frozenset[str]]

    def around(self, uris: frozenset[str]) -> frozenset[str]:
        """Return these chassis, and those that contain one of them."""
        found, edge = set(uris), set(uris)
        for _ in range(LEVELS):
            edge = {each for uri in edge for each in self.parents.get(uri, ())} - found
            found |= edge
        return frozenset(found)

    def inside(self, uris: frozenset[str]) -> frozenset[str]:
        """Return the chassis inside one of these, whatever they link to."""
        found = set[str]()
        for _ in range(LEVELS if uris else 0):
            inner = {uri for uri in self.places if self.parents[uri] & (found | uris)} - uris
            if inner <= found:
                break
            found |= inner
        return frozenset(found)

    def with_inner(self, uris: frozenset[str], linked: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """Return these chassis, and those inside one of them that do not link to a system of their own."""
        found = set(uris)
        for _ in range(LEVELS if found else 0):
            inner = {uri for uri in self.places if not linked[uri] and self.parents[uri] & found}
            if inner <= found:
                break
            found |= inner
        return frozenset(found)


def others(docs: Documents) -> tuple[frozenset[str], Unknown | None]:
    """Return the URIs of the chassis that are not of this node, or not only, and why that is in doubt.

    A chassis is another machine's if the BMC lists none of the systems that it links to, and so are the chassis inside
    it. It is in doubt if the chassis is a blade or sled beside that of the host, and links to no system; and if the BMC
    manages several hosts, and the chassis is not of all of them. A chassis without any link is this node's, because
    most BMCs leave links out, and so is a chassis that contains one of this node's. If it is unknown which system is
    the host, or if no chassis is linked with a system, no chassis is left out for these reasons. It is also in doubt if
    it holds one machine, its links to systems and managers are empty lists, and another such chassis has a manager.

    Systems are asked for only if the chassis link to several systems, or if there are several blades.
    """
    apart = _apart(docs)
    return apart.certain | apart.doubtful, apart.doubt


def foreign(docs: Documents) -> frozenset[str]:
    """Return the URIs of the chassis that certainly are another machine's; see `others`."""
    return _apart(docs).certain


def _apart(docs: Documents) -> "_Apart":
    """Return the chassis that are not of this node; cached, since many probes leave them out."""
    known = docs.kept.get(_apart)
    if not isinstance(known, _Apart):
        known = docs.kept[_apart] = _found_apart(docs)
    return known


@dataclass(frozen=True, slots=True)
class _Apart:
    """The chassis that are certainly not of this node, those in doubt, and the reason of the doubt."""

    certain: frozenset[str]
    doubtful: frozenset[str]
    doubt: Unknown | None


def _found_apart(docs: Documents) -> _Apart:
    listed, _ = members(docs, "Chassis")
    places = {spelt(each.uri): each for each in listed if each.unread is None}
    linked = {uri: links(each, "ComputerSystems") for uri, each in places.items()}
    tree = _Tree(places, _parents(places))
    certain, doubtful, doubt = _by_systems(docs, tree, linked)
    apart = _unmanaged(tree)
    if apart and doubt is None:
        uri = places[min(apart)].uri
        why = f"whether {uri} is of this node is unknown: another chassis has a manager, and it has none and no system"
        doubt = Unknown(Reason.NOT_COLLECTED, why)
    doubtful |= tree.with_inner(apart, linked)
    return _Apart(
        frozenset(places[uri].uri for uri in certain),
        frozenset(places[uri].uri for uri in doubtful - certain),
        doubt,
    )


def _unmanaged(tree: _Tree) -> frozenset[str]:
    """Return the chassis that hold one machine and have neither system nor manager, if another such chassis has one."""
    single = {uri for uri, each in tree.places.items() if _type(each) in SINGLE}
    managed = frozenset(uri for uri in single if links(tree.places[uri], "ManagedBy"))
    if not managed or managed == single:
        return frozenset()
    near = tree.around(managed) | tree.inside(managed)
    return frozenset(uri for uri in single - near if _has_none(tree.places[uri]))


def _has_none(chassis: Resource) -> bool:
    """Return whether the links of a chassis to systems and to managers are empty lists, and not just left out."""
    held = chassis.body.get("Links")
    return isinstance(held, Mapping) and held.get("ComputerSystems") == [] == held.get("ManagedBy")


def _by_systems(
    docs: Documents, tree: _Tree, linked: Mapping[str, frozenset[str]]
) -> tuple[frozenset[str], frozenset[str], Unknown | None]:
    """Return the same as `_apart`, as the links between chassis and systems show it; URIs are spelt as in `tree`."""
    none, places = frozenset[str](), tree.places
    several = len(frozenset().union(*linked.values())) > 1 if linked else False
    if not several and sum(map(is_blade, places.values())) < 2:
        return none, none, None
    try:
        found = machine(docs)
        systems, lost = members(docs, "Systems")
    except Missing:  # a capture of an earlier version may not contain the systems
        return none, none, None
    if found.trouble is not None or lost is not None:
        return none, none, None
    left, some = none, none
    if found.several is not None:
        some = _of_some(found, linked)
    else:
        left = _of_others(tree, linked, systems)
    doubt = found.several if some else None
    blades = _beside(tree, linked, found.hosts)
    if blades and doubt is None:
        uri = places[min(blades)].uri
        why = f"whether {uri} is of this node is unknown: it links to no system, and the host is in another blade"
        doubt = found.several or Unknown(Reason.NOT_COLLECTED, why)
    return tree.with_inner(left, linked), tree.with_inner(some | blades, linked), doubt


def own(resources: Iterable[Resource], left: frozenset[str]) -> list[Resource]:
    """Return the resources that are neither one of the chassis `left` nor below one."""
    return [each for each in resources if not left or not any(at.uri in left for at in _way(each))]


def at_own(docs: Documents, link: str, left: frozenset[str]) -> Gathered:
    """Follow a link path without the chassis `left`, and return what it leads to, and why that may be incomplete.

    A resource that several chassis share is found if one of them is not left out.
    """
    if not left or not link.startswith("Chassis/*/"):
        found, trouble = gather(docs.at(link))
        return own(found, left), trouble
    listed, trouble = members(docs, "Chassis")
    reached: dict[str, Resource] = {}
    for place in own(listed, left):
        more, cut = gather(docs.at(link.removeprefix("Chassis/*/"), place))
        trouble = trouble or cut
        reached |= {each.uri: each for each in more if each.uri not in reached}
    return list(reached.values()), trouble


def _way(resource: Resource) -> Iterable[Resource]:
    at: Resource | None = resource
    while at is not None:
        yield at
        at = at.above


def _type(chassis: Resource) -> str:
    return str(chassis.body.get("ChassisType"))


def is_blade(chassis: Resource) -> bool:
    """Return whether a chassis holds one machine, and is plugged into a chassis of several."""
    return _type(chassis) in BLADES


def _parents(places: Mapping[str, Resource]) -> dict[str, frozenset[str]]:
    """Return the chassis around each chassis, as it reports them, or as they report it."""
    found = {uri: set(links(each, "ContainedBy")) for uri, each in places.items()}
    for uri, each in places.items():
        for inner in links(each, "Contains") & found.keys():
            found[inner].add(uri)
    return {uri: frozenset(around - {uri}) for uri, around in found.items()}


def _joined(linked: Mapping[str, frozenset[str]], systems: Iterable[Resource]) -> frozenset[str]:
    """Return the chassis that link to one of these systems, or that one of them links to."""
    uris = frozenset(spelt(each.uri) for each in systems)
    ends = frozenset[str]().union(*(links(each, "Chassis") for each in systems))
    return frozenset(uri for uri, ends_of in linked.items() if ends_of & uris or uri in ends)


def _of_some(found: Machine, linked: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the chassis of some of several hosts, but not of all."""
    each = [_joined(linked, [host]) for host in found.hosts]
    return frozenset().union(*each) - frozenset(linked).intersection(*each)


def _of_others(tree: _Tree, linked: Mapping[str, frozenset[str]], systems: Sequence[Resource]) -> frozenset[str]:
    """Return the chassis that link only to systems that the BMC does not list."""
    home = _joined(linked, systems)
    if not home:
        return frozenset()
    # A part inside a chassis of this node may link to a system that the BMC does not publish; a blade is a machine.
    parts = {uri for uri in tree.inside(home) if not is_blade(tree.places[uri])}
    kept = tree.around(home) | parts
    return frozenset(uri for uri, ends in linked.items() if ends and uri not in kept)


def _beside(tree: _Tree, linked: Mapping[str, frozenset[str]], hosts: Sequence[Resource]) -> frozenset[str]:
    """Return the blades without a link to a system, if the host is in another chassis of the same type."""
    home = _joined(linked, hosts)
    blades = frozenset(uri for uri in home if is_blade(tree.places[uri]))
    types = {_type(tree.places[uri]) for uri in blades}
    kept = tree.around(home) | tree.inside(blades)
    return frozenset(
        uri for uri, each in tree.places.items() if _type(each) in types and not linked[uri] and uri not in kept
    )


def chassis(docs: Documents) -> Gathered:
    """Return every chassis of this node that exists, and why the list may be incomplete.

    A chassis that the collection lists but the BMC does not have (404) is left out, and is such a reason: it may have
    parts. What is known of the parts of other chassis stays known.
    """
    known = docs.kept.get(chassis)
    if not isinstance(known, tuple):  # many probes read the parts of each chassis
        listed, trouble = members(docs, "Chassis")
        found, _ = every(docs)
        left, doubt = others(docs)
        known = docs.kept[chassis] = own(found, left), trouble or gone(listed) or doubt
    found, trouble = known
    return [*found], trouble


def every(docs: Documents) -> Gathered:
    """Return every chassis that exists, also those of other machines, and why none or not all of them were read.

    A chassis that the BMC does not have (404) is no such reason, unless the BMC has none of the listed chassis.
    """
    found, trouble = members(docs, "Chassis")
    there = [each for each in found if each.unread is None or not not_there(each.unread)]
    return there, trouble or (None if there else gone(found))


def in_chassis(docs: Documents, *forms: LinkForm) -> Gathered:
    """Return the items of every chassis, from the first path that lists any, and why the list may be incomplete."""
    return items_of(docs, chassis(docs), *forms)


def items_of(docs: Documents, listed: Gathered, *forms: LinkForm, ones: Ones = named_ones) -> Gathered:
    """Return the same of some chassis; `ones` chooses which of the items that could not be read are returned."""
    places, trouble = listed
    holdings = _Holdings(docs)
    for place in places:
        failed = holdings.take(place, forms)
        trouble = trouble or failed
    if not holdings.found:
        trouble = trouble or gone(members(docs, "Chassis")[0])
    if not holdings.found and trouble is None and not holdings.stated:
        links = " or ".join(link for link, _ in forms)
        trouble = Unknown(Reason.NOT_COLLECTED, f"no chassis of this BMC has {links}")
    if len(holdings.found) > MEMBERS:
        trouble = trouble or Unknown(Reason.TOO_LARGE, f"more than {MEMBERS} items in all chassis")
    return ones(list(holdings.found.values())[:MEMBERS], trouble)


class _Holdings:
    """The items of all chassis of one BMC, without repetition: several chassis may share one list."""

    def __init__(self, docs: Documents) -> None:
        self.docs = docs
        self.found: dict[str, Resource] = {}
        self.stated = False
        self._held: dict[str, tuple[bool, Unknown | None]] = {}

    def take(self, chassis: Resource, forms: Sequence[LinkForm]) -> Unknown | None:
        """Collect the items of one chassis; returns why the items may be incomplete, or None."""
        failed: Unknown | None = None
        known, silent = False, None
        for link, holder in forms:
            holders, unread = gather(self.docs.at(link, chassis))
            some = False
            for resource in holders:
                if holder != "*" and resource.unread is None and holder not in resource.body:
                    silent = silent or Unknown(Reason.NOT_COLLECTED, f"{resource.uri} has no {holder}")
                    continue
                any_, cut = self._hold(resource, holder)
                known = known or cut is None
                some, unread = some or any_, unread or cut
            if some or (unread is not None and not not_there(unread)):
                # The older form names the same parts differently: it is used only if the newer form does not exist.
                self.stated = self.stated or known
                return unread
            failed = failed or unread
        self.stated = self.stated or known
        return failed or (None if known else silent)

    def _hold(self, resource: Resource, holder: str) -> tuple[bool, Unknown | None]:
        """Collect the items of a resource; returns whether the resource has items, and why they may be incomplete."""
        known = self._held.get(resource.uri)
        if known is None:
            more, cut = gather(self.docs.at("*", resource) if holder == "*" else resource.parts(holder))
            for item in more:
                self.found.setdefault(item.uri, item)
            known = self._held[resource.uri] = (bool(more), cut)
        return known


def _with_systems(docs: Documents) -> None:
    others(docs)


CHASSIS = Walk("Systems/*, if the chassis are of several systems, or are blades", _with_systems)
"""The link of a probe that reads the parts of chassis: whether a chassis is of this node depends on the systems."""
