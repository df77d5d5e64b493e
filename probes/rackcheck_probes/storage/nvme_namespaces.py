"""The namespaces of each NVMe controller, and their sizes."""

from rackcheck import Absent, Facts, Files, Read, Unknown, collection, flag, probe, quantity, read, spell_key
from rackcheck.model.fact import Reading
from rackcheck.parse.host.storage import block_queue
from rackcheck.parse.host.storage.nvme_controllers import FOLDER, controllers

SPACE = f"{FOLDER}/{{}}"


# A namespace with several paths appears below each controller under another name (nvme0c1n1), and is hidden.
@probe(
    Read(
        f"{FOLDER.format('*')}/model",
        *(SPACE.format("*", "nvme*n*") + f"/{name}" for name in ("size", "ro", "queue/logical_block_size")),
    ),
    gives={
        "nvme/*.size": quantity("GiB", "The total size of the controller's namespaces; absent if it has none."),
        "nvme/*.namespace": collection("The controller's namespaces by block device: nvme0n1."),
        "nvme/*.namespace/*.size": quantity("GiB", "The namespace's size."),
        "nvme/*.namespace/*.block_size": quantity("B", "The size of a logical block of the namespace: 512 or 4096."),
        "nvme/*.namespace/*.read_only": flag(
            "Whether the namespace is read-only, for example because the drive is worn out."
        ),
    },
)
def nvme_namespaces(files: Files) -> Facts:
    """Read each namespace, and add up the sizes of each controller's namespaces."""
    sizes: dict[str, list[Reading]] = {name: [] for name in controllers(files, ["model"])}
    for controller, rest, number in files.found(SPACE.format("*", "nvme*n*") + "/size"):
        name = f"nvme{rest}n{number}"
        item, folder = f"nvme/{spell_key(controller)}.namespace/{spell_key(name)}", SPACE.format(controller, name)
        size = files.read(f"{folder}/size", block_queue.gibibytes)
        sizes.setdefault(controller, []).append(size.reading)
        yield f"{item}.size", size
        yield f"{item}.block_size", files.read(f"{folder}/queue/logical_block_size", lambda c: float(read.whole(c)))
        yield f"{item}.read_only", files.read(f"{folder}/ro", read.bit)
    for controller, rows in sizes.items():
        trouble = next((reading for reading in rows if isinstance(reading, Unknown)), None)
        total = sum(reading for reading in rows if isinstance(reading, float))
        yield f"nvme/{spell_key(controller)}.size", trouble or (total if rows else Absent("no namespace"))
