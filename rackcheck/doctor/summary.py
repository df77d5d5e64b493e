"""All visits combined: nodes that are ready, troubles that several nodes share, rules that will be unknown; pure."""

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
    """One trouble that several nodes share: the nodes, with the address and the message of each."""

    trouble: Trouble
    plane: Plane
    finding: PlaneTrouble
    places: tuple[PlaneAddress, ...]
    seen: Mapping[str, str]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes, sorted by name."""
        return tuple(place.node for place in self.places)


@dataclass(frozen=True)
class Blind:
    """The rules that will be unknown on some nodes, or, without a profile, the probes that will have no data.

    `total` is the number of all rules or all probes.
    """

    what: tuple[str, ...]
    total: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Ward:
    """Doctor's results. Nodes that were not visited because of an interrupt are not ready."""

    roles: Mapping[str, str]
    planes: Mapping[str, frozenset[Plane]]
    visits: tuple[PlaneVisit, ...]
    plan: Plan
    profile: Profile | None = None
    catalogue: Catalogue = field(default_factory=Catalogue)
    interrupted: bool = False
    collected: frozenset[Plane] = frozenset(Plane)
    """The planes that an audit would read."""

    @cached_property
    def by_node(self) -> Mapping[str, tuple[PlaneVisit, ...]]:
        """Return the visits of each node, the operating system first."""
        found: dict[str, list[PlaneVisit]] = {name: [] for name in self.roles}
        for visit in sorted(self.visits, key=lambda v: v.plane is not Plane.OS):
            found[visit.node].append(visit)
        return {name: tuple(visits) for name, visits in found.items()}

    @cached_property
    def ready(self) -> tuple[str, ...]:
        """Return the nodes whose required planes were all visited and have no trouble that prevents an audit."""
        return tuple(
            name for name, visits in self.by_node.items()
            if {v.plane for v in visits} >= self.planes[name] and visits and not any(map(self.hinders, visits))
        )  # fmt: skip

    def hinders(self, visit: PlaneVisit) -> tuple[Trouble, ...]:
        """Return the troubles of a visit that prevent an audit.

        Missing tools prevent an audit only with a profile, which selects the facts: no machine has the tools for every
        device. If a missing tool makes rules unknown, all with `unknown: minor`, it does not prevent an audit.
        """
        return tuple(
            finding.trouble
            for finding in visit.findings
            if finding.trouble is not Trouble.NO_TOOL or self._needs_tool(visit, finding)
        )

    def _needs_tool(self, visit: PlaneVisit, finding: PlaneTrouble) -> bool:
        if self.profile is None:
            return False
        rules = {rule.id: rule for rule in scope(self.profile, self.roles[visit.node], self.collected)}
        hit = blind(rules.values(), self.catalogue, finding.lost)
        return not hit or not all(rules[name].unknown_is_minor for name in hit)

    @property
    def simulated(self) -> bool:
        """Whether a node or a BMC that was reached marks itself as simulated."""
        return any(visit.who is not None and visit.who.simulator for visit in self.visits)

    @cached_property
    def without(self) -> Mapping[Plane, tuple[str, ...]]:
        """Return, by plane, the nodes whose plane was not visited because the inventory does not list it."""
        planes = sorted(self.plan.planes & {Plane.OS, Plane.BMC})
        found = {plane: tuple(name for name, own in self.planes.items() if plane not in own) for plane in planes}
        return {plane: names for plane, names in found.items() if names}

    @cached_property
    def unasked(self) -> tuple[str, ...]:
        """Return the nodes with a visit that did not finish."""
        return tuple(n for n, visits in self.by_node.items() if not {v.plane for v in visits} >= self.planes[n])

    @cached_property
    def shared(self) -> tuple[SharedTrouble, ...]:
        """Return the troubles, each with all nodes that share it, in the order in which a connection can meet them."""
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
        """Return the nodes with troubles; nodes with the same troubles are combined, sorted by name."""
        kinds = {
            name: tuple(dict.fromkeys((visit.plane, trouble) for visit in visits for trouble in self.hinders(visit)))
            for name, visits in self.by_node.items()
        }
        return [(kind, list(nodes)) for kind, nodes in groups([n for n, k in kinds.items() if k], kinds.__getitem__)]

    @cached_property
    def blind(self) -> tuple[Blind, ...]:
        """Return what will be unknown; nodes with the same gaps are combined."""
        gaps = {name: (self.gap(name), self._total(name)) for name in self.by_node}
        hit = [name for name, (what, _) in gaps.items() if what]
        return tuple(Blind(what, total, tuple(nodes)) for (what, total), nodes in groups(hit, gaps.__getitem__))

    def gap(self, name: str) -> tuple[str, ...]:
        """Return the rules that will be unknown on a node; without a profile, the probes."""
        lost = frozenset().union(*(visit.lost for visit in self.by_node[name]))
        if self.profile is None:
            return tuple(probe.name for probe in self.plan.probes if probe.name in lost)
        return blind(scope(self.profile, self.roles[name], self.collected), self.catalogue, lost)

    def _total(self, name: str) -> int:
        if self.profile is None:
            return len(self.plan.probes)
        return len(scope(self.profile, self.roles[name], self.collected))

    def who(self, plane: Plane) -> list[tuple[tuple[str, ...], list[PlaneVisit]]]:
        """Return the systems or BMCs of a plane; identical systems or BMCs are combined, the largest group is first."""
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
            return (name or who.vendor or "no name reported", version, redfish, " ".join((who.user, who.role)).strip())
    return ()
