"""How a simulated node and its BMC behave, apart from the data they return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.sim.bmc import FOREVER, ResourceFault
from rackcheck.sim.machine import SimMachine


class Door(StrEnum):
    """What happens to a connection."""

    OPEN = "open"
    CLOSED = "closed"  # nothing listens: the connection is refused at once
    SILENT = "silent"  # the connection is accepted, and nothing is ever sent
    LOCKED = "locked"  # the login is refused


@dataclass(frozen=True)
class Conduct:
    """Behaviour of one node: its SSH server, its sudo, its clock, its load; and the same of its BMC.

    `skew` is how many seconds a clock is ahead of ours; `latency` how many seconds a reply takes. `load_pace` is how
    many seconds of a load pass in one of ours; `load_seed` is the seed of the variation between its parts.
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
    """A fault that shows under load only: its kind, its part (`gpu/3`, `nic/mlx5_4`, `node`), and its parameters."""

    kind: str
    of: str
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, word: str) -> float:
        """Read a parameter that is a number."""
        return float(self.words[word])


@dataclass(frozen=True)
class BmcConduct:
    """Behaviour of one BMC.

    `sessions` is its session limit, `taken` the sessions in use by others, `workers` the requests served at once.

    `lines` is the most open connections; `flapping` shows another certificate on every second one. `faults` are wrong
    replies, by URI, or by `*` for all but the root; `expand` is the variant of its $expand support, if any. Its clock
    runs, `skew` seconds ahead of ours; the clock of a recorded tree stands still.
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
    """One node of a simulated rack: its place, its machine, and how it behaves."""

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
