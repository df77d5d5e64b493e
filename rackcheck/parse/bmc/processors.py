"""Processors as a BMC lists them: CPUs and GPUs by their type, and their number."""

from collections.abc import Iterable, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Unknown, clean
from rackcheck.model.redfish_value import amount
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.board import alike
from rackcheck.parse.bmc.host import Gathered, Machine, boards, lost_board
from rackcheck.parse.bmc.item import gather
from rackcheck.parse.bmc.merge import hidden, merged, together, unread
from rackcheck.parse.bmc.systems import below, has_some


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


def cpus(docs: Documents, machine: Machine) -> Gathered:
    """Return the CPU sockets of the host, also those that only another system of the same machine lists, each once.

    If the BMC manages several hosts, no socket is returned, because it is unknown which of them belong to this node.
    """
    if machine.doubt is not None:
        return [], machine.doubt

    def complete(found: Sequence[Resource]) -> bool:
        installed = sum(each.read("Status.State").reading != "Absent" for each in found)
        return installed > 0 and any(_counted(system) == installed for system in machine.hosts)

    others, unsure = boards(docs, machine)
    own = of_type(docs, (list(machine.own), None), "CPU")
    listing = [each for each in others if "Processors" in each.body]
    held = [below(docs, [board], "Processors") for board in listing]
    extra, cut = together(of_type(docs, ([board], unsure), "CPU") for board in listing)
    mine = [each for each in extra if alike(each, own[0])]
    lost = unread(held) or hidden((gather(docs.at("Processors/*", board))[0] for board in listing), _is_no_cpu)
    lost = lost or lost_board(docs)
    return has_some(*merged(own, (mine, cut or unsure), complete, lost), "CPU")


def _is_no_cpu(processor: Resource) -> bool:
    kind = processor.read("ProcessorType").reading
    return isinstance(kind, str) and kind != "CPU"


def _counted(system: Resource) -> Reading:
    return system.read("ProcessorSummary.Count", amount).reading


def count(states: Iterable[Reading], trouble: Unknown | None) -> Reading:
    """Count the slots that are not empty, by their states; unknown if a slot does not report its state."""
    rows = list(states)
    mute = trouble or next((state for state in rows if isinstance(state, Unknown)), None)
    return mute if mute is not None else sum(state != "Absent" for state in rows)
