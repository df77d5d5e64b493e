"""Work that a BMC has not finished."""

from rackcheck import Class, Documents, Facts, Redfish, Unknown, collection, probe, quantity, spell_key, text
from rackcheck.model.fact import Unreadable, clean
from rackcheck.model.redfish_value import measured, text_of
from rackcheck.parse.bmc.item import keyed, members


@probe(
    Redfish("Tasks/Tasks/*"),
    gives={
        "bmc.task": collection("tasks that are not finished: updates, resets, settings under way; empty when idle"),
        "bmc.task/*.state": text("Running, Pending, Suspended, ...", Class.MEASUREMENT),
        "bmc.task/*.name": text("what it is about"),
        "bmc.task/*.percent": quantity("%", "how much of it is done, where the BMC counts", Class.MEASUREMENT),
    },
)
def bmc_tasks(docs: Documents) -> Facts:
    """Every task that is still under way."""
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


# Tasks of a BMC: whether one is finished, and how far it is.


DONE = frozenset({"Completed", "Killed", "Exception", "Cancelled"})
OPEN = frozenset(
    {"New", "Starting", "Running", "Suspended", "Interrupted", "Pending", "Stopping", "Service", "Cancelling"}
)
"""TaskState of the DMTF's Task schema."""


def state_of(value: object) -> str:
    """Give the state of a task; a word that nobody knows is neither finished nor not."""
    word = text_of(value)
    if word not in DONE | OPEN:
        raise Unreadable(f"no state of a task: {clean(word, 60)!r}")
    return word


def percent(value: object) -> float:
    """Give how much of a task is done."""
    number = measured(value)
    if not 0 <= number <= 100:
        raise Unreadable(f"no share of a task: {number:g} %")
    return number
