"""Partition keys of RDMA ports, as a loop of the shell prints them from sysfs: `DEVICE/ports/NUMBER KEY KEY ...`.

A table has 128 places, nearly all of them 0x0000, which is no key and left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows

_ROW = re.compile(r"([^/\s]{1,100})/ports/([0-9]{1,5})((?: 0x[0-9a-f]{4})*)")


@dataclass(frozen=True)
class Port:
    """One port's keys in their order, each once: 0x8000 and above is a full member, below it a limited one."""

    device: str
    number: str
    keys: tuple[str, ...]


def ports(answer: str) -> Iterator[Port]:
    """Read each port; raises Unreadable at a row that is none, and at a key that could not be read (`?`)."""
    yield from map(_port, rows(answer))


def _port(row: str) -> Port:
    match = _ROW.fullmatch(row)
    if match is None:
        raise Unreadable(f"not a port and its keys: {row[:80]!r}")
    return Port(match[1], match[2], tuple(sorted(set(match[3].split()))))
