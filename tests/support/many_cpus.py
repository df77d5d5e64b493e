"""The files in /sys and /proc of a node with hundreds of CPUs: two sockets, two threads per core, eight NUMA nodes."""

from pathlib import Path

NODES, SOCKETS = 8, 2
MIB = 1 << 20


def large_node(root: Path, cpus: int, memory: int = 64 << 30, far: str = "") -> Path:
    """Write the files below `root`; `memory` is the size of a NUMA node in bytes, half of it free; return `root`.

    `far` adds NUMA node 8, with memory and no CPUs, nearest to node 5: `cxl`, `gpu`, or `unknown`.
    """
    cores, nodes = cpus // 2, NODES + bool(far)
    per = cores // NODES
    files = {"sys/devices/system/cpu/online": f"0-{cpus - 1}", "sys/devices/system/node/online": f"0-{nodes - 1}"}
    for cpu in range(cpus):
        core = cpu % cores
        first = core // (cores // SOCKETS) * (cores // SOCKETS)
        last = first + cores // SOCKETS - 1
        place = f"sys/devices/system/cpu/cpu{cpu}"
        files[f"{place}/cpufreq/scaling_cur_freq"] = "3500000"
        files[f"{place}/thermal_throttle/core_throttle_count"] = "0"
        files[f"{place}/cache/index3/size"] = "320M"
        files[f"{place}/cache/index3/shared_cpu_list"] = f"{first}-{last},{cores + first}-{cores + last}"
    for node in range(nodes):
        place, first = f"sys/devices/system/node/node{node}", node * per
        with_cpus = node < NODES
        files[f"{place}/cpulist"] = (
            f"{first}-{first + per - 1},{cores + first}-{cores + first + per - 1}" if with_cpus else ""
        )
        near = 5 if node >= NODES else node
        steps = [10 if one == node else 12 if one // 4 == near // 4 else 21 for one in range(nodes)]
        steps = [11 if node >= NODES and one == 5 else step for one, step in enumerate(steps)]
        files[f"{place}/distance"] = " ".join(map(str, steps))
        size = {"MemTotal": memory, "MemFree": memory // 2, "FilePages": 0, "Shmem": 0}
        files[f"{place}/meminfo"] = "".join(f"Node {node} {key}: {value >> 10} kB\n" for key, value in size.items())
    total = memory * nodes >> 10
    files["proc/meminfo"] = f"MemTotal: {total} kB\nMemFree: {total // 2} kB\nMemAvailable: {total // 2} kB\n"
    files["proc/loadavg"] = "0.10 0.10 0.10 1/9999 1\n"
    files["proc/cpuinfo"] = "model name : Simulated\n"
    zeros = " ".join(["0"] * cpus)
    files["proc/interrupts"] = (
        "".join(f"{number:4}: {zeros} IR-PCI-MSI\n" for number in range(300)) + f" MCE: {zeros}\n"
    )
    if far == "cxl":
        files["sys/bus/dax/devices/dax0.0/target_node"] = str(NODES)
    if far == "gpu":
        files["proc/driver/nvidia/gpus/0009:01:00.0/numa_status"] = f"Node: {NODES}\nStatus: online\n"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + ("" if text.endswith("\n") else "\n"))
    return root
