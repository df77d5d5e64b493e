"""The steps from an inventory to a verified signature, as the start page of the TUI shows them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step: its title, what is known about it, and the words of the rackcheck command that does it.

    `command` is empty while an earlier step is missing. `failed` is true if the step was done, and is not as it must
    be. Whether a step without a trace, such as a look at who answers, was done is not known.
    """

    title: str
    detail: str
    command: tuple[str, ...] = ()
    done: bool = False
    failed: bool = False


def next_step(steps: Sequence[PathStep]) -> int:
    """Return the index of the first step that is not done; the last step if all are."""
    return next((number for number, step in enumerate(steps) if not step.done), len(steps) - 1)
