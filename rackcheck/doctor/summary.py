"""All visits combined: the nodes that are ready, troubles that nodes share, and rules that will be unknown; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rackcheck.doctor.finding import Controller, Grant, PlaneAddress, PlaneTrouble, PlaneVisit, System, Trouble
from rackcheck.doctor.unknown_rules import blind, scope
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.fact import Plane
from rackcheck.model.fold import groups
from rackcheck.model.profile import Profile
from rackcheck.model.text import natural
from rackcheck.probe.plan import Plan


@dataclass(frozen=True)
class SharedTrouble:
    """One trouble of several nodes: its nodes with their addresses and with each one's message."""

    trouble: Trouble
    plane: Plane
    finding: PlaneTrouble
    places: tuple[PlaneAddress, ...]
    seen: Mapping[str, str]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, in the order of their names."""
        return tuple(place.node for place in self.places)


@dataclass(frozen=True)
class Blind:
    """What will be unknown on some nodes: rules of a profile, else probes; `total` is the number of all of them."""

    what: tuple[str, ...]
    total: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Ward:
    """Doctor's results; nodes that were not visited because of an interrupt are not ready."""

    roles: Mapping[str, str]
    planes: Mapping[str, frozenset[Plane]]
    visits: tuple[PlaneVisit, ...]
    plan: Plan
    profile: Profile | None = None
    catalogue: Catalogue = field(default_factory=Catalogue)
    interrupted: bool = False
    asked: frozenset[Plane] = frozenset(Plane)
    """The planes that an audit would collect."""

    @cached_property
    def by_node(self) -> Mapping[str, tuple[PlaneVisit, ...]]:
        """The visits of each node, the operating system's first."""
        found: dict[str, list[PlaneVisit]] = {name: [] for name in self.roles}
        for visit in sorted(self.visits, key=lambda v: v.plane is not Plane.OS):
            found[visit.node].append(visit)
        return {name: tuple(visits) for name, visits in found.items()}

    @cached_property
    def ready(self) -> tuple[str, ...]:
        """The nodes whose wanted planes were all visited and have no trouble that blocks an audit."""
        return tuple(
            name for name, visits in self.by_node.items()
            if {v.plane for v in visits} >= self.planes[name] and visits and not any(map(self.hinders, visits))
        )  # fmt: skip

    def hinders(self, visit: PlaneVisit) -> tuple[Trouble, ...]:
        """Return the troubles of a visit that block an audit.

        Missing tools block only with a profile, which selects the facts: no machine has the tools of every device.
        """
        troubles = (finding.trouble for finding in visit.findings)
        return tuple(t for t in troubles if self.profile is not None or t is not Trouble.NO_TOOL)

    @cached_property
    def without(self) -> Mapping[Plane, tuple[str, ...]]:
        """The nodes of which a plane was not visited because the inventory does not name it; by plane."""
        planes = sorted(self.plan.planes & {Plane.OS, Plane.BMC})
        found = {plane: tuple(name for name, own in self.planes.items() if plane not in own) for plane in planes}
        return {plane: names for plane, names in found.items() if names}

    @cached_property
    def unasked(self) -> tuple[str, ...]:
        """The nodes of which some visit did not finish."""
        return tuple(n for n, visits in self.by_node.items() if not {v.plane for v in visits} >= self.planes[n])

    @cached_property
    def shared(self) -> tuple[SharedTrouble, ...]:
        """The troubles, each once for all nodes that share it; in the order in which a connection meets them."""
        found: dict[tuple[Plane, Trouble, tuple[str, ...], tuple[str, ...]], list[tuple[PlaneVisit, PlaneTrouble]]] = {}
        for visit in self.visits:
            for finding in visit.findings:
                # For a login, the user is part of the trouble, not only of the address.
                user = (visit.place.user,) if finding.trouble in {Trouble.LOGIN, Trouble.NO_ROOT} else ()
                found.setdefault((visit.plane, finding.trouble, finding.things, user), []).append((visit, finding))
        order = list(Trouble)
        return tuple(
            _shared(members)
            for _, members in sorted(found.items(), key=lambda e: (order.index(e[0][1]), e[0][0] != Plane.OS))
        )

    @cached_property
    def sick(self) -> list[tuple[tuple[tuple[Plane, Trouble], ...], list[str]]]:
        """The nodes with troubles, those with the same ones together, in the order of their names."""
        kinds = {
            name: tuple(dict.fromkeys((visit.plane, trouble) for visit in visits for trouble in self.hinders(visit)))
            for name, visits in self.by_node.items()
        }
        return [(kind, list(nodes)) for kind, nodes in groups([n for n, k in kinds.items() if k], kinds.__getitem__)]

    @cached_property
    def blind(self) -> tuple[Blind, ...]:
        """What will be unknown, nodes with the same gaps together."""
        gaps = {name: (self.gap(name), self._total(name)) for name in self.by_node}
        hit = [name for name, (what, _) in gaps.items() if what]
        return tuple(Blind(what, total, tuple(nodes)) for (what, total), nodes in groups(hit, gaps.__getitem__))

    def gap(self, name: str) -> tuple[str, ...]:
        """Return the rules that will be unknown on a node; without a profile, the probes."""
        lost = frozenset().union(*(visit.lost for visit in self.by_node[name]))
        if self.profile is None:
            return tuple(probe.name for probe in self.plan.probes if probe.name in lost)
        return blind(scope(self.profile, self.roles[name], self.asked), self.catalogue, lost)

    def _total(self, name: str) -> int:
        if self.profile is None:
            return len(self.plan.probes)
        return len(scope(self.profile, self.roles[name], self.asked))

    def who(self, plane: Plane) -> list[tuple[tuple[str, ...], list[PlaneVisit]]]:
        """Return the systems or BMCs of a plane, equal ones together, the largest group first."""
        found = [visit for visit in self.visits if visit.plane is plane and visit.who is not None]
        kinds: dict[tuple[str, ...], list[PlaneVisit]] = {}
        for visit in sorted(found, key=lambda v: natural(v.node)):
            kinds.setdefault(_kind(visit), []).append(visit)
        return sorted(kinds.items(), key=lambda entry: -len(entry[1]))


def _shared(members: Iterable[tuple[PlaneVisit, PlaneTrouble]]) -> SharedTrouble:
    listed = sorted(members, key=lambda entry: natural(entry[0].node))
    visit, finding = listed[0]
    places = tuple(v.place for v, _ in listed)
    return SharedTrouble(finding.trouble, visit.plane, finding, places, {v.node: f.seen for v, f in listed})


def _kind(visit: PlaneVisit) -> tuple[str, ...]:
    match visit.who:
        case System() as who:
            python = f"python {who.python}" if who.python else "no python3"
            grant = "" if who.grant in {Grant.ROOT, Grant.NOT_NEEDED} else who.grant.value
            return (who.name, who.kernel, who.user, grant, python)
        case Controller() as who:
            name = who.product if who.product.startswith(who.vendor) else f"{who.vendor} {who.product}".strip()
            version = " ".join(word for word in (who.model, who.firmware) if word)
            redfish = f"Redfish {who.redfish}" if who.redfish else ""
            return (name or who.vendor or "says no name", version, redfish, " ".join((who.user, who.role)).strip())
    return ()
