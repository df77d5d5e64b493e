"""The RDMA character devices, as a shell loop prints them from the kernel's classes and /dev/infiniband.

A row has the device node's name, whether the node exists, the RDMA device, and the port's number: `umad0 yes DEVICE
NUMBER`, `issm0 yes DEVICE NUMBER` or `uverbs0 no DEVICE -`. A row `port - DEVICE NUMBER` names a port, and the last row
is `rdma_cm yes - -` or `rdma_cm no - -`.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

_ROW = regex(r"(umad|issm|uverbs|port|rdma_cm)([0-9]{0,6}) (yes|no|-) ([^\s/]{1,100}) ([0-9]{1,5}|-)")


@dataclass(frozen=True)
class Nodes:
    """The ports (device and number), whether the device node rdma_cm exists, and which other device nodes exist."""

    connection: bool
    ports: tuple[tuple[str, str], ...]
    there: frozenset[tuple[str, str, str]]

    @property
    def devices(self) -> tuple[str, ...]:
        """The distinct RDMA devices that have ports, in the order of the rows."""
        return tuple(dict.fromkeys(device for device, _ in self.ports))

    def has(self, kind: str, device: str, port: str = "-") -> bool:
        """Return whether the device node of an RDMA device (`uverbs`) or port (`umad`, `issm`) exists in /dev."""
        return (kind, device, port) in self.there


def nodes(answer: str) -> Nodes:
    """Read the rows about device nodes; raises Unreadable on any other row, and if the row of rdma_cm is missing."""
    ports: dict[tuple[str, str], None] = {}
    there: set[tuple[str, str, str]] = set()
    connection: bool | None = None
    for row in rows(answer):
        match = _ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a device and its node: {row[:80]!r}")
        kind, _, node, device, port = match.groups()
        if kind == "port":
            ports[device, port] = None
        elif kind == "rdma_cm":
            connection = node == "yes"
        elif node == "yes":
            there.add((kind, device, "-" if kind == "uverbs" else port))
    if connection is None:
        raise Unreadable("no row for rdma_cm: the output was truncated")
    return Nodes(connection, tuple(ports), frozenset(there))
