"""An RDMA port's folder in /sys/class/infiniband: its state, rate, ids and counters."""

from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Sourced, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import line, whole

_STATE = regex(r"[0-9]{1,9}: ([^\n]{1,1000})")
_RATE = regex(r"([0-9]{1,5}(?:\.[0-9])?) Gb/sec \(([0-9]{1,2}X)(?: [A-Za-z0-9]{1,20})?\)")
_NUMBER = regex(r"0x[0-9a-fA-F]{1,16}|[0-9]{1,10}")
_GID = regex(r"([0-9a-f]{4}:){7}[0-9a-f]{4}")
_TRAFFIC_CLASS = regex(r"(?:Global )?tclass=([0-9]{1,3})")
_BITS = {
    "symbol_error": 16, "link_error_recovery": 8, "link_downed": 8, "port_rcv_errors": 16,
    "port_rcv_remote_physical_errors": 16, "port_rcv_switch_relay_errors": 16, "port_xmit_discards": 16,
    "port_xmit_constraint_errors": 8, "port_rcv_constraint_errors": 8, "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4, "VL15_dropped": 16,
}  # fmt: skip
"""Number of bits of each standard error counter (drivers/infiniband/core/sysfs.c); a counter stops at its maximum."""

_NO_PMA = "N/A (no PMA)"
"""What older kernels write in a counter's file if the driver has no performance management agent."""


def state(content: str) -> str:
    """Return the state's name from `4: ACTIVE`; raises Unreadable if the number or the name is missing."""
    match = _STATE.fullmatch(line(content))
    if match is None:
        raise Unreadable(f"not a numbered state: {content.strip()[:80]!r}")
    return match[1]


@dataclass(frozen=True)
class Rate:
    """The rate in Gb/s to which a port trained, and its number of lanes as the kernel writes it: `4X`."""

    gigabits: float
    width: str


def rate(content: str) -> Rate:
    """Read a rate: `400 Gb/sec (4X NDR)`, or `400 Gb/sec (4X)` of older kernels; raises Unreadable on other text."""
    match = _RATE.fullmatch(line(content))
    if match is None:
        raise Unreadable(f"not a rate: {content.strip()[:80]!r}")
    return Rate(float(match[1]), match[2])


def hexadecimal(content: str) -> int:
    """Read a number, hexadecimal (`0x96`) or, from some kernels, decimal; raises Unreadable on other text."""
    word = line(content)
    if not _NUMBER.fullmatch(word):
        raise Unreadable(f"not a number: {word[:80]!r}")
    return int(word, 16 if word.startswith("0x") else 10)


def first_guid(content: str) -> str:
    """Return a port's GUID, the second half of its first GID; raises Unreadable if the content is not a GID."""
    gid = line(content)
    if not _GID.fullmatch(gid):
        raise Unreadable(f"not a GID: {gid[:80]!r}")
    return gid[20:]


def guid(files: Files, folder: str) -> Sourced:
    """Return the GUID of the port in `folder`; absent on Ethernet, where GIDs are made from network addresses."""
    layer = files.read(f"{folder}/link_layer")
    if layer.reading == "Ethernet":
        return Sourced(Absent("Ethernet"), layer.source)
    return files.read(f"{folder}/gids/0", first_guid)


def traffic_class(files: Files, place: str) -> Sourced:
    """Return the traffic class from `Global tclass=106`; absent if the file is empty, that is, if no class is set."""
    if place in files.contents and not files.contents[place].strip():
        return Sourced(Absent("no traffic class is set"), place)
    return files.read(place, _traffic_class)


def _traffic_class(content: str) -> int:
    match = _TRAFFIC_CLASS.fullmatch(line(content))
    if match is None:
        raise Unreadable(f"not a traffic class: {content.strip()[:80]!r}")
    return int(match[1])


def counter(files: Files, place: str) -> Sourced:
    """Read a counter's file; absent if there is no such file, or if the driver has no performance management agent."""
    if files.contents.get(place, "").strip() == _NO_PMA:
        return Sourced(Absent("the driver has no performance management agent"), place)
    return files.read(place, whole)


def full(counted: Mapping[str, Reading]) -> Reading:
    """Return, in lower case, the names of the standard error counters that have reached their maximum.

    The result is absent if the port has none of the standard error counters; if one of them is unknown, the result is
    unknown.
    """
    known = {name: counted[name] for name in _BITS}
    strange = next((reading for reading in known.values() if not isinstance(reading, int | Absent)), None)
    if strange is not None:
        return strange
    if all(isinstance(reading, Absent) for reading in known.values()):
        return Absent("the port has none of these counters")
    return tuple(name.lower() for name, bits in _BITS.items() if known[name] == (1 << bits) - 1)
