"""The parts of an inventory: nodes with their addresses, racks with their slots."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackcheck.model.fact import Plane

LOCAL = "localhost"
"""The name of this machine as a node; it is read without SSH, unless an inventory sets another host for the name."""


@dataclass(frozen=True, slots=True)
class Ssh:
    """How to reach a node's operating system.

    `key` and `known_hosts` are files; `password` and `passphrase` are references, never the secrets themselves. If
    `sudo` is false, rackcheck never runs sudo on this node. `trusted` is the file of host keys beside the inventory,
    which counts together with `known_hosts`. `jump` are the hosts on the way, in the form of OpenSSH's ProxyJump:
    `bastion` or `a@bastion1,bastion2:2222`.
    """

    user: str = ""
    key: str = ""
    port: int = 0
    known_hosts: str = ""
    password: str = ""
    passphrase: str = ""
    sudo: bool = True
    trusted: str = ""
    jump: str = ""


@dataclass(frozen=True, slots=True)
class BmcAccess:
    """How to reach a node's BMC; `password` is a reference, never the secret itself.

    `width` is the number of concurrent GETs; if `expand` is false, `$expand` is never used.
    """

    url: str
    user: str = ""
    password: str = ""
    fingerprint: str = ""
    ca: str = ""
    width: int = 2
    expand: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    """One node: how to reach its planes, its position, and its supply.

    `u` is the lowest rack unit of the node, counted from 1 at the bottom, or 0 if it is not set; `height` is in units.
    `pdu` is the PDU, or the redundant pair of PDUs, that supplies the node; `power` is the highest power that it draws,
    in watts, or 0 if it is not set.
    """

    name: str
    role: str = "compute"
    host: str = ""
    ssh: Ssh = field(default_factory=Ssh)
    bmc: BmcAccess | None = None
    rack: str = ""
    u: int = 0
    height: int = 1
    slot: str = ""
    pdu: str = ""
    power: int = 0

    @property
    def is_local(self) -> bool:
        """Whether this node is the current machine."""
        return self.host == LOCAL and not self.ssh.port and not self.ssh.key

    @property
    def units(self) -> range:
        """The rack units that the node occupies; empty if its position is unknown."""
        return range(self.u, self.u + self.height) if self.u else range(0)


def references(node: Node, plane: Plane) -> tuple[str, ...]:
    """Return the references to the secrets that are needed to read this plane of a node."""
    found: tuple[str, ...] = ()
    if plane is Plane.BMC and node.bmc is not None:
        found = (node.bmc.password,)
    elif plane in {Plane.OS, Plane.BURNIN} and node.host and not node.is_local:
        found = (node.ssh.password, node.ssh.passphrase)
    return tuple(reference for reference in found if reference)


@dataclass(frozen=True, slots=True)
class RackSlot:
    """A slot of a rack type: its lowest unit, its height in units, and the role of its node if the type sets one."""

    u: int
    height: int = 1
    role: str = ""


@dataclass(frozen=True)
class Rack:
    """A rack; `height` is in units, 0 if the rack has no type; `title` is the description of the type.

    `budget` is the power that a burn-in may draw in the rack, in watts, or 0 if it is not set.
    """

    name: str
    row: str = ""
    title: str = ""
    height: int = 0
    slots: Mapping[str, RackSlot] = field(default_factory=dict)
    budget: int = 0


@dataclass(frozen=True, slots=True)
class AskLimit:
    """How many planes of some nodes are asked at the same time: `most`, by plane; `name` is that in the inventory."""

    name: str
    nodes: frozenset[str]
    most: Mapping[Plane, int]


@dataclass(frozen=True)
class Inventory:
    """All nodes by name, in the order of the file; `origin` describes where they come from.

    `groups` are the groups of the file. `racks` are the racks that the file declares; if it declares none, nodes can
    still name racks. `pdus` are the power budgets (W) of the PDUs that the file declares, 0 where it sets none.
    `limits` are those of nodes that are asked at the same time.
    """

    nodes: Mapping[str, Node]
    origin: str
    racks: Mapping[str, Rack] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = ""
    pdus: Mapping[str, int] = field(default_factory=dict)
    limits: tuple[AskLimit, ...] = ()
