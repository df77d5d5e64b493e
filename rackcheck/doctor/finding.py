"""The data classes of doctor's findings: troubles of a plane, the plane's system or BMC, and its address."""

from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model.fact import Plane


class Trouble(StrEnum):
    """What prevents access to a plane's data; a closed set, in the order in which a connection can meet them."""

    NO_HOST = "no host in the inventory"
    NO_BMC = "no BMC in the inventory"
    SECRET = "a secret cannot be fetched"
    NO_PASSWORD = "no password named for the BMC"
    CA_FILE = "the CA file cannot be used"
    NO_NAME = "no address for its name"
    REFUSED = "its port refuses connections"
    SILENT = "it does not answer"
    HANGS = "its port is open but sends nothing"
    NO_SSH = "no SSH handshake"
    KEY_UNKNOWN = "its host key is not known"
    KEY_CHANGED = "its host key has changed"
    KEY_REVOKED = "its host key is revoked"
    KEY_FILE = "the key file cannot be used"
    LOGIN = "login refused"
    SLOW = "it answers too slowly"
    CUT = "the shell's output ended early"
    NO_FRAME = "timeout, head or tail is missing"
    NO_TOOL = "a tool is missing"
    NO_PYTHON = "python3 is missing"
    NO_ROOT = "commands that need root are refused"
    NO_READ = "files cannot be read"
    CERT_CHANGED = "its certificate has changed"
    CERT_UNKNOWN = "its certificate is not trusted"
    BMC_LOGIN = "the BMC refused the login"
    BMC_REJECTS = "the BMC rejects the session that it opened"
    BMC_FULL = "all sessions of the BMC are taken"
    BMC_BUSY = "the BMC is not ready"
    BMC_ODD = "no Redfish there"
    BMC_ROLE = "the BMC's user may not read everything"
    BMC_GAP = "a resource of the BMC cannot be read"
    BMC_SESSION = "the BMC did not close rackcheck's session"
    OURS = "rackcheck failed here"


NO_INVENTORY = "no inventory: nodes were given by name only"
"""The message for a plane that is missing because there is no inventory."""


class Grant(StrEnum):
    """Which root rights a login has."""

    ROOT = "root itself"
    ALL = "sudo: everything"
    LIST = "sudo: all needed commands"
    PART = "sudo: not all needed commands"
    NONE = "sudo: nothing"
    NO_PROGRAM = "no sudo program"
    OFF = "sudo: off in the inventory"
    NOT_NEEDED = "root not needed"


@dataclass(frozen=True, slots=True)
class PlaneAddress:
    """The address and the login of a plane, for the commands that doctor shows; a field without a value is empty."""

    node: str
    host: str = ""
    port: str = ""
    user: str = ""
    key: str = ""
    known: str = ""
    alias: str = ""
    public: str = ""
    """The file of the public key that belongs to `key`; empty if there is none."""
    jump: str = ""
    """The jump hosts that the inventory names."""


@dataclass(frozen=True, slots=True)
class PlaneTrouble:
    """One trouble: its message, the tools or commands involved, and the probes that have no data because of it."""

    trouble: Trouble
    seen: str = ""
    things: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """The operating system of a node; `login` and `script` are how many seconds the login and the script took.

    `simulator` is the name of the simulator that the node is part of; empty on a real machine.
    """

    name: str
    kernel: str
    user: str
    grant: Grant
    python: str
    login: float | None
    script: float | None
    simulator: str = ""


@dataclass(frozen=True, slots=True)
class Controller:
    """The BMC of a node; `get` is the median duration of a GET, in seconds.

    `simulator` is the name of the simulator that the BMC is part of; empty on a real machine.
    """

    vendor: str
    product: str
    model: str
    firmware: str
    redfish: str
    user: str
    role: str
    get: float | None
    simulator: str = ""


@dataclass(frozen=True, slots=True)
class PlaneVisit:
    """One plane of one node: its troubles, and its system or BMC if the plane was reached."""

    node: str
    plane: Plane
    place: PlaneAddress
    findings: tuple[PlaneTrouble, ...] = ()
    who: System | Controller | None = None

    @property
    def lost(self) -> frozenset[str]:
        """Return the probes that have no data because of the findings."""
        return frozenset(probe for finding in self.findings for probe in finding.lost)
