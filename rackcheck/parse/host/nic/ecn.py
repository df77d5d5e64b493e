"""Congestion control of RoCE (DCQCN), /sys/class/net/*/ecn: files that only NVIDIA's own driver package has.

Of its two points one answers marked packets with a notification, and the other slows down when one comes.
"""

from rackcheck.model.fact import Absent, Reading, Sourced, Unknown
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import bit, natural

FOLDER = "/sys/class/net/{}/ecn"
NOTIFICATION, REACTION = "roce_np", "roce_rp"

_ENABLED = FOLDER + "/{}/enable/{}"
ENABLED = tuple(_ENABLED.format("*", point, "*") for point in (NOTIFICATION, REACTION))
"""The switches of both points by globs: one file for each of the eight priorities."""


def interfaces(files: Files) -> list[str]:
    """Name the interfaces that have any switch, in the order of their numbers."""
    return sorted({name for glob in ENABLED for name, _ in files.found(glob)}, key=natural)


def priorities(files: Files, interface: str, point: str) -> Sourced:
    """Name the priorities that are switched on; unknown, or absent, if one of the eight is."""
    switches = [files.read(_ENABLED.format(interface, point, number), bit).reading for number in range(8)]
    odd = next((told for told in switches if isinstance(told, Absent | Unknown)), None)
    on: Reading = tuple(str(number) for number, told in enumerate(switches) if told is True)
    return Sourced(on if odd is None else odd, f"{FOLDER.format(interface)}/{point}/enable")
