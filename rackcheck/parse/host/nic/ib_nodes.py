"""The character devices of RDMA, as a shell loop prints them from the kernel's classes and /dev/infiniband.

A row is `port - DEVICE NUMBER`, `umad0 yes DEVICE NUMBER` (or `issm`) or `uverbs0 no DEVICE -`; the last is `rdma_cm
yes - -`.
"""

import re
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows

_ROW = re.compile(r"(umad|issm|uverbs|port|rdma_cm)([0-9]{0,6}) (yes|no|-) ([^\s/]{1,100}) ([0-9]{1,5}|-)")


@dataclass(frozen=True)
class Nodes:
    """The ports (device and number), whether the device node rdma_cm exists, and which other device nodes exist."""

    connection: bool
    ports: tuple[tuple[str, str], ...]
    there: frozenset[tuple[str, str, str]]

    @property
    def devices(self) -> tuple[str, ...]:
        """The distinct devices that have ports, in the order of the rows."""
        return tuple(dict.fromkeys(device for device, _ in self.ports))

    def has(self, kind: str, device: str, port: str = "-") -> bool:
        """Return whether the node of a device (`uverbs`) or of its port (`umad`, `issm`) exists in /dev/infiniband."""
        return (kind, device, port) in self.there


def nodes(answer: str) -> Nodes:
    """Read the rows; raises Unreadable on a row of any other form, and if the row of rdma_cm is missing."""
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
