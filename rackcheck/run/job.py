"""The parameters of a run: its nodes, requests, profile, waivers and time limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from secrets import token_hex
from typing import TYPE_CHECKING

from rackcheck import __version__
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import AskLimit, Node
from rackcheck.model.fact import Plane
from rackcheck.model.profile import LAW, Phase, Profile
from rackcheck.probe.group import Seat
from rackcheck.probe.plan import Plan
from rackcheck.run.event import RunStarted
from rackcheck.run.kept_facts import KeptFacts
from rackcheck.transport.memory import DEFAULT, Allowance

if TYPE_CHECKING:
    from rackcheck.run.stored_replies import StoredReplies


def now() -> str:
    """Return the current time in UTC to the second, in the form 2026-11-21T10:00:00Z."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_id() -> str:
    """Return a new run id: date and time, milliseconds in hexadecimal, and two random digits to avoid collisions."""
    moment = datetime.now(UTC)
    return f"{moment:%Y%m%dT%H%M%SZ}-{moment.microsecond // 1000:03x}{token_hex(1)}"


@dataclass(frozen=True, slots=True)
class Again:
    """A second reading of each node: the delay after the first reading, in seconds, and the requests to send."""

    seconds: float
    plan: Plan


@dataclass(frozen=True)
class Job:
    """The parameters of one run: its nodes, requests, profile, waivers and time limits.

    `expected` are all nodes of the inventory, also nodes that are not read; the quorum of a rule is a share of
    `expected`. `limits` bound how many nodes are asked at the same time. `kept` are the facts of replies of stored
    runs, for jobs that read such replies. `memory` is the limit for the replies in flight, in bytes; `allowance` is the
    part of it for the plane that is read. `stored` has the replies of the run that are on disk, if the consumer of its
    events stores them.
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
    kept: KeptFacts | None = field(default=None, repr=False, compare=False)
    limits: tuple[AskLimit, ...] = ()
    memory: int = DEFAULT
    allowance: Allowance = field(default_factory=Allowance, repr=False, compare=False)
    stored: "StoredReplies | None" = field(default=None, repr=False, compare=False)

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The nodes that the inventory expects; by default, the nodes that are read."""
        return self.expected or tuple(Seat(node.name, node.role, node.rack) for node in self.nodes)

    @cached_property
    def asked(self) -> Plan:
        """The plan without the joins of planes that are not read."""
        unread = {Plane.OS, Plane.BMC} - self.planes
        return replace(self.plan, joins=tuple(join for join in self.plan.joins if not join.inputs & unread))

    @property
    def day(self) -> str:
        """The date on which waivers must be valid: the date of the run, or of the newest run that it is merged with."""
        return self.held or self.time[:10]

    def started(self) -> RunStarted:
        """Return the event `run started`."""
        profile = self.profile
        names = tuple(node.name for node in self.nodes)
        planes = tuple(sorted(p.value for p in self.planes))
        words = (profile.name, profile.version, profile.digest) if profile is not None else ("", "", "")
        law = profile.law if profile is not None else LAW
        return RunStarted(self.id, self.time, self.version, *words, names, planes, self.targets, law)
