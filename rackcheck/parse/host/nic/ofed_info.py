"""What `ofed_info -s` prints: NVIDIA's own driver package by name and version, `MLNX_OFED_LINUX-23.10-1.1.9.0:`."""

import re
from dataclasses import dataclass

from rackcheck.model.fact import Unreadable

_SAID = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]{0,60})-(?P<version>[0-9]{1,4}(?:[.-][0-9]{1,6}){1,8}):")


@dataclass(frozen=True)
class Package:
    """Which package it is, and its version written with points: 23.10.1.1.9.0."""

    name: str
    version: str


def package(line: str) -> Package:
    """Read the tool's one line; raises Unreadable on anything else."""
    match = _SAID.fullmatch(line)
    if match is None:
        raise Unreadable(f"not a version of OFED: {line[:80]!r}")
    return Package(match["name"], match["version"].replace("-", "."))
