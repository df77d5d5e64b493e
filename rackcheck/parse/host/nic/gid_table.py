"""GID tables of RDMA ports, as a shell loop prints them from sysfs.

A table begins with `port DEVICE/ports/NUMBER`, has a row `INDEX|GID|TYPE|INTERFACE` for each entry in use, and ends
with `end`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

_PORT = regex(r"port ([^/\s]{1,100})/ports/([0-9]{1,5})")
_ENTRY = regex(r"([0-9]{1,5})\|((?:[0-9a-f]{4}:){7}[0-9a-f]{4})\|([^|]{0,40})\|([^|]{0,40})")
_MAPPED = "0000:0000:0000:0000:0000:ffff:"
"""Beginning of a GID that contains an IPv4 address."""


@dataclass(frozen=True)
class GidEntry:
    """One GID in use; its type or its interface is empty if the kernel does not report it."""

    index: str
    address: str
    kind: str
    interface: str

    @property
    def second(self) -> bool:
        """Whether the GID is used for RoCE v2."""
        return self.kind == "RoCE v2"

    @property
    def ipv4(self) -> bool:
        """Whether the GID contains an IPv4 address."""
        return self.address.startswith(_MAPPED)


def tables(answer: str) -> Iterator[tuple[str, str, list[GidEntry]]]:
    """Yield each port: its device, number and GIDs, in order of index; raises Unreadable on a table without `end`."""
    port: re.Match[str] | None = None
    entries: list[GidEntry] = []
    for row in rows(answer):
        head, entry = _PORT.fullmatch(row), _ENTRY.fullmatch(row)
        if head is not None and port is None:
            port, entries = head, []
        elif entry is not None and port is not None:
            entries.append(GidEntry(*entry.groups()))
        elif row == "end" and port is not None:
            yield port[1], port[2], sorted(entries, key=lambda entry: int(entry.index))
            port = None
        else:
            raise Unreadable(f"not an entry of a GID table: {row[:80]!r}")
    if port is not None:
        raise Unreadable("the end of a GID table is missing")
