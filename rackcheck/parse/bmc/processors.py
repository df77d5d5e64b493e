"""Processors as a BMC lists them: CPUs and GPUs by their type, and their number."""

from collections.abc import Iterable

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Unknown, clean
from rackcheck.parse.bmc.systems import Gathered, below, has_some


def of_type(docs: Documents, systems: Gathered, kind: str) -> Gathered:
    """Return the processors of one ProcessorType; a processor without a type makes the list incomplete."""
    places, trouble = systems
    processors, cut = below(docs, places, "Processors")
    trouble = trouble or cut
    found = []
    for processor in processors:
        reading = processor.read("ProcessorType").reading
        if reading == kind:
            found.append(processor)
        elif isinstance(reading, Unknown):
            trouble = trouble or Unknown(reading.reason, f"{processor.uri}: {clean(reading.detail)}")
    return found, trouble


def cpus(docs: Documents, hosts: Gathered) -> Gathered:
    """Return the CPU sockets of the hosts."""
    return has_some(*of_type(docs, hosts, "CPU"), "CPU")


def count(states: Iterable[Reading], trouble: Unknown | None) -> Reading:
    """Count the slots that are not empty, by their states; unknown if a slot does not report its state."""
    rows = list(states)
    mute = trouble or next((state for state in rows if isinstance(state, Unknown)), None)
    return mute if mute is not None else sum(state != "Absent" for state in rows)
