"""The kernel's files of a software RAID array, /sys/block/*/md: the states of the array and of its members."""

from collections.abc import Iterable

from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable
from rackcheck.model.text.values import line, whole

WORKS = {"clear": False, "inactive": False, "suspended": False, "broken": False, "readonly": True, "read-auto": True,
         "clean": True, "active": True, "write-pending": True, "active-idle": True}  # fmt: skip
"""The states of the kernel's documentation of md, and whether data can be read in them."""


def works(content: str) -> bool:
    """Tell from the array's state whether it works; raises Unreadable on a state that the kernel does not document."""
    state = line(content)
    if state not in WORKS:
        raise Unreadable(f"not a state of an array: {state[:80]!r}")
    return WORKS[state]


def devices(content: str) -> int:
    """Read `4`, or `4 (3)` while an array is reshaped from three; raises Unreadable on anything else."""
    return whole(line(content).partition(" (")[0])


def is_container(metadata: Reading) -> bool:
    """Tell from the version of its metadata whether an array is a container of others.

    A container only holds metadata for the arrays in it, which are arrays of their own (external:/md127/0).
    """
    return isinstance(metadata, str) and metadata.startswith("external:") and not metadata.startswith("external:/")


def having(word: str, states: Iterable[Reading]) -> int | Unknown:
    """Count the members whose state (`in_sync`, `faulty,write_error`) has a word; one that is not known hides all."""
    told = list(states)
    if any(isinstance(state, Unknown) for state in told):
        return Unknown(Reason.NOT_COLLECTED, "a member's state is not known")
    return sum(word in str(state).split(",") for state in told)
