"""A network interface's folder in /sys/class/net (Documentation/ABI, sysfs-class-net)."""

from collections.abc import Callable, Iterator

from rackcheck.model.fact import Absent, Sourced, Unreadable, Value
from rackcheck.model.regex import regex
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import line, whole

NONE = "the interface is down, or its driver reports no value"
"""Reason why the signal, the speed or the duplex mode of a link is absent."""

ADMIN_UP, PROMISCUOUS = 0x1, 0x100
"""Bits of an interface's flags: IFF_UP (the administrator has set the interface up) and IFF_PROMISC."""

COUNTERS = {
    "rx_packets": "Packets received.", "tx_packets": "Packets sent.",
    "rx_bytes": "Bytes received.", "tx_bytes": "Bytes sent.",
    "rx_errors": "Packets received with any error.", "tx_errors": "Packets not sent because of any error.",
    "rx_dropped": "Packets received and dropped, for lack of buffers or of a protocol.",
    "tx_dropped": "Packets dropped before they were sent.",
    "rx_crc_errors": "Packets received with a wrong checksum, as a faulty cable or module causes.",
    "rx_frame_errors": "Packets received with a wrong alignment.",
    "rx_fifo_errors": "Packets lost because the device's queue was full.",
    "rx_length_errors": "Packets received with a wrong length.",
    "rx_missed_errors": "Packets lost because the host provided no buffers.",
    "rx_over_errors": "Packets received that were larger than their buffers.",
    "rx_nohandler": "Packets received on an inactive interface and dropped, because no protocol handles them.",
    "tx_aborted_errors": "Packets aborted while they were sent.",
    "tx_carrier_errors": "Packets lost because the signal was lost.",
    "tx_fifo_errors": "Packets lost because the device's sending queue failed.",
    "tx_window_errors": "Packets lost in late collisions.",
    "collisions": "Collisions while sending.",
}  # fmt: skip
"""The counters in an interface's folder `statistics/`, with their meanings from sysfs-class-net-statistics."""

_FLAGS = regex(r"0x[0-9a-fA-F]{1,8}")
_TYPES = {"1": "Ethernet", "32": "InfiniBand", "772": "loopback"}
_ORIGINS = {"0": "permanent", "1": "random", "2": "stolen", "3": "set"}
_UNKNOWN_SPEEDS = (-0.001, 4294967.295)
"""Speeds in Gb/s by which the kernel means unknown: -1 Mb/s, and in old kernels -1 as an unsigned number (2^32 - 1)."""


def names(files: Files, glob: str) -> Iterator[str]:
    """Yield each interface that a glob below `/sys/class/net/*/device/net/*` matches, each only once.

    If a device has two interfaces, such a glob also finds each interface in the folder of the other interface.
    """
    for one, other in files.found(glob):
        if one == other:
            yield one


def flags(content: str) -> int:
    """Read an interface's flags from a hexadecimal number; raises Unreadable on any other text."""
    word = line(content)
    if not _FLAGS.fullmatch(word):
        raise Unreadable(f"not flags: {word[:80]!r}")
    return int(word, 16)


def flagged(files: Files, place: str, bit: int) -> Sourced:
    """Return whether a bit is set in the interface's flags, which are read from the file `place`."""
    shown = files.read(place, flags)
    known = shown.reading
    return Sourced(bool(known & bit) if isinstance(known, int) else known, shown.source)


def gigabits(content: str) -> float:
    """Convert Mb/s to Gb/s; the kernel's numbers for an unknown speed (see _UNKNOWN_SPEEDS) are converted too."""
    return whole(content) / 1000


def while_up(files: Files, place: str, reader: Callable[[str], Value]) -> Sourced:
    """Read a file of an interface; absent if this fails with EINVAL, as it does while the interface is down."""
    refused = files.refused.get(place)
    if refused is not None and refused.detail == "Invalid argument":
        return Sourced(Absent(NONE), place)
    return files.read(place, reader)


def speed(files: Files, place: str) -> Sourced:
    """Read the link's speed in Gb/s; absent without a link."""
    sourced = while_up(files, place, gigabits)
    return Sourced(Absent(NONE), sourced.source) if sourced.reading in _UNKNOWN_SPEEDS else sourced


def duplex(files: Files, place: str) -> Sourced:
    """Read the link's duplex mode, `full` or `half`; absent without a link."""
    sourced = while_up(files, place, line)
    return Sourced(Absent(NONE), sourced.source) if sourced.reading == "unknown" else sourced


def link_type(content: str) -> str:
    """Return the name of a link type (ARPHRD_*), such as Ethernet; the kernel's number if the type is not in _TYPES."""
    return _TYPES.get(line(content), line(content))


def address_origin(content: str) -> str:
    """Return the name of a MAC address's origin (NET_ADDR_*); the kernel's number if the origin is not in _ORIGINS."""
    return _ORIGINS.get(line(content), line(content))
