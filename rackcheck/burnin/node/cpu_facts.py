# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""Reads the node's processors and memory from the kernel's files."""

import contextlib
from pathlib import Path
from typing import Dict, List, Optional


def cpu_text(path: str) -> str:
    """Read a small file of the kernel; return an empty text if the file cannot be read."""
    with contextlib.suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace")
    return ""


def cpu_list(text: str) -> List[int]:
    """Parse a CPU list in the kernel's format: 0-3,8."""
    ends = [part.split("-") for part in text.strip().split(",") if part]
    return [cpu for part in ends for cpu in range(int(part[0]), int(part[-1]) + 1)]


CPU_NODES = "/sys/devices/system/node/"


def cpu_nodes(cpus: List[int], root: str = "") -> Dict[str, List[int]]:
    """Return the allowed CPUs of each NUMA node; if sysfs has no NUMA nodes, all CPUs are returned as node 0."""
    nodes = {}
    for path in Path(root + CPU_NODES).glob("node[0-9]*"):
        mine = [cpu for cpu in cpu_list(cpu_text("%s/cpulist" % path)) if cpu in cpus]
        if mine:
            nodes[path.name[4:]] = mine
    return nodes or {"0": cpus}


def cpu_far_nodes(nodes: Dict[str, List[int]], root: str = "") -> Dict[str, str]:
    """Return the NUMA nodes with RAM that are not in `nodes`, and the nearest of `nodes`; "" if not to be tested.

    Such a node has no CPU, or none that this process may use; the latter is not tested.

    Memory that the kernel received from a DAX device, such as CXL memory, is RAM. The memory of NVIDIA's coherent GPUs
    is a NUMA node too, but the GPU's stages test it, so it is omitted. Of any other node the kind is not known.
    """
    places = Path(root + "/proc/driver/nvidia/gpus").glob("*/numa_status")
    texts = [cpu_text(str(path)).split() for path in places]
    gpus = {words[words.index("Node:") + 1] for words in texts if "Node:" in words[:-1]}
    ram = {cpu_text(str(path)).strip() for path in Path(root + "/sys/bus/dax/devices").glob("*/target_node")}
    online = [str(node) for node in cpu_list(cpu_text(root + CPU_NODES + "online"))]
    far = {}
    for node in online:
        alone = not cpu_text("%s%snode%s/cpulist" % (root, CPU_NODES, node)).strip()
        if node not in nodes and node not in gpus and cpu_memory("MemTotal", node, root):
            steps = dict(zip(online, cpu_text("%s%snode%s/distance" % (root, CPU_NODES, node)).split()))  # noqa: B905
            near = sorted(nodes, key=lambda one: (int(steps.get(one, 255)), int(one)))
            far[node] = near[0] if node in ram and alone else ""
    return far


