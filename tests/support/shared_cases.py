"""Cases of the shared recordings: commands, files, folders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recordings import answering, holding, os_probes, shared_text, tree

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Absent, Reading

PROBES = os_probes()


@dataclass(frozen=True)
class Case:
    """A recorded machine, how to present it to a probe, and the expected result."""

    probe: str
    machine: str
    capture: Callable[[], NodeCapture]
    expected: Mapping[str, Reading | type[Absent]]


def command(probe: str, recording: str, expected: Mapping[str, Reading | type[Absent]]) -> Case:
    """The text of a recording as the answer of the probe's command."""
    return Case(probe, recording, lambda: answering(PROBES[probe], shared_text(recording)), expected)


def file(probe: str, recording: str, at: str, expected: Mapping[str, Reading | type[Absent]]) -> Case:
    """The text of a recording as a file of the node."""
    return Case(probe, recording, lambda: holding(PROBES[probe], {at: shared_text(recording)}), expected)


def folder(probe: str, recording: str, at: str, expected: Mapping[str, Reading | type[Absent]]) -> Case:
    """A recorded folder at a path of the node."""
    return Case(probe, recording, lambda: holding(PROBES[probe], tree(recording, at)), expected)
