"""NVMe subsystems and the paths to them: what tells of a lost path to storage on a network."""

from rackcheck import Class, Facts, Files, Read, Unknown, collection, integer, probe, spell_key, text
from rackcheck.core import read
from rackcheck.core.fact import Reading

FOLDER = "/sys/class/nvme-subsystem/{}"
PATHS = f"{FOLDER.format('*')}/nvme*/state"


@probe(
    Read(FOLDER.format("*") + "/subsysnqn", FOLDER.format("*") + "/iopolicy", PATHS),
    gives={
        "storage.nvme_subsystem": collection("NVMe subsystems by the kernel's name; a local drive is one of its own."),
        "storage.nvme_subsystem/*.nqn": text("The subsystem's qualified name.", Class.IDENTITY),
        "storage.nvme_subsystem/*.policy": text(
            "How requests are spread over paths: numa, round-robin; absent on kernels that do not tell."
        ),
        "storage.nvme_subsystem/*.paths": integer("Controllers that lead to it."),
        "storage.nvme_subsystem/*.live": integer("Those of them that work."),
    },
)
def nvme_subsystems(files: Files) -> Facts:
    """Read each subsystem, and count the states of its paths."""
    paths: dict[str, list[Reading]] = {}
    for name in sorted({name for (name,) in files.found(FOLDER.format("*") + "/subsysnqn")}, key=read.natural):
        paths[name] = []
    for name, controller in files.found(PATHS):
        state = files.read(f"{FOLDER.format(name)}/nvme{controller}/state")
        paths.setdefault(name, []).append(state.reading)
    for name, states in paths.items():
        item, folder = f"storage.nvme_subsystem/{spell_key(name)}", FOLDER.format(name)
        trouble = next((state for state in states if isinstance(state, Unknown)), None)
        yield f"{item}.nqn", files.read(f"{folder}/subsysnqn")
        yield f"{item}.policy", files.read(f"{folder}/iopolicy")
        yield f"{item}.paths", len(states)
        yield f"{item}.live", trouble or states.count("live")
