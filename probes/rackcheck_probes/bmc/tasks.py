"""Work that a BMC has not finished."""

from rackcheck import Class, Documents, Facts, Redfish, Unknown, collection, probe, quantity, spell_key, text
from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.redfish_value import measured, text_of
from rackcheck.parse.bmc.item import keyed, members


@probe(
    Redfish("Tasks/Tasks/*"),
    gives={
        "bmc.task": collection("unfinished tasks: updates, resets, settings in progress; empty when idle"),
        "bmc.task/*.state": text("Running, Pending, Suspended, ...", Class.MEASUREMENT),
        "bmc.task/*.name": text("name of the task"),
        "bmc.task/*.percent": quantity("%", "progress, if the BMC reports it", Class.MEASUREMENT),
    },
)
def bmc_tasks(docs: Documents) -> Facts:
    """Every task that is still in progress."""
    tasks, trouble = members(docs, "Tasks/Tasks")
    for key, task in keyed(tasks):
        state = task.read("TaskState", state_of).reading
        if isinstance(state, Unknown):
            trouble = trouble or Unknown(state.reason, f"{task.uri}: {state.detail}")
        elif state in OPEN:
            item = f"bmc.task/{spell_key(key)}"
            yield f"{item}.state", task.read("TaskState", state_of)
            yield f"{item}.name", task.read("Name")
            yield f"{item}.percent", task.read("PercentComplete", percent)
    if trouble is not None:
        yield "bmc.task", trouble


# Tasks of a BMC: whether one is finished, and its progress.


DONE = frozenset({"Completed", "Killed", "Exception", "Cancelled"})
OPEN = frozenset(
    {"New", "Starting", "Running", "Suspended", "Interrupted", "Pending", "Stopping", "Service", "Cancelling"}
)
"""Values of TaskState in the DMTF's Task schema for a task that is not finished."""


def state_of(value: object) -> str:
    """Return the state of a task; raises Unreadable on a state that the Task schema does not define."""
    word = text_of(value)
    if word not in DONE | OPEN:
        raise Unreadable(f"is not a task state: {clean(word, 60)!r}")
    return word


def percent(value: object) -> float:
    """Return the progress of a task in percent; raises Unreadable outside 0 to 100."""
    number = measured(value)
    if not 0 <= number <= 100:
        raise Unreadable(f"is not between 0 and 100 %: {number:g} %")
    return number
