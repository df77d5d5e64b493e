"""NVMe subsystems and the paths to them, which show whether a path to network storage is lost."""

from rackcheck import Class, Facts, Files, Read, collection, integer, probe, spell_key, text
from rackcheck.parse.host.storage import nvme_paths


@probe(
    Read(nvme_paths.NAMES, nvme_paths.FOLDER.format("*") + "/iopolicy", nvme_paths.PATHS),
    gives={
        "storage.nvme_subsystem": collection(
            "NVMe subsystems by the kernel's name; each local drive forms a subsystem."
        ),
        "storage.nvme_subsystem/*.nqn": text("The subsystem's qualified name.", Class.IDENTITY),
        "storage.nvme_subsystem/*.policy": text(
            "How requests are spread over paths: numa, round-robin; absent on kernels that do not report it."
        ),
        "storage.nvme_subsystem/*.paths": integer("Controllers that connect to the subsystem."),
        "storage.nvme_subsystem/*.live": integer("Controllers that connect to the subsystem and are live."),
    },
)
def nvme_subsystems(files: Files) -> Facts:
    """Read each subsystem, and count the states of its paths."""
    for name, states in nvme_paths.states(files).items():
        item, folder = f"storage.nvme_subsystem/{spell_key(name)}", nvme_paths.FOLDER.format(name)
        yield f"{item}.nqn", files.read(f"{folder}/subsysnqn")
        yield f"{item}.policy", files.read(f"{folder}/iopolicy")
        yield f"{item}.paths", len(states)
        yield f"{item}.live", nvme_paths.live(states)
