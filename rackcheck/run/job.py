"""What one run is: whom to ask what, when, and what the answers are held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex

from rackcheck import __version__
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane
from rackcheck.model.profile import LAW, Phase, Profile
from rackcheck.probe.group import Seat
from rackcheck.probe.plan import Plan
from rackcheck.run.event import RunStarted


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_id() -> str:
    """A run's name: when it began, to the millisecond in hexadecimal, and two letters that keep two apart."""
    moment = datetime.now(UTC)
    return f"{moment:%Y%m%dT%H%M%SZ}-{moment.microsecond // 1000:03x}{token_hex(1)}"


@dataclass(frozen=True, slots=True)
class Again:
    """A second reading of each node: how many seconds after the first, and what is asked then."""

    seconds: float
    plan: Plan


@dataclass(frozen=True)
class Job:
    """One run: whom to ask what, and what to hold the answers against.

    `expected` are all nodes of the inventory, also those that are not asked: what a quorum is a share of.
    """

    plan: Plan
    nodes: tuple[Node, ...]
    profile: Profile | None = None
    planes: frozenset[Plane] = frozenset({Plane.OS, Plane.BMC})
    phases: frozenset[Phase] = frozenset({Phase.CONFIG})
    targets: str = ""
    waivers: tuple[Waiver, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float | None = None
    deadline: float | None = None
    id: str = field(default_factory=new_id)
    time: str = field(default_factory=now)
    version: str = __version__
    held: str = ""
    expected: tuple[Seat, ...] = ()
    again: Again | None = None

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The nodes that the inventory expects: those that are asked, where nobody says more."""
        return self.expected or tuple(Seat(node.name, node.role, node.rack) for node in self.nodes)

    @property
    def day(self) -> str:
        """The day that waivers are held against: the run's own, or that of a newer reading that it is laid under."""
        return self.held or self.time[:10]

    def started(self) -> RunStarted:
        """The first event."""
        profile = self.profile
        names = tuple(node.name for node in self.nodes)
        planes = tuple(sorted(p.value for p in self.planes))
        words = (profile.name, profile.version, profile.digest) if profile is not None else ("", "", "")
        law = profile.law if profile is not None else LAW
        return RunStarted(self.id, self.time, self.version, *words, names, planes, self.targets, law)
