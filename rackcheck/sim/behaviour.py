"""How a simulated node and its BMC behave, besides the data that they return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.sim.bmc import FOREVER, ResourceFault
from rackcheck.sim.machine import SimMachine


class Door(StrEnum):
    """What happens to a connection."""

    OPEN = "open"
    CLOSED = "closed"  # nothing listens: the connection is refused immediately
    SILENT = "silent"  # the connection is accepted, and nothing is ever sent
    LOCKED = "locked"  # the login is refused


@dataclass(frozen=True)
class Conduct:
    """Behaviour of one node: its SSH server, sudo, clock and load, and the behaviour of its BMC.

    `skew` is how many seconds the node's clock is ahead of ours; `latency` is how many seconds a reply takes.
    `load_pace` is how many seconds of a load pass in one real second; `load_seed` is the seed of the variation between
    the node's parts.
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
    """A fault that appears only under load: its kind, its part (`gpu/3`, `nic/mlx5_4`, `node`) and its parameters."""

    kind: str
    of: str
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, word: str) -> float:
        """Read a parameter that is a number."""
        return float(self.words[word])


@dataclass(frozen=True)
class BmcConduct:
    """Behaviour of one BMC.

    `sessions` is the maximum number of sessions, `taken` the number of sessions that other clients use, `workers` the
    number of requests served in parallel, `lines` the maximum number of open connections. With `flapping`, every second
    connection has a different certificate. `faults` has wrong replies by URI, or under `*` for all URIs except the
    root. `expand` is the variant of $expand support, if any. The BMC's clock runs, `skew` seconds ahead of ours; the
    clock of a recorded tree stands still.
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
