"""Tasks of a BMC: whether one is finished, and how far it is."""

from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.redfish_value import measured, said

DONE = frozenset({"Completed", "Killed", "Exception", "Cancelled"})
OPEN = frozenset(
    {"New", "Starting", "Running", "Suspended", "Interrupted", "Pending", "Stopping", "Service", "Cancelling"}
)
"""TaskState of the DMTF's Task schema."""


def state_of(value: object) -> str:
    """Give the state of a task; a word that nobody knows is neither finished nor not."""
    word = said(value)
    if word not in DONE | OPEN:
        raise Unreadable(f"no state of a task: {clean(word, 60)!r}")
    return word


def percent(value: object) -> float:
    """Give how much of a task is done."""
    number = measured(value)
    if not 0 <= number <= 100:
        raise Unreadable(f"no share of a task: {number:g} %")
    return number
