"""How a simulated node and its BMC behave, beside what they answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rackcheck.sim.bmc import FOREVER, ResourceFault
from rackcheck.sim.machine import SimMachine


class Door(StrEnum):
    """What happens to who knocks."""

    OPEN = "open"
    CLOSED = "closed"  # nobody listens: the connection is refused at once
    SILENT = "silent"  # the connection is taken, and nothing is ever said
    LOCKED = "locked"  # the login is refused


@dataclass(frozen=True)
class Conduct:
    """Behaviour of one node: its SSH server, its sudo, its clock, its load; and the same of its BMC.

    `skew` is how many seconds a clock is ahead of ours; `latency` how many seconds an answer takes. Under load a second
    of its own takes `1 / load_pace` of ours; `load_seed` is the seed of what its parts are like.
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
    """A fault that shows under load alone: its kind, what has it (`gpu/3`, `nic/mlx5_4`, `node`), and its words."""

    kind: str
    of: str
    words: Mapping[str, str] = field(default_factory=dict)

    def number(self, word: str) -> float:
        """Read a word that is a number."""
        return float(self.words[word])


@dataclass(frozen=True)
class BmcConduct:
    """Behaviour of one BMC: `sessions` are those it keeps, `taken` those that others hold, `workers` work at once.

    `lines` is how many connections it takes at once; `flapping` shows another certificate on each second one. `faults`
    are wrong answers, by URI, or by `*` for all but the root; `expand` is the way in which it answers for whole
    collections, where it does. Its clock runs, `skew` seconds ahead of ours; that of a
    recorded tree stands still.
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
