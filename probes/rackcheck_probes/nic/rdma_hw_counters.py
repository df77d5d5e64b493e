"""The hardware counters of each RDMA port, by the driver's names."""

from rackcheck import Class, Facts, Files, Read, collection, integer, probe, read, spell_key

PORT = "/sys/class/infiniband/{}/ports/{}"
SETTINGS = {"lifespan"}
"""Files in the folder `hw_counters` that are no counters: `lifespan` is the time for which the kernel keeps values."""


@probe(
    Read(PORT.format("*", "*") + "/state", PORT.format("*", "*") + "/hw_counters/*", seconds=30, cap=8 << 20),
    gives={
        "nic/*.port/*.hw_counter": collection(
            "The hardware's counters by the driver's names: rnr_nak_retry_err of mlx5, req_rx_rnr_retry_err of ionic."
        ),
        "nic/*.port/*.hw_counter/*.value": integer("The count since the driver was loaded.", Class.COUNTER),
    },
)
def rdma_hw_counters(files: Files) -> Facts:
    """Read every counter of each port; a port without the folder `hw_counters` has no counters."""
    values: dict[tuple[str, str], list[str]] = {}
    for device, port, name in files.found(PORT.format("*", "*") + "/hw_counters/*"):
        values.setdefault((device, port), []).append(name)
    for device, port in files.found(PORT.format("*", "*") + "/state"):
        item, folder = f"nic/{spell_key(device)}.port/{spell_key(port)}", PORT.format(device, port)
        names = sorted(set(values.get((device, port), ())) - SETTINGS, key=read.natural)
        yield f"{item}.hw_counter", tuple(names)
        for name in names:
            yield f"{item}.hw_counter/{spell_key(name)}.value", files.read(f"{folder}/hw_counters/{name}", read.whole)