def cpu_shares(nodes: List[str], root: str = "") -> Dict[str, int]:
    """Return for each NUMA node how many bytes of the available memory it has, from its own free memory and cache."""
    free, own = cpu_available(root), {}
    for node in nodes:
        if not cpu_text("%s%snode%s/meminfo" % (root, CPU_NODES, node)):
            return dict.fromkeys(nodes, free // len(nodes))
        cache = cpu_memory("FilePages", node, root) - cpu_memory("Shmem", node, root)
        own[node] = cpu_memory("MemFree", node, root) + max(0, cache)
    whole = max(1, sum(own.values()))
    return {node: min(size, free * size // whole) for node, size in own.items()}


def cpu_kinds(cpus: List[int], root: str = "") -> Dict[int, str]:
    """Return the kind of each CPU; CPUs of one kind compute equally fast while all of them work. "" if not comparable.

    The kind has the type of core (Intel: core or atom), its capacity (Arm), the size of its last-level cache, and how
    many threads share the core. A CPU whose core has a thread that this process may not use is not comparable: other
    work may run there unseen.
    """
    kinds, types = {}, {}
    for name in ("core", "atom", "lowpower"):
        types.update(dict.fromkeys(cpu_list(cpu_text("%s/sys/devices/cpu_%s/cpus" % (root, name))), name))
    allowed = set(cpus)
    for cpu in cpus:
        path = "%s/sys/devices/system/cpu/cpu%d/" % (root, cpu)
        threads = cpu_list(cpu_text(path + "topology/thread_siblings_list")) or [cpu]
        caches = [cpu_text("%scache/index%d/size" % (path, level)).strip() for level in (3, 2)]
        words = [types.get(cpu, ""), cpu_text(path + "cpu_capacity").strip(), next(filter(None, caches), "")]
        kind = " ".join(word for word in words if word) + " %d threads" % len(threads)
        kinds[cpu] = kind.strip() if allowed.issuperset(threads) else ""
    return kinds


def cpu_virtual(root: str = "") -> bool:
    """Return whether this is a virtual machine, whose CPUs may share a core of the host, or its memory channels."""
    if cpu_smbios_virtual(root):
        return True
    flags = cpu_text(root + "/proc/cpuinfo").partition("flags")[2].partition("\n")[0].split()
    if flags:
        return "hypervisor" in flags
    paths = (root + "/sys/hypervisor/type", root + "/proc/device-tree/hypervisor/compatible")
    maker, product = (cpu_text(root + "/sys/class/dmi/id/" + name).strip() for name in ("sys_vendor", "product_name"))
    named = maker in CPU_HOSTS or any(word in product.lower() for word in CPU_GUESTS)
    return any(cpu_text(path).strip() for path in paths) or (named and not product.endswith("metal"))


def cpu_smbios_virtual(root: str = "") -> bool:
    """Return whether the firmware's table states that it describes a virtual machine; usually only root may read it.

    It is bit 4 of the BIOS Characteristics Extension Byte 2, at offset 0x13 of the structure of type 0 (DMTF DSP0134).
    If the bit is 0, nothing follows from it.
    """
    table = b""
    with contextlib.suppress(OSError):
        table = Path(root + "/sys/firmware/dmi/tables/DMI").read_bytes()[: 1 << 20]
    at = 0
    while at + 4 <= len(table) and table[at + 1] >= 4:
        kind, length = table[at], table[at + 1]
        if kind == 0:
            return length > 0x13 and at + 0x13 < len(table) and bool(table[at + 0x13] & 0x10)
        end = table.find(b"\0\0", at + length)  # the texts of a structure end with two zeros
        if kind == 127 or end < 0:
            break
        at = end + 2
    return False


CPU_HOSTS = (
    "QEMU",
    "Amazon EC2",
    "Google",
    "Xen",
    "VMware, Inc.",
    "innotek GmbH",
    "OpenStack Foundation",
    "Alibaba Cloud",
)
CPU_GUESTS = ("virtual", "kvm", "openstack", "nutanix", "cloud ecs", "compute engine", "vserver")
"""Makers and parts of product names that the firmware of virtual machines states; Arm processors have no flag."""


def cpu_model() -> str:
    """Return the processor's name; on aarch64 its implementer and part number, because the kernel reports no name."""
    lines = dict(line.partition(":")[::2] for line in cpu_text("/proc/cpuinfo").splitlines())
    values = {key.strip(): value.strip() for key, value in lines.items()}
    return values.get("model name") or "%s %s" % (values.get("CPU implementer", ""), values.get("CPU part", ""))


def cpu_memory(field: str, node: Optional[str] = None, root: str = "") -> int:
    """Return a field of meminfo in bytes, for the system or for one NUMA node; 0 if the field cannot be read."""
    path = "%s%snode%s/meminfo" % (root, CPU_NODES, node) if node else root + "/proc/meminfo"
    for line in cpu_text(path).splitlines():
        words = line.split()
        if field + ":" in words:
            return int(words[words.index(field + ":") + 1]) * 1024
    return 0


def cpu_available(root: str = "") -> int:
    """Return the available memory in bytes: MemAvailable, or less if a cgroup sets a lower limit."""
    free = [cpu_memory("MemAvailable", root=root)]
    for line in cpu_text(root + "/proc/self/cgroup").splitlines():
        _, kind, path = line.split(":", 2)
        top, most, used = ("/sys/fs/cgroup", "memory.max", "memory.current")
        if kind == "memory":
            top, most, used = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        elif kind:
            continue
        while path:
            texts = [cpu_text("%s%s%s/%s" % (root, top, path, name)).strip() for name in (most, used)]
            if all(text.isdigit() for text in texts):
                free.append(max(0, int(texts[0]) - int(texts[1])))
            path = path.rpartition("/")[0]
    return min(free)


def cpu_last_cache(cpus: List[int], root: str = "") -> int:
    """Return the total size, in bytes, of the last-level caches that `cpus` use; 32 MiB per CPU if unknown."""
    caches = {}
    for cpu in cpus:
        for level in (3, 2):
            path = "%s/sys/devices/system/cpu/cpu%d/cache/index%d/" % (root, cpu, level)
            size, shared = cpu_text(path + "size").strip(), cpu_text(path + "shared_cpu_list").strip()
            if size:
                caches[shared] = int(size.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(size[-1:], 0)
                break
    return sum(caches.values()) or len(cpus) << 25
