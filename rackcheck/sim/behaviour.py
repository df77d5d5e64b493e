"""Describes how a simulated node and its BMC behave, such as latency and faults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.sim.bmc import FOREVER, ResourceFault
from rackcheck.sim.machine import SimMachine


class Door(StrEnum):
    """How a server handles connections."""

    OPEN = "open"
    CLOSED = "closed"  # nothing listens: the connection is refused immediately
    SILENT = "silent"  # the connection is accepted, and nothing is ever sent
    LOCKED = "locked"  # the login is refused


@dataclass(frozen=True)
class Conduct:
    """The behaviour of one node: its SSH server, sudo, clock and load.

    `skew` is the number of seconds by which the node's clock is ahead. `latency` is the duration of a reply in seconds.
    `load_pace` is the number of simulated seconds of a burn-in per real second. `load_seed` is the random seed for
    differences between the node's parts.
    """

    ssh: Door = Door.OPEN
    other_host_key: bool = False
    sudo: bool = True
    skew: float = 0.0
    latency: float = 0.0
    unresolved: bool = False
    load_pace: float = 1.0
    load_seed: int = 0


@dataclass(frozen=True)
class Ill:
    """A fault that appears only under load: its kind, its part (such as `gpu/3`, `nic/mlx5_4`) and its parameters."""

    kind: str
    of: str
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, word: str) -> float:
        """Return a parameter as a number."""
        return float(self.words[word])


@dataclass(frozen=True)
class BmcConduct:
    """Behaviour of one BMC.

    `sessions` is the maximum number of sessions, `taken` the number of sessions that other clients use, `workers` the
    number of requests served in parallel, `lines` the maximum number of open connections, `latency` the duration of a
    reply in seconds. If `flapping` is true, consecutive connections to the BMC get two different certificates in turn.
    `faults` maps a URI to a wrong reply; the URI `*` means all URIs except the service root. `expand` is one of
    `expand_query.WAYS`, or empty if the BMC does not support $expand. The clock of the BMC is `skew` seconds ahead of
    this machine's clock. If `stands_still` is true, the clock always shows the recorded time.
    """

    https: Door = Door.OPEN
    other_certificate: bool = False
    flapping: bool = False
    hanging: bool = False
    faults: Mapping[str, ResourceFault] = field(default_factory=dict)
    expand: str = ""
    lines: int = FOREVER
    sessions: int = 16
    taken: int = 0
    workers: int = 4
    skew: float = 0.0
    stands_still: bool = False
    latency: float = 0.0


@dataclass(frozen=True)
class Station:
    """One node of a simulated rack: its location, its machine, and its behaviour."""

    name: str
    number: int
    machine: SimMachine
    node: Conduct = field(default_factory=Conduct)
    bmc: BmcConduct = field(default_factory=BmcConduct)
    rack: str = ""
    u: int = 0
    height: int = 1
    role: str = "compute"
    ills: tuple[Ill, ...] = ()
